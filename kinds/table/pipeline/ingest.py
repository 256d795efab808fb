"""What a table's release keeps of its source."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from crowdcover.kinds.table.layout import DEMAND, LEARNT_FROM, PERSON_NUMBERS, TABLE, WEIGHTS
from crowdcover.kinds.table.pipeline.read import read_others, read_table
from crowdcover.kinds.table.pipeline.weighing import find_learning_rows, learn_weights
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.profile import build_table_profile
from crowdcover.storage.ledger.digests import write_identifiers
from crowdcover.storage.ledger.identifier_spelling import count_respelt, normalize_spelling
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.source.reading import Reading


@dataclass(frozen=True)
class Ingested:
    """What a release keeps of its source.

    Attributes
    ----------
    table : DataFrame
        The columns that may be released, typed.
    k_values : DataFrame, optional
        The column that k is read from.
    identifiers : DataFrame
        No columns where the plan names no identifier.
    person : int32 (rows,), optional
        Number of the person of each row, where the plan says which rows are of one.
    weights : dict of float, optional
        What each quasi-identifier is worth, where it is learnt.
    learnt_from : bool (rows,), optional
        Rows that weights are learnt from, which are not released.
    notes : tuple of str
        Sentences for the log.
    """

    table: pl.DataFrame
    k_values: pl.DataFrame | None
    identifiers: pl.DataFrame
    person: NDArray[np.int32] | None
    weights: Mapping[str, float] | None
    learnt_from: NDArray[np.bool_] | None
    notes: tuple[str, ...]


def take_columns(plan: TablePlan, reading: Reading) -> Ingested:
    """Take what a plan needs of its source, typed; the reading is closed.

    Refused, beside what cannot be read: an identifier that rows share without a column of people.
    """
    columns = plan.columns
    # First, since `read_table` closes the reading and with it the file of others.
    others = read_others(reading, columns, plan.purpose)
    table, k_values, identifiers = read_table(reading, columns, plan.demand, named=True)
    notes = [f"ingested {table.height} rows, {table.width} of {len(columns)} columns"]
    notes += _notes_on_spelling(identifiers)
    person = weights = learnt_from = None
    if plan.person is not None:
        person = person_numbers(identifiers[plan.person])
    # Without a column of people, an identifier that repeats makes several people of one.
    elif not plan.rows_are_people:
        refuse_repeated(identifiers)
    if plan.purpose is not None and plan.purpose.predict is not None:
        learnt_from = find_learning_rows(plan.purpose, table.height, person)
        learnt = table if others is None else others
        if learnt_from is not None:
            # These rows are not released, so weights tell nothing of released people.
            learnt = table.filter(pl.Series(learnt_from))
        quasi = [column.name for column in plan.quasi]
        weights = learn_weights(learnt, plan.purpose.predict, quasi)
        listed = ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items())
        notes.append(
            f"learnt from {learnt.height} rows what columns tell of {plan.purpose.predict!r}: "
            f"{listed}"
        )
    return Ingested(table, k_values, identifiers, person, weights, learnt_from, tuple(notes))


def ingest_source(
    plan: TablePlan, reading: Reading, ledger: Ledger, folder: Path
) -> Mapping[str, Any]:
    """Store the columns that may be released, typed, and the column that k is read from.

    Identifiers are stored as digests under the ledger's key only.
    """
    taken = take_columns(plan, reading)
    taken.table.write_parquet(folder / TABLE)
    if taken.k_values is not None:
        taken.k_values.write_parquet(folder / DEMAND)
    if taken.person is not None:
        np.save(folder / PERSON_NUMBERS, taken.person)
    if taken.learnt_from is not None:
        np.save(folder / LEARNT_FROM, taken.learnt_from)
    if taken.weights is not None:
        (folder / WEIGHTS).write_text(json.dumps(taken.weights), encoding="utf-8")
    facts = {
        "shape": [taken.table.height, taken.table.width],
        "source_columns": len(plan.columns),
        "profile": build_table_profile(taken.table, plan.columns),
        "notes": list(taken.notes),
    }
    identifiers = taken.identifiers
    del taken  # digests need room, too
    if identifiers.width:
        facts |= write_identifiers(ledger.key, ledger.key_print, identifiers, folder)
    return facts


def person_numbers(values: pl.Series) -> NDArray[np.int32]:
    """Number the persons in the order of their identifiers, no secret one, int32 (rows,)."""
    absent = values.null_count()
    if absent:
        raise InputError(
            f"column {values.name!r} says which rows are of one person; {absent} of {len(values)} "
            "rows have no value there: fill it in, or leave these rows out"
        )
    return normalize_spelling(values).rank("dense").cast(pl.Int32).to_numpy() - np.int32(1)


def _notes_on_spelling(identifiers: pl.DataFrame) -> list[str]:
    """A sentence for each column in which two spellings mean one person."""
    return [
        f"column {column.name!r}: {number} identifiers differ from another one in spelling only, "
        "such as 1000.0 from 1000; they count as one"
        for column in identifiers
        if (number := count_respelt(column))
    ]


def refuse_repeated(identifiers: pl.DataFrame) -> None:
    """Refuse an identifier that several rows share: each row would count as a person."""
    for column in identifiers:
        given = normalize_spelling(column.alias("")).drop_nulls()
        # Distinct texts are counted in less memory than repeated ones.
        shared = 0 if given.n_unique() == len(given) else int(given.is_duplicated().sum())
        if shared:
            spelt = count_respelt(column)
            also = f" ({spelt} of the values differ from another one in spelling only)"
            raise InputError(
                f"column {column.name!r} is an identifier, and {shared} of {len(column)} rows "
                f"share their value with another row{also if spelt else ''}; "
                "the rows of one person would count as several people and hide among each other. "
                f"State [privacy] person = {column.name!r} if it names a person, or leave one "
                "row for each person, or state rows_are_people = true if the promise shall be "
                f"about rows, or set columns.{column.name}.role = 'drop' if people share it, as "
                "they share first names"
            )
