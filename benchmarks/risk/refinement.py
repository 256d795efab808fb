"""Attacks by the program alone: python -m benchmarks.refinement [--set SET...] [--k K...].

How much of the masked cells is narrowed to one value by somebody who knows how the method chooses.

`row`: of a published row. `certain`: its owner can have one value only, `above`: one value has a
probability above 1 - 1/k, both to an attacker who knows all quasi-identifiers, the plan, the
program and the law of the seats. Rows of a class belong to its records with equal chances.

`group`: of identical rows together. So many of them certainly have this value, nobody knows which.
Of classes it is what the program alone tells, at least: in the local recoding by
`local_recoding.attack`, which also narrows cells to a smaller node; elsewhere each member of a set
and both ends of an interval are somebody's. Of other rows it is at most so much, for an attacker
who knows all quasi-identifiers and the law, too: what is alike in all drawn seatings. `k-member` is
measured so, since its seats are drawn across classes.

A sample of the records, 8 or 11 quasi-identifiers. The local recoding has the hierarchies of ARX
for words of Adult, intervals of doubling width for numbers, and keeps or suppresses other words.
"""

import argparse
import dataclasses

import numpy as np

from anon_core.anonymizers import Adaptive, KMember, Optimal
from anon_core.engines import local
from anon_core.measures.table.utility import utility
from anon_core.seating.chances import SHARE, list_seats, seat_chances
from anon_core.seating.matching import random_matching
from benchmarks import released_cells
from benchmarks.anonml.classes import Hierarchy
from benchmarks.baselines.local_recoding import attack, double, recode, suppress
from benchmarks.comparisons.methods import classes_of_mondrian
from benchmarks.risk.even import acs, acs_of_massachusetts, adult

RECORDS, DRAWS = 3000, 300
SETS = {"adult": adult, "acs": acs, "acs-ma": acs_of_massachusetts}
DRAWN = {
    "adaptive, even": Adaptive(seats="even"),
    "adaptive, matchable": Adaptive(seats="matchable"),
    "k-member": KMember(),
}
CLASSES = {
    "optimal": lambda table, order: local.run(
        Optimal(method="greedy", loss="rank"), table, tie_order=order
    ),
    "mondrian": lambda table, _: classes_of_mondrian(table, int(table.k.max()), relaxed=False),
}
ARX = ("marital-status", "workclass", "occupation", "race", "sex", "native-country")


def main(sets, sizes, records, draws):
    for of_set in sets:
        whole = SETS[of_set]()
        chosen = np.random.default_rng(5).permutation(whole.records)[: records or whole.records]
        sample = whole.at(np.sort(chosen))
        for k in sizes:
            table = dataclasses.replace(sample, k=np.full_like(sample.k, k))
            order = np.random.default_rng(1).permutation(table.records)
            prefix = f"{of_set}.k{k}"
            for name, maker in DRAWN.items():
                made = local.run(maker, table, tie_order=order)
                show(f"{prefix}.{name}", made, bound(made, draws))
            for name, make in CLASSES.items():
                made = make(table, order)
                show(f"{prefix}.{name}", made, read_classes(made))
            measure_recoding(f"{prefix}.local recoding", of_set, table, k)


def show(prefix, made, group):
    """Print the loss, what is known of rows, and of groups (masked cells, certain at once)."""
    table, released = made.table, released_cells(made)
    kept = utility(table.codebook.ordinal, released)
    masked = released.sizes() > 1
    greatest = np.array([each.max(axis=1) for each in chances_of_rows(made)])[masked]
    limit = 1 - 1 / table.k.max()
    print(f"{prefix}.ncp: {kept.gcp:.4f}")
    print(f"{prefix}.masked: {masked.sum() / masked.size:.4f}")
    print(f"{prefix}.row.certain: {(greatest > 1 - 1e-9).mean():.5f}")
    print(f"{prefix}.row.above: {(greatest > limit + 1e-9).mean():.5f}")
    print(f"{prefix}.row.greatest: {greatest.max():.4f}, mean {greatest.mean():.4f}")
    print(f"{prefix}.group: {group / masked.sum():.4f}", flush=True)


def chances_of_rows(made):
    """By column the chance of each level to be that of a row's owner, float64 (n, levels).

    Keys of identical rows tell nothing, so each of them has the mean of their chances.
    """
    same = number_texts(made)
    size = np.bincount(same)[:, None]
    for found in chances_by_seats(made):
        total = np.zeros((len(size), found.shape[1]))
        np.add.at(total, same, found)
        yield (total / size)[same]


