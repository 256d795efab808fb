"""The checklist of the safe harbor: 18 items, none of them answered."""

from crowdcover.reports import hipaa
from tests.reports.browsed import Page
from tests.reports.of_tables import render_page
from tests.reports.samples import crowds, full, old


def test_all_18_items_stand_open() -> None:
    html = render_page(full(), crowds())
    assert [item.letter for item in hipaa.build_checklist(full())] == list("ABCDEFGHIJKLMNOPQR")
    assert html.count('<span class="box"></span> no <span class="box"></span> yes') == 18
    text = Page(html).text
    assert "crowdcover has checked none of it" in text
    assert all(
        f"({item.letter}) {item.identifier}" in text for item in hipaa.build_checklist(full())
    )


def test_shows_what_the_plan_shows_and_no_more() -> None:
    shown = {item.letter: item.shown for item in hipaa.build_checklist(full()) if item.shown}
    assert shown == {
        "C": "published as dates: admitted",
        "R": "rows have random keys; paragraph (c) is about such codes",
    }
    assert hipaa.list_published_columns(full()) == "age, sex, illness, ward, admitted"
    assert not any(item.shown for item in hipaa.build_checklist(old()))
