"""Series by the naive auditor: the theorem on all worlds, and series that the makers made."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive, KMember
from anon_core.engines import local
from anon_core.measures.series import SeriesCell, count_histories
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import ReleasedCells
from anon_core.measures.table.fitting import find_fitting_rows
from anon_core.seating.matching import random_matching
from anon_core.series.fits import Fits
from anon_core.series.withdrawing import widen_withdrawal
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.cells import write_cells
from tests import naive

CASES = ("nothing", "joined", "always")


@st.composite
def small_series(draw, most_people=4, most_versions=3):
    """Up to four people with rows of one column; anybody may leave, come back, and change."""
    end = draw(st.integers(1, most_versions))
    versions = [{"people": {}, "rows": {}, "owner": {}} for _ in range(end)]
    for person in range(draw(st.integers(1, most_people))):
        key = row = None
        value = draw(st.integers(0, 2))
        for at, version in enumerate(versions):
            fate = draw(st.sampled_from(["stays", "stays", "new", "out"]))
            if fate == "out":
                key = None
            elif fate == "new" or key is None:
                key = (person, at)
                value = draw(st.integers(0, 2))
                allowed = frozenset({value, *draw(st.sets(st.integers(0, 2)))})
                row = ({"q": allowed}, {"c": draw(st.integers(0, 1))})
            version["people"][person] = {"q": value}
            if key is not None:
                version["owner"][person] = key
                version["rows"][key] = row
    return versions


def in_worlds(versions, knows_cells):
    """By person, the set of histories that it has in some world."""
    held = naive.published_in(versions)
    found = {person: set() for person in naive.truths(versions)}
    for world in naive.series_worlds(versions, knows_cells=knows_cells):
        for person, own in found.items():
            history = [None] * len(versions)
            for owner, (key, span) in zip(world, held.items(), strict=True):
                for at in span if owner == person else ():
                    history[at] = key
            own.add(tuple(history))
    return found


@given(small_series())
def test_an_attacker_who_knows_everything_is_left_with_products_of_matchings(versions):
    for person, worlds in in_worlds(versions, knows_cells=True).items():
        assert set(naive.histories_of(versions, person, "everything")) == worlds


@given(small_series())
def test_who_knows_less_excludes_no_more(versions):
    strongest = {
        p: set(naive.histories_of(versions, p, "everything")) for p in naive.truths(versions)
    }
    whole = in_worlds(versions, knows_cells=False)
    for person, own in naive.truths(versions).items():
        least = set(naive.histories_of(versions, person, "nothing"))
        assert strongest[person] <= whole[person] - {(None,) * len(own)} <= least
        assert own in strongest[person]
        for knows in CASES if None not in own else CASES[:2]:
            assert strongest[person] <= set(naive.histories_of(versions, person, knows)) <= least


@given(small_series())
def test_linked_histories_are_those_of_one_value(versions):
    for person, own in naive.truths(versions).items():
        value = {key: versions[at]["rows"][key][1]["c"] for at, key in enumerate(own) if key}
        for history in naive.histories_of(versions, person, "everything", ["c"]):
            carried = {versions[at]["rows"][key][1]["c"] for at, key in enumerate(history) if key}
            assert len(carried) == 1
        if len(set(value.values())) == 1:
            assert own in set(naive.histories_of(versions, person, "everything", ["c"]))


# ---------------------------------------------------------------- series that the makers made

COLUMNS = ("age", "place", "sex")
K = 4


class Registry:
    """People who join, leave and change, and the versions that are released of them."""

    def __init__(self, method, seed):
        self.method, self.rng = method, np.random.default_rng(seed)
        self.values = {
            "age": self.rng.integers(20, 60, 60).astype(float),
            "place": np.array(list("abcdef"), dtype=object)[self.rng.integers(0, 6, 60)],
            "sex": np.array(list("mf"), dtype=object)[self.rng.integers(0, 2, 60)],
        }
        self.income = self.rng.integers(0, 2, 60)
        self.specs = [
            ColumnSpec(name="age", kind="numeric", encoding="ordinal", bins=8),
            *(ColumnSpec(name=name, kind="categorical") for name in COLUMNS[1:]),
        ]
        self.book = encoding.fit(self.specs, self.values)
        self.alive, self.cells, self.versions = [], [], []

    def release(self, joining, leaving, changing):
        """One version; returns nothing, `versions` and `cells` grow."""
        at, waiting, staying = len(self.versions), list(joining), []
        for batch in self.alive:
            members = batch["people"]
            going = np.isin(members, [*leaving, *changing])
            goes = widen_withdrawal(batch["fits"], np.full(len(members), K, dtype=np.int32), going)
            self.close(batch, goes)
            waiting += [p for p in members[goes].tolist() if p not in leaving]
            if not goes.all():
                staying.append(self.part(batch, ~goes))
        for person in changing:
            self.values["age"][person] = self.rng.integers(20, 60)
        self.alive = staying
        if len(waiting) >= K:
            self.alive.append(self.batch(np.array(sorted(waiting)), at))
        version = {"people": {}, "rows": {}, "owner": {}}
        for batch in self.alive:
            for person, key, row in zip(batch["people"].tolist(), *batch["rows"], strict=True):
                version["rows"][key], version["owner"][person] = row, key
        coded = encoding.encode(self.book, self.values, np.full(60, 2)).codes
        for person in range(60):
            version["people"][person] = dict(zip(COLUMNS, coded[:, person].tolist(), strict=True))
        self.versions.append(version)

    def batch(self, people, at):
        """Anonymize people among themselves."""
        whole = encoding.encode(self.book, self.values, np.full(60, K))
        table = replace(whole.at(people), k=np.full(len(people), K, dtype=np.int32))
        made = local.run(self.method, table, threads=1)
        seat = random_matching(made, lambda n: self.rng.integers(0, 2**32, n, dtype=np.uint32))
        cells = write_cells(table, made.hidden)
        read = [read_cells(a, cells[a.name].tolist()) for a in self.book.attributes]
        released = ReleasedCells(
            np.stack([cell[seat] for cell, _ in read]), tuple(levels for _, levels in read)
        )
        rows = [
            (
                {
                    name: frozenset(np.flatnonzero(levels[cell]).tolist())
                    for name, cell, levels in zip(
                        COLUMNS, released.cell[:, v], released.levels, strict=True
                    )
                },
                {"income": int(self.income[person])},
            )
            for v, person in enumerate(people.tolist())
        ]
        keys = [f"{at}-{place}" for place in self.rng.permutation(len(people)).tolist()]
        fits = Fits(*find_fitting_rows(table.codes, released))
        return {"people": people, "rows": (keys, rows), "fits": fits}

    def part(self, batch, members):
        keys, rows = batch["rows"]
        some = np.flatnonzero(members).tolist()
        kept = [keys[v] for v in some], [rows[v] for v in some]
        return {
            "people": batch["people"][members],
            "rows": kept,
            "fits": batch["fits"].among(members),
        }

    def close(self, batch, goes):
        if goes.any():
            self.cells.append(self.part(batch, goes))

    def judged(self, linked):
        """All cells, as the auditor's fast code takes them."""
        return count_histories(
            [
                SeriesCell(
                    np.asarray(cell["people"], dtype=np.int64),
                    cell["fits"].start,
                    cell["fits"].row,
                    value=self.income[cell["people"]].astype(np.int64) if linked else None,
                )
                for cell in (*self.cells, *self.alive)
            ]
        )


