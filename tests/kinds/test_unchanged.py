"""A release in which nothing was hidden says so first, and [checks] can refuse it."""

import copy
import io

import pytest
from rich.console import Console

from anon_core.errors import GuaranteeError
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds import words_of
from crowdcover.reports import markdown
from crowdcover.reports.terminal import summary
from crowdcover.reports.verdict import NOTHING, judge_manifest
from tests.flows.orders import Order, people
from tests.kinds.graph.orders import GraphOrder
from tests.kinds.graph.orders import name as vertex
from tests.kinds.matrix.orders import MatrixOrder
from tests.kinds.orders import manifest
from tests.reports.browsed import Page
from tests.support.audits import audit_release


def table(folder, odd=False, **sections):
    """30 rows of each of two kinds; one row more is of neither."""
    rows = [
        (row[0], 30, ["ulm", "bonn"][at % 2], "yes", *row[4:]) for at, row in enumerate(people(60))
    ]
    return Order(folder, [*rows, ("x", 30, "kiel", "yes", "a", "b", "c")] * odd or rows, **sections)


def matrix(folder, odd=False, **sections):
    """Users of two tastes; one more is of neither."""
    pairs = [
        (f"Pperson{user:03d}Q", f"Pitem{3 * (user % 2) + item}Q")
        for user in range(20)
        for item in range(3)
    ]
    more = [("Pperson900Q", "Pitem0Q"), ("Pperson900Q", "Pitem5Q")] * odd
    return MatrixOrder(folder, [*pairs, *more], privacy={"k": 2}, **sections)


def graph(folder, odd=False, **sections):
    """A ring, in which all degrees are the same; one vertex more has three edges."""
    ring = [(vertex(i), vertex((i + 1) % 40), "0.5") for i in range(40)]
    more = [(vertex(90), vertex(i), "0.875") for i in (0, 10, 20)] * odd
    return GraphOrder(folder, [*ring, *more], **sections)


ORDERS = {"table": table, "matrix": matrix, "graph": graph}
FIRST = {
    "table": "Nothing was hidden: no cell of a quasi-identifier is masked in the 60 rows. Each "
    "shows the value of the source, or the group of values that the plan puts it in. Enough rows "
    "are alike in the source already. Each of the 60 people",
    "matrix": "Nothing was hidden: all 60 entries of the source are released, and no other. Enough "
    "users have equal rows in the source already. This release",
    "graph": "Nothing was hidden: all 40 edges of the release have the probability of the source, "
    "and no edge is missing. The vertices hide by their degree in the source already, as far as "
    "the plan demands. This release",
}


@pytest.fixture(scope="module", params=ORDERS)
def released(request, tmp_path_factory):
    """A release in which nothing was hidden: its order, folder and manifest."""
    order = ORDERS[request.param](tmp_path_factory.mktemp(request.param))
    folder = order.release()
    return order, folder, manifest(folder)


def shown(document):
    console = Console(file=io.StringIO(), width=400)
    summary.print_release(document, console, words_of(document))
    return console.file.getvalue()


def kind_of(document):
    return document["source"]["kind"]


@pytest.mark.long
def test_verdict_report_summary_and_artifact_say_it_first(released):
    _, folder, document = released
    first = FIRST[kind_of(document)]
    judged = judge_manifest(document, words_of(document))
    assert judged.tone == "many"
    assert judged.heading.startswith(f"{NOTHING}. ")
    assert "he privacy promise holds" in judged.heading
    assert judged.paragraph.startswith(first)
    page = Page((folder / "report.html").read_text("utf-8")).text
    assert f"{judged.heading} {first}" in page
    text = " ".join(shown(document).replace("║", " ").split())
    assert text.index("nothing was hidden. ") < text.index(first)
    assert first in text
    heading, told = markdown.render_release(document, words_of(document)).split("\n\n")[1:3]
    assert (heading, told.startswith(first)) == (f"## {judged.heading}", True)
    described = (folder / "datapackage.json").read_text("utf-8")
    assert first.partition(".")[0] in described


def test_the_limit_lets_everything_through_at_1(released):
    order, folder, _ = released
    order.write(checks={"max_unchanged": 1.0})
    assert order.release() == folder
    order.write(checks={"max_unchanged": 0.999})
    words = "v1 was published before and stays as it is; nothing was hidden: a share of 1.0000"
    with pytest.raises(GuaranteeError, match=words):
        order.release()
    audit = audit_release(folder, order.plan)
    assert [each.guarantee for each in audit.broken] == ["checks of the plan"]


@pytest.mark.long
@pytest.mark.parametrize("kind", ORDERS)
def test_nothing_is_published_above_the_limit(tmp_path, kind):
    order = ORDERS[kind](tmp_path, checks={"max_unchanged": 0.99})
    words = r"publication refused; nothing was hidden: a share of 1\.0000 .* = 0\.99; raise k"
    with pytest.raises(GuaranteeError, match=words):
        order.release()
    assert not order.folder.joinpath("releases").exists()


@pytest.mark.long
@pytest.mark.parametrize("kind", ORDERS)
def test_one_change_is_enough_to_say_nothing(tmp_path, kind):
    order = ORDERS[kind](tmp_path, odd=True, checks={"max_unchanged": 0.9999})
    folder = order.release()
    document = manifest(folder)
    assert words_of(document).describe_no_change(document) == ""
    assert not judge_manifest(document, words_of(document)).heading.startswith(NOTHING)
    (check,) = document["checks"]
    assert (check["measure"], check["required"]) == ("unchanged", 0.9999)
    assert 0.2 < check["found"] < 1
    assert NOTHING not in (folder / "report.html").read_text("utf-8")


def test_with_k_1_no_reason_is_given(released):
    _, _, document = released
    nobody = copy.deepcopy(document)
    nobody["privacy"] |= {"k_min": 1, "k_max": 1, "unprotected": nobody["privacy"]["records"]}
    words = words_of(nobody)
    assert words.describe_no_change(nobody).startswith(NOTHING)
    assert "already" not in words.describe_no_change(nobody)
    judged = judge_manifest(nobody, words)
    assert judged.heading.startswith("Nobody is protected")
    assert judged.paragraph.startswith(NOTHING)


def test_some_without_protection_come_after_it(released):
    _, _, document = released
    some = copy.deepcopy(document)
    some["privacy"] |= {"k_min": 1, "unprotected": 3}
    assert judge_manifest(some, words_of(some)).heading.startswith(f"{NOTHING}. 3 of ")


@pytest.mark.long
def test_the_log_says_it(tmp_path, caplog):
    with caplog.at_level("INFO", logger="crowdcover"):
        table(tmp_path).release()
    assert any(record.message.startswith(NOTHING) for record in caplog.records)


def test_an_older_graph_does_not_tell(tmp_path):
    order = graph(tmp_path)
    document = manifest(order.release())
    del document["utility"]["same_edges"]
    assert words_of(document).describe_no_change(document) == ""
    limits = ReleasePlan.load(graph(tmp_path / "b", checks={"max_unchanged": 0.9}).plan).limits
    (short,) = limits.release_limits.list_shortfalls(document)
    assert short.shortfall.endswith("limits was not measured when it was published")
    assert short.remedy == "leave checks.max_unchanged out"


def test_a_version_of_a_series_is_judged_by_all_its_rows():
    from tests.reports.samples import version

    document = version()
    words = words_of(document)
    document["utility"]["cells_exact"] = 1.0
    document["series"]["cells_exact"] = 0.9
    assert words.describe_no_change(document) == ""
    document["series"]["cells_exact"] = 1.0
    assert words.describe_no_change(document).startswith(NOTHING)
