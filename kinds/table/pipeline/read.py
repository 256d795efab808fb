"""From one reading of a source to typed tables."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from anon_core.errors import InputError
from anon_core.specs.demands import Demand
from crowdcover.kinds.columns import Column, type_source_column
from crowdcover.kinds.table.layout import list_released_columns
from crowdcover.kinds.table.pipeline.naming import refuse_idle_names, refuse_unfit_rows
from crowdcover.kinds.table.plan.purpose import Purpose
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.reading import Reading


class Read(NamedTuple):
    """The typed columns of one source; rows are the same in all."""

    table: pl.DataFrame  # the columns that may be released
    k_values: pl.DataFrame | None  # the column that k is read from, if any
    identifiers: pl.DataFrame  # no columns where the plan names no identifier


def read_table(
    reading: Reading,
    columns: tuple[Column, ...],
    demand: Demand,
    identifiers: Sequence[str] | None = None,
    *,
    named: bool = False,
) -> Read:
    """Read what may be released, the column of k and the identifiers, or these, in one pass.

    The reading is closed: its content is not needed again. Dropped columns are not loaded. Where
    values that the plan names must be `named` rightly, those that no row has are refused.
    """
    if identifiers is None:
        identifiers = [column.name for column in columns if column.role == "identifier"]
    wanted = tuple(Column(name=name, role="drop") for name in identifiers)
    table, k_values, persons = _read_groups(reading, columns, demand, wanted, named=named)
    read = Read(table, k_values if k_values.width else None, persons)
    if named and reading.source.whole:
        of_k = None if read.k_values is None else read.k_values.to_series()
        refuse_idle_names(table, of_k, columns, demand)
    return read


def read_columns(reading: Reading, names: Sequence[str], wanted: Sequence[Column]) -> pl.DataFrame:
    """Read the wanted columns; `names` are all columns in order, for files without a header."""
    return read_together(reading, names, [wanted])[0]


def read_others(
    reading: Reading, columns: tuple[Column, ...], purpose: Purpose | None
) -> pl.DataFrame | None:
    """Read the file of other people that a plan learns from, if it names one.

    The quasi-identifiers and the column to predict, typed as those of the source.
    """
    if purpose is None or purpose.path is None:
        return None
    if reading.beside is None:
        raise InputError(
            "purpose.path: the file of other people is not at hand for some rows of the source; "
            "try without --sample"
        )
    if reading.is_beside_itself:
        raise InputError(
            "purpose.path is the source itself, so its people are those who are released; name a "
            "file of others, or state purpose.share or allow_released"
        )
    needed = [each for each in columns if each.role == "quasi" or each.name == purpose.predict]
    names, found = [column.name for column in needed], reading.beside.header
    if lacking := [] if isinstance(found, int) else [name for name in names if name not in found]:
        raise InputError(
            f"the file of purpose.path has no column {', '.join(lacking)}; it needs the "
            "quasi-identifiers and the column of purpose.predict, named as in [columns]"
        )
    try:
        return read_columns(reading.beside, [column.name for column in columns], needed)
    except InputError as error:
        # Raised below, where the first error is gone: it must not become the context.
        refusal = str(error)
    raise InputError(f"purpose.path: {refusal}")


def read_together(
    reading: Reading, names: Sequence[str], groups: Sequence[Sequence[Column]]
) -> list[pl.DataFrame]:
    """Read groups of columns, one frame each, in one pass; one column may be in several groups."""
    return _type_groups(
        _read_needed_columns(reading, names, groups), reading.source.missing, groups
    )


def _read_needed_columns(
    reading: Reading, names: Sequence[str], groups: Sequence[Sequence[Column]]
) -> dict[str, pl.Series]:
    """What the groups need of the source, by name."""
    needed = list(dict.fromkeys(column.name for group in groups for column in group))
    return {series.name: series for series in reading.columns(names, needed)}


def _type_groups(
    columns: dict[str, pl.Series], missing: Sequence[str], groups: Sequence[Sequence[Column]]
) -> list[pl.DataFrame]:
    """Type the columns; one that no group needs any more is given up at once."""
    left = Counter(column.name for group in groups for column in group)
    frames = []
    with silence_panics():
        for group in groups:
            made = {}
            for column in group:
                made[column.name] = type_source_column(columns, column, missing)
                left[column.name] -= 1
                if not left[column.name]:
                    del columns[column.name]
            frames.append(pl.DataFrame(made))
    return frames


def _read_groups(
    reading: Reading,
    columns: tuple[Column, ...],
    demand: Demand,
    identifiers: tuple[Column, ...],
    *,
    named: bool,
) -> list[pl.DataFrame]:
    k_column = demand_column(columns, demand)
    groups = [list_released_columns(columns), () if k_column is None else (k_column,), identifiers]
    # Closed before typing: the source's bytes and its typed columns need not be held at once.
    found = _read_needed_columns(reading, [column.name for column in columns], groups)
    reading.close()
    if named:
        with silence_panics():
            refuse_unfit_rows(found, columns, reading.source)
    return _type_groups(found, reading.source.missing, groups)


def demand_column(columns: Sequence[Column], demand: Demand) -> Column | None:
    """The column that k is read from, typed for that: texts that levels of k name, or numbers."""
    if demand.source_column is None:
        return None
    column = next(column for column in columns if column.name == demand.source_column)
    if demand.column:
        # k itself is a number, even where the plan releases the column as categories.
        return Column(name=column.name, role="keep", kind="numeric", form=column.form)
    return replace(
        column,
        role="keep",
        kind="categorical",
        # Levels of k name cells in the kind that the plan gives the column: 1 is 1.0 of numbers.
        compared=column.kind if column.kind in ("numeric", "date") else None,
        spec=None,
        named=tuple(demand.levels),
        optional=demand.optional,
    )
