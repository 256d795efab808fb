"""Relations in completed tables: python -m benchmarks.analyst.relations [SET...].

Makes each release, draws completed tables by `crowdcover.read(...).complete`, and fits in each what
an analyst would fit: y on several columns, least squares. Printed are, for each of these columns,
the correlation of y with it, by ranks, and its coefficient: of the true rows, of tables whose cells
are drawn each by itself, and of tables that keep relations. The error is the one that
`crowdcover.pooled` states, from the errors of least squares in each completed table. Rows without a
value of these columns are left out, in each table its own. The last column is the time of one table
that keeps relations, in seconds of a processor.

--kept FOLDER keeps the releases there, and takes those that are there.
"""

import argparse
import re
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import crowdcover
from benchmarks import data_file
from benchmarks.analyst.estimates import ADULT, acs, columns, example
from benchmarks.analyst.releases import Made, made

DRAWS = 5
TEXAS = "census-like/nist_acs_tx2018.csv.gz"
NUMBERS = ("AGEP", "EDU", "NOC", "NPF")
GROUPED = ("PINCP", "POVPIP", "DENSITY")
INCOMES = ("PINCP", "PINCP_DECILE", "POVPIP")
LEFT_OUT = ("PWGTP", "WGTP")


def wide(k, exact=()):
    """Texas with 22 columns, numbers of many values in deciles; `exact` ones are sensitive."""
    return lambda _: (wide_plan(k, exact), TEXAS)


def wide_plan(k, exact=()):
    """All columns but the weights."""
    header = pl.read_csv(data_file(TEXAS), n_rows=1, infer_schema=False).columns
    quasi = [name for name in header if name not in (*LEFT_OUT, *exact)]
    kinds = {name: "numeric" if name in NUMBERS else "categorical" for name in quasi}
    text = columns("texas", {name: kinds[name] for name in quasi if name not in GROUPED}, k)
    grouped = [name for name in GROUPED if name not in exact]
    parts = "".join(f'[columns.{name}]\nrole = "quasi"\nkind = "numeric"\n' for name in grouped)
    parts += "".join(f'[columns.{name}]\nrole = "drop"\n' for name in LEFT_OUT)
    parts += "".join(f'[columns.{name}]\nrole = "sensitive"\n' for name in exact)
    text = text.replace('missing = ["NaN"]', 'missing = ["N"]')
    return text.replace("[privacy]", f"{parts}[privacy]")


def with_income(k):
    """The nation with income, in tenths, as a tenth quasi-identifier."""
    plan_of = acs("national", k)
    quasi = 'role = "quasi"\nkind = "numeric"\nbins = "none"'

    def plan(place):
        text, source = plan_of(place)
        own = '[columns.PINCP_DECILE]\nrole = "sensitive"'
        assert own in text
        return text.replace(own, own.replace('role = "sensitive"', quasi)), source

    return plan


def fit_least_squares(y, x):
    """The coefficients of the columns of x, beside a constant, and their standard errors."""
    x = np.column_stack([x, np.ones(len(x))])
    inverse = np.linalg.inv(x.T @ x)
    found = inverse @ (x.T @ y)
    spread = ((y - x @ found) ** 2).sum() / (len(y) - x.shape[1])
    return found[:-1], np.sqrt(spread * np.diag(inverse))[:-1]


class Fit(NamedTuple):
    """y on x, of which the first is asked; `is_one` turns columns of text into 0 and 1."""

    y: str
    x: tuple[str, ...]
    is_one: dict[str, str]

    def of(self, table):
        """The correlation of ranks, and the coefficient with its standard error."""
        names = (self.y, *self.x)
        numbers = table.select(self._number(name) for name in names).drop_nulls().to_numpy()
        found, errors = fit_least_squares(numbers[:, 0], numbers[:, 1:])
        ranks = [pl.Series(numbers[:, at]).rank().to_numpy() for at in (0, 1)]
        return np.corrcoef(*ranks)[0, 1], found[0], errors[0]

    def about(self, name):
        """The same fit, of which another column is asked."""
        return self._replace(x=(name, *(each for each in self.x if each != name)))

    def _number(self, name):
        if name in self.is_one:
            return (pl.col(name).cast(pl.String) == self.is_one[name]).cast(pl.Float64)
        return pl.col(name).cast(pl.Float64, strict=False)


DECILE = Fit("PINCP_DECILE", ("EDU", "AGEP", "SEX"), {"SEX": "1"})
INCOME = Fit("PINCP", ("EDU", "AGEP", "SEX"), {"SEX": "1"})
RICH = Fit("income", ("education-num", "age", "sex"), {"income": ">50K", "sex": "Male"})
SETS = {
    "adult, k = 10": (lambda _: (example("adult-ncp.toml"), ADULT), RICH),
    "adult, k = 50": (lambda _: (example("adult-ncp.toml", 50), ADULT), RICH),
    "acs, k = 10": (acs("national", 10), DECILE),
    "acs, k = 50": (acs("national", 50), DECILE),
    "acs, income masked too, k = 10": (with_income(10), DECILE),
    "acs, income masked too, k = 50": (with_income(50), DECILE),
    "acs texas, k = 10": (acs("tx", 10), DECILE),
    "acs texas, income exact, k = 10": (wide(10, INCOMES), INCOME),
    "acs texas, 22 columns, k = 10": (wide(10), INCOME),
    "acs texas, 22 columns, k = 50": (wide(50), INCOME),
}


TITLES = (
    "release",
    "column",
    "correlation: true",
    "alone",
    "relations",
    "coefficient: true",
    "alone",
    "error",
    "relations",
    "error",
    "seconds",
)


def load_release(name, kept):
    """The release of a set, made unless it is kept."""
    folder = kept / re.sub(r"\W+", "-", name)
    truth = folder / "truth.parquet"
    if not truth.exists():
        folder.mkdir(parents=True, exist_ok=True)
        text, source = SETS[name][0](folder)
        made(text, str(source), folder / "release").truth.write_parquet(truth)
    return Made(folder / "release", pl.read_parquet(truth))


def main(names, kept):
    print(f"| {' | '.join(TITLES)} |")
    print("|---" * len(TITLES) + "|")
    for name in names:
        fit = SETS[name][1]
        made_ = load_release(name, kept)
        release = crowdcover.read(made_.folder)
        alone = release.complete(DRAWS, seed=1)
        start = time.process_time()
        related = release.complete(DRAWS, seed=1, relations=True)
        seconds = (time.process_time() - start) / DRAWS
        for column in fit.x:
            asked = fit.about(column)
            true = asked.of(made_.truth)
            cells = [name, column, f"{true[0]:.3f}"]
            found = [[asked.of(table) for table in tables] for tables in (alone, related)]
            cells += [f"{np.mean([each[0] for each in of]):.3f}" for of in found]
            cells.append(f"{true[1]:.4g}")
            for of in found:
                pooled = crowdcover.pooled([each[1] for each in of], [each[2] for each in of])
                cells += [f"{pooled.estimate:.4g}", f"{pooled.error:.3g}"]
            print(f"| {' | '.join(cells)} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help="; ".join(SETS))
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="where releases stay")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        main(given.sets or SETS, given.kept or Path(place))