def chances_by_seats(made):
    """The same, of the row made from each record: by the law, or everyone in the own row."""
    if made.holders is None and made.steps:
        yield from chances_by_law(made)
        return
    rows = np.arange(made.table.records)
    holders = rows[:, None] if made.holders is None else made.holders
    for code, attribute in zip(made.table.codes, made.table.codebook.attributes, strict=True):
        found = np.zeros((len(rows), attribute.levels))
        for held in holders.T:
            found[rows, code[held]] += 1 / holders.shape[1]
        yield found


def chances_by_law(made):
    """The same where seats are matchable: the program chooses the chances behind the masks."""
    seats = list_seats(made, words(1)(made.table.records))
    held = seat_chances(seats).held / SHARE
    kind = np.repeat(np.arange(len(seats.size)), np.diff(seats.indptr))
    first = np.unique(seats.record_class, return_index=True)[1]
    for code, attribute in zip(made.table.codes, made.table.codebook.attributes, strict=True):
        total = np.zeros((len(seats.row_size), attribute.levels))
        np.add.at(total, (seats.rows, code[first][kind]), held)
        yield (total / seats.row_size[:, None])[seats.row_class]


def number_texts(made):
    """Number of each row's text, int64 (n,): identical rows have the same."""
    shown = np.concatenate([made.hidden, made.table.bits & ~made.hidden], axis=1)
    return np.unique(shown, axis=0, return_inverse=True)[1].ravel()


def words(seed):
    generator = np.random.default_rng(seed)
    return lambda count: generator.integers(0, 2**32, count, dtype=np.uint32)


def bound(made, draws):
    """Masked cells that show one value in all seatings drawn, as one of a group: at most these."""
    table, same, draw = made.table, number_texts(made), words(3)
    masked = released_cells(made).sizes() > 1
    least = [None] * len(table.codes)
    for _ in range(draws):
        owner = np.argsort(random_matching(made, draw))
        for column, code in enumerate(table.codes):
            levels = table.codebook.attributes[column].levels
            place = (same * levels + code[owner])[masked[column]]
            count = np.bincount(place, minlength=(same.max() + 1) * levels)
            least[column] = count if least[column] is None else np.minimum(least[column], count)
    return sum(int(each.sum()) for each in least)


def read_classes(made):
    """Cells of classes that the program alone tells: members of sets, and ends of intervals."""
    released, same = released_cells(made), number_texts(made)
    first, size = np.unique(same, return_index=True, return_counts=True)[1:]
    certain = 0
    for ordinal, allowed in zip(made.table.codebook.ordinal, released.sizes(), strict=True):
        members = np.where(ordinal, np.minimum(allowed, 2), allowed)[first]
        certain += int(np.minimum(members, size)[members > 1].sum())
    return certain


def measure_recoding(prefix, of_set, table, k):
    """Recode and attack, as published."""
    ladders = [ladder_of(a, of_set) for a in table.codebook.attributes]
    recoded = recode(ladders, table.codes, k)
    masked, narrowed, named = attack(ladders, recoded, k)
    lost = 0.0
    for ladder, steps, nodes in zip(ladders, recoded.steps, recoded.nodes, strict=True):
        inside = np.array([(ladder[s] == n).sum() for s, n in zip(steps, nodes, strict=True)])
        lost += float(((inside - 1) / max(1, ladder.shape[1] - 1) * recoded.size).sum())
    print(f"{prefix}.ncp: {lost / table.codes.size:.4f}")
    print(f"{prefix}.masked: {masked / table.codes.size:.4f}")
    print(f"{prefix}.group: {named / masked:.4f}, smaller node {narrowed / masked:.4f}", flush=True)


def ladder_of(attribute, of_set):
    """The hierarchy of a column: int (steps, levels), see `local_recoding`."""
    if attribute.ordinal:
        return double(attribute.levels)
    if of_set != "adult" or attribute.name not in ARX:
        return suppress(attribute.levels)
    hierarchy = Hierarchy.of(attribute.name)
    steps = np.array([hierarchy.steps[label] for label in attribute.labels]).T[::-1]
    numbered = [np.unique(nodes, return_inverse=True)[1].ravel() for nodes in steps]
    numbered[0] = np.arange(attribute.levels)
    # A step that joins nothing more of the levels that occur is none.
    sizes = [len(np.unique(nodes)) for nodes in numbered]
    keep = [at for at in range(len(sizes)) if at == 0 or sizes[at] < sizes[at - 1]]
    return np.array([numbered[at] for at in keep])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--records", type=int, default=RECORDS, help="0: all of the set")
    parser.add_argument("--draws", type=int, default=DRAWS)
    given = parser.parse_args()
    main(given.set, given.k, given.records, given.draws)
