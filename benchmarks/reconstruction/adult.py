"""Adult as steveng9/Reconstruction draws it: disjoint samples of 10,000 of 47,621 rows."""

import gzip

import numpy as np
import polars as pl

from benchmarks import data_file

KNOWN = ("age", "sex", "race", "native-country", "education", "marital-status")  # their QI1
HIDDEN = (
    "workclass",
    "fnlwgt",
    "education-num",
    "occupation",
    "relationship",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "income",
)
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
SUPPRESSED = ("age", "workclass", "education", "sex", "race", "native-country")  # their key_vars
ROWS, SAMPLES = 10_000, 4


def population():
    """All rows of adult.data, and those of adult.test without an unknown value, as text.

    That is what their source keeps: it has an empty cell where adult.test has "?", and they drop
    rows with empty cells. 47,621 rows.
    """
    return pl.concat([_read("adult.data.gz"), _read("adult.test.gz").filter(_given())])


def _given():
    return ~pl.any_horizontal(pl.col(COLUMNS) == "?")


def _read(name):
    lines = gzip.decompress(data_file(f"adult/{name}").read_bytes()).decode().splitlines()
    rows = [line.rstrip(".").split(", ") for line in lines if line.count(", ") == len(COLUMNS) - 1]
    return pl.DataFrame(rows, schema=list(COLUMNS), orient="row")


def samples(frame, rows=ROWS, count=SAMPLES):
    """Disjoint samples, in the order in which pandas shuffles with RandomState(42)."""
    order = np.random.RandomState(42).permutation(frame.height)
    return [frame[order[start * rows : (start + 1) * rows]] for start in range(count)]


def plan(k, *, kept=(), bins="deciles", rare="publish", weight=1.0, anonymizer=""):
    """A plan whose columns are quasi-identifiers but for `kept`, which are published as they are.

    The defaults of the arguments are those of a plan. `weight` is that of the known columns;
    `bins` of all numbers but fnlwgt, which is grouped: 8,477 of its 10,000 values differ.
    """
    columns = [
        _kept(name)
        if name in kept
        else _masked(name, "deciles" if name == "fnlwgt" else bins, rare, weight)
        for name in COLUMNS
    ]
    head = ['name = "reconstruction"', "[source]", 'path = "x"']
    return "\n".join([*head, *columns, "[privacy]", f"k = {k}", anonymizer])


def _kept(name):
    kind = "numeric" if name in NUMBERS else "categorical"
    return f'[columns.{name}]\nrole = "keep"\nkind = "{kind}"'


def _masked(name, bins, rare, weight):
    lines = [f"[columns.{name}]", 'role = "quasi"']
    if name in KNOWN:
        lines.append(f"weight = {weight}")
    if name in NUMBERS:
        lines += ['kind = "numeric"', f'bins = "{bins}"']
    else:
        lines.append('kind = "categorical"')
    if name not in NUMBERS or bins == "none":
        lines.append(f'rare = "{rare}"')
    return "\n".join(lines)
