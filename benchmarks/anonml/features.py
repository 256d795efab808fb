"""Adult as numbers for classifiers: rows of the source, of a release, of Mondrian's classes."""

import numpy as np
import polars as pl

from benchmarks import data_file
from crowdcover.kinds.table.pipeline.weighing import learn_weights

AGE, INCOME, ROW = "age", "salary-class", "row"
WORDS = (
    "sex",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
)
QUASI = (AGE, *WORDS)


def adult():
    """The table of ARX, 30,162 rows, each with its number."""
    path = data_file("adult/arx_adult.csv.gz")
    frame = pl.read_csv(path, separator=";", infer_schema=False)
    return frame.select(*QUASI, INCOME).with_row_index(ROW)


def weights():
    """What columns weigh where income is predicted, learnt from the 16,281 of `adult.test`."""
    places = {AGE: 0, "workclass": 1, "education": 3, "marital-status": 5, "occupation": 6}
    places |= {"race": 8, "sex": 9, "native-country": 13, INCOME: 14}
    frame = pl.read_csv(
        data_file("adult/adult.test.gz"), has_header=False, infer_schema=False, null_values=" ?"
    )
    others = frame.select(
        frame.to_series(place).str.strip_chars(" .").alias(name) for name, place in places.items()
    )
    return learn_weights(others.with_columns(pl.col(AGE).cast(pl.Float64)), INCOME, QUASI)


def rich(frame):
    """The target: who earns above 50,000, int64 (rows,)."""
    return (frame[INCOME] == ">50K").to_numpy().astype(np.int64)


def split(rows):
    """Training and test rows: scikit-learn's `train_test_split(test_size=0.3, random_state=42)`."""
    order = np.random.RandomState(42).permutation(rows)
    tested = int(np.ceil(0.3 * rows))
    return order[tested:], order[:tested]


def levels(frame):
    """The values of each category, in alphabetical order."""
    return {name: sorted(frame[name].unique()) for name in WORDS}


def exact(frame, of):
    """Rows of the source: age, then a column for each value of `of`, 0 or 1."""
    numbers = frame[AGE].cast(pl.Float64).to_numpy()[:, None]
    flags = [frame[name].to_numpy()[:, None] == np.array(of[name])[None] for name in of]
    return np.hstack([numbers, *flags]).astype(np.float64)


def read(release, of):
    """Rows of a release: expected age, then the weight of each value of `of`.

    By the estimator "uniform" the weights are `Release.members`: 1/s for each of s values.
    """
    age = release.column(AGE)
    lo, hi = age.levels.spans()
    parts = [release.weights(AGE).mean((lo + hi) / 2)[age.which][:, None]]
    for name, values in of.items():
        column = release.column(name)
        places = np.array(column.levels.labels)[:, None] == np.array(values)[None]
        parts.append(release.weights(name).mean(places.astype(np.float64))[column.which])
    return np.hstack(parts)


def labels(release):
    """The target of each row of a release; a cell that allows both is drawn, seed 1."""
    column = release.column(INCOME)
    above = np.array([label == ">50K" for label in column.levels.labels])
    return above[release.weights(INCOME).draw(np.random.default_rng(1))].astype(np.int64)
