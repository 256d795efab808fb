"""The plan in the page: the bytes and the refusals of the commands, edits that keep comments."""

import logging
import re
import tomllib
from html import unescape

import pytest

from crowdcover.flows.page import plan_views
from crowdcover.flows.page.edits import apply_form, name_question
from crowdcover.kinds.table.plan.checks import ChecksSection
from crowdcover.storage.shelf.folders import FolderShelf
from tests.flows.orders import RARE
from tests.flows.page.conftest import post, refused_words, session_of, visit
from tests.flows.processes import command
from tests.support.plans import PLAN

LIMITS = ChecksSection.list_limits()
DECIDED = re.compile(r'name="(decided:[^"]*)"')


def decide_all(page):
    """The fields that say that every question of a page is decided."""
    return {unescape(name): "on" for name in DECIDED.findall(page)}


def refusal_in(page):
    found = re.search(r'<p class="verbatim">(.*?)</p>', page, flags=re.DOTALL)
    return None if found is None else unescape(found[1])


@pytest.mark.long
def test_the_starter_plan_is_that_of_the_command(session, order):
    assert command("plan", order.source, "--output", order.folder / "same.toml").code == 0
    printed = (order.folder / "same.toml").read_text(encoding="utf-8")
    order.plan.unlink()
    page = post(visit(session), session, "/plan/save", file="people.toml").text
    assert f"The plan was saved: {order.plan}" in unescape(page)
    assert order.plan.read_text(encoding="utf-8") == printed
    written = command("plan", order.source, "--output", order.folder / "other.toml")
    assert written.code == 0
    assert (order.folder / "crowdcover.table.schema.json").exists()


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("nowhere.csv",), {}),
        (("empty.csv",), {}),
        (("people.csv", "--sheet", "x"), {"sheet": "x"}),
        (("people.csv", "--names", "a,b"), {"names": ["a", "b"]}),
        (("postgresql://u:secret@h/d", "--query", "select 1"), {"query": "select 1"}),
    ],
)
def test_a_source_is_refused_as_by_the_command(order, monkeypatch, arguments, options):
    monkeypatch.chdir(order.folder)
    (order.folder / "empty.csv").write_text("")
    planned, opened = command("plan", *arguments), command("open", *arguments)
    assert planned.code == opened.code != 0
    assert planned.err == opened.err


@pytest.mark.parametrize(
    "text",
    [
        PLAN.replace("k = 5", "k = 0"),
        PLAN.replace("k = 5", 'decide = ["k"]\nk = 5'),
        PLAN.replace("k = 5", "kk = 5"),
        PLAN.replace('role = "sensitive"', 'role = "secret"'),
        PLAN.replace('path = "people.csv"', 'path = "other.csv"'),
        PLAN.replace('path = "people.csv"', 'path = "https://x.invalid/people.csv"'),
        PLAN + "[privacy]\n",
        "name = people",
        "",
        PLAN,  # names columns that the source lacks
    ],
)
def test_a_plan_is_refused_as_by_the_command(planned, order, text):
    page = post(visit(planned), planned, "/plan/text", text=text).text
    shown = refusal_in(page)
    order.plan.write_text(text, encoding="utf-8")
    done = command("release", order.plan)
    assert done.code in (2, 3)
    assert done.err == f"crowdcover: {shown}\n"


def test_a_good_plan_is_not_refused(planned):
    page = visit(planned).get("/plan").text
    assert refusal_in(page) is None
    assert "The plan can be released" in page


def test_a_plan_opens_although_its_releases_cannot_be_listed(order, monkeypatch):
    def refuse(_):
        raise PermissionError("people")

    monkeypatch.setattr(FolderShelf, "versions", refuse)
    session = session_of(order.plan)
    assert session.release is None
    assert "The plan can be released" in visit(session).get("/plan").text


def test_a_form_without_a_change_keeps_every_byte(session):
    client = visit(session)
    page = client.get("/plan").text
    names = re.findall(r'<select [^>]*name="([^"]*)">\s*(.*?)</select>', page, flags=re.DOTALL)
    fields = {"name": "people", "k": "5", "people": "rows"}
    for name, inner in names:
        chosen = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', inner)
        if chosen is not None:
            fields[unescape(name)] = chosen[1] if chosen[1] is not None else chosen[2]
    assert len(fields) > 10
    before = session.draft.text
    post(client, session, "/plan", **fields)
    assert session.draft.text == before


def test_edits_keep_comments_and_take_settings_away(session):
    client = visit(session)
    before = session.draft.text
    fields = decide_all(client.get("/plan").text)
    assert len(fields) >= 2
    fields |= {"role:age": "drop", "k": "4", "approval": "required", "effort": "0"}
    page = unescape(post(client, session, "/plan", **fields).text)
    text = session.draft.text
    assert "columns.age.bins" in page
    assert "decide = " not in text
    for line in ("k = 4 ", 'role = "drop" ', 'approval = "required"', "effort = 0"):
        assert line in text
    # Comments stay, but for those of lines that are gone.
    marks = sum(line.startswith("decide = ") and "#" in line for line in before.splitlines())
    assert before.count("#") - text.count("#") == marks


