"""Methods side by side: python -m benchmarks.methods [--set SET...] [--k K...] [METHOD...].

`--k 5/50`: a drawn half of the records demands 5, the others 50; a method of one k gets 50.
Records of a set, ours and those of others: NCP, exact cells, seconds, and how likely an insider is
right who knows all quasi-identifiers, the plan and the code: the likeliest row of each record, as a
mean and at worst in units of 1/k. `law`: from the shares of the rows; `size`: 1 / size of the
equivalence class; `belief`: of a method with neither, the matrix of greatest entropy. The set
`adult` has 8 quasi-identifiers as in examples/adult-ncp.toml.
"""

import argparse
import dataclasses
import itertools
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from anon_core.anonymizers import Adaptive, Freeform, KMember, LocalSearch, Optimal
from anon_core.engines import local
from anon_core.measures.table.attackers.attacks import attack_as_insider, tightest_rows
from anon_core.measures.table.attackers.law import judge_law
from anon_core.measures.table.classes import Classes
from anon_core.measures.table.crowds import components_of, identical_rows
from anon_core.measures.table.utility import utility
from anon_core.tables.loss import loss_table
from benchmarks import ROOT, python_of, released_cells, tables, timed
from benchmarks.baselines.flow import first_costs, flow
from benchmarks.baselines.k_concealment import k_concealment
from benchmarks.baselines.mondrian import by_appearance, mondrian
from benchmarks.baselines.released import of_classes, of_holders, of_pairs
from benchmarks.baselines.rings import rings
from benchmarks.risk.even import acs, acs_of_massachusetts, adult, fars, play
from benchmarks.risk.insider import payments


def whole(**settings):
    """The paper's method, on all records at once."""
    return Freeform(exact=0.0, segment=0, **settings)


def classes_of_mondrian(table, k, *, relaxed):
    codes = by_appearance(table.codebook, table.codes)
    return of_classes(table, mondrian(codes, k, relaxed=relaxed))


def concealed(table, k, choices):
    return of_pairs(table, *k_concealment(table, ranks(table), k, choices=choices))


def of_peer(method, table, k, ladders=()):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "classes.npz"
        named = {f"ladder{a}": ladder for a, ladder in enumerate(ladders)}
        np.savez(path, codes=table.codes, ordinal=table.codebook.ordinal, k=k, **named)
        program = ROOT / "benchmarks/baselines/peer_classes.py"
        subprocess.run([python_of("peers"), "-W", "ignore", program, method, path], check=True)
        label = np.load(path)["label"]
    return of_classes(table, [np.flatnonzero(label == one) for one in range(label.max() + 1)])


def ranks(table):
    return loss_table(table.codebook, "rank")


OURS = {
    "adaptive": Adaptive(seats="even"),
    "local-search": LocalSearch(seats="even"),
    "local-search-2": LocalSearch(seats="even", effort=2),
    "local-search-3": LocalSearch(seats="even", effort=3),
    "greedy": Freeform(method="greedy", exact=0.0, exchanges=False),
    "sort-greedy": Freeform(method="sort-greedy", exact=0.0, exchanges=False),
    "hungarian": Freeform(exact=0.0, exchanges=False),
    "greedy-exchanges": Freeform(method="greedy", exact=0.0),
    "hungarian-exchanges": Freeform(exact=0.0),
    "freeform-16th": Freeform(exact=0.0625),
    "freeform": Freeform(),
    "freeform-wide": Freeform(segment=2500, exact=0.085),
    "optimal": Optimal(method="greedy", loss="rank"),
    "initial": Optimal(method="initial", loss="rank"),
    "k-member": KMember(),
    "greedy-whole": whole(method="greedy", exchanges=False),
    "sort-greedy-whole": whole(method="sort-greedy", exchanges=False),
    "hungarian-whole": whole(exchanges=False),
    "greedy-whole-exchanges": whole(method="greedy"),
    "hungarian-whole-exchanges": whole(),
}
OTHERS = {
    "mondrian": lambda table, k: classes_of_mondrian(table, k, relaxed=False),
    "mondrian-relaxed": lambda table, k: classes_of_mondrian(table, k, relaxed=True),
    "nh": lambda table, k: of_holders(table, rings(table, ranks(table), k)),
    "k-concealment": lambda table, k: concealed(table, k, 1),
    "k-concealment-random": lambda table, k: concealed(table, k, 3),
    "flow": lambda table, k: of_holders(table, flow(first_costs(table, ranks(table)), k)),
    "anonypyx-mdav": lambda table, k: of_peer("mdav", table, k),
    "anonypyx-mondrian": lambda table, k: of_peer("mondrian", table, k),
    "anjana": lambda table, k: of_peer("anjana", table, k),
}
PEERS = ("anonypyx-mdav", "anonypyx-mondrian", "anjana")
SETS = {
    "adult": adult,
    "acs": acs,
    "acs-ma": acs_of_massachusetts,
    "fars": fars,
    "payments": payments,
    "play": play,
    "poker": lambda: tables.poker(100_000),
}
# Beyond so many records the time, or the memory of n^2 costs, is too much.
LARGEST = {
    "flow": 1000,
    "anonypyx-mdav": 31_000,
    **{name: 5000 for name in OURS if "whole" in name},
}


