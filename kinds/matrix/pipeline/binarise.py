"""A table's columns as items, and the k of each record. The makers' side."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.tables.encoding import encode, fit_codebook
from crowdcover.kinds.arrays import convert_to_arrays
from crowdcover.kinds.demands import find_demanded_k as k_of
from crowdcover.kinds.matrix.layout import ITEM, RECORD
from crowdcover.kinds.matrix.pipeline.read import NO_ENTRIES, Read
from crowdcover.kinds.matrix.plan.sections import MatrixPlan

IS = "="  # between a column and its value


def demands_of(read: Read, plan: MatrixPlan) -> NDArray[np.int32]:
    """The k of each record; refused: a user without one."""
    if isinstance(plan.k, int):
        return np.full(read.records, plan.k, dtype=np.int32)
    assert read.users is not None
    assert read.demands is not None
    return k_of(read.users, read.demands, "users")


def pairs_of(read: Read, plan: MatrixPlan, least: int) -> pl.DataFrame:
    """The entries; of a table an item for each column and level, and none where a value is missing.

    At least `least` records hold each group of numbers.
    """
    if read.pairs is not None:
        return read.pairs
    assert read.table is not None
    columns = convert_to_arrays(read.table)
    book = fit_codebook(plan.specs, columns, least).codebook
    # Codes do not depend on k: 1 is valid for every record.
    codes = encode(book, columns, np.ones(read.records, dtype=np.int32)).codes
    record = np.arange(read.records, dtype=np.uint32)
    parts: list[pl.DataFrame] = []
    named: dict[str, str] = {}
    for attribute, code in zip(book.attributes, codes, strict=True):
        labels = pl.Series([f"{attribute.name}{IS}{label}" for label in attribute.labels])
        for label in labels:
            if (other := named.setdefault(label, attribute.name)) != attribute.name:
                raise InputError(
                    f"columns {other!r} and {attribute.name!r} make items of one name, since items "
                    f"are named column{IS}value; rename the column whose name holds {IS!r}"
                )
        # Level 0 means that the value is missing, where a column has missing values.
        given = code >= int(attribute.has_missing)
        parts.append(pl.DataFrame({RECORD: record[given], ITEM: labels[code[given]]}))
    pairs = pl.concat(parts)
    if not pairs.height:
        raise InputError(NO_ENTRIES)
    return pairs
