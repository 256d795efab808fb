"""The verdict page as a browser would take it apart, and its short form for Prefect."""

import json
import re

import pytest

from crowdcover.kinds.table.report.words import WORDS
from crowdcover.reports import markdown
from crowdcover.reports.pages.verdicts import list_checks, list_constant_checks
from tests.reports.browsed import Page, headings_are_in_order_and_tables_named
from tests.reports.of_tables import render_verdicts
from tests.reports.samples import HOSTILE, run, verdicts

CHECKS, ALWAYS = list_checks(WORDS), list_constant_checks(WORDS)
PAGES = {
    "passed": render_verdicts(run("people v1"), verdicts()),
    "refused": render_verdicts(run(), verdicts(refused_at="audited")),
    "under way": render_verdicts(run(), verdicts()[:3]),
    "nothing": render_verdicts(run(), []),
    "hostile": render_verdicts(run("<b>v1</b>"), verdicts(columns=HOSTILE, refused_at="ingested")),
}


@pytest.mark.parametrize("html", PAGES.values(), ids=PAGES)
def test_loads_nothing_and_is_well_formed(html: str) -> None:
    parsed = Page(html)
    assert html.startswith("<!DOCTYPE html>")
    assert not parsed.open
    assert parsed.named("html")[0]["lang"] == "en"
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in parsed.elements:
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in {"src", "srcset", "action"}
            assert name != "href" or value.removeprefix("#") in ids
    styles = "".join(re.findall(r"<style>.*?</style>", html, flags=re.DOTALL))
    assert not re.search(r"https?:|@import|@font-face|url\(", styles)
    assert set(re.findall(r"var\(--([a-z-]+)\)", html)) <= set(re.findall(r"--([a-z-]+):", html))


@pytest.mark.parametrize("html", PAGES.values(), ids=PAGES)
def test_headings_are_in_order_and_tables_named(html: str) -> None:
    headings_are_in_order_and_tables_named(Page(html))


def test_a_run_that_passed_says_so_and_what_was_expected() -> None:
    parsed = Page(PAGES["passed"])
    for said in (
        "people v1",
        "Every check was passed",
        "All 25 expectations hold",
        "of 10 checks passed 10",
        "e4298546c78fe333",
        "3f" * 32,
        "crowdcover 0.1.0",
        "2026-11-20 21:30 UTC",
        "At least 0.85 of all bits stay visible.",
        "0.9063",
        "illness",
        WORDS.findings["matchable crowds"],
        "0 of 500 records fit fewer than k rows",
    ):
        assert said in parsed.text, said
    assert "What does not hold" not in parsed.text
    assert all(check.title in parsed.text for check in CHECKS.values())
    assert any(attributes.get("class") == "verdict holds" for attributes in parsed.named("section"))


@pytest.mark.parametrize("name", CHECKS)
def test_a_refusal_names_its_check_and_what_does_not_hold(name) -> None:
    if name in {"binarized", "released"}:
        told = verdicts()[: list(CHECKS).index(name) + 1]
        told[-1]["verdict"]["outcomes"][1]["success"] = False
    else:
        told = verdicts(refused_at=name)
    parsed = Page(render_verdicts(run(), told))
    wrong = [outcome for outcome in told[-1]["verdict"]["outcomes"] if not outcome["success"]]
    assert f"Refused: {CHECKS[name].title.lower()}" in parsed.text
    assert (
        f"{len(wrong)} of {len(told[-1]['verdict']['outcomes'])} expectations of this check do "
        f"not hold" in parsed.text
    )
    assert any(
        attributes.get("class") == "verdict fails loud" for attributes in parsed.named("section")
    )
    lists = [
        parsed.texts.count(outcome["words"] or WORDS.findings[outcome["expectation"]])
        for outcome in wrong
    ]
    assert min(lists) >= 2  # among those that do not hold, and in the table of the check
    assert parsed.texts.count("no") == 2 * len(wrong)
    assert "Every check was passed" not in parsed.text


def test_what_was_not_judged_is_not_said_to_hold() -> None:
    for name in ("under way", "nothing"):
        parsed = Page(PAGES[name])
        assert "Passed so far" in parsed.text
        assert parsed.texts.count("not reached") == len(ALWAYS) - (2 if name == "under way" else 0)
        assert not any(
            attributes.get("class") == "verdict holds" for attributes in parsed.named("section")
        )


