"""A release in the page: rows beside their people, columns, questions, another version."""

import json
import re
import shutil
from html import unescape

import polars as pl
import pytest

import crowdcover as cc
from crowdcover.storage.vault.files import read_json
from tests.flows.orders import RARE, Order
from tests.flows.page.conftest import Ended, post, refused_words, session_of, visit
from tests.flows.processes import command


@pytest.fixture
def opened(released):
    """The released folder, without its plan."""
    session = session_of(released.folder_of_v1)
    return visit(session), session


@pytest.fixture
def owner(released):
    """Whoever has the plan and its vault, too."""
    session = session_of(released.plan)
    session.release = released.folder_of_v1
    return visit(session), session


def test_only_with_the_plan_rows_stand_beside_their_people(opened, owner, released, capfd):
    assert "beside their people" not in opened[0].get("/release").text
    page = unescape(owner[0].get("/release").text)
    bodies = re.findall(r"<tbody>\s*<tr><th scope=\"rowgroup\".*?</tbody>", page, re.DOTALL)
    assert len(bodies) == 10
    assert page.count("PRIVATE") >= 11
    source = pl.read_csv(released.source, infer_schema=False).rows(named=True)
    for body in bodies:
        shown, own = (re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.split("</tr>")[:2])
        # By the note, which is kept as it is, and is another one for everybody.
        person = next(each for each in source if each["note"] == own[-1])
        assert shown[-1] == own[-1]
        given = [person[name] or "(missing)" for name in ("age", "city", "smokes")]
        assert own[:3] == given
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_other_bytes_at_the_place_of_a_release_are_of_no_run(owner, released):
    client, _ = owner
    manifest = released.folder_of_v1 / "manifest.json"
    kept = manifest.read_bytes()
    try:
        manifest.write_bytes(kept + b"\n")
        assert "beside their people" not in client.get("/release").text
        page = client.get("/column?column=smokes").text
        assert page.count("<svg") == 1
        assert "PRIVATE" not in page
    finally:
        manifest.write_bytes(kept)
    assert "beside their people" in client.get("/release").text


def test_a_column_shows_the_shares_of_both_sides(opened, owner, released):
    page = owner[0].get("/column?column=smokes").text
    assert page.count("<svg") == 2
    assert "Bar chart of the values of smokes in the source" in page
    source = pl.read_csv(released.source, infer_schema=False)["smokes"]
    share = (source == "yes").mean()
    row = re.search(r">yes</th><td class=\"num\">(.*?)</td><td class=\"num\">(.*?)</td>", page)
    assert row[2] == f"{100 * share:.1f} %"
    found = cc.read(released.folder_of_v1).frequencies("smokes")
    assert row[1] == f"{100 * found.filter(smokes='yes')['share'].item():.1f} %"
    alone = opened[0].get("/column?column=smokes").text
    assert alone.count("<svg") == 1
    assert "PRIVATE" not in alone


@pytest.mark.parametrize("name", ["age", "city", "diagnosis", "note"])
def test_the_shares_of_every_column_sum_to_one(owner, name):
    page = owner[0].get(f"/column?column={name}").text
    sides = re.findall(r"<td class=\"num\">([\d.]+) %</td><td class=\"num\">([\d.]+) %</td>", page)
    assert 2 <= len(sides) <= 13
    for side in zip(*sides, strict=True):
        assert sum(map(float, side)) == pytest.approx(100, abs=1)


