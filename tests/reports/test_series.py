"""Page and summary of a version: all rows where the whole is meant, new rows where they are."""

import io
import re

import pytest
from rich.console import Console

from crowdcover.kinds.table.report.words import WORDS
from crowdcover.reports import history, series
from crowdcover.reports.messages import load_messages
from tests.reports import browsed, samples
from tests.reports.of_tables import markdown, render_page, terminal, verdict


def told(manifest) -> str:
    out = io.StringIO()
    terminal(manifest, Console(file=out, width=100))
    return " ".join(out.getvalue().replace("│", " ").split())


@pytest.fixture(scope="module")
def html() -> str:
    return render_page(samples.version(), samples.crowds(k=(10, 10)))


def text(page: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", page).split())


def test_whole_versions_are_promised_and_counted(html) -> None:
    manifest = samples.version()
    assert "Each of the 4,500 people in this release" in verdict(manifest).paragraph
    assert "all 3 versions so far together" in verdict(manifest).paragraph
    first = WORDS.headline(manifest)[0]
    assert first.value == "4,500"
    assert "4,000 rows stay from before, 500 are new" in first.label
    assert WORDS.headline(manifest)[-1].value == "88.0 %"
    assert "The release has 4,500 people" in text(html)
    assert re.search(r"Published rows\s+4,500", text(html))


def test_numbers_of_new_rows_say_so(html) -> None:
    short = "these numbers are about the 500 rows that are new in version 3, not about all 4,500."
    assert text(html).count(short) == 4  # checks, attacks, crowds, information
    worse = samples.version() | {"protection": samples.alarming()["protection"]}
    for warning in WORDS.warnings(worse):
        assert "500 new rows only" in warning or "versions" in warning
    for block in (*WORDS.protection(samples.version())[3:], *WORDS.utility(samples.version())):
        assert "500 new rows only" in block.heading or "both" in block.heading


def test_the_series_is_shown_by_version(html) -> None:
    for heading in load_messages("crowdcover.reports").name_entries("series_headings").values():
        assert heading in text(html)
    assert html.count('id="plot-series"') == html.count('id="plot-crowds-by-version"') == 1
    assert "Version 3: 4,000 stay, 500 new, 202 withdrawn, 3 waiting." in html
    line = (
        "Version 3 of a series: 4,000 rows stay from before and 500 are new. 202 rows of version 2 "
        "were withdrawn (30 left; 2 on request; 60 changed; 110 to keep crowds). 170 of the 4,202 "
        "rows of version 2 (4.0 %) were issued anew, because 92 people left, changed or asked for "
        "it. 3 source rows wait for a later version."
    )
    assert line in text(html)
    assert line in told(samples.version())
    assert "Version 3 of a series" in markdown(samples.version())


def test_promise_and_its_limits(html) -> None:
    page = text(html)
    assert "Comparing versions tells no more." in page
    assert "at least k histories whose rows all show the same ward" in page
    assert "may exclude some" in page
    assert "41 of 5,000 people who ever had a row have fewer than k rows" in page
    assert "Nobody can take back a copy." in page


def test_without_constant_columns_links_are_not_measured() -> None:
    manifest = samples.version()
    manifest["series"]["constant"] = []
    (figure,) = [
        each
        for risk in WORDS.risks(manifest)
        for each in risk.figures
        if "connected by the values" in each.what
    ]
    assert figure.measured == "not measured"
    assert not [each for each in WORDS.warnings(manifest) if "No promise covers" in each]


@pytest.mark.parametrize(("changed", "warned"), [(409, False), (410, True), (4100, True)])
def test_a_column_that_changes_often_is_warned_of(changed, warned) -> None:
    manifest = samples.version()
    manifest["series"]["changed_by"]["illness"] = changed
    found = [each for each in WORDS.warnings(manifest) if "The column illness changed" in each]
    assert bool(found) == warned
    assert manifest["series"]["changed_by"]["age"] == 0


@pytest.mark.parametrize("key", ["below_k", "histories_below_k"])
@pytest.mark.parametrize("found", [1, None])
def test_a_count_over_versions_that_fails_or_is_missing_fails_the_page(key, found) -> None:
    manifest = samples.version()
    manifest["series"][key] = found
    assert verdict(manifest).tone == "fails"
    assert "4,500" in verdict(manifest).paragraph
    assert any(fact.bad for fact in WORDS.headline(manifest)) == (key == "below_k")


def test_too_few_histories_that_the_plan_states_are_said_and_not_promised() -> None:
    manifest = samples.version()
    manifest["series"] |= {"histories_below_k": 3, "allow_short_histories": 3}
    manifest["privacy"]["promise"].remove("histories")
    assert verdict(manifest).tone != "fails"
    (warning,) = [each for each in WORDS.warnings(manifest) if "the plan states it" in each]
    assert warning.startswith("3 of 5,000 people who ever had a row have fewer than k histories")
    assert "Several histories." not in {title for title, _ in WORDS.promised(manifest)}
    manifest["series"]["histories_below_k"] = 4
    assert verdict(manifest).tone == "fails"


def test_where_versions_have_new_records_only_histories_are_those_of_records() -> None:
    manifest = samples.version()
    del manifest["series"]["followed"], manifest["series"]["changed_by"]
    (text,) = [text for title, text in WORDS.promised(manifest) if title == "Several histories."]
    assert "For each record there are at least k histories" in text
    assert "or of all records of one person, may exclude some" in text


def test_a_first_version_is_not_split() -> None:
    manifest = samples.version(1)
    page = text(render_page(manifest, samples.crowds(k=(10, 10))))
    assert "It is the first version of a series." in page
    assert "new rows only" not in page
    assert "these numbers are about" not in page.lower()
    assert series.describe_version(manifest).startswith(
        "Version 1 of a series: all 500 rows are new"
    )


def test_people_with_k_of_one_are_counted_over_all_rows() -> None:
    manifest = samples.version()
    manifest["series"] |= {"k_min": 1, "unprotected": 900}
    assert verdict(manifest).heading == "900 of 4,500 people are not protected"


def test_releases_of_no_series_say_nothing_of_one() -> None:
    page = render_page(samples.full(), samples.crowds())
    assert "series" not in text(page).lower().replace("this series", "")
    assert series.describe_version(samples.full()) == ""


def test_drift_is_that_of_whole_versions() -> None:
    (part,) = [
        each for each in history.list_history_parts(samples.version()) if "Changes" in each.heading
    ]
    meanings = {fact.label: fact.meaning for fact in part.facts}
    assert meanings["Information kept before"] == "by all rows of that version, as a share"


def test_same_input_gives_the_same_bytes(html) -> None:
    assert render_page(samples.version(), samples.crowds(k=(10, 10))) == html


def test_headings_are_in_order_and_tables_named(html) -> None:
    browsed.headings_are_in_order_and_tables_named(browsed.Page(html))


def test_what_holds_of_new_rows_only_is_no_promise_of_a_version() -> None:
    """Withdrawals may leave fewer identical rows, and other chances."""
    manifest = samples.version()
    manifest["privacy"]["promise"] += ["equivalence classes", "even seats"]
    titles = {title for title, _ in WORDS.promised(manifest)}
    assert not titles & {"Identical rows.", "No row is likelier than 1 in k."}
    assert "same text" not in WORDS.promise(manifest)
    denied = {title for title, _ in WORDS.not_promised(manifest)}
    assert {"Equal odds.", "Equivalence classes."} <= denied
