"""How well people hide in a table of a file."""

import argparse
import json
from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any

import polars as pl

from anon_core.errors import InputError, escape_unprintable
from crowdcover.assessing.assessment import Assessment, assess
from kinds.section import source_called
from storage.source.reading import Reading


def print_assessment(options: argparse.Namespace) -> int:
    """Print what a table tells; 4 if it does not reach the k that was asked for."""
    known, told = options.quasi, options.sensitive
    found = assess(
        _read_columns(options.table, [*known, *told, *filter(None, [options.person])]),
        known,
        sensitive=told,
        k=options.k,
        person=options.person,
        source=None if options.source is None else _read_columns(options.source, known),
        suppressed=options.suppressed,
        as_text=options.text,
    )
    if options.json:
        print(json.dumps(_list_numbers(found), allow_nan=False))
    else:
        print("\n".join(map(escape_unprintable, repr(found).split("\n"))))
    return 0 if options.k is None or found.k >= options.k else 4


def _read_columns(address: str, names: Sequence[str]) -> pl.DataFrame:
    """The columns of a file; texts that are numbers throughout are numbers."""
    reading = Reading(source_called(address, None))
    try:
        header = reading.header
        present = [] if isinstance(header, int) else header
        if absent := [name for name in names if name not in present]:
            raise InputError(
                f"{address} has no column {', '.join(absent)}; its first row names "
                f"{', '.join(present) or 'none'}"
            )
        frame = reading.columns(present, list(dict.fromkeys(names)))
    finally:
        reading.end()
    texts = frame.select(pl.col(pl.String))
    numbers = texts.cast(pl.Float64, strict=False)
    return frame.with_columns([each for each in numbers if not each.has_nulls()])


def _list_numbers(found: Assessment) -> dict[str, Any]:
    reports = {"classes": found.classes, "crowds": found.crowds, "source": found.source}
    return {
        "rows": found.rows,
        "k": found.k,
        "findings": found.findings,
        **{name: each and _replace_infinite(each.numbers) for name, each in reports.items()},
        "sensitive": {
            name: _replace_infinite(each.numbers) for name, each in found.sensitive.items()
        },
        "columns": found.columns.to_dicts(),
    }


def _replace_infinite(numbers: Mapping[Any, Any]) -> dict[str, Any]:
    """JSON has no infinity: null."""
    return {
        str(name): _replace_infinite(each)
        if isinstance(each, Mapping)
        else None
        if isinstance(each, float) and isinf(each)
        else each
        for name, each in numbers.items()
    }
