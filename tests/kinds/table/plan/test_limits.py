"""[checks] on numbers alone: each number at its limit, and the message of a refusal."""

import math

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.kinds.table.plan.checks import ChecksSection

MEASURED = {
    "privacy": {"records": 95},
    "utility": {
        "suppression": 0.75,
        "cells_exact": 0.5,
        "per_column": {"age": {"exact": 0.25, "ncp": 0.375}},
    },
    "attacks": {"linkage": {"success": 0.1}, "insider": {"success": 0.125}},
    "protection": {
        "rows_left_out": 5,
        "equivalence_classes": {"number": 12, "k": 4},
        "reidentification": {
            "prosecutor_highest": 0.25,
            "population": 2000,
            "journalist_highest": 0.03,
            "journalist": 0.01,
            "known": {"columns": ["age", "town"], "rows": 7},
        },
        "sensitive": {
            "illness": {
                "distinct": 3,
                "uniform": 19,
                "effective": 2.5,
                "odds": [1.5, 4.0] + [None] * 7,
                "distance": 0.25,
            }
        },
    },
}


def limits(**stated):
    return ChecksSection(**stated).release_limits


def diverse(**stated):
    return limits(l_diversity={"column": "illness", **stated})


@pytest.mark.parametrize(
    ("reached", "missed", "words"),
    [
        (
            limits(min_utility=0.75),
            limits(min_utility=0.76),
            r"utility 0\.7500 is below checks\.min_utility = 0\.76; lower k",
        ),
        (
            limits(columns={"age": 0.625}),
            limits(columns={"age": 0.63}),
            r"column 'age' keeps 0\.6250 of its information, below checks\.columns = 0\.63; "
            "give it more weight",
        ),
        (
            diverse(l=3),
            diverse(l=4),
            "a crowd has 3 distinct values, at least l = 4 are required; raise k or lower l",
        ),
        (
            diverse(l=2, kind="entropy"),
            diverse(l=3, kind="entropy"),
            r"a crowd has 2\.50 values by entropy, at least l = 3",
        ),
        (
            diverse(l=2, kind="recursive", c=1.6),
            diverse(l=2, kind="recursive", c=1.5),
            r"the most common value of a crowd leads 1\.50 to 1, "
            r"less than c = 1\.5 is required with l = 2",
        ),
        (
            diverse(l=3, kind="recursive", c=4.1),
            diverse(l=4, kind="recursive", c=99.0),
            "value of a crowd leads without limit",
        ),
        (
            limits(t_closeness={"column": "illness", "t": 0.25}),
            limits(t_closeness={"column": "illness", "t": 0.24}),
            r"column 'illness': a crowd has distance 0\.2500 from the whole table, "
            r"above t = 0\.24; raise k or t",
        ),
        (
            limits(max_uniform=0.2),
            limits(max_uniform=0.19),
            r"column 'illness': 19 of 95 people \(20\.0 %\) fit only rows that show one value, "
            r"more than checks\.max_uniform = 0\.19 allows; raise k, set privacy\.mix to the",
        ),
        (
            limits(max_attack_success=0.125),
            limits(max_attack_success=0.12),
            r"the attack 'insider' names the right row with a chance of 0\.1250 on average, above "
            r"checks\.max_attack_success = 0\.12; raise k",
        ),
        (
            limits(equivalence_k=4),
            limits(equivalence_k=5),
            r"the smallest group of identical rows holds 4, fewer than checks\.equivalence_k = 5; "
            "let anonymizer.name be 'optimal'",
        ),
        (
            limits(max_unchanged=0.5),
            limits(max_unchanged=0.49),
            r"a share of 0\.5000 of the quasi-identifier cells is as in the source, above "
            r"checks\.max_unchanged = 0\.49; raise k or the limit",
        ),
        (
            limits(max_prosecutor=0.25),
            limits(max_prosecutor=0.24),
            r"a guess among the rows that fit a person is right with a chance of 0\.2500, above "
            r"checks\.max_prosecutor = 0\.24; raise k to 1 / the limit",
        ),
        (
            limits(max_marketer=0.1),
            limits(max_marketer=0.09),
            r"right with a chance of 0\.1000 on average, above checks\.max_marketer = 0\.09",
        ),
        (
            limits(max_journalist={"chance": 0.03, "population": 2000}),
            limits(max_journalist={"chance": 0.02, "population": 2000}),
            r"a journalist is expected to be 0\.0300, above checks\.max_journalist\.chance = 0\.02",
        ),
        (
            limits(all_m={"m": 2, "k": 7}),
            limits(all_m={"m": 2, "k": 8}),
            r"somebody fits 7 rows, by age, town, fewer than checks\.all_m\.k = 8; raise k",
        ),
        (
            limits(max_row_loss=0.05),
            limits(max_row_loss=0.0),
            r"5 of 100 source rows are left out, more than checks\.max_row",
        ),
    ],
)
def test_a_limit_is_reached_or_the_refusal_says_what_was_found_and_required(reached, missed, words):
    reached.require(MEASURED, "publication refused")
    assert reached.stated
    with pytest.raises(GuaranteeError, match=f"publication refused; .*{words}"):
        missed.require(MEASURED, "publication refused")


