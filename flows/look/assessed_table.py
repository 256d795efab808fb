"""How well people hide in a table of a file."""

import argparse
import json
from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any

import polars as pl

from anon_core.errors import InputError, escape_unprintable
from crowdcover.assessing.assessment import Assessment, assess
from crowdcover.kinds.section import source_called
from crowdcover.storage.source.reading import Reading


def print_assessment(options: argparse.Namespace) -> int:
    """Print what a table tells; 4 if it does not reach the k that was asked for."""
    known, told = options.quasi, options.sensitive
    table = _read_columns(options.table, [*known, *told, *filter(None, [options.person])])
    found = assess(
        _order_numbers(table, told),
        known,
        sensitive=told,
        k=options.k,
        person=options.person,
        source=None if options.source is None else _read_columns(options.source, known),
        suppressed=options.suppressed,
        as_text=options.text,
        subsets=options.subsets,
        population=_read_population(options.population, known),
    )
    if options.json:
        print(json.dumps(_list_numbers(found), allow_nan=False))
    else:
        print("\n".join(map(escape_unprintable, repr(found).split("\n"))))
    return 0 if options.k is None or found.k >= options.k else 4


def _read_population(given: str | None, known: Sequence[str]) -> pl.DataFrame | int | None:
    """How many people, or the table of all of them."""
    if given is None or given.isdecimal():
        return None if given is None else int(given)
    return _read_columns(given, known)


def _read_columns(address: str, names: Sequence[str]) -> pl.DataFrame:
    """The columns of a file; of CSV all are texts."""
    reading = Reading(source_called(address, None))
    try:
        header = reading.header
        present = [] if isinstance(header, int) else header
        if absent := [name for name in names if name not in present]:
            # Without those that it has: where names are missing, the first row holds cells.
            raise InputError(
                f"{address} has no column {', '.join(absent)}; write names as its first row has "
                "them"
            )
        return reading.columns(present, list(dict.fromkeys(names)))
    finally:
        reading.end()


def _order_numbers(table: pl.DataFrame, told: Sequence[str]) -> pl.DataFrame:
    """The table with numbers for those sensitive texts that are numbers throughout.

    Not of other columns: 007 and 7 are different people, and different cells.
    """
    texts = [table.get_column(name) for name in dict.fromkeys(told)]
    numbers = [each.cast(pl.Float64, strict=False) for each in texts if each.dtype == pl.String]
    return table.with_columns([each for each in numbers if not each.has_nulls()])


def _list_numbers(found: Assessment) -> dict[str, Any]:
    reports = {
        "classes": found.classes,
        "crowds": found.crowds,
        "source": found.source,
        "subsets": found.subsets,
        "population": found.population,
    }
    return {
        "rows": found.rows,
        "k": found.k,
        "findings": found.findings,
        **{name: each and _replace_infinite(each.numbers) for name, each in reports.items()},
        "sensitive": _replace_infinite({n: each.numbers for n, each in found.sensitive.items()}),
        "columns": found.columns.to_dicts(),
    }


def _replace_infinite(value: Any) -> Any:
    """JSON has no infinity: null."""
    if isinstance(value, Mapping):
        return {str(name): _replace_infinite(each) for name, each in value.items()}
    return None if isinstance(value, float) and isinf(value) else value
