"""Compile the kernels of makers and auditor in two processes, before test workers ask for them.

numba keeps the machine code; two workers and the ranks of their jobs would all compile it at once.
"""

import sys
from itertools import chain
from multiprocessing import get_context
from typing import get_args

import numpy as np

from anon_core.anonymizers import Freeform, KMember, Obfuscate, Optimal, Smooth
from anon_core.anonymizers.freeform.segments import Method
from anon_core.engines import local
from anon_core.graphs.records import UncertainGraph
from anon_core.matrices.records import SparseMatrix
from anon_core.measures.table.classes import ReleasedCells
from anon_core.measures.table.fitting import fitting_rows
from anon_core.series.fits import Fits
from anon_core.series.withdrawing import pulled
from anon_core.specs.graphs import ONE
from kinds.table import warm

FURTHER = (
    *(Freeform(method=method, exchanges=False) for method in get_args(Method)),
    Optimal(),
    KMember(),
)
OF_GRAPHS = (Obfuscate(), Obfuscate(selection="relevance", start="representative"))
OF_MATRICES = (Smooth(annealing=1), Smooth(method="alg2"), Smooth(method="alg1"))


def compile_makers():
    """Call the kernels of a release on the small table of kinds/table/warm.py."""
    warm.compile_makers(warm.tiny_table())


def compile_others():
    """Call those of an audit, and of the methods that a release by default does not call."""
    table = warm.tiny_table()
    warm.compile_judge(table)
    for method in FURTHER:
        local.run(method, table)
    for method in OF_MATRICES:
        local.run(method, tiny_matrix())
    for method in OF_GRAPHS:
        local.run(method, tiny_graph())
    divide_cell(table)


def divide_cell(table):
    """Let one record of a table that shows nothing and its companions go, rows as the auditor's."""
    shown = [np.ones((1, attribute.levels), dtype=bool) for attribute in table.codebook.attributes]
    cell = np.zeros((len(shown), table.records), dtype=np.int32)
    fits = Fits(*fitting_rows(table.codes, ReleasedCells(cell, tuple(shown))))
    pulled(fits, table.k, np.arange(table.records) == 0)


def tiny_matrix():
    """40 records of two items each."""
    items = chain.from_iterable((v % 7, 7 + v % 5) for v in range(40))
    indptr = np.arange(0, 82, 2, dtype=np.int64)
    return SparseMatrix(indptr, np.fromiter(items, np.int32), 12, np.full(40, 3, dtype=np.int32))


def tiny_graph():
    """60 vertices; three of them have many edges, and two hide among so many."""
    pairs = [(v, w) for v in range(3) for w in range(v + 4, 60, 2 + v)]
    u, v = np.array(pairs, dtype=np.int32).T.copy()
    p = np.where((u + v) % 3 == 0, ONE // 3, ONE).astype(np.int32)
    return UncertainGraph(u, v, p, np.full(60, 2, dtype=np.int32), exempt=2)


def main():
    """Run both steps at once; returns 1 if one fails."""
    fresh = get_context("spawn")
    processes = [fresh.Process(target=step) for step in (compile_makers, compile_others)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return int(any(process.exitcode for process in processes))


if __name__ == "__main__":
    sys.exit(main())
