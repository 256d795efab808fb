"""The report of a matrix: in a browser, and what it says where promises or numbers differ."""

import copy

import numpy as np
import pytest

from crowdcover.kinds.matrix.report.words import WORDS
from crowdcover.reports.documents.filled import fill_template, list_templates
from crowdcover.reports.pages import page
from crowdcover.reports.risk_lines import list_risk_lines
from crowdcover.reports.verdict import judge_manifest
from crowdcover.reports.words import ABOVE, NO_LIMIT, WITHIN
from tests.kinds.matrix.orders import manifest
from tests.reports.browsed import Page, headings_are_in_order_and_tables_named
from tests.support.pages import SCREENS, require_readable_report
from tests.support.soaking import soak_after

FOLDER = ("releases", "likes", "v1")


@pytest.fixture
def stated(likes):
    return copy.deepcopy(manifest(likes.folder.joinpath(*FOLDER)))


def test_the_page_is_whole_and_named(likes):
    text = likes.folder.joinpath(*FOLDER, "report.html").read_text()
    headings_are_in_order_and_tables_named(Page(text))
    for title in ("plot-classes", "plot-entries", "plot-attacks"):
        assert f'id="{title}"' in text


def test_the_page_of_verdicts_shows_the_checks_of_a_matrix(likes):
    text = (likes.run.path / "docs" / "index.html").read_text()
    assert "Every check was passed" in text
    assert text.index("The entries as they were read") < text.index("The sparse matrix")


@pytest.mark.slow
@pytest.mark.parametrize("screen", soak_after(2, SCREENS), ids=str)
def test_everybody_can_read_it(likes, tmp_path, screen):
    text = likes.folder.joinpath(*FOLDER, "report.html").read_text()
    require_readable_report(text, screen, tmp_path, drawings=3)


def test_the_smallest_class_is_a_bad_figure_where_it_is_too_small(stated):
    assert not any(fact.bad for fact in WORDS.headline(stated))
    stated["privacy"]["classes_below_k"] = 2
    least = str(stated["protection"]["classes"]["least"])
    assert [fact.value for fact in WORDS.headline(stated) if fact.bad] == [least]


def test_a_missing_count_fails(stated):
    del stated["privacy"]["minorities"]
    assert judge_manifest(stated, WORDS).tone == "fails"


def test_users_without_protection_are_told(stated):
    stated["privacy"] |= {"k_min": 1, "unprotected": 3}
    told = judge_manifest(stated, WORDS)
    assert "3 of 60 users are not protected" in told.heading
    assert "3 of these users are not protected" in told.paragraph


@pytest.mark.parametrize(
    ("share", "number", "tone"),
    [(0.0, None, "warns"), (0.05, 3, "some"), (0.717, 43, "many"), (1.0, 60, "many")],
)
def test_users_whose_class_agrees_are_counted_in_the_heading(stated, share, number, tone):
    """The share is published rounded up to 0.1 %: 43 of 60 users are 71.67 %."""
    stated["protection"]["unanimous_rows"] = share
    stated["utility"]["jaccard"] = 0.4
    told = judge_manifest(stated, WORDS)
    assert told.tone == tone
    assert ("p to " in told.heading) == bool(share)
    if number:
        assert f"p to {number} of 60 users" in told.heading


def test_only_what_is_promised_is_said(stated):
    stated["privacy"]["promise"] = ["equivalence classes"]
    assert "at least half of its class" not in WORDS.promise(stated)
    assert [title for title, _ in WORDS.promised(stated)] == ["Equal rows.", "One in k."]
    assert len(WORDS.checks(stated)) == 1


def test_a_release_that_keeps_little_says_so(stated):
    stated["utility"]["jaccard"] = 0.4
    assert any("Less than half" in warning for warning in WORDS.warnings(stated))


def test_keys_of_people_are_told_as_such(stated):
    stated["keyed"] = True
    assert "fresh keys" in WORDS.columns(stated)[1].shown
    assert any("may find the person's key" in warning for warning in WORDS.warnings(stated))
    assert "Protection of people as items." in dict(WORDS.not_promised(stated))
    assert "fresh key" in page.render_release_page(stated, np.array([5, 5]), WORDS)


@pytest.mark.parametrize("name", list_templates())
def test_documents_are_filled(stated, name):
    text = fill_template(name, stated, WORDS)
    assert "is not in the manifest" not in text
    assert WORDS.promise(stated).split(". ")[0] in text


@pytest.mark.parametrize(("below", "result"), [(0, WITHIN), (2, ABOVE)])
def test_users_in_small_classes_are_held_against_the_promise(stated, below, result):
    stated["privacy"]["classes_below_k"] = below
    line = list_risk_lines(stated, WORDS)[0]
    assert line.people.startswith(f"{below} of {stated['privacy']['records']} users")
    assert line.result == result


def test_users_are_linked_by_the_items_that_find_most(stated):
    known = {"success": 0.01, "promised": 0.25, "above": 0.0, "tried": 40, "of": 40}
    stated["attacks"] = {
        "1 known item": known,
        "2 known items": known | {"success": 0.2, "above": 0.1},
        "5 known items": known | {"success": None, "above": None, "tried": 0},
    }
    line = list_risk_lines(stated, WORDS)[1]
    assert line.people == "4 of 40 users with 2 items or more (10.0 %)"
    assert "other data that has 2 items of each" in line.finding
    assert "1 in 5" in line.finding
    assert line.result == ABOVE
    stated["attacks"] = {}
    assert "Not counted" in list_risk_lines(stated, WORDS)[1].finding


@pytest.mark.parametrize(("share", "people"), [(0.25, "Up to "), (0.0, "0 of ")])
def test_items_of_a_whole_class_are_learnt(stated, share, people):
    stated["protection"]["unanimous_rows"] = share
    line = list_risk_lines(stated, WORDS)[2]
    assert line.people.startswith(people)
    assert (line.result, line.warns) == (NO_LIMIT, share > 0)
