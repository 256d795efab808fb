"""Groups of identical rows, rows that can be of one person, and rows that a source fits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.classes import Classes, ReleasedCells, index_distinct_columns
from anon_core.measures.table.crowds import count_rows
from anon_core.measures.table.risks.subsets import count_held
from crowdcover.assessing.cells import ReadColumn
from crowdcover.measured import Report


def report_classes(group: NDArray[np.int32], held: NDArray[np.int64], whose: str) -> Report:
    """What identical rows tell to one who knows that somebody is in the table."""
    number = int(group.max()) + 1
    numbers = {
        "k": int(held.min()),
        "groups": number,
        "mean_rows": len(group) / number,
        "alone": int((held == 1).sum()),
        "prosecutor_highest": 1 / int(held.min()),
        "marketer": float(np.mean(1 / held)),
    }
    lines = (
        (f"{whose} in the smallest group", f"{numbers['k']:,}"),
        ("groups", f"{number:,}, of {numbers['mean_rows']:.1f} rows on average"),
        ("rows alone in their group", f"{numbers['alone']:,}"),
        ("chance of a right guess, at most", f"{numbers['prosecutor_highest']:.2%}"),
        ("chance of a right guess, on average", f"{numbers['marketer']:.2%}"),
    )
    return Report("Identical rows", numbers, lines)


def report_crowds(fitting: NDArray[np.int64]) -> Report:
    """What rows tell that can be of the same person, whether identical or not."""
    numbers = {
        "least": int(fitting.min()),
        "mean": float(fitting.mean()),
        "alone": int((fitting == 1).sum()),
    }
    lines = (
        ("rows that fit the loneliest row, itself included", f"{numbers['least']:,}"),
        ("on average", f"{numbers['mean']:,.1f}"),
        ("rows that fit only themselves", f"{numbers['alone']:,}"),
    )
    return Report("Rows that can be of the same person", numbers, lines)


def describe_columns(
    names: Sequence[str],
    columns: Sequence[ReadColumn],
    cells: NDArray[np.int32],
    people: NDArray[Any] | None,
) -> pl.DataFrame:
    """A line for each quasi-identifier; see `Assessment.columns`."""
    lines = []
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        others = np.delete(cells, place, axis=0)
        group = (
            index_distinct_columns(others)[0] if len(others) else np.zeros(len(column.cell), int)
        )
        held = count_held(group, people)
        lines.append(
            {
                "column": name,
                "read_as": column.read_as,
                "different_cells": len(column.ranges),
                "suppressed": column.suppressed,
                "k_without": int(held.min()),
                "alone_without": int((held == 1).sum()),
            }
        )
    return pl.DataFrame(lines)


def report_source(
    read: Sequence[tuple[ReadColumn, ReadColumn | None]], cells: NDArray[np.int32], k: int | None
) -> Report:
    """How many rows the records of the source fit."""
    pairs = [(column, source) for column, source in read if source is not None]
    allowed = ReleasedCells(cells, tuple(column.overlap(source) for column, source in pairs))
    classes = Classes.of(np.stack([source.cell for _, source in pairs]), allowed)
    fitting = count_rows(classes, classes.rows_in)[classes.record_class]
    numbers = {
        "records": len(fitting),
        "least": int(fitting.min()),
        "mean": float(fitting.mean()),
        "fit_none": int((fitting == 0).sum()),
        "fit_one": int((fitting == 1).sum()),
        "below_k": None if k is None else int((fitting < k).sum()),
    }
    lines = (
        ("rows that the loneliest record fits", f"{numbers['least']:,}"),
        ("on average", f"{numbers['mean']:,.1f}"),
        ("records that fit one row", f"{numbers['fit_one']:,}"),
        ("records that fit none", f"{numbers['fit_none']:,}"),
    )
    return Report("Rows that records of the source fit", numbers, lines)
