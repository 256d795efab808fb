"""One verdict: its tone never contradicts its warnings, and k = 1 never looks protected."""

import copy
import io
import re

import pytest
from rich.console import Console

from crowdcover.kinds.table.report.words import WORDS
from crowdcover.reports.risk_lines import list_risk_lines
from crowdcover.reports.terminal import summary
from crowdcover.reports.verdict import FAILS, HOLDS
from tests.reports.browsed import Page
from tests.reports.of_tables import markdown, render_page, verdict
from tests.reports.samples import (
    alarming,
    attack,
    broken,
    crowds,
    full,
    manifest,
    matchable,
    of_rows,
    old,
    uniform,
    unprotected,
    version,
)

GREEN = 'class="verdict holds"'


@pytest.mark.long
def test_only_a_release_without_any_warning_is_green() -> None:
    assert verdict(full()).tone == "holds"
    assert verdict(full()).heading == HOLDS
    for release in (manifest(), matchable(), alarming(), old(), of_rows(), unprotected(500)):
        judged = verdict(release)
        assert judged.tone != "holds"
        assert GREEN not in render_page(release, crowds())
        lines = list_risk_lines(release, WORDS)
        assert judged.notices or any(each.warns for each in lines) or judged.heading != HOLDS


@pytest.mark.long
@pytest.mark.parametrize("release", [full, manifest, alarming, old, of_rows, unprotected, broken])
def test_the_heading_counts_the_warnings_that_stand_below_it(release) -> None:
    judged = verdict(release())
    page = Page(render_page(release(), crowds())).text
    assert all(notice.text in page for notice in judged.notices)
    if counted := re.search(r"with (\d+) warning", judged.heading):
        lines = list_risk_lines(release(), WORDS)
        assert int(counted[1]) == len(judged.notices) + sum(line.warns for line in lines)
    assert ("Before you use this release" in page) == bool(judged.notices)


@pytest.mark.parametrize(
    ("number", "said"), [(1, "1 of 500 people is"), (12, "12 of 500 people are")]
)
def test_some_people_with_k_1_are_named_in_the_verdict(number: int, said: str) -> None:
    release = unprotected(number)
    judged = verdict(release)
    assert judged.heading == f"{said} not protected"
    assert judged.tone == "some"
    assert f"{number} of the 500 people in this release" in judged.paragraph
    assert f"Each of the other {500 - number} hides among" in judged.paragraph
    text = Page(render_page(release, crowds(k=(1, 100)))).text
    assert "Promised to every person, if k is 2 or more" in text
    assert "People with k = 1, whom no promise protects" in text


def test_where_everyone_has_k_1_nothing_looks_protected() -> None:
    release = unprotected(500)
    release["attacks"] = {"insider": attack(0.5, 1.0, (0.0, 0.0, 0.0))}
    html = render_page(release, crowds(k=(1, 1)))
    assert verdict(release).heading == "Nobody is protected: k = 1 for all 500 people"
    assert 'class="verdict fails loud"' in html
    assert 'class="plain yes"' not in html
    assert html.count('class="pass">demands nothing') == 0
    assert html.count('class="open">demands nothing') == 3
    assert html.count('class="pass">holds') == 2  # truth of rows, and other releases
    shown = Page(html).text
    assert "0 of 500 (0.0 %) 0: the promise nothing demanded" in shown
    assert "hides among" not in verdict(release).paragraph
    assert HOLDS not in markdown(release)


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "tone", "heading"),
    [
        (0, "holds", HOLDS),
        (1, "some", f"{HOLDS}, but 1 of 500 people (0.2 %) fits only rows that show one value"),
        (49, "some", f"{HOLDS}, but 49 of 500 people (9.8 %) fit only rows that show one value"),
        (50, "many", "50 of 500 people (10.0 %) fit only rows that show one value of illness"),
        (500, "many", "500 of 500 people (100.0 %) fit only rows that show one value"),
    ],
)
def test_the_heading_says_of_how_many_a_value_is_known(number, tone, heading) -> None:
    release = uniform(number)
    judged = verdict(release)
    assert (judged.tone, judged.loud) == (tone, tone == "many")
    assert judged.heading.startswith(heading)
    assert ("although the privacy promise holds" in judged.heading) == (tone == "many")
    assert f'class="verdict {tone}{" loud" * judged.loud}"' in render_page(release, crowds())


def test_the_heading_names_the_column_of_most_people() -> None:
    release = uniform(7, ward=9, drug=8)
    assert verdict(release).heading.endswith("9 of 500 people (1.8 %) fit only rows that show "
                                             "one value of ward")  # fmt: skip