def test_an_answer_in_words_takes_the_mark_out(session):
    page = visit(session).get("/plan").text
    assert 'name="about:title"' in page
    text = apply_form(
        session.draft.text, {"about:title": " Rows, “as said” ", "about:contact": ""}
    )[0]
    about = tomllib.loads(text)["about"]
    assert about == {"decide": ["recipient", "contact"], "title": "Rows, “as said”"}
    assert "# recipient =" in text


def test_texts_that_mean_not_given_are_taken_out_without_toml(order):
    text = (
        order.source.read_text(encoding="utf-8").replace(",bonn,", ",?,").replace(",ulm,", ",NA,")
    )
    order.source.write_text(text, encoding="utf-8")
    session = session_of(order.source)
    client = visit(session)
    page = unescape(client.get("/plan").text)
    assert re.findall(r'name="(missing:.*?)" checked', page) == ["missing:?", "missing:NA"]
    assert "The plan says now: 5" in page  # of k
    mark = name_question(("source",), "missing")
    post(client, session, "/plan", **{"missing-asked": "1", "missing:NA": "on", mark: "on"})
    source = tomllib.loads(session.draft.text)["source"]
    assert source["missing"] == ["NA"]
    assert "decide" not in source
    assert re.search(r"missing = .*# .*cells in", session.draft.text)  # the comment stays
    # The values are counted anew: the text is a value of its own.
    assert "?" in session.values.counts["city"].description.split("(missing)")[0]


def test_crowds_mix_a_column_without_toml(planned):
    before = planned.draft.text
    client = visit(planned)
    assert '<select form="edit" id="mix"' in client.get("/plan").text
    page = post(client, planned, "/plan", mix="diagnosis").text
    assert tomllib.loads(planned.draft.text)["privacy"]["mix"] == "diagnosis"
    assert "<option selected>diagnosis</option>" in page
    assert refusal_in(page) is None
    post(client, planned, "/plan", mix="")
    assert planned.draft.text == before


def test_limits_are_changed_without_toml(session):
    client = visit(session)
    page = unescape(client.get("/plan").text)
    assert re.search(r'id="limits".*name="limit:max_uniform" value="0.05"', page, re.DOTALL)
    # The words of the reference: a comment may be of another number by now.
    assert LIMITS["max_uniform"].description[1:] in page
    assert "Refused? Lower k or the floor." in page
    fields = {
        "limit:max_uniform": "0.5",
        "limit:min_utility": "",
        "limit:max_attack_success": "0.20",
    }
    post(client, session, "/plan", **fields)
    checks = tomllib.loads(session.draft.text)["checks"]
    assert checks["max_uniform"] == 0.5
    assert "min_utility" not in checks
    # Comments of the starter go with their numbers, and no others.
    assert "\nmax_uniform = 0.5\nmax_attack_success" in session.draft.text
    assert "it with k\nmax_row_loss = 0.02 " in session.draft.text
    own, _ = apply_form(
        PLAN + "[checks]\nmax_uniform = 0.25  # agreed\n", {"limit:max_uniform": "0.5"}
    )
    assert "max_uniform = 0.5  # agreed\n" in own
    assert "max_attack_success = 0.2 " in session.draft.text  # the same number
    for wrong in ("a lot", "\u0665", "1e-2", "-1", "1" * 10):
        refused = post(client, session, "/plan", **{"limit:max_uniform": wrong}).text
        assert refused_words(refused).startswith("checks.max_uniform must be a number")


@pytest.mark.parametrize(("given", "number"), [("05", 5), ("00.5", 0.5), ("0", 0), ("7.0", 7.0)])
def test_a_limit_is_the_number_that_was_given(given, number):
    text, _ = apply_form(PLAN + "[checks]\nmax_uniform = 0.25\n", {"limit:max_uniform": given})
    stated = tomllib.loads(text)["checks"]["max_uniform"]
    assert (stated, type(stated)) == (number, type(number))


@pytest.mark.parametrize(
    "text",
    [
        "[checks]\nmax_uniform = 0.1\n",
        'source = "people.csv"\n[checks]\n"max_uniform" = 0.1',
        "checks = {max_uniform = 0.1}\n",
        "checks.max_uniform = 0.1\n[source]\nkind = 'cube'\n",
    ],
)
def test_a_limit_is_changed_however_it_is_written(text):
    for given, stated in (("0.2", {"max_uniform": 0.2}), ("", {})):
        changed = tomllib.loads(apply_form(text, {"limit:max_uniform": given})[0])
        assert changed.get("checks", {}) == stated


