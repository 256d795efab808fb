"""[checks] drift on numbers alone: each limit at its edge, and the words of a refusal."""

import shlex
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from anon_core.errors import GuaranteeError
from anon_core.measures.table.drift import Drift, by_chance
from anon_core.specs.columns import ColumnSpec
from crowdcover.flows.plan.document import read_document
from crowdcover.kinds.columns import Column
from crowdcover.kinds.judge.drift import Accepted, Changes, DriftError, DriftLimits
from crowdcover.kinds.table.profile import build_table_profile, compare_profiles

ROOT = Path(__file__).parents[3]
SAME = Changes(
    version="v3",
    rows_before=100,
    rows=100,
    columns={"city": Drift(shift=0.0)},
    types={"pay": ("Int64", "Int64")},
)
NONE = DriftLimits(rows=0, new_categories=0, gone_categories=0, shift=0, utility=0)


def city(**found):
    return {"columns": {"city": Drift(**{"shift": 0.0, **found})}}


@pytest.mark.parametrize(
    ("change", "key", "edge", "words"),
    [
        (
            {"rows": 70},
            "rows",
            0.3,
            r"70 rows instead of 100, a difference of 0\.3000, above checks\.drift\.rows = 0\.29",
        ),
        (
            {"rows": 125},
            "rows",
            0.2,
            r"125 rows instead of 100, a difference of 0\.2000, above checks\.drift\.rows = 0\.19",
        ),
        (
            city(new=1, new_records=4),
            "new_categories",
            0.04,
            "column 'city' has 1 new category in 4 of 100 rows",
        ),
        (
            city(gone=2, gone_records=7),
            "gone_categories",
            0.07,
            "column 'city' lacks 2 categories that 7 of 100 rows had",
        ),
        (
            city(shift=0.25 + by_chance(100, 100)),
            "shift",
            0.25,
            r"'city' has shifted by 0\.5257, above checks\.drift\.shift = 0\.24 "
            r"plus the 0\.2757 that chance explains",
        ),
        (
            {"utility": (0.9, 0.85)},
            "utility",
            0.05,
            r"utility fell from 0\.9000 to 0\.8500, above checks\.drift\.utility = 0\.04",
        ),
    ],
)
def test_a_change_is_refused_above_its_limit_and_nowhere_else(change, key, edge, words):
    changed = replace(SAME, **change)
    changed.require(replace(NONE, **{key: edge}))
    changed.require(replace(NONE, **{key: 1.0}))
    with pytest.raises(
        GuaranteeError,
        match=rf"^publication refused; compared with v3, .*{words}.*; correct the source",
    ) as caught:
        changed.require(replace(NONE, **{key: edge - 0.01}))
    of_column = "columns" in change
    assert caught.value.facts["accept"] == ["city" if of_column else key]
    setting = "accepted.city.limit" if of_column else key
    assert f"for one run with --set checks.drift.{setting}=1 (in Prefect: accept), for good" in str(
        caught.value
    )


def test_nothing_is_refused_where_nothing_changed():
    SAME.require(NONE)
    replace(SAME, utility=(0.5, 0.9)).require(NONE)


def test_columns_may_be_left_out_and_types_allowed():
    changed = replace(
        SAME,
        **city(shift=0.9, new=1, new_records=50),
        types={"pay": ("Int64", "String"), "job": ("String", "String")},
    )
    with pytest.raises(
        GuaranteeError, match="column 'pay' has type String instead of Int64"
    ) as caught:
        changed.require(replace(NONE, ignore=("city",)))
    assert "with --set checks.drift.accepted.pay.limit=1 (in Prefect" in str(caught.value)
    assert "city" not in str(caught.value)
    changed.require(replace(NONE, ignore=("city",), types="allow"))


def test_everything_is_said_at_once_and_each_setting_once():
    changed = replace(SAME, rows=30, columns={"city": Drift(shift=0.6), "age": Drift(shift=0.75)})
    with pytest.raises(
        GuaranteeError, match=r"30 rows .*; column 'city' .*; column 'age' .*; correct"
    ) as caught:
        changed.require(DriftLimits())
    assert (
        "with --set checks.drift.rows=1 --set checks.drift.accepted.city.limit=1 "
        "--set checks.drift.accepted.age.limit=1 (in Prefect" in str(caught.value)
    )


def test_what_is_accepted_is_accepted_of_that_column_and_to_that_limit_only():
    changed = replace(SAME, rows=30, columns={"city": Drift(shift=0.6), "age": Drift(shift=0.75)})
    rows, city, age = (Accepted(limit=limit) for limit in (0.7, 0.4, 0.5))
    for accepted, left in (
        ({"rows": rows}, ("'city'", "'age'")),
        ({"rows": rows, "city": city}, ("'age'",)),
        ({"city": city, "age": age}, ("30 rows",)),
        ({"rows": rows, "city": city, "age": age}, ()),
        ({"rows": rows, "shift": age}, ()),
        ({"rows": rows, "city": city, "age": replace(age, limit=0.3)}, ("'age'",)),
    ):
        limits = replace(NONE, accepted=accepted)
        told = " ".join(each.change for each in changed.excesses(limits.ease_limits()))
        assert {name for name in ("30 rows", "'city'", "'age'") if name in told} == set(left)


