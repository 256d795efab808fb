"""report.html as a browser would take it apart."""

import re

import numpy as np
import pytest

from crowdcover.kinds.table.report import crowd_plots as plots
from crowdcover.reports.quantities import NOT_STATED
from tests.reports.browsed import Page, headings_are_in_order_and_tables_named
from tests.reports.of_tables import render_page
from tests.reports.samples import (
    HOSTILE,
    Crowds,
    alarming,
    attack,
    broken,
    crowds,
    full,
    manifest,
    old,
)


@pytest.fixture(scope="module")
def html() -> str:
    return render_page(manifest(), crowds())


def test_loads_nothing_from_elsewhere(html: str) -> None:
    assert not re.search(r"https?:|//[a-z]|@import|@font-face", html)
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))
    for tag, attributes in Page(html).elements:
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in {
                "src",
                "srcset",
                "href",
                "xlink:href",
                "action",
            } or value.startswith("#")


def test_is_well_formed(html: str) -> None:
    assert html.startswith("<!DOCTYPE html>")
    parsed = Page(html)
    assert not parsed.open
    assert parsed.named("html")[0]["lang"] == "en"
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', html)
    assert targets
    assert {first or other for first, other in targets} <= set(ids)


def test_headings_are_in_order_and_tables_named(html: str) -> None:
    headings_are_in_order_and_tables_named(Page(html))


def test_plots_have_a_text_alternative_and_take_their_colours_from_the_page(html: str) -> None:
    drawn = [
        attributes
        for attributes in Page(html).named("svg")
        if "plot" in attributes["class"].split()
    ]
    assert len(drawn) == 4
    for attributes in drawn:
        assert attributes["role"] == "img"
        title, told = (
            Page(html).told(attributes[name]) for name in ("aria-labelledby", "aria-describedby")
        )
        assert len(title) > 20
        assert len(told) > 20
    inside = "".join(re.findall(r'<svg class="plot".*?</svg>', html, flags=re.DOTALL))
    assert not re.search(r"(?:fill|stroke): ?#", inside)
    assert set(re.findall(r"var\(--([a-z-]+)\)", html)) <= set(re.findall(r"--([a-z-]+):", html))


def test_says_what_is_promised_and_what_is_not(html: str) -> None:
    text = Page(html).text
    for said in (
        "sample v7",
        "2026-11-20 21:30 UTC",
        "500",
        "The privacy promise holds",
        "k from 5 to 100",
        "matchable",
        "l-diversity",
        "Differential privacy",
        "Equivalence classes",
        "k = 1",
        "Invented example",
        "0.906",
        "55.1 %",
        "11.2 %",
        "88.8 %",
        "858 MiB",
        "2 min 9 s",
        "3f" * 32,
        "for the median person 43",
        "grouped as in the plan, no other has 321",
        "leave out 17",
        "equivalence class) 1",
        "Sensitive values in the least diverse crowds",
        "illness 2 1.75 0.62",
    ):
        assert said in text, said


def test_files_are_listed_once_they_are_known(html: str) -> None:
    listed = render_page({**manifest(), "files": {"data.parquet": "ab" * 32}}, crowds())
    assert "ab" * 32 in listed
    assert "data.parquet" not in html


def test_same_input_gives_the_same_bytes(html: str) -> None:
    shuffled = crowds()
    order = np.random.default_rng(5).permutation(500)
    shuffled = Crowds(
        shuffled.demanded[order], shuffled.compatible[order], shuffled.matchable[order]
    )
    assert render_page(manifest(), shuffled) == html


def test_own_settings_of_the_machine_do_not_matter(html: str) -> None:
    import matplotlib

    with matplotlib.rc_context(
        {"font.size": 30, "axes.grid": True, "svg.hashsalt": None, "lines.linewidth": 9}
    ):
        assert render_page(manifest(), crowds()) == html


@pytest.mark.long
@pytest.mark.parametrize("key", ["below_k", "matchable_below_k", "untruthful_rows"])
@pytest.mark.parametrize("found", [12, None])
def test_a_failed_or_missing_check_fails_the_page(key: str, found: int | None) -> None:
    parsed = Page(render_page(broken(key, found), crowds(short=12)))
    assert "Refused: the privacy promise does not hold" in parsed.text
    assert "The privacy promise holds" not in parsed.text
    assert "Do not use this release" in parsed.text
    assert any(
        attributes.get("class") == "verdict fails loud" for attributes in parsed.named("section")
    )
    assert "fewer than demanded: 12 people" in parsed.told("plot-ratio-desc")
    bad = [attributes for attributes in parsed.named("dd") if attributes.get("class") == "bad"]
    assert len(bad) == (key == "matchable_below_k")  # 0 people are no bad figure


def test_hostile_column_names_stay_text() -> None:
    hostile = {**manifest(columns=HOSTILE), "name": "<i>n</i>", "files": {"<u>": "ab"}}
    html = render_page(hostile, crowds())
    parsed = Page(html)
    assert not parsed.open
    assert not {"script", "i", "u"} & {tag for tag, _ in parsed.elements}
    assert all(link["href"].startswith("#") for link in parsed.named("a"))
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "\x1b" not in html
    assert "\u202e" not in html
    for name in (
        "<script>alert(1)</script>",
        "a|b",
        "[red]x[/red]",
        "$x_{1}$",
        "{{ 7 * 7 }}",
        "w" * 90,
        HOSTILE[7],
    ):
        assert name in parsed.texts, name