@pytest.mark.parametrize(
    "method", [Adaptive(max_iterations=3), pytest.param(KMember(), marks=pytest.mark.slow)]
)
def test_sixty_people_over_four_versions(method):
    registry = Registry(method, seed=3)
    registry.release(range(48), (), ())
    registry.release(range(48, 52), (1, 17), (5, 30))
    registry.release(range(52, 56), (2,), (7, 8))
    registry.release(range(56, 60), (20,), (9,))
    strongest = naive.audit_series(registry.versions, "everything")
    assert len({len(rows) for _, rows in strongest.values()}) > 1  # somebody left or came later
    for knows in ("everything", *CASES):
        found = naive.audit_series(registry.versions, knows)
        assert found
        for person, (number, rows) in found.items():
            assert min(number, *rows) >= K
            least, at_least = strongest[person]
            assert number >= least
            assert all(more >= few for more, few in zip(rows, at_least, strict=True))
    for linked in (False, True):
        expected = naive.audit_series(registry.versions, "everything", ["income"] * linked)
        found = registry.judged(linked)
        assert found.chain.tolist() == sorted(expected)
        assert found.number.tolist() == [expected[p][0] for p in found.chain.tolist()]
        assert found.rows.tolist() == [min(expected[p][1]) for p in found.chain.tolist()]
