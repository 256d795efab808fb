"""Beside published code on Adult: python -m benchmarks.versus_published.

project-lighthouse-anonymize 1.0 (Core Mondrian), 48,842 records, k = 5, the five quasi-identifiers
of its guide. It needs numpy below 2, so an environment of its own: `make -C benchmarks
lighthouse`, or LIGHTHOUSE=PYTHON of one with benchmarks/baselines/lighthouse-requirements.txt. Its
own measure judges both releases: the normalized mutual information of a number and what is
published of it; of our intervals, the middle. It leaves rows out; ours leaves none.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from anon_core.anonymizers import Adaptive
from anon_core.engines import local
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.demands import Demand
from benchmarks import ROOT, leave_out, python_of, released_cells, tables, timed

NUMBERS, WORDS = ("age", "hours-per-week"), ("workclass", "native-country", "income")
PLACES = dict(zip((*NUMBERS, *WORDS), (0, 12, 1, 13, 14), strict=True))
THEIRS = ROOT / "benchmarks/baselines/lighthouse.py"


def adult(records):
    """Both files of Adult, the five columns; a missing value is null."""
    frame = tables.adult_people(PLACES)
    return frame.with_columns(pl.col(NUMBERS).cast(pl.Float64)).head(records or frame.height)


def published(table, made):
    """Our rows as the package reads them: middles of intervals, * for a set of values."""
    released, columns = released_cells(made), {}
    for a, allowed, cell in zip(
        table.codebook.attributes, released.levels, released.cell, strict=True
    ):
        if a.kind == "numeric":
            low, high = allowed.argmax(axis=1), a.levels - 1 - allowed[:, ::-1].argmax(axis=1)
            values = np.array(a.values, dtype=np.float64)
            columns[a.name] = ((values[low] + values[high]) / 2)[cell]
        else:
            level, many = allowed.argmax(axis=1)[cell], allowed.sum(axis=1)[cell] > 1
            labels = np.array([None if a.has_missing else a.labels[0], *a.labels[1:]])
            columns[a.name] = np.where(many, "*", labels[level]).tolist()
    return pl.DataFrame(columns)


def main(records):
    theirs = python_of("lighthouse")
    if not theirs.exists():
        leave_out("no project-lighthouse-anonymize; run `make -C benchmarks lighthouse`")
    frame = adult(records)
    numeric = [ColumnSpec(name=n, kind="numeric", encoding="ordinal", bins=None) for n in NUMBERS]
    table = tables.coded(frame, Demand(constant=5), WORDS, numeric)
    maker = Adaptive(seats="even")
    local.run(maker, table.at(np.arange(200)))  # compiles
    order = np.random.default_rng(1).permutation(table.records)
    made, seconds, _ = timed(lambda: local.run(maker, table, tie_order=order))
    with tempfile.TemporaryDirectory() as folder:
        frame.write_csv(Path(folder) / "source.csv")
        published(table, made).write_csv(Path(folder) / "ours.csv")
        done = subprocess.run([theirs, THEIRS, folder], check=True, stdout=subprocess.PIPE)
    print(f"records: {table.records}")
    print(f"ours.seconds: {seconds:.1f}")
    for name, value in json.loads(done.stdout.splitlines()[-1]).items():
        print(f"{name}: {value:.4g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=0)
    main(parser.parse_args().records)
