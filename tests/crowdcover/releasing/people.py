"""A drawn table of people."""

import datetime as dt

import numpy as np
import polars as pl


def people(rows=60, seed=0):
    """A drawn table: numbers, codes, dates, truth values and missing ones."""
    rng = np.random.default_rng(seed)
    days = [dt.date(1990, 1, 1) + dt.timedelta(int(day)) for day in rng.integers(0, 900, rows)]
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 60, rows),
            "zip": [f"{code:05d}" for code in rng.choice([10115, 10117, 20095, 80331], rows)],
            "born": days,
            "smokes": rng.random(rows) < 0.3,
            "income": rng.integers(10, 25, rows) * 1000,
            "note": [f"n{number}" for number in rng.integers(0, 5, rows)],
        }
    )
    missing = pl.Series(rng.random(rows) < 0.1)
    return frame.with_columns(
        pl.when(~missing).then(pl.col(name)).alias(name) for name in ("age", "zip")
    )
