"""The ACS excerpts of NIST, scored by SDNist 2.4: python -m benchmarks.nist [K...] [--puma].

Releases the nation's excerpt of 2018 (27,111 people) with ten quasi-identifiers, with --puma
eleven, reads each release with `crowdcover`, draws one completed table for each kind of weights,
and scores it. Education and income, which have an order, are masked by intervals, or by sets as
the other categories are; age by intervals. `rules`: rows that break a rule of the data dictionary
are drawn anew (benchmarks/nist/rules.py); whoever has release and dictionary can do that.

SDNist pins numpy 1.24, so its scores are computed by the Python of an environment of its own:
`make -C benchmarks sdnist`, or SDNIST=PYTHON of one with benchmarks/nist/requirements.txt.

Prints a line of Markdown for each table. --picture draws k-marginal beside published figures.
"""

import argparse
import itertools
import json
import subprocess
import tempfile
from pathlib import Path

import polars as pl

import crowdcover
from benchmarks import ROOT, data_file, leave_out, python_of
from benchmarks.analyst.releases import made
from benchmarks.nist.picture import draw
from benchmarks.nist.rules import BREAKS, NUMBERS, drawn, inconsistent, slope, whole

SOURCE = "census-like/nist_acs_national2018.csv.gz"
SCORES = ROOT / "benchmarks/baselines/sdnist_scores.py"
WORDS = ("SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "DVET", "DEYE")
WAYS = {  # weights of the reader, whether rows that break a rule are drawn anew, and relations kept
    "uniform": ("uniform", False, False),
    "default": ("crowd", False, False),
    "default, rules": ("crowd", True, False),
    "relations, rules": ("crowd", True, True),
}
CELLS = {"intervals": ("AGEP", "EDU", "PINCP_DECILE"), "sets": ("AGEP",)}  # by intervals
COLUMNS = (
    "k",
    "cells",
    "weights",
    "k-marginal",
    "pMSE",
    "unique exact",
    "slope",
    "off",
    "off, put right",
    "inconsistent",
)


def main(ks, forms, ways, puma, picture):
    python = python_of("sdnist")
    if not python.exists():
        leave_out("there is no Python with SDNist; run `make -C benchmarks sdnist`")
    names = (*NUMBERS, *WORDS, *["PUMA"] * puma)
    print("|", " | ".join(COLUMNS), "|")
    print("|---" * len(COLUMNS) + "|")
    found = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source = pl.read_csv(data_file(SOURCE), infer_schema=False).select(names)
        source.write_csv(folder / "source.csv")
        for k, form in itertools.product(ks, forms):
            given = plan(names, CELLS[form], k)
            release = made(given, str(folder / "source.csv"), folder / f"{form}-{k}")
            for way in ways:
                row = scored(python, folder, release, way)
                found[k, form, way] = row["k_marginal"]
                print("|", " | ".join((str(k), form, way, *told(row))), "|", flush=True)
    if picture:
        draw(found, picture)


def plan(names, ordered, k):
    """A plan whose columns are all quasi-identifiers; N, not applicable, is a missing value."""
    kinds = [
        'kind = "numeric"\nbins = "none"' if n in ordered else 'kind = "categorical"' for n in names
    ]
    parts = "".join(
        f'[columns.{name}]\nrole = "quasi"\n{kind}\n'
        for name, kind in zip(names, kinds, strict=True)
    )
    source = '[source]\npath = "x"\nmissing = ["N"]\n'
    return f'name = "nist"\n{source}{parts}[privacy]\nk = {k}\n'


def scored(python, folder, release, way):
    """The scores of a completed table."""
    weights, rules, relations = WAYS[way]
    read = crowdcover.read(release.folder, weights)
    table = drawn(read, 1, rules=rules, relations=relations)
    truth = whole(release.truth)
    table = table.select(truth.columns)
    plain = table.with_columns(pl.all().cast(pl.String).fill_null("N"))
    plain.write_csv(folder / "table.csv")
    command = [python, "-W", "ignore", SCORES, folder, "table"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    row = json.loads(done.stdout.splitlines()[-1])
    assert not inconsistent(truth).any()
    row["inconsistent"] = max(int(inconsistent(table).sum()), row["sdnist_inconsistent"])
    row["slope"] = slope(table)
    if relations:  # put right by rehearsals, too
        breaks = BREAKS if rules else None
        asked = read.estimate(lambda each: {"slope": slope(whole(each))}, seed=1, rules=breaks)
        row["put_right"] = asked["estimate"].item() - slope(truth)
    return row | {"off": row["slope"] - slope(truth)}


def told(row):
    """Scores as text."""
    scores = f"{row['k_marginal']:.1f}", f"{row['pmse']:.4f}", f"{row['unique']:.1f} %"
    right = f"{row['put_right']:+.3f}" if "put_right" in row else ""
    slopes = f"{row['slope']:.3f}", f"{row['off']:+.3f}", right
    return *scores, *slopes, str(row["inconsistent"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("k", nargs="*", type=int, default=[6, 12, 50])
    parser.add_argument("--cells", nargs="*", choices=CELLS, default=list(CELLS))
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--puma", action="store_true", help="an eleventh column, and scores by it")
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    main(given.k, given.cells, given.ways, given.puma, given.picture)
