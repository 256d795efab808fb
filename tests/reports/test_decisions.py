"""What the report asks of a person."""

import pytest

from crowdcover.reports import decisions
from tests.reports.browsed import Page
from tests.reports.of_tables import markdown, render_page
from tests.reports.samples import HOSTILE, broken, crowds, full, manifest, old


def texts(release):
    return [decision.text for decision in decisions.list_decisions(release)]


def test_columns_without_masks_are_asked_about():
    assert texts(full())[0] == (
        "Can others know the values of the columns illness, ward and admitted? They are published "
        "unmasked. A column that others can know must be a quasi-identifier."
    )
    assert not any("unmasked" in text for text in texts(old()))


@pytest.mark.parametrize(
    ("number", "said"), [(5, "c0, c1, c2, c3 and c4?"), (6, "columns c0, c1, c2, c3 and 2 more?")]
)
def test_many_columns_are_counted(number, said):
    release = manifest()
    release["columns"] = {f"c{place}": {"role": "sensitive"} for place in range(number)}
    assert said in texts(release)[0]


def test_the_recipient_is_named_where_the_plan_names_one():
    assert "The plan names as recipient: anyone." in texts(full())[1]
    assert "recipient:" not in texts(manifest())[1]


def test_page_and_artifact_ask_the_same_and_lead_to_the_sections():
    parsed = Page(render_page(full(), crowds()))
    for decision in decisions.list_decisions(full()):
        assert decision.text in parsed.text
        assert decision.text.split(".")[0] in markdown(full())
    links = [link["href"] for link in parsed.named("a")]
    assert links == ["#risks", "#columns", "#risks"]


def test_a_release_that_fails_is_not_to_be_decided_about():
    assert decisions.HEADING in Page(render_page(full(), crowds())).text
    assert decisions.HEADING not in Page(render_page(broken(), crowds())).text
    assert decisions.HEADING not in markdown(broken())


def test_hostile_names_stay_text():
    release = manifest()
    release["columns"] = {name: {"role": "keep"} for name in HOSTILE}
    html = render_page(release, crowds())
    assert not {"script", "i"} & {tag for tag, _ in Page(html).elements}
    assert "\x1b" not in html
