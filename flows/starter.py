"""Starter plans: one proposed from a table, one for the demo's survey. No cell value enters them."""

import importlib.util
import json
import re
from pathlib import Path

import polars as pl

from anon_core.errors import InputError
from flows.plan import PlanError
from tasks.sources import Column, Source, header, read

NAMES_A_PERSON = re.compile(r"(^|[^a-z])(id|uuid|ssn|email|e-mail|phone|name|address|iban|licen[cs]e)s?($|[^a-z])", re.IGNORECASE)
MANY_LEVELS = 500  # past this a text column is hardly ever shared by a crowd
MANY_NUMBERS = 20  # up to this many distinct numbers are levels of their own
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
        raise PlanError("the demo's table ships inside statsmodels, which is not installed: pip install statsmodels")
    table = Path(spec.origin).parent / "datasets" / "fair" / "fair.csv"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "fair.toml"
    path.write_text(DEMO.format(path=json.dumps(str(table))), encoding="utf-8")
    return path


def starter(source_path: Path) -> str:
    """A plan that names every column of a file with a proposed role and the reason for it."""
    source = Source(path=source_path)
    names = header(source)
    if isinstance(names, int):
        raise InputError("the source has no header")
    frame = read(source, names, [Column(name=name, role="keep") for name in names])
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", source_path.name.split(".")[0]).strip("-.") or "release"
    lines = [
        "# A starter plan. Every column has a proposed role: look at each before you run it.",
        "# identifier: names a person, never read   quasi: may be known to others, masked until everyone hides in a crowd",
        "# sensitive: published as it is, must not be linked to anyone   keep: published as it is   drop: never read",
        f"name = {json.dumps(name)}",
        "",
        "[source]",
        f"path = {json.dumps(str(source_path.resolve()))}",
        "missing = []               # texts that mean 'not given', beside the empty one",
        "",
        *(line for column in frame for line in _propose(column)),
        "[privacy]",
        "k = 5                      # or {column = ...}, {by = ..., levels = {...}, default = ...}, {uniform = [lo, hi], seed = ...}",
        "",
        "[anonymizer]",
        'name = "adaptive"',
        'weights = "columns"        # every column counts the same; "bits" is the paper\'s count of stars',
        "",
        "[publish]",
        'path = "releases"',
        'vault = "vault"            # secrets of the release: keep it, and keep it private',
    ]
    return "\n".join(lines) + "\n"


def _propose(column: pl.Series) -> list[str]:
    """The section of one column."""
    head = f"[columns.{json.dumps(column.name, ensure_ascii=False)}]"
    present = column.drop_nulls()
    distinct, rows = present.n_unique(), max(1, len(present))
    numbers = present.cast(pl.Float64, strict=False) if present.dtype == pl.String else present
    numeric = numbers.dtype.is_numeric() and len(numbers) > 0 and numbers.null_count() == 0 and bool(numbers.is_finite().all())
    dated = present.dtype.is_temporal() or (
        present.dtype == pl.String and len(present) > 0 and present.str.to_date("%Y-%m-%d", strict=False).null_count() == 0
    )
    if NAMES_A_PERSON.search(column.name):
        return _role(head, "identifier", "its name says that it names someone")
    if dated:
        return _role(head, "quasi", f"dates, {distinct} distinct", 'kind = "date"', 'bins = "deciles"')
    if numeric and distinct <= MANY_NUMBERS:
        return _role(head, "quasi", f"{distinct} distinct numbers", 'kind = "numeric"', 'bins = "none"')
    if numeric and numbers.dtype.is_integer() and distinct == rows:
        return _role(head, "identifier", "a number of its own for every row")
    if numeric:
        return _role(head, "quasi", f"{distinct} distinct numbers", 'kind = "numeric"', 'bins = "deciles"')
    if present.dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Boolean):
        return _role(head, "drop", "neither text nor number nor date")
    if distinct == rows and rows > 1:
        return _role(head, "identifier", "a text of its own for every row")
    lengths = present.cast(pl.String).str.len_chars().mean()
    if distinct > MANY_LEVELS or (isinstance(lengths, float) and lengths > LONG_TEXT and distinct > MANY_NUMBERS):
        return _role(head, "drop", f"{distinct} distinct texts: too many to share with a crowd")
    kind = "binary" if distinct == 2 else "categorical"
    return _role(head, "quasi", f"{distinct} distinct values", f'kind = "{kind}"')


def _role(head: str, role: str, reason: str, *settings: str) -> list[str]:
    return [head, f'role = "{role}"'.ljust(26) + f" # {reason}", *settings, ""]
