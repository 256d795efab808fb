"""What an attacker concludes from a release of few people, by enumeration, in exact fractions.

The attacker knows the program, the plan and the codebook, at worst also everybody's
quasi-identifiers and the order that decides ties. The secrets are that order, if it is secret, and
who sits in which row. Rows are published as texts: keys are drawn apart from both and exclude
nothing.
"""

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import ReleasedCells
from anon_core.seating.chances import SHARE, list_seats, seat_chances
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.cells import write_cells
from tests.naive import perfect_matchings
from tests.support.seats import words


@dataclass(frozen=True)
class World:
    """One source with one order of ties.

    rows: the allowed levels of each cell, by row; records: levels of each record; law: by record
    and row the chance to sit there.
    """

    rows: tuple
    records: tuple
    law: list

    @property
    def release(self):
        """What is published: the texts of the rows, and how often each occurs."""
        return frozenset(Counter(self.rows).items())

    def values(self, text, column):
        """By level, the chance that the owner of a row with this text has it."""
        alike = [row for row, its in enumerate(self.rows) if its == text]
        chances = Counter()
        for record, row in itertools.product(range(len(self.records)), alike):
            chances[self.records[record][column]] += self.law[record][row] / len(alike)
        return +chances

    def least(self, text, column):
        """By level of the cell, how many owners of the rows with this text have it at least."""
        matchings = perfect_matchings(np.array([[p > 0 for p in own] for own in self.law]))
        alike = {row for row, its in enumerate(self.rows) if its == text}
        counts = [
            Counter(
                self.records[record][column] for record, row in enumerate(seats) if row in alike
            )
            for seats in matchings
        ]
        return {level: min(count[level] for count in counts) for level in text[column]}


def domain(levels):
    """A codebook; of each column its number of levels, ordered columns below zero."""
    combinations = list(itertools.product(*(range(abs(number)) for number in levels)))
    specs, columns = [], {}
    for place, number in enumerate(levels):
        name, values = f"c{place}", np.array([each[place] for each in combinations])
        ordered = {"kind": "numeric", "encoding": "ordinal"}
        specs.append(ColumnSpec(name=name, **(ordered if number < 0 else {"kind": "categorical"})))
        columns[name] = values.astype(float) if number < 0 else values.astype(str).astype(object)
    return encoding.fit(specs, columns), combinations, columns


def worlds(make, levels, people, k, *, order_known=False):
    """Every source, each as likely; of an order that the attacker knows each multiset once."""
    book, combinations, columns = domain(levels)
    which = itertools.combinations_with_replacement if order_known else itertools.product
    repeat = (people,) if order_known else ()
    arguments = {} if order_known else {"repeat": people}
    for chosen in which(range(len(combinations)), *repeat, **arguments):
        held = {name: values[list(chosen)] for name, values in columns.items()}
        made = make.anonymize(encoding.encode(book, held, np.full(people, k)))
        yield World(read_rows(made), tuple(combinations[each] for each in chosen), law_of(made))


def read_rows(made):
    """The levels that each cell allows, as the auditor reads it, by row."""
    cells = write_cells(made.table, made.hidden)
    book = made.table.codebook.attributes
    released = ReleasedCells.of([read_cells(each, cells[each.name].tolist()) for each in book])
    allowed = [
        [frozenset(np.flatnonzero(each).tolist()) for each in levels] for levels in released.levels
    ]
    return tuple(
        tuple(sets[cell] for sets, cell in zip(allowed, row, strict=True))
        for row in released.cell.T
    )


def law_of(made):
    """By record and row the chance to sit there; equal records of equal k share theirs."""
    table = made.table
    law = [[Fraction(0)] * table.records for _ in range(table.records)]
    if made.holders is not None:
        same = np.vstack([table.codes, table.k])
        alike = (same[:, :, None] == same[:, None, :]).all(axis=0)
        for row, holders in enumerate(made.holders):
            for record in holders:
                mine = np.flatnonzero(alike[record])
                for each in mine:
                    law[each][row] += Fraction(1, len(holders) * len(mine))
        return law
    seats = list_seats(made, words(1)(table.records))
    held = seat_chances(seats).held
    for kind, (first, last) in enumerate(itertools.pairwise(seats.indptr)):
        for pair in range(first, last):
            records = np.flatnonzero(seats.record_class == kind)
            rows = np.flatnonzero(seats.row_class == seats.rows[pair])
            for record, row in itertools.product(records, rows):
                law[record][row] = Fraction(int(held[pair]), SHARE * len(records) * len(rows))
    return law


def conclude(found):
    """Posteriors of all masked cells of all releases, of an attacker who knows the program.

    Yields the levels that a cell allows and the chance of each that is possible.
    """
    by_release = defaultdict(list)
    for world in found:
        by_release[world.release].append(world)
    for release, agreeing in by_release.items():
        for text, _ in release:
            for column, allowed in enumerate(text):
                if len(allowed) > 1:
                    total = sum((world.values(text, column) for world in agreeing), Counter())
                    yield allowed, {a: p / len(agreeing) for a, p in total.items()}
