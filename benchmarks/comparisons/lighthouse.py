"""The minimums of project-lighthouse-anonymize: python -m benchmarks.lighthouse [8|10].

Adult, 48,842 records, k = 5, with 8 or 10 quasi-identifiers. The package's own functions measure
its release and ours, and check its default minimums. Ours are read by `crowdcover`: a number is its
expected value, a category that is not exact is `*`, since their trees are flat. Every row stays.

The package needs numpy below 2: `make -C benchmarks lighthouse`, or LIGHTHOUSE=PYTHON of an
environment with benchmarks/baselines/lighthouse-requirements.txt. Prints a table of Markdown.
"""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import crowdcover
from benchmarks import ROOT, leave_out, python_of, tables
from benchmarks.analyst.releases import made

THEIRS = ROOT / "benchmarks/baselines/lighthouse_quality.py"
PLACES = {
    "age": 0,
    "hours-per-week": 12,
    "education-num": 4,
    "workclass": 1,
    "native-country": 13,
    "income": 14,
    "marital-status": 5,
    "race": 8,
    "sex": 9,
    "occupation": 6,
}
ROW = "row"
NUMBERS = ("age", "hours-per-week", "education-num")
TEN = tuple(PLACES)
COLUMNS = {8: tuple(name for name in TEN if name not in ("education-num", "occupation")), 10: TEN}
PLANS = {  # settings of the anonymizer
    "default": 'name = "adaptive"',
    "cells": 'name = "adaptive"\nweights = "cells"',
    "weighted": 'name = "adaptive"\nweights = "cells"',
}
WEIGHTS = {"native-country": 2, "occupation": 4}  # of "weighted": what is masked most otherwise
MINIMUMS = {  # theirs, by default
    "pct_non_suppressed": 0.99,
    "rilm_categorical__minimum": 0.90,
    "pearsons__minimum": 0.90,
    "nmi_sampled_scaled_v1__minimum": 0.80,
}


def adult(names, records=0):
    """Both files of Adult, as text; a missing value is null."""
    frame = tables.adult_people({name: PLACES[name] for name in names})
    return frame.head(records or frame.height)


def plan(names, anonymizer, weights):
    """All columns are quasi-identifiers, numbers by intervals; k = 5."""
    kinds = dict.fromkeys(names, "categorical") | dict.fromkeys(
        [name for name in names if name in NUMBERS], 'numeric"\nbins = "none'
    )
    parts = [
        f'[columns.{name}]\nrole = "quasi"\nkind = "{kind}"\nweight = {weights.get(name, 1)}\n'
        for name, kind in kinds.items()
    ]
    parts.append(f'[columns.{ROW}]\nrole = "keep"\n[privacy]\nk = 5\n[anonymizer]\n{anonymizer}\n')
    return 'name = "adult"\n[source]\npath = "x"\nmissing = [""]\n' + "".join(parts)


def published(release, names):
    """Rows of a release in the order of the source: expected numbers, exact categories, or `*`."""
    columns = {}
    for name in names:
        column = release.column(name)
        if name in NUMBERS:
            lo, hi = column.levels.spans()
            columns[name] = release.weights(name).mean((lo + hi) / 2)[column.which]
        else:
            level = column.masks.argmax(axis=1)[column.which]
            values = column.values.gather(level).to_list()
            many = (column.cells.sizes > 1)[column.which]
            columns[name] = ["*" if more else v for more, v in zip(many, values, strict=True)]
    order = np.argsort(release.frame()[ROW].cast(pl.Int64).to_numpy())
    return pl.DataFrame(columns)[order]


def main(width, plans, records, seed):
    python = python_of("lighthouse")
    if not python.exists():
        leave_out("no project-lighthouse-anonymize; run `make -C benchmarks lighthouse`")
    names = COLUMNS[width]
    frame = adult(names, records)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        frame.write_csv(folder / "source.csv")
        frame.with_row_index(ROW).write_csv(folder / "numbered.csv")
        for name in plans:
            text = plan(names, PLANS[name], WEIGHTS if name == "weighted" else {})
            release = made(text, str(folder / "numbered.csv"), folder / name, seed=seed)
            release = crowdcover.read(release.folder)
            published(release, names).write_csv(folder / f"{name}.csv")
        command = [python, "-W", "ignore", THEIRS, folder, *plans]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
    print(f"{width} quasi-identifiers, {frame.height} records")
    print("\n".join(table(found)))


def table(found):
    """A line for each metric that they compute, a column for each release."""
    yield f"| | minimum | {' | '.join(each['name'] for each in found)} |"
    yield "|---" * (2 + len(found)) + "|"
    yield f"| rows | | {' | '.join(str(each['rows']) for each in found)} |"
    met = ["yes" if each["met"] else "no" for each in found]
    yield f"| meets all minimums | | {' | '.join(met)} |"
    keys = dict.fromkeys(key for each in found for key in each["metrics"])
    for key in sorted(keys, key=lambda key: (key not in MINIMUMS, key)):
        numbers = [each["metrics"].get(key, math.nan) for each in found]
        texts = ["" if math.isnan(number) else f"{number:.4g}" for number in numbers]
        yield f"| {key} | {MINIMUMS.get(key, '')} | {' | '.join(texts)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("width", nargs="?", type=int, choices=COLUMNS, default=8)
    parser.add_argument("--plans", nargs="*", choices=PLANS, default=list(PLANS))
    parser.add_argument("--records", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1, help="of the lot that makes a release")
    given = parser.parse_args()
    main(given.width, given.plans, given.records, given.seed)
