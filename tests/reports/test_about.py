"""What the plan says of the release, and the roles of all columns."""

import pytest

from crowdcover.reports import about
from tests.reports.browsed import Page
from tests.reports.of_tables import markdown, render_page
from tests.reports.samples import HOSTILE, crowds, full, manifest, old


def test_what_the_plan_states_is_shown() -> None:
    text = Page(render_page(full(), crowds())).text
    for said in (
        "patients of two clinics",
        "privacy@clinic.example",
        "the last day on which questions are answered 2027-12-31",
    ):
        assert said in text
    assert "not stated in the plan" not in text
    assert "2027-12-31" in markdown(full())


@pytest.mark.parametrize("make", [manifest, old])
def test_what_the_plan_does_not_state_is_said(make) -> None:
    assert [fact.value for fact in about.list_stated_entries(make())] == [about.UNSTATED] * 8
    assert Page(render_page(make(), crowds())).text.count("not stated in the plan") == 8


def test_every_column_of_the_source_has_its_role() -> None:
    text = Page(render_page(full(), crowds())).text
    for said in (
        "passport identifier nothing",
        "age quasi-identifier masked values",
        "illness sensitive the values as they are",
        "ward kept the values as they are",
        "k dropped nothing; k is read from it",
    ):
        assert said in text
        column, role = said.split()[:2]
        assert f"| {column} | {role}" in markdown(full())
    assert "The columns are not stated" in Page(render_page(old(), crowds())).text


def test_hostile_words_of_the_plan_stay_text() -> None:
    release = full()
    release["about"] = {key: HOSTILE[place] for place, key in enumerate(release["about"])}
    release["columns"] = {name: {"role": name} for name in HOSTILE}
    html = render_page(release, crowds())
    assert not {"script", "i"} & {tag for tag, _ in Page(html).elements}
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert HOSTILE[0] in Page(html).texts
