"""Sensitive values as ranks, whatever the file's format makes of them."""

from datetime import date

import polars as pl
import pytest

from crowdcover.kinds.table.judge.measured import _rank_values

TEXTS = ["9", "10", None, "-1", "10"]


@pytest.mark.parametrize(
    ("values", "kind", "ranks"),
    [
        (pl.Series(TEXTS), None, [3, 2, 0, 1, 2]),
        (pl.Series(TEXTS), "numeric", [2, 3, 0, 1, 3]),
        (pl.Series([9, 10, None, -1, 10]), "numeric", [2, 3, 0, 1, 3]),
        (pl.Series(["9.5", "1e1", "", "-1", "10"]).replace("", None), "numeric", [2, 3, 0, 1, 3]),
        (pl.Series([9.5, 10.0, None, -1.0, 10.0]), "numeric", [2, 3, 0, 1, 3]),
        (pl.Series(["9007199254740993", "9007199254740992"]), "numeric", [1, 0]),
        (pl.Series([date(2020, 2, 1), None, date(1999, 12, 31)]), "date", [2, 0, 1]),
        (pl.Series(["2020-02-01", None, "1999-12-31"]), "date", [2, 0, 1]),
        (pl.Series(["b", "a", "b"], dtype=pl.Categorical), None, [1, 0, 1]),
        (pl.Series([True, None, False]), None, [2, 0, 1]),
        (
            pl.Series([True, False]),
            "numeric",
            [0, 0],
        ),  # not what the plan says: the audit finds it untrue
        (pl.Series([None, None], dtype=pl.String), None, [0, 0]),
    ],
)
def test_values_have_the_ranks_that_their_kind_gives(values, kind, ranks):
    assert _rank_values(values, kind).tolist() == ranks
