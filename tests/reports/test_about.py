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
        "until when questions are answered 2027-12-31",
    ):
        assert said in text
    assert "The plan does not state" not in text
    assert "Patients of two clinics. Privacy report of a release" in text
    assert "2027-12-31" in markdown(full())


@pytest.mark.parametrize("make", [manifest, old])
def test_what_the_plan_does_not_state_is_said(make) -> None:
    said = "The plan does not state: title, publisher, licence, population, date of the source, "
    said += "recipient, contact, last day of answers."
    assert about.list_stated_entries(make()) == []
    assert about.describe_unstated(make()) == said
    page = render_page(make(), crowds())
    assert Page(page).text.count(said) == 1
    assert about.HEADING not in page  # no card without a fact


def test_what_is_stated_is_not_said_to_be_missing():
    release = full()
    del release["about"]["contact"]
    assert about.describe_unstated(release) == "The plan does not state: contact."
    assert about.describe_unstated(full()) == ""
    assert "Contact" not in [fact.label for fact in about.list_stated_entries(release)]


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
