"""200 drawn tables with drawn trees: who fits, what is lost and what is kept, by names of nodes."""

import itertools

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive, Freeform, KMember, LocalSearch, Optimal
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import ReleasedCells
from anon_core.measures.table.codebook.levels import column_levels
from anon_core.measures.table.crowds import crowds
from anon_core.measures.table.utility import shares_by_level, utility
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Hierarchy
from anon_core.tables.cells import write_cells
from anon_core.tables.encoding import encode, fit
from tests import naive

EXACT = Optimal(method="exact", loss="rank")
PAIRS = [*itertools.product(["node", "shorter", "set"], repeat=2)]
MAKERS = [
    LocalSearch(seats="even"),
    Adaptive(),
    Adaptive(seats="even"),
    Freeform(),
    KMember(),
    EXACT,
]


def draw_tree(rng, cells):
    """Leaves a .. h below nodes of up to two levels; half of those that may, with weights."""
    paths = {}
    for leaf in "abcdefgh":
        one, two, depth = rng.integers([3, 2, 3])
        paths[leaf] = (*(f"n{one}", f"n{one}.{two}")[:depth], leaf)
    inside = sorted(rng.choice(np.arange(1, 100), max(map(len, paths.values())) - 1, replace=False))
    weighed = cells == "node" and rng.random() < 0.5
    weights = (0.0, *(int(each) / 100 for each in inside), 1.0) if weighed else ()
    return Hierarchy(paths, weights=weights)


class Drawn:
    """A table of two trees and a flag; `paths`: by column of each value that occurs."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        # All pairs of forms: each method has all of them in time.
        self.cells = dict(zip("cd", PAIRS[seed // len(MAKERS) % len(PAIRS)], strict=True))
        n, trees = int(rng.integers(2, 9)), {n: draw_tree(rng, c) for n, c in self.cells.items()}
        self.weights = {name: tree.weights for name, tree in trees.items()} | {"flag": ()}
        self.specs = [
            ColumnSpec(name=name, kind="categorical", hierarchy=tree, cells=self.cells[name])
            for name, tree in trees.items()
        ]
        self.specs.append(ColumnSpec(name="flag", kind="categorical"))
        self.columns = {
            "c": rng.choice(np.array([*"abcdefgh", None], dtype=object), n),
            "d": rng.choice(np.array([*"aaabcdefgh"], dtype=object), n),
            "flag": rng.choice(np.array(["0", "1"], dtype=object), n),
        }
        self.k = rng.integers(1, min(3, n) + 1, n).astype(np.int32)
        self.table = encode(fit(self.specs, self.columns), self.columns, self.k)
        self.paths = {}
        for name, values in self.columns.items():
            self.paths[name] = {
                value: ("(missing)",)
                if value is None
                else trees[name].path_of(value)
                if name in trees
                else (value,)
                for value in values
            }

    def lose(self, sets, weights=None):
        """What cells lose, given as sets of values by column, see `naive.loss_of_values`."""
        return {
            name: [
                naive.loss_of_values(self.paths[name], cell, (weights or {}).get(name))
                for cell in cells
            ]
            for name, cells in sets.items()
        }

    def least_loss(self):
        """What all rows lose at least where they are equal within classes, over all partitions."""
        n = len(self.k)
        return min(
            sum(len(group) * self.lose_of_group(group) for group in groups)
            for groups in partitions(list(range(n)))
            if all(len(group) >= self.k[group].max() for group in groups)
        )

    def lose_of_group(self, group):
        held = {name: [values[v] for v in group] for name, values in self.columns.items()}
        forms = {"flag": "set"} | self.paid
        cells = {
            name: [naive.shown_values(self.paths[name], values, forms[name])]
            for name, values in held.items()
        }
        return sum(map(sum, self.lose(cells, self.weights).values()))

    @property
    def paid(self):
        """What methods price in each column: nodes also where the values of holders are shown."""
        return {name: "set" if each == "set" else "node" for name, each in self.cells.items()}


def partitions(records):
    """All partitions of a list."""
    if not records:
        yield []
        return
    first, rest = records[0], records[1:]
    for chosen in itertools.product([False, True], repeat=len(rest)):
        others = list(itertools.compress(rest, chosen))
        for more in partitions([v for v in rest if v not in others]):
            yield [[first, *others], *more]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200))
def test_fits_loss_and_promise_are_those_of_the_names(seed):
    drawn, maker = Drawn(seed), MAKERS[seed % len(MAKERS)]
    made = maker.anonymize(drawn.table)
    texts = write_cells(drawn.table, made.hidden)
    sets = {
        name: [naive.values_of_cell(drawn.paths[name], text) for text in texts[name]]
        for name in "cd"
    }
    sets["flag"] = [
        set(drawn.paths["flag"]) if text in ("0|1", "*") else {text} for text in texts["flag"]
    ]
    n = len(drawn.k)
    fits = np.array(
        [
            [all(drawn.columns[name][v] in sets[name][row] for name in sets) for row in range(n)]
            for v in range(n)
        ]
    )
    # The auditor, by its own codebook.
    levels = [column_levels(spec, drawn.columns[spec.name]) for spec in drawn.specs]
    released = ReleasedCells.of(
        [read_cells(column, texts[column.name].tolist()) for column, _ in levels]
    )
    codes = np.stack([code for _, code in levels]).astype(np.int32)
    found = crowds(codes, drawn.k, released, np.arange(n))
    assert found.compatible.tolist() == fits.sum(axis=1).tolist()
    matchable = naive.matchable(fits).sum(axis=1)
    assert found.matchable.tolist() == matchable.tolist()
    lost = drawn.lose(sets)
    ncp = utility(drawn.table.codebook.ordinal, released).ncp
    assert ncp.tolist() == pytest.approx([np.mean(lost[name]) for name in sets])
    # What was promised.
    assert fits.diagonal().all()
    assert (matchable >= drawn.k).all()
    if made.holders is not None:
        require_even_seats(drawn, fits, made.holders)
    for name, cells in drawn.cells.items():
        paths, shown = drawn.paths[name], sets[name]
        assert texts[name].tolist() == [naive.cell_text(paths, each, cells) for each in shown]
        assert shown == [naive.shown_values(paths, each, cells) for each in shown]
    by_weights = drawn.lose(sets, drawn.weights)
    for (column, _), cell, allowed in zip(levels, released.cell, released.levels, strict=True):
        if drawn.weights[column.name] and column.tree:
            found = shares_by_level(column, cell, allowed)["lost"]
            assert found == pytest.approx(np.mean(by_weights[column.name]))
    if maker is EXACT:
        paid = {
            name: [naive.shown_values(drawn.paths[name], each, form) for each in sets[name]]
            for name, form in drawn.paid.items()
        }
        lost = drawn.lose({**sets, **paid}, drawn.weights)
        assert sum(map(sum, lost.values())) == pytest.approx(drawn.least_loss())


def require_even_seats(drawn, fits, holders):
    """Each row is held by records that fit it; none of equal ones has more than 1/k of it."""
    alike = list(zip(*drawn.columns.values(), drawn.k.tolist(), strict=True))
    for row, held in enumerate(holders):
        assert fits[held, row].all()
        for each in set(held.tolist()):
            shares = sum(alike[other] == alike[each] for other in held)
            assert shares * drawn.k[each] <= len(held) * alike.count(alike[each])
