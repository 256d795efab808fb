"""The report of a graph: in a browser, and what it says where promises or numbers differ."""

import copy

import numpy as np
import pytest

from crowdcover.kinds.graph.report.words import WORDS
from crowdcover.reports.documents.filled import fill_template, list_templates
from crowdcover.reports.pages import page
from crowdcover.reports.risk_lines import list_risk_lines
from crowdcover.reports.verdict import judge_manifest
from crowdcover.reports.words import ABOVE, NO_LIMIT, NOT_MEASURED, WITHIN
from tests.kinds.graph.orders import manifest
from tests.reports.browsed import Page, headings_are_in_order_and_tables_named
from tests.support.pages import SCREENS, require_readable_report
from tests.support.soaking import soak_after

PLOTS = ("plot-hiding", "plot-degrees", "plot-attacks", "plot-hops")
MEASURED = {"levels": np.array([1.0, 4.0]), "before": np.ones(5), "after": np.ones(7)}


@pytest.fixture
def stated(links):
    return copy.deepcopy(manifest(links.published))


@pytest.mark.long
def test_the_page_is_whole_and_named(links):
    text = (links.published / "report.html").read_text()
    headings_are_in_order_and_tables_named(Page(text))
    for title in PLOTS:
        assert f'id="{title}"' in text


@pytest.mark.slow
@pytest.mark.parametrize("screen", soak_after(2, SCREENS), ids=str)
def test_everybody_can_read_it(links, tmp_path, screen):
    text = (links.published / "report.html").read_text()
    require_readable_report(text, screen, tmp_path, drawings=len(PLOTS))


@pytest.mark.parametrize("key", ["below", "exempt"])
def test_a_missing_count_fails(stated, key):
    del stated["privacy"][key]
    if key == "below":
        assert judge_manifest(stated, WORDS).tone == "fails"
    assert not WORDS.checks(stated)[0].passed


def test_one_vertex_more_than_is_exempt_fails(stated):
    stated["privacy"] |= {"below": 3, "exempt": 3}
    told = judge_manifest(stated, WORDS)
    assert told.tone == "some"
    share = f"{300 / stated['privacy']['records']:.1f} %"
    assert f"but 3 of {stated['privacy']['records']} vertices ({share}) hide among" in told.heading
    assert not any(fact.bad for fact in WORDS.headline(stated))
    stated["privacy"]["below"] = 4
    assert judge_manifest(stated, WORDS).tone == "fails"
    assert [fact.value for fact in WORDS.headline(stated) if fact.bad] == ["4"]


def test_vertices_without_protection_are_told(stated):
    stated["privacy"] |= {"k_min": 1, "unprotected": 3}
    told = judge_manifest(stated, WORDS)
    assert told.tone == "some"
    assert "3 of these vertices are not protected" in told.paragraph


def test_only_what_is_promised_is_said(stated):
    stated["privacy"]["promise"] = []
    assert WORDS.promised(stated) == []
    assert WORDS.checks(stated) == []
    assert "stays at least as uncertain" not in WORDS.promise(stated)


@pytest.mark.parametrize(
    ("knows", "words"),
    [
        ("ceiling", "the expected degree of a vertex, rounded up"),
        ("mode", "the likeliest degree of a vertex"),
        ("distribution", "how likely each degree of a vertex is"),
    ],
)
def test_the_promise_names_what_is_known(stated, knows, words):
    stated["privacy"]["knows"] = knows
    assert f"Someone who knows {words}, and nothing else of it" in WORDS.promise(stated)
    finer = "Finer knowledge of a degree." in dict(WORDS.not_promised(stated))
    assert finer == (knows != "distribution")
    assert "Someone who knows" in page.render_release_page(stated, MEASURED, WORDS)


def test_connections_that_go_are_a_warning(stated):
    stated["utility"]["discrepancy"] = 0.25
    (warning,) = WORDS.warnings(stated)
    assert "changes by 25.0 percentage points on average" in warning
    stated["utility"]["discrepancy"] = 0.0
    assert WORDS.warnings(stated) == []


def show_edges(stated, matched, near):
    stated["protection"]["edges"] |= {"matched": matched, "near": near}
    return list_risk_lines(stated, WORDS)[1:]