def test_questions_are_those_of_the_reader(opened, released):
    client, session = opened
    fields = {"asked": "count", "column-0": "smokes", "comparison-0": "is", "value-0": "yes"}
    more = {"column-1": "age", "comparison-1": "at least", "value-1": "40"}
    page = unescape(post(client, session, "/column", **fields, **more).text)
    release = cc.read(released.folder_of_v1)
    count = release.count({"smokes": "yes", "age": cc.at_least(40)})
    for name in ("certain", "possible"):
        assert f"{name}: {getattr(count, name)}<" in page
    for name in ("expected", "error"):
        assert f"{name}: {getattr(count, name):.2f}" in page
    assert "count({'smokes': 'yes', 'age': cc.at_least(40)})" in page
    page = post(client, session, "/column", asked="mean", mean="age").text
    assert f"expected: {release.mean('age').expected:.2f}" in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "choose a column"),
        ({"column-0": "age", "comparison-0": "like"}, "a comparison must be one of"),
        ({"column-0": "age", "comparison-0": "at least"}, "give a value"),
        (dict.fromkeys(("column-0", "column-1"), "age"), "choose two different columns"),
        ({"column-0": "ssn", "comparison-0": "is", "value-0": "1"}, "ssn"),
        ({"asked": "mean", "mean": "smokes"}, "holds categories"),
    ],
)
def test_questions_without_an_answer_are_refused(opened, fields, words):
    client, session = opened
    assert words in refused_words(post(client, session, "/column", **fields).text)


def test_other_columns_and_versions_are_refused(opened, released):
    client, _ = opened
    for path in ("/column?column=ssn", "/difference", "/difference?release=..%2Fv1"):
        answer = client.get(path)
        assert answer.status_code == 400
        assert RARE not in answer.text


@pytest.mark.long
def test_who_is_affected_is_what_the_audit_measures(owner, released):
    client, session = owner
    assert "Who fits only rows" in client.get("/release").text
    post(client, session, "/affected")
    assert "The command has ended" in client.get("/affected/log").text
    assert session.audited.code == 0, session.audited.log
    page = unescape(client.get("/affected").text)
    folder = released.folder_of_v1
    done = command("audit", folder, "--plan", released.plan, "--affected", "--json")
    found = json.loads(done.out)
    assert found["holds"]
    uniform = read_json(folder / "manifest.json")["protection"]["sensitive"]["diagnosis"]["uniform"]
    for each in found["affected"]:
        assert each["affected"] == uniform
        for level in each["levels"]:
            assert 4 <= level["affected"] <= level["records"]
            assert f'>{level["level"]}</th><td class="num">{level["affected"]}<' in page
    printed = command("audit", folder, "--plan", released.plan, "--affected", "--quiet").out
    assert "all" in printed
    assert "guarantees hold" in printed


@pytest.mark.parametrize(
    ("affected", "words"),
    [
        ([], "has no sensitive column"),
        ([(0, [], 0)], "No crowd shows one value of illness"),
        ([(9, [("bonn", 7)], 1)], "fewer than k each"),
    ],
)
def test_what_the_page_says_of_who_is_affected(owner, affected, words):
    client, session = owner
    told = [
        {
            "sensitive": "illness",
            "column": "city",
            "affected": number,
            "levels": [{"level": name, "affected": n, "records": 20} for name, n in levels],
            "fewer": fewer,
        }
        for number, levels, fewer in affected
    ]
    printed = json.dumps({"holds": True, "findings": [], "affected": told})
    session.audited = Ended([printed])
    page = client.get("/affected").text
    assert words in page
    assert ("1 other value<" in page) == bool(affected and affected[0][2])


