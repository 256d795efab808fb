"""The sets of the smooth benchmarks as sparse matrices; real ones come from CROWDCOVER_DATA.

The paper does not publish how it made its tables binary. `dec13` and `cat7` are the nearest found:
one item for each value of a column, deciles of numbers, and no item for a value that is missing.
"""

import csv
import gzip

import numpy as np

from anon_core.matrices.records import SparseMatrix
from benchmarks import data_file

ADULT = {  # column: place in the file
    "workclass": 1,
    "education": 3,
    "marital-status": 5,
    "occupation": 6,
    "relationship": 7,
    "race": 8,
    "sex": 9,
    "native-country": 13,
}
ADULT_NUMBERS = {
    "age": 0,
    "education-num": 4,
    "capital-gain": 10,
    "capital-loss": 11,
    "hours-per-week": 12,
}
PLAY = (1, 2, 5, 6, 8, 9, 12)  # Category Rating Installs Type Content Genres Android


def of_columns(columns, k):
    """One item for each value of each column; None is no item."""
    records, width, items = len(columns[0]), len(columns), 0
    codes = np.full((records, width), -1, dtype=np.int64)
    for at, column in enumerate(columns):
        values = sorted({value for value in column if value is not None})
        number = {value: items + place for place, value in enumerate(values)}
        codes[:, at] = [number.get(value, -1) for value in column]
        items += len(values)
    record, place = np.nonzero(codes >= 0)
    return of_pairs(record, codes[record, place], records, items, k)


def of_pairs(record, item, records, items, k):
    """Return the matrix of these pairs of record and item, each once."""
    key = np.unique(record.astype(np.int64) * items + item)
    indptr = np.searchsorted(key, np.arange(records + 1, dtype=np.int64) * items)
    demand = np.full(records, k, dtype=np.int32)
    return SparseMatrix(
        indptr.astype(np.int64), (key % max(1, items)).astype(np.int32), items, demand
    )


def deciles(values):
    """The decile of each number; a number at an edge belongs above it."""
    numbers = np.array(values, dtype=np.float64)
    edges = np.unique(np.quantile(numbers, np.arange(1, 10) / 10))
    return np.searchsorted(edges, numbers, side="right").tolist()


def read_adult():
    with gzip.open(data_file("adult/adult.data.gz"), "rt", encoding="utf-8") as lines:
        return [line.strip().split(", ") for line in lines if line.strip()]


def adult_cat8(k):
    rows = read_adult()
    return of_columns([[row[place] for row in rows] for place in ADULT.values()], k)


def adult_dec13(k):
    return of_columns(thirteen(read_adult()), k)


def thirteen(rows):
    """Columns of Adult but fnlwgt and income, numbers in deciles."""
    columns = [[row[place] for row in rows] for place in ADULT.values()]
    return columns + [deciles([row[place] for row in rows]) for place in ADULT_NUMBERS.values()]


def play_cat7(k):
    with gzip.open(data_file("googleplay/googleplaystore.csv.gz"), "rt", encoding="utf-8") as text:
        rows = list(csv.reader(text))[1:]
    return of_columns([[row[place] for row in rows] for place in PLAY], k)


def of_edges(edges, k):
    """The neighbours of each node of an undirected graph, (edges, 2)."""
    nodes, ends = np.unique(edges, return_inverse=True)
    ends = ends.reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]
    both = np.concatenate([ends, ends[:, ::-1]])
    return of_pairs(both[:, 0], both[:, 1], len(nodes), len(nodes), k)


def facebook(school, k):
    path = data_file(f"facebook100/{school}.edges.csv.gz")
    return of_edges(np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64), k)


def ca_grqc(k):
    return of_edges(np.loadtxt(data_file("graphs/ca-GrQc.txt.gz"), dtype=np.int64), k)


SETS = {
    "adult-dec13": adult_dec13,
    "adult-cat8": adult_cat8,
    "play-cat7": play_cat7,
    "caltech36": lambda k: facebook("Caltech36", k),
    "simmons81": lambda k: facebook("Simmons81", k),
    "ca-grqc": ca_grqc,
}


def planted(records, items, k, seed=5):
    """Crowds of 12 records that share about ten items, and noise; Zipf's law for the items.

    A record holds each item of its crowd's profile of ten with a chance of 3/4, and 2.5 others.
    """
    generator = np.random.default_rng(seed)
    chance = np.cumsum(1 / (np.arange(items) + 10.0))
    chance /= chance[-1]

    def drawn(size):
        return np.searchsorted(chance, generator.random(size)).astype(np.int64)

    crowd = generator.permutation(records) // 12
    profile = drawn((records // 12 + 1, 10))
    keeps = generator.random((records, 10)) < 0.75
    others = generator.poisson(2.5, records)
    record, at = np.nonzero(keeps)
    noise = np.repeat(np.arange(records), others)
    item = np.concatenate([profile[crowd[record], at], drawn(len(noise))])
    return of_pairs(np.concatenate([record, noise]), item, records, items, k), crowd
