"""Who is in a table, with true people who are not: python -m benchmarks.risk.membership.

Half of a table's records are released, the other half are held out. For each method the shares of
people whom at least one row fits, and whom at least so many rows fit as tell both apart best: of
the released people, of those held out, and of the people whom the audit draws instead.
"""

import argparse
import dataclasses

import numpy as np

from anon_core.anonymizers import Adaptive, KMember, Optimal
from anon_core.engines import local
from anon_core.measures.table.attackers.membership import attack_membership, tell_apart
from anon_core.measures.table.classes import Classes
from anon_core.measures.table.crowds import count_rows
from benchmarks import released_cells
from benchmarks.risk.refinement import SETS

METHODS = {
    "adaptive, even": Adaptive(seats="even"),
    "adaptive, matchable": Adaptive(seats="matchable"),
    "optimal": Optimal(method="greedy", loss="rank"),
    "k-member": KMember(),
}


def main(sets, sizes, records, methods):
    for of_set in sets:
        whole = SETS[of_set]()
        chosen = np.random.default_rng(5).permutation(whole.records)
        released, held_out = (whole.at(np.sort(chosen[at : at + records])) for at in (0, records))
        for k in sizes:
            table = dataclasses.replace(released, k=np.full_like(released.k, k))
            order = np.random.default_rng(1).permutation(table.records)
            for name in methods:
                made = local.run(METHODS[name], table, tie_order=order)
                show(f"{of_set}.k{k}.{name}", made, held_out.codes)


def show(prefix, made, held_out):
    """Print matched and told apart, of people who are held out and of drawn ones, in percent."""
    cells = released_cells(made)
    inside, outside = (count_fitting(codes, cells) for codes in (made.table.codes, held_out))
    drawn = attack_membership(cells, Classes.of(made.table.codes, cells), inside)
    true = tell_apart(np.sort(inside), np.sort(outside))
    for whom, found in (("held out", true), ("drawn", drawn)):
        matched, others = (100 * each / found.drawn for each in (found.matched, found.others))
        members = 100 * found.members / len(inside)
        print(f"{prefix}.{whom}: {matched:.1f} matched; {found.rows} rows or more fit", end=" ")
        print(f"{members:.1f} inside, {others:.1f} outside", flush=True)


def count_fitting(codes, cells):
    """Rows that fit each record, int64 (n,)."""
    classes = Classes.of(codes, cells)
    return count_rows(classes, classes.rows_in)[classes.record_class]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS), dest="sets")
    parser.add_argument("--k", nargs="+", type=int, default=[5, 10])
    parser.add_argument("--records", type=int, default=3000)
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    asked = parser.parse_args()
    main(asked.sets, asked.k, asked.records, asked.method)
