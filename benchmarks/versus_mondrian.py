"""Information kept at k = 10 on Adult: ours beside strict Mondrian (LeFevre et al. 2006).

Mondrian's classes are k-anonymous in the strict sense; ours promise k compatible and matchable
rows. Losses are counted alike: NCP of a cell is (levels its set has - 1) / (levels of the column -
1), an interval for ordered columns, the set of values for others.
"""

import time

import numpy as np

from anon_core.engines import local
from anon_core.measures.table.utility import utility
from benchmarks import prepare, released_cells


def mondrian(codes, k):
    """Strict multidimensional Mondrian: cut the widest column at its median, k records a side."""
    widths = codes.max(axis=1) - codes.min(axis=1)
    waiting, classes = [np.arange(codes.shape[1])], []
    while waiting:
        members = waiting.pop()
        part = codes[:, members]
        spread = (part.max(axis=1) - part.min(axis=1)) / np.maximum(1, widths)
        for column in np.argsort(-spread, kind="stable"):
            middle = np.sort(part[column])[(len(members) - 1) // 2]
            left = part[column] <= middle
            if min(left.sum(), (~left).sum()) >= k:
                waiting += [members[left], members[~left]]
                break
        else:
            classes.append(members)
    return classes


def by_appearance(codebook, codes):
    """Order categories by first appearance, as the public code does.

    Cuts then part common values from rare ones.
    """
    ranked = codes.copy()
    for row, attribute in enumerate(codebook.attributes):
        if not attribute.ordinal:
            _, first = np.unique(codes[row], return_index=True)
            ranked[row] = np.argsort(np.argsort(first))[codes[row]]
    return ranked


def losses(codebook, codes, classes):
    """NCP and share of exact cells of equivalence classes."""
    ncp = exact = 0.0
    for members in classes:
        for attribute, code in zip(codebook.attributes, codes[:, members], strict=True):
            size = code.max() - code.min() + 1 if attribute.ordinal else len(np.unique(code))
            ncp += len(members) * (size - 1) / (attribute.levels - 1)
            exact += len(members) * (size == 1)
    return ncp / codes.size, exact / codes.size


def main():
    plan, table = prepare("adult-ncp.toml", "adult/adult.data.gz")
    local.run(type(plan.maker)(max_iterations=2), table)  # compiles
    start = time.perf_counter()
    masked = local.run(plan.maker, table, order=np.random.default_rng(1).permutation(table.records))
    ours_seconds = time.perf_counter() - start
    ours = utility(table.codebook.ordinal, released_cells(masked))
    start = time.perf_counter()
    classes = mondrian(by_appearance(table.codebook, table.codes), int(table.k[0]))
    mondrian_seconds = time.perf_counter() - start
    ncp, exact = losses(table.codebook, table.codes, classes)
    print(f"records: {table.records}")
    print(f"ours_ncp: {ours.gcp:.4f}")
    print(f"mondrian_ncp: {ncp:.4f}")
    print(f"ours_cells_exact: {ours.cells_exact:.4f}")
    print(f"mondrian_cells_exact: {exact:.4f}")
    print(f"ours_seconds: {ours_seconds:.2f}")
    print(f"mondrian_seconds: {mondrian_seconds:.2f}")


if __name__ == "__main__":
    main()