def test_everything_that_falls_short_is_named_at_once():
    several = limits(
        min_utility=0.9,
        columns={"age": 0.9},
        l_diversity={"column": "illness", "l": 5},
        max_row_loss=0.01,
    )
    assert len(several.list_shortfalls(MEASURED)) == 4
    with pytest.raises(
        GuaranteeError,
        match=r"^v1 stands; utility .*; column 'age' .*; column 'illness': .*; 5 of 100 .*; so$",
    ):
        several.require(MEASURED, "v1 stands", "so")


def test_equal_values_pass_by_entropy_whatever_the_last_digit():
    told = {
        **MEASURED["protection"]["sensitive"]["illness"],
        "effective": math.exp(math.log(7)) * (1 - 1e-13),
    }
    measured = {**MEASURED, "protection": {"rows_left_out": 0, "sensitive": {"illness": told}}}
    diverse(l=7, kind="entropy").require(measured, "refused")


def test_what_was_not_measured_has_not_been_reached():
    old = {
        key: dict(value) for key, value in MEASURED.items() if key not in {"protection", "attacks"}
    }
    limits(min_utility=0.5).require(old, "refused")
    close = limits(t_closeness={"column": "illness", "t": 0.9})
    for asked in (
        diverse(l=2),
        diverse(l=2, kind="entropy"),
        diverse(l=2, kind="recursive", c=9.0),
        close,
    ):
        with pytest.raises(GuaranteeError, match="was not measured when it was published"):
            asked.require(old, "refused")
    del old["utility"]["cells_exact"]
    for name in (
        *("max_uniform", "equivalence_k", "max_row_loss", "max_attack_success"),
        "max_unchanged",
    ):
        words = (
            rf"^refused; the number that checks\.{name} limits was not measured "
            rf"when it was published; leave checks\.{name} out$"
        )
        with pytest.raises(GuaranteeError, match=words):
            limits(**{name: 2 if name == "equivalence_k" else 1.0}).require(old, "refused")


def test_figures_of_another_question_are_no_answer():
    """Limits that were changed since a release was measured."""
    for asked in (
        limits(max_journalist={"chance": 1.0, "population": 3000}),
        limits(all_m={"m": 1, "k": 2}),
    ):
        with pytest.raises(GuaranteeError, match="was not measured when it was published"):
            asked.require(MEASURED, "refused")


def test_no_population_is_smaller_than_its_sample():
    asked = limits(max_journalist={"chance": 0.9, "population": 94})
    with pytest.raises(
        GuaranteeError, match=r"a population of 94 cannot hold the 95 records, above .* correct the"
    ):
        asked.require(MEASURED, "refused")


def test_every_attacker_but_chance_is_held_to_the_limit():
    attacks = {
        name: {"success": success}
        for name, success in (("linkage", 0.05), ("insider", 0.3), ("order", 0.9))
    }
    measured = {**MEASURED, "attacks": {**attacks, "tightest row": {"success": 0.2}}}
    short = limits(max_attack_success=0.1).list_shortfalls(measured)
    assert [asked.about for asked in short] == ["insider", "tightest row"]
    limits(max_attack_success=0.3).require(measured, "refused")


def test_a_number_that_is_none_has_not_been_reached():
    nan = float("nan")
    told = {"distinct": nan, "effective": nan, "odds": [nan] * 9, "distance": nan}
    measured = {
        "privacy": {"records": 95},
        "utility": {"suppression": nan, "per_column": {"age": {"exact": nan, "ncp": nan}}},
        "protection": {"rows_left_out": nan, "sensitive": {"illness": told}},
    }
    for asked in (
        limits(min_utility=0.1),
        limits(columns={"age": 0.1}),
        diverse(l=2),
        limits(max_row_loss=0.9),
    ):
        assert len(asked.list_shortfalls(measured)) == 1


def test_each_requirement_names_its_measure_and_what_was_found():
    several = limits(
        min_utility=0.9,
        columns={"age": 0.1},
        l_diversity=[
            {"column": "illness", "l": 2},
            {"column": "illness", "l": 4, "kind": "recursive", "c": 2.0},
        ],
        t_closeness={"column": "illness", "t": 0.5},
        max_row_loss=0.05,
    )
    assert [
        (each.measure, each.about, each.required, each.shown, each.holds)
        for each in several.compare(MEASURED)
    ] == [
        ("utility", None, 0.9, "0.7500", False),
        ("information", "age", 0.1, "0.6250", True),
        ("distinct values", "illness", 2, "3", True),
        ("odds", "illness", 2.0, "without limit", False),
        ("distance", "illness", 0.5, "0.2500", True),
        ("row loss", None, 0.05, "5 of 100", True),
    ]


def test_nothing_is_asked_by_default():
    assert not limits().stated
    assert list(limits().compare(MEASURED)) == []
    limits().require(MEASURED, "refused")