def test_what_every_border_let_pass_is_not_said_to_be_published() -> None:
    parsed = Page(render_verdicts(run(), verdicts()))
    assert "Passed so far" in parsed.text
    assert "nothing was published so far" in parsed.text
    assert "Every check was passed" not in parsed.text


def test_a_border_that_not_every_plan_has_is_shown_only_where_it_was_met() -> None:
    told = [each for each in verdicts() if each["verdict"]["suite"] in ALWAYS]
    parsed = Page(render_verdicts(run("people v1"), told))
    assert "Every check was passed" in parsed.text
    assert not [
        check.title
        for name, check in CHECKS.items()
        if name not in ALWAYS and check.title in parsed.text
    ]


def test_a_border_that_expects_nothing_has_not_passed() -> None:
    told = verdicts()
    told[1]["verdict"]["outcomes"] = []
    assert "Every check was passed" not in Page(render_verdicts(run(), told)).text


@pytest.mark.parametrize("said", [1, "true", None])
def test_only_true_is_yes(said: object) -> None:
    told = verdicts()
    told[0]["verdict"]["outcomes"][0]["success"] = said
    assert "Refused" in Page(render_verdicts(run(), told)).text


def test_a_border_of_another_name_is_shown_as_it_is_called() -> None:
    told = verdicts()
    told.append({**told[0], "verdict": {**told[0]["verdict"], "suite": "drifted"}})
    assert "Drifted" in Page(render_verdicts(run(), told)).text


def test_hostile_names_stay_text() -> None:
    html = PAGES["hostile"]
    parsed = Page(html)
    assert not {"script", "b", "u"} & {tag for tag, _ in parsed.elements}
    assert "\x1b" not in html
    assert "\u202e" not in html
    for name in ("<script>alert(1)</script>", "a|b", "{{ 7 * 7 }}", "w" * 90):
        assert name in parsed.texts, name


def test_many_columns_scroll_and_can_be_reached_by_keyboard() -> None:
    parsed = Page(
        render_verdicts(run(), verdicts(columns=tuple(f"column {place}" for place in range(40))))
    )
    tall = [
        attributes for attributes in parsed.named("div") if "tall" in attributes.get("class", "")
    ]
    assert len(tall) == 3
    assert all(attributes["tabindex"] == "0" and attributes["aria-label"] for attributes in tall)


def test_same_verdicts_give_the_same_bytes() -> None:
    assert render_verdicts(run("people v1"), verdicts()) == PAGES["passed"]


def test_markdown_has_names_and_counts_only() -> None:
    told = [each["verdict"] for each in verdicts(refused_at="required")][-2:]
    text = markdown.render_check(told, WORDS)
    assert "# The rows to be published: 3 of 3 expectations hold" in text
    assert "# The plan's own limits: 1 of 2 expectations hold" in text
    assert text.count("- **fails**: illness: ") == text.count("fails") == 1
    assert "0.9063" not in text
    hostile = markdown.render_check([verdicts(columns=HOSTILE)[0]["verdict"]], WORDS)
    assert not re.search(r"<script|\]\(|\x1b|`", hostile)


def test_a_refusal_is_text_whatever_it_quotes() -> None:
    told = markdown.render_refusal("women", "go [checks] <b>x</b> [l](http://x.y) a_b `q` *z*\x1b")
    assert told.startswith("# women: refused, nothing was published\n\n")
    assert r"\[checks\] \<b\>x\<\/b\> \[l\](http:\/\/x.y) a\_b \`q\` \*z\*" in told
    assert "\x1b" not in told
    assert "accept" not in told
    told = markdown.render_refusal("women", "too many", ["rows", "a `q` ```\n# b"])
    (stated,) = re.findall(r"(?m)^```json\n(.*)\n```$", told)
    assert json.loads(stated) == {
        "rows": {"limit": 1, "note": "why"},
        "a `q` ```\n# b": {"limit": 1, "note": "why"},
    }
    titles = markdown.verdict_titles([each["verdict"] for each in verdicts()][:1], WORDS)
    assert titles == "The source compared with the last release: 1 of 1 expectations hold"


def test_prefect_and_the_page_say_what_is_expected_in_the_same_words() -> None:
    told = verdicts()
    shown = markdown.render_check([each["verdict"] for each in told], WORDS)
    page = Page(render_verdicts(run("people v1"), told)).texts
    for each in told:
        for outcome in each["verdict"]["outcomes"]:
            words = outcome["words"] or WORDS.findings[outcome["expectation"]]
            assert words in page
            assert words in shown
