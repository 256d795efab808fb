"""Estimates from releases: python -m benchmarks.analyst.estimates [SET...].

Makes each release, reads it, and holds five ways to read it against the table behind it:
drop: rows with an exact cell, scaled up. midpoint: the middle of an interval; sets are dropped.
uniform, em and crowd: the estimators of `crowdcover.read`; crowd is the default.

frequencies and crosstabs: rows in the wrong level or pair of levels, per cent of rows, on average
over masked columns or pairs of them. counts: error of a count of two conditions, per cent of the
count, on average over the pairs of levels of drawn rows. means: error in standard deviations, on
average over columns of numbers. covered: true frequencies within two standard errors, per cent of
those that are not certain. Adult, ACS of the nation and Google Play are the tables on which the
default was chosen.
"""

import argparse
import itertools
import re
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import crowdcover
from benchmarks import ROOT, data_file
from benchmarks.analyst.releases import made
from crowdcover.reader.coded.columns import find_levels

ESTIMATORS = ("uniform", "em", "crowd")
WAYS = ("drop", "midpoint", *ESTIMATORS)
ASKED, LEVELS = 2000, 150  # counts asked of a pair of columns; levels of a column in crosstabs
PLAY = {
    "Category": "categorical",
    "Rating": "numeric",
    "Installs": "categorical",
    "Type": "categorical",
    "Content Rating": "categorical",
    "Genres": "categorical",
    "Android Ver": "categorical",
}


def example(name, k=None):
    """The text of an example plan, with another k; its rows count as people."""
    text = (ROOT / "examples" / name).read_text(encoding="utf-8")
    text = re.sub(r"(?m)^person = .*\n", "", text)
    return text if k is None else re.sub(r"(?m)^k = .*", f"k = {k}", text)


def columns(name, kinds, k):
    """A plan whose columns are all quasi-identifiers."""
    parts = "".join(
        f'["columns"."{each}"]\nrole = "quasi"\nkind = "{kind}"\n'
        + 'bins = "none"\n' * (kind == "numeric")
        for each, kind in kinds.items()
    )
    source = '[source]\npath = "x"\nmissing = ["NaN"]\noptional = true\n'
    return f'name = "{name}"\n{source}{parts}[privacy]\nk = {k}\n'


def play(folder):
    """The columns of Google Play that a table has."""
    path = folder / "play.csv"
    frame = pl.read_csv(data_file("googleplay/googleplaystore.csv.gz"), infer_schema=False)
    frame.select(*PLAY).write_csv(path)
    return columns("googleplay", PLAY, 8), path


def fars(folder):
    """Deaths on roads, all columns as categories."""
    path = folder / "fars.csv"
    source = data_file("arx-benchmark/fars_subset.csv.gz")
    frame = pl.read_csv(source, separator=";", infer_schema=False)
    frame.write_csv(path)
    return columns("fars", dict.fromkeys(frame.columns, "categorical"), 5), path


def acs(place, k):
    source = f"census-like/nist_acs_{place}2018.csv.gz"
    return lambda _: (example("acs.toml", k), source)


ADULT = "adult/adult.data.gz"
PAYMENTS = "openpayments/open_payments_gnrl_iowa_2013_2015.csv.gz"
SETS = {
    "adult, k = 10": lambda _: (example("adult-ncp.toml"), ADULT),
    "adult, k = 5..100": lambda _: (example("adult.toml"), ADULT),
    "acs, k = 6": acs("national", 6),
    "acs, k = 50": acs("national", 50),
    "google play, k = 8": play,
    "open payments, k = 5": lambda _: (example("openpayments.toml"), PAYMENTS),
    "acs texas, k = 10": acs("tx", 10),
    "fars, k = 5": fars,
}