@pytest.mark.parametrize("stated", ["0.00001", "1e-5", "nan", "12345678901", "0.1234567890123456"])
def test_limits_that_no_field_takes_stay_as_they_are(tmp_path, stated):
    path = tmp_path / "people.toml"
    path.write_text(PLAN + f"[checks]\nmax_uniform = {stated}\n", encoding="utf-8")
    session = session_of(path)
    client = visit(session)
    field = re.search(r'name="limit:max_uniform" value="([^"]*)"', client.get("/plan").text)
    post(client, session, "/plan", **{"k": "7", "limit:max_uniform": field[1]})
    assert session.refusal == ""
    assert "k = 7" in session.draft.text
    assert f"max_uniform = {stated}\n" in session.draft.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"k": "many"}, "privacy.k must be a whole number"),
        ({"role:age": "secret"}, "the role must be one of"),
        ({"kind:age": "colour"}, "the kind one of"),
        ({"effort": "9"}, "anonymizer.effort must be"),
        ({"approval": "perhaps"}, "publish.approval must be"),
    ],
)
def test_fields_that_no_form_sends_are_refused(planned, fields, words):
    before = planned.draft.text
    assert words in post(visit(planned), planned, "/plan", **fields).text
    assert planned.draft.text == before


def test_what_the_starter_found_of_people_stands_beside_the_fields(order):
    order.source.write_text(
        order.source.read_text(encoding="utf-8").replace("ident-00001", "ident-00002")
    )
    page = visit(session_of(order.source)).get("/plan").text
    assert "2 of 90 rows share the ssn of another row: 89 distinct." in page
    assert "rows of one person must not hide each other.</p>" in page  # the fields are the lines


def test_who_one_person_is():
    person, _ = apply_form(PLAN, {"people": "person", "person": "who"})
    assert 'person = "who"' in person
    rows, _ = apply_form(person, {"people": "rows_although"})
    assert "rows_are_people = true" in rows
    assert "person =" not in rows
    assert apply_form(rows, {"people": "rows"})[0] == PLAN


def test_a_file_is_replaced_only_if_a_person_says_so(planned, order):
    client, before = visit(planned), order.plan.read_bytes()
    post(client, planned, "/plan", k="6")
    answer = post(client, planned, "/plan/save", file="people.toml")
    assert "tick the box that replaces it" in answer.text
    assert order.plan.read_bytes() == before
    order.plan.chmod(0o640)
    post(client, planned, "/plan/save", file="people.toml", replaces="on")
    assert order.plan.read_text(encoding="utf-8") == planned.draft.text
    assert order.plan.stat().st_mode & 0o777 == 0o640
    assert planned.draft.is_saved


def test_a_file_that_changed_meanwhile_is_not_replaced(planned, order):
    client = visit(planned)
    post(client, planned, "/plan", k="6")
    order.plan.write_text("# another hand\n", encoding="utf-8")
    answer = post(client, planned, "/plan/save", file="people.toml", replaces="on")
    assert "was changed by something else" in answer.text
    assert order.plan.read_text(encoding="utf-8") == "# another hand\n"


def test_examples_are_marked_and_stay_in_the_page(session, order, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    client = visit(session)
    page = client.get("/plan").text
    assert "ident-00000" in page
    assert page.count("PRIVATE") >= 2
    post(client, session, "/plan", k="nothing")
    post(client, session, "/plan/text", text=PLAN)
    printed = capfd.readouterr()
    for place in (printed.out, printed.err, caplog.text, session.draft.text):
        assert "ident-" not in place
        assert RARE not in place
    assert "ident-" not in repr(session)


def test_an_unforeseen_error_shows_neither_its_message_nor_a_traceback(session, monkeypatch, capfd):
    def fail(*_):
        raise ValueError("ident-00001")

    client = visit(session)
    monkeypatch.setattr(plan_views, "view_plan", fail)
    answer = client.get("/plan")
    assert answer.status_code == 500
    assert "unforeseen ValueError at plan_views.py:" in answer.text
    assert "Traceback" not in answer.text
    assert "ident-" not in answer.text
    assert capfd.readouterr().err == ""


def test_markup_in_a_name_stays_text(order):
    source = order.folder / "odd.csv"
    source.write_text('"<script>alert(1)</script>",b\n' + "x,1\ny,2\n" * 10, encoding="utf-8")
    session = session_of(source, header=True)
    page = visit(session).get("/plan").text
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_plans_of_other_kinds_are_shown(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("u,v,p\n" + "".join(f"a{i},b{i % 7},0.5\n" for i in range(40)))
    session = session_of(edges, kind="graph", header=True)
    page = visit(session).get("/plan").text
    assert "privacy: knows" in page
    beside = tmp_path / "beside.toml"
    command("plan", edges, "--kind", "graph", "--header", "--output", beside)
    assert session.draft.text == beside.read_text(encoding="utf-8")
