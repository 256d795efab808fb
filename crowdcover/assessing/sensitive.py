"""What groups of identical rows, and crowds, tell about a sensitive column."""

from typing import Any

import numpy as np
import polars as pl

from anon_core.measures.table.classes import Classes
from anon_core.measures.table.diversity import diversity_in_classes, measure_diversity
from anon_core.specs.demands import MOST_L
from crowdcover.measured import Report


def assess_sensitive(name: str, values: pl.Series, classes: Classes) -> Report:
    """Measure one sensitive column; numbers, dates and truth values are ordered."""
    ordered = values.dtype.is_numeric() or values.dtype.is_temporal()
    rank = values.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    rank = np.unique(rank, return_inverse=True)[1]
    grouped = diversity_in_classes(classes, rank, ordered=ordered)
    crowd = measure_diversity(classes, rank, ordered=ordered)
    shares = _measure_shares(rank, classes)
    odds = zip(range(2, MOST_L + 1), grouped.odds.tolist(), strict=True)
    numbers: dict[str, Any] = {
        "l": int(grouped.distinct.min()),
        "entropy_l": float(grouped.effective.min()),
        "recursive_c": dict(odds),
        "t": float(grouped.distance.max()),
        **shares,
        "uniform_rows": int((grouped.distinct == 1).sum()),
        "crowd_l": int(crowd.distinct.min()),
        "crowd_t": float(crowd.distance.max()),
        "crowd_uniform_rows": int((crowd.distinct == 1).sum()),
    }
    lines = (
        ("different values in a group, at least (l)", f"{numbers['l']:,}"),
        ("the same by entropy", f"{numbers['entropy_l']:.2f}"),
        ("distance from the whole table, at most (t)", f"{numbers['t']:.3f}"),
        ("share of one value in a group, at most (alpha)", f"{numbers['alpha']:.1%}"),
        ("rows in groups that show one value", f"{numbers['uniform_rows']:,}"),
        ("rows whose crowd shows one value", f"{numbers['crowd_uniform_rows']:,}"),
    )
    return Report(f"Sensitive: {name}", numbers, lines)


def _measure_shares(rank: Any, classes: Classes) -> dict[str, float]:
    """How far the share of a value within a group is from its share in the table.

    alpha: the greatest share; beta: its greatest relative gain; delta: the greatest |ln| of the
    quotient of shares, infinite if a group lacks a value.
    """
    held = pl.DataFrame({"group": classes.row_class, "value": rank})
    pairs = held.group_by("group", "value").len("rows")
    share = (
        pairs.with_columns(
            of_group=pl.col("rows") / pl.col("rows").sum().over("group"),
            of_all=pl.col("rows").sum().over("value") / len(rank),
        )
        .with_columns(quotient=pl.col("of_group") / pl.col("of_all"))
        .select(
            pl.col("of_group").max().alias("alpha"),
            (pl.col("quotient").max() - 1).clip(0).alias("beta"),
            pl.col("quotient").log().abs().max().alias("delta"),
        )
        .row(0, named=True)
    )
    complete = pairs.height == len(classes.rows_in) * (int(rank.max()) + 1)
    return {**share, "delta": share["delta"] if complete else float("inf")}