@pytest.mark.parametrize(
    ("success", "matched", "first"),
    [(0.5, 0.1, "are named right"), (0.1, 0.5, "are found by other data")],
)
def test_the_link_of_most_vertices_is_named_first(stated, success, matched, first):
    for each in stated["attacks"].values():
        each["success"] = success
    linked, _ = show_edges(stated, matched, 0.0)
    assert linked.people == "Up to 20 of 40 vertices (50.0 %)"
    assert linked.finding.startswith(first)
    assert "Up to 4 of 40 vertices (10.0 %)" in linked.finding
    assert (linked.result, linked.warns) == (NO_LIMIT, True)


@pytest.mark.parametrize(("limit", "result"), [(0.2, WITHIN), (0.05, ABOVE)])
def test_guesses_by_degree_are_held_against_the_limit_of_the_plan(stated, limit, result):
    for name, each in stated["attacks"].items():
        each |= {"success": 0.1, "promised": 0.1}
        asked = {"measure": "attack success", "about": name, "required": limit, "found": 0.1}
        stated.setdefault("checks", []).append(asked)
    line = show_edges(stated, 0.0, 0.0)[0]
    assert (line.result, line.warns) == (result, False)
    assert "on average, by the plan" in line.limit


@pytest.mark.parametrize(
    ("limit", "result", "change"), [(0.2, WITHIN, "Round the prob"), (0.05, ABOVE, "Raise k")]
)
def test_a_limit_of_guesses_stands_beside_the_guesses(stated, limit, result, change):
    for name, each in stated["attacks"].items():
        each["success"] = 0.1
        asked = {"measure": "attack success", "about": name, "required": limit, "found": 0.1}
        stated.setdefault("checks", []).append(asked)
    line = show_edges(stated, 0.5, 0.0)[0]
    assert line.people == "Up to 4 of 40 vertices (10.0 %)"
    assert line.finding.startswith("are named right")
    assert "Up to 20 of 40 vertices (50.0 %) are found by other data" in line.finding
    assert line.result == result
    assert change in line.change


def test_the_surest_guess_is_one_of_the_strongest_attack(stated):
    weak, strong = list(stated["attacks"].values())[:2]
    for each in stated["attacks"].values():
        each["success"] = 0.1
    weak["highest"], strong["success"], strong["highest"] = 1.0, 0.2, 0.25
    assert "a chance of 1 in 4." in show_edges(stated, 0.0, 0.0)[0].finding
    strong["highest"] = None  # the attacker who drops edges
    assert "surest" not in show_edges(stated, 0.0, 0.0)[0].finding


@pytest.mark.parametrize(("share", "people"), [(0.0, "0 of 40"), (0.15, "Up to 6 of 40")])
def test_edges_that_are_shown_are_counted_by_vertex(stated, share, people):
    learnt = show_edges(stated, 0.0, share)[1]
    assert learnt.people.startswith(people)
    assert (learnt.result, learnt.warns) == (NO_LIMIT, share > 0)


def test_an_older_release_says_that_nothing_was_counted(stated):
    del stated["protection"]["edges"]
    for each in stated["attacks"].values():
        del each["highest"]
    for line in list_risk_lines(stated, WORDS)[1:]:
        assert line.result == NOT_MEASURED
        assert line.finding.startswith("Not counted: the release is older")
    assert "what the release shows of edges" in WORDS.list_unstated(stated)


@pytest.mark.parametrize(
    ("below", "exempt", "result"), [(0, 0, WITHIN), (3, 3, WITHIN), (4, 3, ABOVE), (1, 0, ABOVE)]
)
def test_vertices_that_are_picked_out_are_held_against_the_promise(stated, below, exempt, result):
    stated["privacy"] |= {"below": below, "exempt": exempt}
    line = list_risk_lines(stated, WORDS)[0]
    assert line.people.startswith(f"{below} of {stated['privacy']['records']} vertices")
    assert "hidden less well than among" in line.finding
    assert (line.result, line.warns) == (result, exempt > 0)
    stated["privacy"] |= {"k_min": 1, "unprotected": 5}
    line = list_risk_lines(stated, WORDS)[0]
    assert line.people.startswith("5 of ")
    assert "have k = 1" in line.finding
    assert line.result == ABOVE


def test_rows_of_the_release_and_of_the_source_are_edges(stated):
    text = page.render_release_page(stated, MEASURED, WORDS)
    assert "780" in text
    assert "80 rows, 3 columns" in text


@pytest.mark.parametrize("name", list_templates())
def test_documents_are_filled(stated, name):
    text = fill_template(name, stated, WORDS)
    assert "is not in the manifest" not in text
    assert WORDS.promise(stated).split(". ")[0] in text
