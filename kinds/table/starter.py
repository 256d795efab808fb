"""Starter plans: one proposed from a table, and the demo's. They hold no cell value."""

import importlib.util
import re
from pathlib import Path

import polars as pl

from anon_core.errors import InputError
from kinds.section import MOST_NAME, PlanError, toml_text
from kinds.table.columns import EXACT, ISO_DATE, Column, to_dates
from kinds.table.layout import KEY
from kinds.table.read import read
from tasks.source.csv_rows import first_rows
from tasks.source.reading import Reading
from tasks.source.sources import Source
from tasks.source.values import printable

NAMES_A_PERSON = re.compile(
    r"(^|[^a-z])(id|uuid|ssn|e-?mail|(tele)?phone|mobile|(first|last|full|maiden|user|sur)?name"
    r"|address|street|iban|passport|licen[cs]e)s?($|[^a-z])",
    re.IGNORECASE,
)
WORD_ENDS = re.compile(r"(?<=[a-z])(?=[A-Z])")  # patientId
NO_NAME = re.compile(
    r"[+-]?\d+([.,]\d*)?|\d+[-/.]\d+[-/.]\d+"
)  # a number or a date: a cell, not a column's name
SEPARATORS = ",;\t|"
MANY_LEVELS = 500  # past this a text column is hardly ever shared by a crowd
MANY_NUMBERS = 20  # up to this many distinct numbers are levels of their own
NO_HEADER = "header = false             # the first row holds numbers: name the columns in order"
LONG_TEXT = 60  # characters on average: free text

DEMO = """\
# The Fair survey of 1978: what 6,366 women told a magazine about their marriages.
name = "fair"

[source]
path = {path}

[columns.rate_marriage]    # 1 very poor .. 5 very good
role = "quasi"
kind = "numeric"
bins = "none"
[columns.age]
role = "quasi"
kind = "numeric"
bins = "none"
[columns.yrs_married]
role = "quasi"
kind = "numeric"
bins = "none"
[columns.children]
role = "quasi"
kind = "numeric"
bins = "none"
[columns.religious]        # 1 not .. 4 strongly
role = "quasi"
kind = "numeric"
bins = "none"
[columns.educ]             # years of school
role = "quasi"
kind = "numeric"
bins = "none"
[columns.occupation]
role = "quasi"
kind = "categorical"
[columns.occupation_husb]
role = "quasi"
kind = "categorical"
[columns.affairs]          # time spent in affairs: what nobody should learn about anybody
role = "sensitive"
kind = "numeric"

[privacy]
k = 10

[anonymizer]
name = "adaptive"
weights = "columns"
"""


def demo_plan(folder: Path) -> Path:
    """Write the demo's plan into a folder and return its path."""
    spec = importlib.util.find_spec("statsmodels")
    if spec is None or spec.origin is None:
        raise PlanError(
            "the demo's table ships inside statsmodels, which is not installed: "
            "pip install statsmodels"
        )
    table = Path(spec.origin).parent / "datasets" / "fair" / "fair.csv"
    path = folder / "fair.toml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(DEMO.format(path=toml_text(str(table))), encoding="utf-8")
    except OSError:
        raise PlanError(f"{path} cannot be written; choose another --folder") from None
    return path


def starter(source_path: Path) -> str:
    """A plan that names every column of a file with a proposed role and the reason for it."""
    reading, names = _look(source_path)
    source = reading.source
    frame = read(reading, names, [Column(name=name, role="drop") for name in names])
    name = (
        re.sub(r"[^A-Za-z0-9._-]+", "-", source_path.name.split(".")[0])[:MOST_NAME].strip("._-")
        or "release"
    )
    lines = [
        "# A starter plan. Every column has a proposed role: look at each before you run it.",
        "# identifier: names a person, never published",
        "# quasi: may be known to others, masked until everyone hides in a crowd",
        "# sensitive: published as it is, must not be linked to anyone",
        "# keep: published as it is   drop: never read",
        f"name = {toml_text(name)}",
        "",
        "[source]",
        f"path = {toml_text(str(source_path.resolve()))}",
        *([] if source.separator == "," else [f"separator = {toml_text(source.separator)}"]),
        *([] if source.header else [NO_HEADER]),
        "missing = []               # texts that mean 'not given', beside the empty one",
        "",
        *(line for column in frame for line in _propose(column)),
        "[privacy]",
        "k = 5                      # or {column = ...}, {uniform = [lo, hi], seed = ...},",
        "                           # {by = ..., levels = {...}, default = ...}",
        "",
        "[anonymizer]",
        'name = "adaptive"',
        'weights = "columns"        # every column counts the same; "cells": more exact cells;',
        '                           # "bits": the stars of Khan et al.',
        "",
        "[publish]",
        'path = "releases"',
        'vault = "vault"            # secrets of the release: keep it, and keep it private',
    ]
    return "\n".join(lines) + "\n"


