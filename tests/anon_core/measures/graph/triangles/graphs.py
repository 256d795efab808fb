"""Drawn graphs for the tests of triangles, and the published ones with their numbers."""

import os
from pathlib import Path

import numpy as np
import pytest

from crowdcover.storage.source.edges import read_edges

ROOT = Path(__file__).parents[5]
DATA = Path(os.environ.get("CROWDCOVER_DATA", ROOT.parent / "shared" / "data"))
GOLDEN = {
    "graphs/email-Enron.txt.gz": 727_044,
    "graphs/ca-GrQc.txt.gz": 48_260,
    "graphs/ca-HepTh.txt.gz": 28_339,
    "graphs/email-Eu-core.txt.gz": 105_461,
    "facebook100/Caltech36.edges.csv.gz": 119_563,
    "facebook100/Reed98.edges.csv.gz": 97_137,
    "facebook100/Haverford76.edges.csv.gz": 627_860,
    "facebook100/Simmons81.edges.csv.gz": 168_562,
    "uncertain/collins2007.txt.gz": 63_153,
}


def golden(name):
    """A published graph, or none: the test then says what it leaves out."""
    if not (DATA / name).exists():
        pytest.skip(f"left out: {name} is not in CROWDCOVER_DATA")
    return read_edges(DATA / name)


def skewed(vertices, edges, seed, power=3):
    """(u, v, n) of a drawn graph with hubs, the more so the greater the power."""
    rng = np.random.default_rng(seed)
    ends = (vertices * rng.random((2 * edges, 2)) ** power).astype(np.int64)
    ends = ends[ends[:, 0] != ends[:, 1]]
    key = np.unique(ends.min(axis=1) * vertices + ends.max(axis=1))
    key = np.sort(rng.choice(key, min(edges, len(key)), replace=False))
    return (key // vertices).astype(np.int32), (key % vertices).astype(np.int32), vertices
