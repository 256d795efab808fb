"""Methods with one set of trees: python -m benchmarks.hierarchies [--set SET] [--k K...] [METHOD].

NCP over trees: a node loses (leaves - 1) / (leaves of its tree - 1), of leaves that occur. All
columns are quasi-identifiers and have the hierarchy of ARX. Classes of others are read as the
smallest nodes that hold them, so they lose no more than as they are published. `mondrian`: strict,
of LeFevre et al., levels in the order of the tree. `mondrian-nodes`: nodes are split into their
parts. `anjana`: full domain, nobody left out.
"""

import argparse
import dataclasses
import functools

import numpy as np

from anon_core.engines import local
from anon_core.measures.table.utility import utility
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from benchmarks import data_file, python_of, released_cells, tables, timed
from benchmarks.anonml.classes import Hierarchy
from benchmarks.baselines.mondrian import by_hierarchies, mondrian
from benchmarks.baselines.released import of_classes
from benchmarks.comparisons.methods import LARGEST, OURS, PEERS, of_peer
from crowdcover.kinds.table.plan.hierarchies import hierarchy_of

SETS = {  # the table, and its hierarchies by column
    "adult": ("adult/arx_adult.csv.gz", "adult/hierarchies-arx/adult_hierarchy_{}.csv"),
    "fars": (
        "arx-benchmark/fars_subset.csv.gz",
        "arx-benchmark/fars_hierarchies/fars_hierarchy_{}.csv",
    ),
}


def encode(name):
    """The table of a set, and the hierarchy of each column."""
    source, files = SETS[name]
    frame = tables.read(source, separator=";")
    specs = [
        ColumnSpec(
            name=column,
            kind="categorical",
            hierarchy=hierarchy_of(str(data_file(files.format(column)))),
        )
        for column in frame.columns
    ]
    columns = {spec.name: frame[spec.name].to_numpy() for spec in specs}
    book = encoding.fit(specs, columns)
    table = encoding.encode(book, columns, np.ones(frame.height, dtype=np.int64))
    return table, [Hierarchy.of(column, files) for column in frame.columns]


def list_steps(table, hierarchies):
    """By column the nodes of each level from the root on, int (steps, levels)."""
    return [
        np.array([hierarchy.steps[label] for label in attribute.labels]).T
        for attribute, hierarchy in zip(table.codebook.attributes, hierarchies, strict=True)
    ]


def generalize(table, hierarchies, k):
    """Mondrian's classes whose columns are nodes."""
    steps = list_steps(table, hierarchies)
    paths = [step[:, codes] for step, codes in zip(steps, table.codes, strict=True)]
    nodes = by_hierarchies(paths, [hierarchy.sizes for hierarchy in hierarchies], k)
    label = np.unique(nodes, axis=1, return_inverse=True)[1].ravel()
    return of_classes(table, list_classes(label))


def list_classes(label):
    return np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label))[:-1])


def generalize_domain(table, hierarchies, k):
    """The classes of anjana, which generalizes whole columns."""
    ladders = []
    for step in list_steps(table, hierarchies):
        # A level stands for itself: its own step has the numbers of levels, nodes come after them.
        nodes = step[::-1] + step.shape[1]
        ladders.append(np.concatenate([np.arange(step.shape[1])[None], nodes[1:]]))
    return of_peer("anjana", table, k, ladders)


OTHERS = {
    "mondrian": lambda table, _, k: of_classes(table, mondrian(table.codes, k)),
    "mondrian-relaxed": lambda table, _, k: of_classes(
        table, mondrian(table.codes, k, relaxed=True)
    ),
    "mondrian-nodes": generalize,
    "anonypyx-mondrian": lambda table, _, k: of_peer("mondrian", table, k),
    "anonypyx-mdav": lambda table, _, k: of_peer("mdav", table, k),
    "anjana": generalize_domain,
}


def run(name, table, hierarchies, k):
    if name in OURS:
        order = np.random.default_rng(1).permutation(table.records)
        return local.run(OURS[name], table, tie_order=order)
    return OTHERS[name](table, hierarchies, k)


def show(name, of_set, table, hierarchies, k):
    table = dataclasses.replace(table, k=np.full_like(table.k, k))
    made, _, seconds = timed(functools.partial(run, name, table, hierarchies, k))
    kept = utility(table.codebook.ordinal, released_cells(made))
    print(
        f"{of_set}, k = {k}, {name}: NCP {kept.gcp:.5f}, exact {kept.cells_exact:.4f}, "
        f"{seconds:.1f} s",
        flush=True,
    )


def main(sets, names, demands):
    names = names or ["local-search", "adaptive", "freeform", *OTHERS]
    if not python_of("peers").exists():
        print("left out: the packages of others; run `make -C benchmarks peers`")
        names = [name for name in names if name not in PEERS]
    for of_set in sets:
        table, hierarchies = encode(of_set)
        for k in demands:
            for name in names:
                if table.records <= LARGEST.get(name, table.records):
                    show(name, of_set, table, hierarchies, k)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("methods", nargs="*", metavar="METHOD")
    parser.add_argument("--set", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 50])
    given = parser.parse_args()
    main(given.set, given.methods, given.k)
