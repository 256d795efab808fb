"""Figures of analysts, with intervals: python -m benchmarks.analyst.figures [--k K...] [SET...].

Releases eight tables at several k, and asks `Release.estimate` for twelve figures of each, which
stand below: coefficients of least squares, and correlations, by ranks. Printed are, of these
figures: the median error, per cent of the true value, of tables whose cells are drawn each by
itself, of tables that keep relations, and of the estimate that rehearsals put right; and how many
intervals of 95 % hold the figure of the true rows. `--each` prints each figure, too.

Figures of the true rows are taken of the very rows: no error is due to sampling.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import crowdcover
from benchmarks import data_file
from benchmarks.analyst.estimates import ADULT, PAYMENTS, PLAY, acs, columns, example
from benchmarks.analyst.relations import INCOMES, TEXAS, fit_least_squares, wide_plan
from benchmarks.analyst.releases import made

LEVELS = (5, 10, 50)


class Asked(NamedTuple):
    """Twelve figures: numbers by name, y on x by least squares, and pairs to correlate."""

    numbers: dict[str, pl.Expr]
    y: str
    x: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]

    def of(self, table):
        """Each figure of a table, with its standard error; rows that lack a value are left out."""
        held = table.select(
            each.cast(pl.Float64).alias(name) for name, each in self.numbers.items()
        )
        fit = held.select(self.y, *self.x).drop_nulls().to_numpy()
        pairs = zip(*fit_least_squares(fit[:, 0], fit[:, 1:]), strict=True)
        figures = {f"{self.y} ~ {name}": pair for name, pair in zip(self.x, pairs, strict=True)}
        for pair in self.pairs:
            both = held.select(*pair).drop_nulls()
            ranks = [both[name].rank().to_numpy() for name in pair]
            r = float(np.corrcoef(*ranks)[0, 1])
            figures[", ".join(pair)] = (r, (1 - r**2) / np.sqrt(len(both) - 1))
        return figures


def equals(column, value):
    return pl.col(column).cast(pl.String) == value


def number(column):
    return pl.col(column).cast(pl.Float64, strict=False)


RICH = Asked(
    {
        "rich": equals("income", ">50K"),
        "education": number("education-num"),
        "age": number("age"),
        "male": equals("sex", "Male"),
        "married": equals("marital-status", "Married-civ-spouse"),
        "white": equals("race", "White"),
        "manages": equals("occupation", "Exec-managerial"),
    },
    "rich",
    ("education", "age", "male", "married", "white", "manages"),
    (
        ("education", "rich"),
        ("age", "rich"),
        ("married", "age"),
        ("married", "male"),
        ("education", "manages"),
        ("married", "rich"),
    ),
)
_CENSUS = {
    "education": number("EDU"),
    "age": number("AGEP"),
    "male": equals("SEX", "1"),
    "married": equals("MSP", "1"),
    "owner": equals("OWN_RENT", "1"),
    "white": equals("RAC1P", "1"),
}
DECILE = Asked(
    {"income": number("PINCP_DECILE"), **_CENSUS},
    "income",
    ("education", "age", "male", "married", "owner", "white"),
    (
        ("education", "income"),
        ("age", "income"),
        ("education", "age"),
        ("married", "age"),
        ("owner", "income"),
        ("education", "owner"),
    ),
)
INCOME = DECILE._replace(numbers={"income": number("PINCP"), **_CENSUS})
DEATHS = Asked(
    {
        "dies": equals("iinjury", "Fatal Injury"),
        "age": number("iage"),
        "male": equals("isex", "Male"),
        "white": equals("irace", "White"),
        "hispanic": equals("ihispanic", "Non-Hispanic"),
        "january": equals("ideathmon", "January"),
    },
    "dies",
    ("age", "male", "white", "hispanic", "january"),
    (
        ("dies", "age"),
        ("dies", "male"),
        ("dies", "white"),
        ("dies", "hispanic"),
        ("white", "hispanic"),
        ("age", "male"),
        ("dies", "january"),
    ),
)
APPS = Asked(
    {
        "rating": number("Rating"),
        "many": pl.col("Installs").is_in(["1,000,000+", "5,000,000+", "10,000,000+"]),
        "free": equals("Type", "Free"),
        "game": equals("Category", "GAME"),
        "family": equals("Category", "FAMILY"),
        "everyone": equals("Content Rating", "Everyone"),
        "varies": equals("Android Ver", "Varies with device"),
    },
    "rating",
    ("many", "free", "game", "family", "everyone", "varies"),
    (
        ("rating", "many"),
        ("many", "free"),
        ("game", "everyone"),
        ("game", "many"),
        ("varies", "many"),
        ("family", "everyone"),
    ),
)
GIFTS = Asked(
    {
        "food": equals("Nature_of_Payment_or_Transfer_of_Value", "Food and Beverage"),
        "kind": equals("Form_of_Payment_or_Transfer_of_Value", "In-kind items and services"),
        "amount": number("Total_Amount_of_Payment_USDollars"),
        "day": pl.col("Date_of_Payment").cast(pl.Date).cast(pl.Int32),
        "internal": pl.col("Physician_Specialty").str.contains("Internal Medicine"),
        "family": pl.col("Physician_Specialty").str.contains("Family Medicine"),
        "jersey": equals("Applicable_Manufacturer_or_Applicable_GPO_Making_Payment_State", "NJ"),
        "capital": equals("Recipient_City", "DES MOINES"),
    },
    "food",
    ("kind", "internal", "family", "jersey", "capital"),
    (
        ("food", "kind"),
        ("amount", "food"),
        ("amount", "kind"),
        ("amount", "jersey"),
        ("amount", "internal"),
        ("day", "kind"),
        ("food", "internal"),
    ),
)


def play(k):
    def plan(folder):
        frame = pl.read_csv(data_file("googleplay/googleplaystore.csv.gz"), infer_schema=False)
        frame.select(*PLAY).write_csv(folder / "play.csv")
        return columns("googleplay", PLAY, k), folder / "play.csv"

    return plan


def deaths(k):
    def plan(folder):
        source = data_file("arx-benchmark/fars_subset.csv.gz")
        frame = pl.read_csv(source, separator=";", infer_schema=False)
        # An age that is no number, such as "Unknown", is missing.
        age = pl.col("iage").cast(pl.Int64, strict=False)
        frame.with_columns(age).write_csv(folder / "fars.csv", null_value="NaN")
        kinds = dict.fromkeys(frame.columns, "categorical") | {"iage": "numeric"}
        return columns("fars", kinds, k), folder / "fars.csv"

    return plan


SETS = {
    "adult": (lambda k: lambda _: (example("adult-ncp.toml", k), ADULT), RICH),
    "acs": (lambda k: acs("national", k), DECILE),
    "acs massachusetts": (lambda k: acs("ma", k), DECILE),
    "acs texas": (lambda k: acs("tx", k), DECILE),
    "acs texas, 19 columns": (lambda k: lambda _: (wide_plan(k, INCOMES), TEXAS), INCOME),
    "fars": (deaths, DEATHS),
    "google play": (play, APPS),
    "open payments": (lambda k: lambda _: (example("openpayments.toml", k), PAYMENTS), GIFTS),
}
TITLES = ("table", "k", "alone", "relations", "put right", "intervals that hold", "seconds")


def main(names, levels, each):
    print(f"| {' | '.join(TITLES)} |\n{'|---' * len(TITLES)}|", flush=True)
    held = []
    for name in names:
        plan_of, asked = SETS[name]
        for k in levels:
            with tempfile.TemporaryDirectory() as place:
                text, source = plan_of(k)(Path(place))
                made_ = made(text, str(source), Path(place) / "release")
                release = crowdcover.read(made_.folder)
            true = {figure: value for figure, (value, _) in asked.of(made_.truth).items()}
            alone = [asked.of(table) for table in release.complete(5, seed=1)]
            start = time.process_time()
            found = release.estimate(asked.of, seed=1)
            seconds = time.process_time() - start
            rows = found.rows_by_key("figure", named=True, unique=True)
            off = {
                "alone": [np.mean([one[figure][0] for one in alone]) for figure in true],
                "relations": [rows[figure]["estimate"] - rows[figure]["moved"] for figure in true],
                "put right": [rows[figure]["estimate"] for figure in true],
            }
            values = np.array([*true.values()])
            hold = [rows[one]["low"] <= true[one] <= rows[one]["high"] for one in true]
            held += hold
            cells = [
                f"{100 * np.median(np.abs(np.array(of) / values - 1)):.1f}" for of in off.values()
            ]
            share = f"{sum(hold)} of {len(hold)}"
            print(f"| {name} | {k} | {' | '.join(cells)} | {share} | {seconds:.0f} |", flush=True)
            if each:
                for at, one in enumerate(true):
                    told = " ".join(f"{of[at] / values[at]:.3f}" for of in off.values())
                    print(f"    {one}: {values[at]:.4g}; {told}; {rows[one]['error']:.3g}")
    print(f"{100 * np.mean(held):.0f} % of {len(held)} intervals hold")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help="; ".join(SETS))
    parser.add_argument("--k", type=int, nargs="+", default=LEVELS)
    parser.add_argument("--each", action="store_true", help="print each figure, too")
    given = parser.parse_args()
    main(given.sets or SETS, given.k, given.each)