@pytest.mark.long
@pytest.mark.parametrize("columns", [1, 30, 31, 60])
@pytest.mark.parametrize("iterations", [0, 1, 50])
def test_sizes_of_the_release(columns: int, iterations: int) -> None:
    names = tuple(f"column {place}" for place in range(columns))
    release = manifest(columns=names, iterations=iterations)
    parsed = Page(render_page(release, crowds()))
    assert not parsed.open
    assert set(names) <= set(parsed.texts)
    assert sum(a["id"].startswith("plot-columns") for a in parsed.named("svg") if "id" in a) == -(
        -columns // 30
    )


@pytest.mark.parametrize(
    ("records", "k"), [(2, (2, 2)), (2, (1, 1)), (2, (1, 2)), (500, (10, 10)), (500, (499, 500))]
)
def test_edges_of_the_demand(records: int, k: tuple[int, int]) -> None:
    parsed = Page(render_page(manifest(records=records, k=k), crowds(records, k)))
    assert (f"k = {k[0]} for everyone" in parsed.text) == (k[0] == k[1])


def test_a_table_that_nobody_can_be_seated_in() -> None:
    seats = crowds()
    html = render_page(
        broken("matchable_below_k", 500),
        Crowds(seats.demanded, seats.compatible, seats.matchable * 0),
    )
    assert "500 (100.0 %)" in html


def test_groups_count_everybody_once() -> None:
    demanded = np.full(7, 10, dtype=np.int32)
    matchable = np.array([9, 10, 11, 20, 50, 100, 101])
    groups = plots._ratio_groups(Crowds(demanded, matchable, matchable))
    assert [number for _, number in groups] == [1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("records", [2, 20, 5000])
def test_curves_pass_through_few_sizes(records: int) -> None:
    seats = crowds(records, (1, min(records, 100)))
    sizes = plots._choose_thresholds(seats)
    # The plan's own k and the next size are added to the coarse spread.
    assert len(sizes) <= max(4, min(plots.MOST_THRESHOLDS, records // 5)) + 3
    shares = plots._share_at_least(seats.demanded, sizes)
    assert shares == pytest.approx([np.mean(seats.demanded >= size) for size in sizes])


def test_a_release_that_was_made_before_has_a_page() -> None:
    text = Page(render_page(old(), crowds())).text
    for measured in (
        "Sensitive values in the least diverse crowds",
        "Over-protection",
        "Attacks in numbers",
        "Approved by",
        "Time and memory",
    ):
        assert measured not in text
    for said in (
        "The privacy promise holds",
        "No attacks are recorded",
        "No approval is recorded",
        "No earlier release that shares",
        "No comparison with an earlier release",
        "Not measured for this release: how diverse",
    ):
        assert said in text, said


def test_says_how_attacks_fared_who_approved_and_what_came_before() -> None:
    parsed = Page(render_page(full(), crowds()))
    for said in (
        "An insider 3.0 % (1 in 33) 3.0 % no better 0.0 % 0.0 % 0.0 % 0.0 %",
        "Above 1.5/k",
        "0 of 500 people can be found with a chance above 1 in their own k (5 to 100)",
        "The strongest of those attackers is right with a chance of 1 in 33 on average.",
        "knows all quasi-identifiers of everybody",
        "Approved by R. Okafor When 2026-11-20 20:00 UTC Note numbers read",
        "in an earlier one too 480",
        "once releases are compared 0 0 holds",
        "the last release before this one v6",
        "data.parquet",
    ):
        assert said in parsed.text, said
    assert "Before you use this release" not in parsed.text
    assert "An insider: 3.0 % (1 in 33), by guessing 3.0 %" in parsed.told("plot-attacks-desc")


def test_says_first_what_else_does_not_hold() -> None:
    text = Page(render_page(alarming(), crowds())).text
    before, after = text.split("Promised to every person")
    for said in (
        "120 of 500 people (24.0 %) fit only rows that show one value of illness, although the "
        "privacy promise holds",
        "Before you use this release",
        "Can something be learnt about somebody? 120 of 500 people (24.0 %) fit only rows that "
        "show the same value of illness",
        "Limit: 10.0 % of all, by the plan. It is not kept.",
        "8.2 % instead of 3.0 % on average",
        "For 21.0 % of the people, an insider gives one row more than three times the probability",
        "The plan requires an approval, but none is recorded",
    ):
        assert said in before, said
    for said in (
        "Attack 'tea leaves'",
        "better 90.0 % 70.0 % 21.0 % 21.0 %",
        "Columns gone age, sex",
    ):
        assert said in after, said


def test_crowds_that_shrink_when_releases_are_compared_break_the_promise() -> None:
    release = full()
    release["second_release"]["below_k"] = 4
    text = Page(render_page(release, crowds())).text
    assert "Refused: the privacy promise does not hold" in text
    assert "once releases are compared, 4" in text


def test_hostile_words_in_optional_sections_stay_text() -> None:
    release = full()
    for hostile in HOSTILE:
        release["attacks"][hostile] = attack(0.5, 0.1, (1.0, 1.0, 1.0)) | {"above": {hostile: 0.5}}
        release["drift"][hostile] = [hostile, {hostile: hostile}]
    release["approval"] |= {"by": HOSTILE[0], "note": HOSTILE[8], "at": HOSTILE[1]}
    html = render_page(release, crowds())
    parsed = Page(html)
    assert not parsed.open
    assert not {"script", "i", "u"} & {tag for tag, _ in parsed.elements}
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert HOSTILE[0] in parsed.texts


def test_unusual_numbers_do_not_stop_the_page() -> None:
    release = manifest()
    release["utility"]["per_column"]["age"] = {"exact": None, "ncp": float("nan")}
    release["utility"]["gcp"] = None
    release["protection"] = {"sensitive": {"illness": {"distinct": None, "distance": float("nan")}}}
    del release["created"], release["timings"]
    parsed = Page(render_page(release, crowds()))
    assert NOT_STATED in parsed.text