def _look(path: Path) -> tuple[Reading, list[str]]:
    """Return a reading of a file, by the separator that fits, and the names of its columns.

    Names are made up where the first row holds cells: no plan may quote a cell.
    """
    source = Source(path=path)
    if source.file_kind == "csv" and path.is_file():
        separator = max(SEPARATORS, key=lambda sign: len(_first_row(path, sign)))
        headed = not any(NO_NAME.fullmatch(name.strip()) for name in _first_row(path, separator))
        source = Source(path=path, separator=separator, header=headed)
    reading = Reading(source)
    names = reading.header
    if isinstance(names, int):
        names = [f"column_{number + 1}" for number in range(names)]
    return reading, names


def _first_row(path: Path, separator: str) -> list[str]:
    """The first row if the second is as long. Other faults are reported when the file is read."""
    try:
        first, second = first_rows(path, separator, 2)
    except (InputError, ValueError):
        return [""]
    return first if len(first) == len(second) else [""]


def _propose(column: pl.Series) -> list[str]:
    """The section of one column."""
    role, reason, *settings = _proposal(column)
    key = column.name if re.fullmatch(r"[A-Za-z0-9_-]+", column.name) else toml_text(column.name)
    return [f"[columns.{key}]", f'role = "{role}"'.ljust(26) + f" # {reason}", *settings, ""]


def _proposal(column: pl.Series) -> tuple[str, ...]:
    """Role, reason and settings: by the column's name, else by its values."""
    present = column.alias("").drop_nulls()  # polars takes a name such as ^a$ for a pattern
    if column.name in (KEY, ""):
        return (
            "drop",
            "a release has a column of this name already"
            if column.name
            else "a released column needs a name",
        )
    if NAMES_A_PERSON.search(WORD_ENDS.sub("_", column.name)):
        return "identifier", "its name says that it names someone"
    if len(present) == 0 or not printable(present.dtype):
        return "drop", "no values" if len(present) == 0 else "neither text nor number nor date"
    if _dated(present):
        return "quasi", f"dates, {present.n_unique()} distinct", 'kind = "date"', 'bins = "deciles"'
    numbers = _numbers(present)
    if numbers is not None:
        return _numeric(numbers)
    return _textual(present.cast(pl.String))


def _dated(present: pl.Series) -> bool:
    if present.dtype != pl.String:
        return present.dtype == pl.Date or isinstance(present.dtype, pl.Datetime)
    return to_dates(present, ISO_DATE).null_count() == 0


def _numbers(present: pl.Series) -> pl.Series | None:
    """The values as numbers if all are finite and keep their digits (00501 is a code)."""
    if present.dtype != pl.String and not present.dtype.is_numeric():
        return None
    if present.dtype == pl.String and present.str.contains(r"^[+-]?0\d").any():
        return None
    numbers = present.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == 0 and bool((numbers.abs() < EXACT).all()) else None


def _numeric(numbers: pl.Series) -> tuple[str, ...]:
    distinct = numbers.n_unique()
    if distinct <= MANY_NUMBERS:
        return "quasi", f"{distinct} distinct numbers", 'kind = "numeric"', 'bins = "none"'
    if distinct == len(numbers) and bool((numbers == numbers.floor()).all()):
        return "identifier", "a number of its own for every row"
    return "quasi", f"{distinct} distinct numbers", 'kind = "numeric"', 'bins = "deciles"'


def _textual(texts: pl.Series) -> tuple[str, ...]:
    distinct = texts.n_unique()
    if distinct == len(texts) and distinct > 2:
        return "identifier", "a text of its own for every row"
    lengths = texts.str.len_chars().mean()
    if distinct > MANY_LEVELS or (
        isinstance(lengths, float) and lengths > LONG_TEXT and distinct > MANY_NUMBERS
    ):
        return "drop", f"{distinct} distinct texts: too many to share with a crowd"
    kind = "binary" if distinct == 2 else "categorical"
    return "quasi", f"{distinct} distinct values", f'kind = "{kind}"'
