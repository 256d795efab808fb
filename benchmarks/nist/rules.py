"""What no row of the excerpts holds, and the slope of income over education."""

import numpy as np
import polars as pl

NUMBERS = ("AGEP", "EDU", "PINCP_DECILE")


def number(name):
    """A column in whole numbers: one of a group (lo, hi] goes to the next above, text is read."""
    return pl.col(name).cast(pl.Float64).ceil().cast(pl.Int64)


AGE, EDUCATION, INCOME = map(number, NUMBERS)
CHILD, QUARTERS = AGE < 15, pl.col("HOUSING_TYPE") != "1"
# From the data dictionary ("N/A (age less than 15 years)", "Group quarters") and SDNist's checks.
# Null is N, not applicable.
BROKEN = {
    "MSP is N below 15 only": pl.col("MSP").is_null() != CHILD,
    "PINCP_DECILE is N below 15 only": INCOME.is_null() != CHILD,
    "EDU is N below 3 only": EDUCATION.is_null() != (AGE < 3),
    "DVET is N below 15": CHILD & pl.col("DVET").is_not_null(),
    "no diploma below 5": (AGE < 5) & (EDUCATION >= 5).fill_null(value=False),
    "no doctorate below 15": CHILD & (EDUCATION >= 12).fill_null(value=False),
    "OWN_RENT is 0 in group quarters only": (pl.col("OWN_RENT") == "0") != QUARTERS,
}
BREAKS = pl.any_horizontal(BROKEN.values())


def inconsistent(frame):
    """Which rows break a rule, bool (rows,)."""
    return frame.select(BREAKS).to_series().to_numpy()


def drawn(release, seed, *, rules, relations=False):
    """A completed table; with `rules`, rows that break one are drawn anew."""
    return whole(release.complete(1, seed, BREAKS if rules else None, relations)[0])


def whole(table):
    """The same in whole numbers."""
    return table.with_columns(pl.col(pl.Float64).ceil().cast(pl.Int64)).with_columns(
        map(number, NUMBERS)
    )


def slope(frame):
    """Deciles of income for each level of education, by least squares, people above 15."""
    adults = frame.filter(AGE > 15).select("EDU", "PINCP_DECILE").drop_nulls()
    education, income = (adults[name].cast(pl.Float64).to_numpy() for name in adults.columns)
    return float(np.polyfit(education, income, 1)[0])
