"""Tables like those of the figures: people and accidents, in the order of their variances."""

import numpy as np
import polars as pl

from anon_core.anonymizers.optimal import ordered
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from benchmarks import tables

LOSS = "range"
FOUR = ("SEX", "AGEP", "MSP", "EDU")
EIGHT = (*FOUR, "RAC1P", "PUMA", "INDP_CAT", "INDP")
CATEGORIES = ("SEX", "MSP", "RAC1P", "PUMA", "INDP_CAT", "INDP")
PERSON = (*EIGHT, "HISP", "NOC", "NPF", "HOUSING_TYPE", "OWN_RENT", "PINCP_DECILE", "POVPIP")
PERSON += ("DENSITY", "PINCP", "DVET", "DREM", "DPHY", "DEYE", "DEAR")
FARS = ("ideathmon", "iage", "isex", "iinjury")


def census(n, columns, categories=(), seed=1):
    """People; those beyond the source are drawn with replacement.

    Of more than 22 columns, the others are of another person of the same district.
    """
    frame = tables.survey()
    draws = np.random.default_rng(seed)
    rows = drawn(frame.height, n, draws)
    own = min(columns, len(PERSON)) if isinstance(columns, int) else len(columns)
    names = PERSON[:own] if isinstance(columns, int) else columns
    sources = [(name, rows) for name in names]
    if isinstance(columns, int):
        near = tables.companions(tables.numbered(frame, ("PUMA",)), rows, draws)
        sources += [(name, near) for name in PERSON[1 : columns - own + 1]]
    values = [numbers(frame[name])[at] for name, at in sources]
    kinds = ["categorical" if name in categories else "numeric" for name, _ in sources]
    return coded(values, kinds)


def fars(n, seed=1):
    """Accidents: month, age, sex and injury as numbers."""
    frame = tables.read("arx-benchmark/fars_subset.csv.gz", separator=";")
    rows = drawn(frame.height, n, np.random.default_rng(seed))
    return coded([numbers(frame[name])[rows] for name in FARS], ["numeric"] * len(FARS))


def drawn(whole, n, draws):
    return draws.permutation(whole)[:n] if n <= whole else draws.integers(0, whole, n)


def numbers(column):
    """The numbers of a column, or of its texts in order; a text among numbers counts as 0."""
    values = column.cast(pl.Float64, strict=False)
    if values.null_count() < len(values) / 2 or column.name == "INDP":
        return values.fill_null(0).to_numpy()
    return column.rank("dense").cast(pl.Float64).to_numpy()


def coded(values, kinds):
    names = [f"c{place}" for place in range(len(values))]
    specs = [
        ColumnSpec(name=name, kind="numeric", encoding="ordinal", bins=None)
        if kind == "numeric"
        else ColumnSpec(name=name, kind="categorical")
        for name, kind in zip(names, kinds, strict=True)
    ]
    columns = {
        name: column if kind == "numeric" else column.astype(int).astype(str).astype(object)
        for name, column, kind in zip(names, values, kinds, strict=True)
    }
    k = np.ones(len(values[0]), dtype=np.int32)
    table = encoding.encode(encoding.fit(specs, columns, 1, None), columns, k)
    return table.at(ordered.by_variance(table, LOSS))
