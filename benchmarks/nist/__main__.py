"""The ACS excerpts of NIST, scored by SDNist 2.4: python -m benchmarks.nist [K...] [--puma].

Releases the nation's excerpt of 2018 (27,111 people) with ten quasi-identifiers, with --puma
eleven, reads each release with `crowdcover`, draws one completed table for each kind of weights,
and scores it. `rules`: rows that break a rule of the data dictionary are drawn anew
(benchmarks/nist/rules.py); whoever has the release and the dictionary can do that.

SDNist pins numpy 1.24, so its scores are computed by the Python of an environment of its own:
`make sdnist`, or SDNIST=PYTHON of one with benchmarks/nist/requirements.txt.

Prints a line of Markdown for each table. --picture draws k-marginal beside published figures.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import polars as pl

import crowdcover
from benchmarks import ROOT, data_file, leave_out
from benchmarks.analyst.releases import made
from benchmarks.nist.picture import draw
from benchmarks.nist.rules import drawn, inconsistent, slope

SOURCE = "census-like/nist_acs_national2018.csv.gz"
SCORES = ROOT / "benchmarks/baselines/sdnist_scores.py"
NUMBERS = ("AGEP", "EDU", "PINCP_DECILE")
WORDS = ("SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "DVET", "DEYE")
WAYS = {  # weights of the reader, and whether rows that break a rule are drawn anew
    "uniform": ("uniform", False),
    "default": ("crowd", False),
    "uniform, rules": ("uniform", True),
    "default, rules": ("crowd", True),
}
COLUMNS = ("k", "weights", "k-marginal", "pMSE", "unique exact", "slope", "off", "inconsistent")


def main(ks, ways, puma, lines, picture):
    python = os.environ.get("SDNIST", ROOT / ".venv/sdnist/bin/python")
    if not Path(python).exists():
        leave_out("there is no Python with SDNist; run `make sdnist`")
    names = (*NUMBERS, *WORDS, *["PUMA"] * puma)
    print("|", " | ".join(COLUMNS), "|")
    print("|---" * len(COLUMNS) + "|")
    found = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source = pl.read_csv(data_file(SOURCE), infer_schema=False).select(names)
        source.write_csv(folder / "source.csv")
        for k in ks:
            given = plan(names, k, lines)
            release = made(given, str(folder / "source.csv"), folder / f"release-{k}")
            for way in ways:
                row = scored(python, folder, release, way)
                found[k, way] = row["k_marginal"]
                print("|", " | ".join(cells(k, way, row)), "|", flush=True)
    if picture:
        draw(found, picture)


def plan(names, k, lines):
    """A plan whose columns are all quasi-identifiers; N, not applicable, is a missing value."""
    parts = "".join(
        f'[columns.{name}]\nrole = "quasi"\nkind = "{"numeric" if number else "categorical"}"\n'
        + 'bins = "none"\n' * number
        for name, number in ((name, name in NUMBERS) for name in names)
    )
    anonymizer = f"[anonymizer]\n{lines}\n" if lines else ""
    source = '[source]\npath = "x"\nmissing = ["N"]\n'
    return f'name = "nist"\n{source}{parts}[privacy]\nk = {k}\n{anonymizer}'


def scored(python, folder, release, way):
    """The scores of a completed table."""
    weights, rules = WAYS[way]
    table = drawn(crowdcover.read(release.folder, weights), 1, rules=rules)
    table = table.select(release.truth.columns)
    plain = table.with_columns(pl.all().cast(pl.String).fill_null("N"))
    plain.write_csv(folder / "table.csv")
    command = [python, "-W", "ignore", SCORES, folder, "table"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    row = json.loads(done.stdout.splitlines()[-1])
    assert inconsistent(release.truth).sum() == 0
    row["inconsistent"] = max(int(inconsistent(table).sum()), row["sdnist_inconsistent"])
    row["slope"] = slope(table)
    return row | {"off": row["slope"] - slope(release.truth)}


def cells(k, way, row):
    """A line of the table, as text."""
    scores = f"{row['k_marginal']:.1f}", f"{row['pmse']:.4f}", f"{row['unique']:.1f} %"
    return str(k), way, *scores, f"{row['slope']:.3f}", f"{row['off']:+.3f}", str(row["inconsistent"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("k", nargs="*", type=int, default=[6, 12, 50])
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--puma", action="store_true", help="an eleventh column, and scores by it")
    parser.add_argument("--anonymizer", default="", metavar="LINES", help="of the plan, TOML")
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    main(given.k, given.ways, given.puma, given.anonymizer, given.picture)