def accept_as_offered(changed):
    """The limits with what a refusal of a change offers, read as a command reads it."""
    with pytest.raises(DriftError) as caught:
        changed.require(DriftLimits())
    offered = str(caught.value).partition("for one run with ")[2].partition(" (in Prefect")[0]
    settings = [word for word in shlex.split(offered) if word != "--set"]
    drift = read_document(ROOT / "examples/adult.toml", settings)["checks"]["drift"]
    accepted = {name: Accepted(**each) for name, each in drift["accepted"].items()}
    assert list(accepted) == caught.value.facts["accept"]
    return replace(DriftLimits(), accepted=accepted)


@pytest.mark.parametrize("name", ["a \"b' c", "Größe", "state \U0001f600", "tab\t", "\x7f", ""])
def test_an_odd_column_is_quoted_for_the_shell_and_for_toml(name):
    changed = replace(SAME, columns={name: Drift(shift=0.9)})
    limits = accept_as_offered(changed)
    assert list(limits.accepted) == [name]
    changed.require(limits)


@pytest.mark.parametrize("limit", DriftLimits.names())
@pytest.mark.parametrize("mark", ["", "column ", "column column "])
def test_a_column_named_like_a_limit_is_accepted_for_itself(limit, mark):
    name, other = f"{mark}{limit}", f"column {mark}{limit}"
    changed = replace(SAME, columns={name: Drift(shift=0.9)}, types={name: ("Int64", "String")})
    limits = accept_as_offered(changed)
    changed.require(limits)
    for beyond in (
        replace(SAME, rows=10, utility=(1.0, 0.0)),
        replace(SAME, columns={other: Drift(shift=0.9)}),
    ):
        with pytest.raises(DriftError) as caught:
            beyond.require(limits)
        assert len(caught.value.facts["changes"]) == len(list(beyond.excesses(DriftLimits())))


def test_half_the_rows_and_a_single_new_category_are_refused_by_default():
    for change in ({"rows": 50}, {"rows": 200}, city(new=1, new_records=1)):
        with pytest.raises(GuaranteeError):
            replace(SAME, **change).require(DriftLimits())


def test_the_manifest_gets_aggregates():
    changed = replace(
        SAME,
        rows=99,
        columns={"city": Drift(shift=0.123456, new=2, new_records=3), "age": Drift(shift=0.01)},
    )
    said = {
        "compared_with": "v3", "rows_before": 100, "rows": 99, "columns": 2,
        "new_categories": 2, "gone_categories": 0, "shift": 0.12, "other_types": 0,
    }  # fmt: skip
    assert changed.claims == said
    assert replace(changed, columns={}, utility=(0.8, 0.7)).claims["utility_before"] == 0.8


def column(name, kind=None, role="quasi"):
    return Column(
        name=name,
        role=role,
        kind=kind,
        spec=ColumnSpec(name=name, kind=kind) if role == "quasi" else None,
    )


def test_columns_of_another_role_or_kind_are_not_compared():
    """A plan that was changed on purpose: what both plans have is compared."""
    first = pl.DataFrame(
        {"^a$": ["x", "y"], "b": [1, 2], "c": ["p", "q"], "d": [1, 2], "e": ["u", "v"]}
    )
    before = build_table_profile(
        first,
        (
            column("^a$", "categorical"),
            column("b", "numeric"),
            column("c", "categorical"),
            column("d", role="keep"),
        ),
    )
    plan = (
        column("^a$", "categorical"),
        column("b", "categorical"),
        column("c", role="sensitive"),
        column("d", role="keep"),
        column("e", "binary"),
    )
    second = first.with_columns(pl.col("b").cast(pl.String), pl.col("d").cast(pl.Float64))
    found = compare_profiles("v1", before, second, plan)
    assert found.columns == {"^a$": Drift(shift=0.0)}
    assert found.types == {"d": ("Int64", "Float64")}
    nothing = compare_profiles("v1", before, second, (column("e", "binary"),))
    assert (nothing.columns, nothing.types) == ({}, {})


def test_categories_of_all_earlier_tables_are_known():
    plan = (column("c", "categorical"),)
    tables = [pl.DataFrame({"c": list(texts)}) for texts in ("ab", "ac", "ad")]
    first, second = (build_table_profile(table, plan) for table in tables[:2])
    assert compare_profiles("v2", second, tables[0], plan).columns["c"].new == 1
    assert compare_profiles("v2", second, tables[0], plan, [first]).columns["c"].new == 0
    assert compare_profiles("v2", second, tables[2], plan, [first]).columns["c"].new == 1