def test_an_older_release_that_does_not_count_them_says_that_there_are_some() -> None:
    release = uniform(1)
    del release["protection"]["sensitive"]["illness"]["uniform"]
    judged = verdict(release)
    assert judged.tone == "many"  # it may be many
    assert judged.heading.startswith("Some people fit only rows that show one value of illness")


def test_the_heading_of_a_later_version_counts_its_new_rows() -> None:
    release = version()
    release["protection"]["sensitive"]["illness"] |= {"distinct": 1, "uniform": 20}
    assert "but 20 of 500 people with a new row (4.0 %) fit only rows" in verdict(release).heading


def test_people_without_protection_are_named_before_people_whose_value_is_known() -> None:
    release = unprotected()
    release["protection"]["sensitive"]["illness"] |= {"distinct": 1, "uniform": 120}
    assert verdict(release).tone == "many"
    assert verdict(release).heading == (
        "12 of 500 people are not protected, and 120 of 500 people (24.0 %) fit only rows that "
        "show one value of illness"
    )


@pytest.mark.long
def test_the_states_look_and_read_differently_without_colours() -> None:
    """A sign and words of its own for each state; what must not be overlooked is larger."""
    seen = [full(), manifest(), uniform(20), uniform(120), broken()]
    judged = [verdict(release) for release in seen]
    assert [each.tone for each in judged] == ["holds", "warns", "some", "many", "fails"]
    signs = [
        re.search(r'<svg class="sign".*?<path d="([^"]+)"', render_page(each, crowds()), re.DOTALL)[
            1
        ]
        for each in seen
    ]
    assert len(set(signs)) == 4  # some and many share the eye
    assert signs[2] == signs[3]
    assert judged[4].heading == FAILS
    assert [each.loud for each in judged] == [False, False, False, True, True]


def test_rows_likelier_than_1_in_k_are_a_warning_where_nothing_bounds_them() -> None:
    judged, (picked, *_) = verdict(matchable()), list_risk_lines(matchable(), WORDS)
    assert judged.heading == f"{HOLDS}, with 1 warning"
    assert picked.warns
    assert picked.people == "206 of 500 people (41.2 %)"
    assert picked.finding.startswith("have a row that is likelier than 1 in k")


def test_an_older_release_with_k_1_says_that_some_are_not_protected() -> None:
    release = unprotected()
    del release["privacy"]["unprotected"]
    assert verdict(release).heading == "Some people are not protected"
    assert verdict(release).tone == "many"  # it may be many
    assert "Some people have k = 1" in verdict(release).paragraph


@pytest.mark.parametrize("lost", [{"unprotected": 0}, {"unprotected": None}])
def test_a_count_that_contradicts_the_demands_protects_nobody(lost) -> None:
    release = unprotected()
    release["privacy"] |= lost
    assert verdict(release).tone == "many"
    assert "not protected" in verdict(release).heading


def test_a_broken_promise_outweighs_all_else() -> None:
    release = unprotected()
    release["privacy"]["matchable_below_k"] = 3
    assert verdict(release).tone == "fails"
    assert "does not hold" in verdict(release).heading
    assert "3" in verdict(release).paragraph


def test_rows_are_not_called_people_where_the_plan_counts_rows() -> None:
    judged = verdict(of_rows())
    assert judged.paragraph.startswith("Each of the 500 source rows in this release hides among")
    assert any("promise is about rows of the source" in notice.text for notice in judged.notices)
    assert "people in this release" not in Page(render_page(of_rows(), crowds())).text


@pytest.mark.long
def test_all_views_state_one_verdict() -> None:
    for make in (full, alarming, unprotected, broken, of_rows):
        release = make()
        judged = verdict(release)
        screen = Console(width=400, file=io.StringIO())
        summary.print_release(release, screen, WORDS)
        heading = judged.heading[:1].lower() + judged.heading[1:]
        assert heading in screen.file.getvalue()
        marked = f"## {judged.heading}" if judged.loud else f"**{judged.heading}.**"
        assert marked in markdown(release)
        assert judged.heading in Page(render_page(release, crowds())).text


def test_the_values_of_many_columns_are_one_line() -> None:
    release = copy.deepcopy(full())
    crowd = release["protection"]["sensitive"]["illness"] | {"uniform": 7}
    release["protection"]["sensitive"] = {f"c{place}": crowd for place in range(9)}
    learnt = list_risk_lines(release, WORDS)[2]
    assert learnt.people == "7 of 500 people (1.4 %)"
    assert "the same value of c0" in learnt.finding
    assert "Of 8 more columns some people's value is learnt so, too." in learnt.finding
