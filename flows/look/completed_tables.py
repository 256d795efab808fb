"""Completed tables of a release as one file."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import crowdcover
from anon_core.errors import InputError
from crowdcover.flows.look.named_release import require_release
from crowdcover.kinds.rows import write_csv
from crowdcover.kinds.section import PlanError
from crowdcover.storage.places.place import Place, link_once, local_copy

DRAW = "draw"  # the column that numbers the draws


def print_completed_tables(options: argparse.Namespace) -> int:
    """Draw tables, write them and print their file, which appears when it is whole.

    Refused: a folder that is no release, a file that stands or has another ending, a release with
    a column of the name of the column that numbers the draws.
    """
    output: Path = options.output
    write = _find_writer(output)
    taken = f"{output} exists; give --output a new name or remove it"
    if output.exists():
        raise PlanError(taken)
    try:
        release = _read_release(options.release)
        if options.draws > 1 and DRAW in release.rows.columns:
            raise InputError(
                f"the release has a column {DRAW!r}, the name of the column that numbers several "
                "draws; take --draws 1 with different --seed"
            )
        tables = release.complete(options.draws, options.seed, relations=options.relations)
    except crowdcover.ReleaseError as refusal:
        raise InputError(str(refusal)) from None
    if options.draws > 1:
        tables = [
            table.insert_column(
                0, pl.repeat(number, table.height, dtype=pl.Int32, eager=True).alias(DRAW)
            )
            for number, table in enumerate(tables, 1)
        ]
    # In the folder of the file, so that it appears in one step on one disk.
    aside = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        write(pl.concat(tables), aside)
        link_once(aside, output)
        # A file that appeared meanwhile stays.
        if aside.exists() and not aside.samefile(output):
            raise PlanError(taken)
    except OSError as error:
        raise PlanError(
            f"{output} cannot be written ({error.strerror}); choose another --output"
        ) from None
    finally:
        aside.unlink(missing_ok=True)
    print(output)
    return 0


def _read_release(place: Place) -> crowdcover.Release:
    require_release(place)
    with local_copy(place) as folder:
        return crowdcover.read(folder)


def _find_writer(output: Path) -> Callable[[pl.DataFrame, Path], Any]:
    """How a file of this name is written."""
    name = output.name.lower()
    if name.endswith(".parquet"):
        return lambda rows, path: rows.write_parquet(path)
    if name.endswith(".csv.gz"):
        return write_csv
    if name.endswith(".csv"):
        return lambda rows, path: rows.write_csv(path)
    raise PlanError(f"--output must end in .csv, .csv.gz or .parquet, {output.name} does not")