def parse_levels(text):
    """The levels of k that a text such as 10 or 5/50 names."""
    return tuple(int(part) for part in text.split("/"))


def demand(table, levels):
    """The table where each record demands one of the levels, each level as often."""
    drawn = np.random.default_rng(7).permutation(table.records) % len(levels)
    return dataclasses.replace(table, k=np.asarray(levels, table.k.dtype)[drawn])


def run(name, table, order):
    """Return the rows of a method."""
    if name in OURS:
        return local.run(OURS[name], table, tie_order=order)
    return OTHERS[name](table, int(table.k.max()))


def found(table, made, released):
    """The chance of each record's likeliest row, float64 (n,), and what it follows from."""
    classes, own = Classes.of(table.codes, released), np.arange(table.records)
    tightest = tightest_rows(released, classes)
    if made.holders is not None:
        stated = judge_law(table.codes, table.k, released, classes, tightest, made.holders, own)
        return stated.likeliest[stated.kind], "law"
    size = identical_rows(classes, own)
    if (size >= table.k).all():
        return 1 / size, "size"
    components = components_of(released, classes, own)
    belief = attack_as_insider(classes, components, tightest)
    return belief.likeliest[classes.record_class], "belief"


def main(sets, names, sizes, demands):
    names = names or [*OURS, *OTHERS]
    if not python_of("peers").exists():
        print("left out: the packages of others; run `make -C benchmarks peers`")
        names = [name for name in names if name not in PEERS]
    for of_set in sets:
        everyone = demand(SETS[of_set](), demands[0])
        for name in names:
            run(name, everyone.at(np.arange(20 * max(demands[0]))), None)  # compiles
        for records, levels in itertools.product(sizes, demands):
            chosen = np.random.default_rng(5).permutation(everyone.records)
            table = everyone.at(np.sort(chosen[: records or everyone.records]))
            table = demand(table, levels)
            order = np.random.default_rng(1).permutation(table.records)
            for name in names:
                if table.records <= LARGEST.get(name, table.records):
                    show(of_set, name, table, "/".join(map(str, levels)), order)


def show(of_set, name, table, levels, order):
    made, wall, _ = timed(lambda: run(name, table, order))
    released = released_cells(made)
    kept = utility(table.codebook.ordinal, released)
    chance, judge = found(table, made, released)
    print(
        f"{of_set}, k = {levels}, {name}, n = {table.records}: NCP {kept.gcp:.5f}, "
        f"exact {kept.cells_exact:.4f}, insider {chance.mean():.4f} (at worst "
        f"{(table.k * chance).max():.2f} / k, by {judge}), {wall:.1f} s",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=", ".join([*OURS, *OTHERS]))
    parser.add_argument("--set", nargs="+", choices=list(SETS), default=["adult"])
    parser.add_argument("--records", type=int, nargs="+", default=[0], help="0: all of the set")
    parser.add_argument("--k", type=parse_levels, nargs="+", default=[(10,)])
    given = parser.parse_args()
    main(given.set, given.methods, given.records, given.k)