def main(names):
    print("| release | way | frequencies | counts | crosstabs | means | covered |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as place:
            text, source = SETS[name](Path(place))
            release = made(text, str(source), Path(place) / "release")
            for way in WAYS:
                measure(name, way, Held(way, release))


class Held:
    """One way to read a release, and the table behind it."""

    def __init__(self, way, release):
        self.way = way
        kept = way if way in ESTIMATORS else "uniform"
        self.release = crowdcover.read(release.folder, kept)
        self.masked = [each for each in self.release.columns.values() if each.role == "quasi"]
        self.true = {each.name: find_levels(each, release.truth[each.name]) for each in self.masked}
        self.rows = len(self.release)
        for column in self.masked:  # the interval that the README promises
            count = np.bincount(self.true[column.name], minlength=len(column.levels))
            stated = self.release.frequencies(column.name)
            assert (stated["certain"].to_numpy() <= count).all()
            assert (stated["possible"].to_numpy() >= count).all()

    def weights(self, column):
        """The chance of each level behind each cell; a cell without any is dropped."""
        if self.way in ESTIMATORS:
            return self.release.weights(column.name).dense()
        masks = column.masks.astype(np.float64)
        if self.way == "midpoint" and column.levels.is_counted:
            middle = [np.median(column.cells.allowed(cell)) for cell in range(len(masks))]
            return np.eye(masks.shape[1])[np.array(middle, dtype=np.int64)]
        masks[column.cells.sizes > 1] = 0
        return masks

    def scaled(self, counts):
        return counts * (self.rows / max(1e-9, counts.sum()))

    def frequencies(self, column):
        return self.scaled(column.times @ self.weights(column))

    def crosstab(self, a, b):
        pairs, times = np.unique(np.stack([a.which, b.which]), axis=1, return_counts=True)
        of_a, of_b = self.weights(a), self.weights(b)
        beside = np.zeros((len(of_a), of_b.shape[1]))
        np.add.at(beside, pairs[0], times[:, None] * of_b[pairs[1]])
        return self.scaled(of_a.T @ beside)


def measure(name, way, held):
    """One line of the table."""
    wrong, covered, uncertain = [], 0, 0
    for column in held.masked:
        true = np.bincount(held.true[column.name], minlength=len(column.levels))
        found = held.frequencies(column)
        wrong.append(np.abs(found - true).sum() / 2 / held.rows)
        if way in ESTIMATORS:
            error = held.release.frequencies(column.name)["error"].to_numpy()
            covered += (np.abs(found - true) <= 2 * error)[error > 0].sum()
            uncertain += (error > 0).sum()
    tabs, counts = crosstabs(held)
    figures = [100 * np.mean(wrong), 100 * np.mean(counts), 100 * np.mean(tabs)]
    words = [f"{figure:.2f}" for figure in figures]
    off = means(held)
    words.append(f"{np.mean(off):.3f}" if off else "")
    words.append(f"{100 * covered / uncertain:.0f}" if uncertain else "")
    print(f"| {name} | {way} |", " | ".join(words), "|", flush=True)


def crosstabs(held):
    """The error of each crosstab, and of counts of two conditions at the levels of drawn rows."""
    generator = np.random.default_rng(3)
    tabs, counts = [], []
    small = [each for each in held.masked if len(each.levels) <= LEVELS]
    for a, b in itertools.combinations(small, 2):
        shape = (len(a.levels), len(b.levels))
        pair = held.true[a.name] * shape[1] + held.true[b.name]
        true = np.bincount(pair, minlength=shape[0] * shape[1])
        found = held.crosstab(a, b).ravel()
        tabs.append(np.abs(found - true).sum() / 2 / held.rows)
        asked = pair[generator.integers(0, held.rows, ASKED)]
        counts.append(np.mean(np.abs(found - true)[asked] / true[asked]))
    return tabs, counts


def means(held):
    """The error of the mean of each column of numbers without open ends, by standard deviation."""
    found = []
    for column in held.masked:
        levels = column.levels
        if not levels.is_counted or not np.isfinite(levels.lo[~levels.missing]).all():
            continue
        number = np.where(levels.missing, 0.0, levels.middles())
        true = number[held.true[column.name]][~levels.missing[held.true[column.name]]]
        counts = np.where(levels.missing, 0.0, held.frequencies(column))
        mean = (counts * number).sum() / counts.sum()
        if held.way in ESTIMATORS:
            assert np.isclose(mean, held.release.mean(column.name).expected)
        if column.name == "AGEP":
            born, held_born = 2018 - mean, 2018 - true.mean()
            print(f"mean year of birth, {held.way}: {born:.1f}, true {held_born:.1f}")
        found.append(abs(mean - true.mean()) / true.std())
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help="; ".join(SETS))
    given = parser.parse_args()
    main(given.sets or SETS)