@pytest.mark.parametrize(
    ("printed", "code", "words"),
    [
        (["a warning", '{"holds": true, "affected": []}'], 0, "the answer of the audit cannot be"),
        (['{"holds": tr'], 4, "exit code 4"),
        (['{"error": "x"}'], 0, "the answer of the audit cannot be"),
    ],
)
def test_an_answer_of_the_audit_that_cannot_be_read_is_refused(owner, printed, code, words):
    client, session = owner
    session.audited = Ended(printed, code, refusal=f"exit code {code}" if code else "")
    page = client.get("/affected")
    assert page.status_code == 200
    assert refused_words(page.text).startswith(words)
    assert "Measure again" in page.text


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A release of another plan, in a folder of its own; its manifest says when it was made."""
    order = Order(tmp_path_factory.mktemp("elsewhere"))
    order.write(privacy={"k": 6})
    order.release()
    return order


def shown_tables(page):
    """The tables of a page, by their headings, as lists of texts."""
    tables = re.findall(r"<h2 id=\"table-\d+\">(.*?)</h2>.*?<tbody>(.*?)</tbody>", page, re.DOTALL)
    return {
        unescape(heading): [
            [unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in body.split("</tr>")[:-1]
        ]
        for heading, body in tables
    }


@pytest.mark.long
def test_releases_of_two_folders_are_compared_as_by_the_command(released, elsewhere, monkeypatch):
    monkeypatch.chdir(released.folder)
    session = session_of(released.folder_of_v1, diff=[str(elsewhere.folder_of_v1)])
    client = visit(session)
    page = client.get("/release").text
    assert f"<option>{elsewhere.folder_of_v1}</option>" in page
    answer = client.get("/difference", params={"release": str(elsewhere.folder_of_v1)})
    assert answer.status_code == 200
    page = unescape(answer.text)
    # Both are v1 of people, and the one elsewhere was made later.
    assert "v1, old beside v1, new" in page
    assert f"crowdcover diff releases/people/v1 {elsewhere.folder_of_v1}" in page
    told = command("diff", released.folder_of_v1, elsewhere.folder_of_v1)
    assert told.code == 0
    summary = told.out.splitlines()[-1]
    assert summary[1:] in page
    found = shown_tables(answer.text)
    assert len(found) >= 4
    assert all(f"\n{heading}" in f"\n{told.out}" for heading in found)
    changes = json.loads(
        command("diff", released.folder_of_v1, elsewhere.folder_of_v1, "--json").out
    )
    numbers = {row[0]: row[1:] for row in found["Numbers"]}
    assert numbers["Smallest demanded crowd (k)"] == ["4", "6"]
    assert {row[0] for row in found["Loss per column"]} == set(changes["per_column"])


@pytest.mark.long
def test_only_releases_that_were_named_are_compared(opened, released, elsewhere):
    client, _ = opened
    for path in (elsewhere.folder_of_v1, "../people/v1", released.folder_of_v1, "v1"):
        answer = client.get("/difference", params={"release": str(path)})
        assert answer.status_code == 400
        assert "a release that --diff named" in unescape(answer.text)


def test_what_is_named_to_compare_is_refused_as_by_the_command(released, tmp_path):
    told = command("diff", released.folder_of_v1, tmp_path)
    done = command("open", released.folder_of_v1, "--diff", tmp_path)
    assert (done.code, done.err) == (told.code, told.err)
    assert done.code != 0


@pytest.mark.long
def test_two_versions_beside_each_other(released, elsewhere, tmp_path):
    folder = tmp_path / "people"
    shutil.copytree(released.folder_of_v1, folder / "v1")
    shutil.copytree(elsewhere.folder_of_v1, folder / "v2")
    session = session_of(folder / "v2")
    page = visit(session).get("/difference?release=v1").text
    shown = re.findall(r'<dt>(.*?)</dt><dd class="path">(.*?)</dd>', page)
    assert shown == [("v1, old", str(folder / "v1")), ("v1, new", str(folder / "v2"))]
    assert "Loss per column" in page
    assert "crowdcover diff" in page


@pytest.mark.long
def test_a_named_release_hides_no_version_of_the_same_name(
    released, elsewhere, tmp_path, monkeypatch
):
    firms, people = tmp_path / "firms", tmp_path / "people"
    shutil.copytree(released.folder_of_v1, firms / "v1")
    shutil.copytree(elsewhere.folder_of_v1, firms / "v2")
    shutil.copytree(released.folder_of_v1, people / "v1")
    monkeypatch.chdir(people)
    client = visit(session_of("../firms/v2", diff=["v1"]))
    page = client.get("/release").text
    groups = re.findall(r'<optgroup label="(.*?)">(.*?)</optgroup>', page)
    assert [(label, re.findall(r"<option>(.*?)</option>", inner)) for label, inner in groups] == [
        ("Beside this release", ["v1"]),
        ("Named with --diff", [str(people / "v1")]),
    ]
    for name, shown in (("v1", "../firms/v1"), (str(people / "v1"), "v1")):
        page = client.get("/difference", params={"release": name}).text
        paths = re.findall(r'<dt>.*?</dt><dd class="path">(.*?)</dd>', page)
        assert paths == [shown, "../firms/v2"]
