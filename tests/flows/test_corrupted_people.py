"""Random corruptions of a release whose crowds are of people, and of the law of its seats.

Each is judged twice: by the audit of the check, and here by plain counting over the texts of rows,
source and the vault's files, without arrays or kernels.
"""

import json
import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.table.judge import audit_rows
from crowdcover.storage.source.reading import Reading
from tests.flows.orders import HEADER, Order
from tests.naive import matchable
from tests.support.releases import QUASI, allowed, attributes, level, several
from tests.typed import write_typed

RECORDS, OWNERS, K, CORRUPTIONS = 36, 9, 3, 104
CARRIED = {"diagnosis": 4, "note": 5}
SECTIONS = {
    "privacy": {"person": "ssn", "k": K},
    # Groups that stay as they are if a few people are other people.
    "columns": {"age": {"role": "quasi", "kind": "numeric", "bins": {"edges": [30, 45, 60]}}},
}


@dataclass
class Seats:
    """Source, rows by key, who sits where, and who holds the shares of each row."""

    source: list
    rows: dict  # key -> row
    key_of: list  # by record
    law: dict  # key -> records
    chance: random.Random

    def two_keys(self):
        return self.chance.sample(sorted(self.law), 2)

    def exchange_shares(self, wanted):
        """Of two rows: a share of each that fits this wish changes hands."""
        for _ in range(200):
            one, other = self.two_keys()
            a, b = (self.chance.randrange(len(self.law[key])) for key in (one, other))
            first, second = self.law[one][a], self.law[other][b]
            if wanted(self, one, first, second):
                self.law[one][a], self.law[other][b] = second, first
                return


def a_share_for_a_share(seats):
    seats.exchange_shares(lambda *_: True)


def shares_of_equal_records(seats):
    """Nothing is spoiled: the holders of these shares are one person's equal records, or one."""
    seats.exchange_shares(
        lambda seats, _, first, second: person(seats, first) == person(seats, second)
    )


def two_shares_for_one_person(seats):
    """Every record keeps its shares; in one row two are of one person."""

    def joins(seats, row, first, second):
        others = [each for each in seats.law[row] if each != first]
        return person(seats, second) in [person(seats, each) for each in others]

    seats.exchange_shares(joins)


def a_holder_twice(seats):
    holders = seats.law[seats.two_keys()[0]]
    holders[0] = holders[-1]


def seats_of_two(seats):
    """The records change rows; what each row shows stays with the row."""
    one, other = seats.chance.sample(range(len(seats.key_of)), 2)
    seats.key_of[one], seats.key_of[other] = seats.key_of[other], seats.key_of[one]
    for record in (one, other):
        for name, place in CARRIED.items():
            seats.rows[seats.key_of[record]][name] = seats.source[record][place]


def seats_that_may_be_exchanged(seats):
    """The same of two records that hold each other's rows."""
    for _ in range(400):
        one, other = seats.chance.sample(range(len(seats.key_of)), 2)
        there, here = seats.law[seats.key_of[other]], seats.law[seats.key_of[one]]
        if one in there and other in here:
            state, seats.chance = seats.chance, Chosen(one, other)
            seats_of_two(seats)
            seats.chance = state
            return


class Chosen:
    """Chance that is none."""

    def __init__(self, *drawn):
        self.drawn = drawn

    def sample(self, *_):
        return self.drawn


def two_people_are_one(seats):
    """The source says that the records of two people are of one."""
    names = sorted({row[0] for row in seats.source})
    one, other = seats.chance.sample(names, 2)
    seats.source = [(one, *row[1:]) if row[0] == other else row for row in seats.source]


def a_person_is_two(seats):
    record = seats.chance.randrange(len(seats.source))
    seats.source[record] = ("ident-90000", *seats.source[record][1:])


def a_row_without_a_law(seats):
    del seats.law[seats.two_keys()[0]]


def a_row_that_shows_more(seats):
    key = seats.two_keys()[0]
    masked = [name for name in QUASI if seats.rows[key][name] == "*"]
    if masked:
        own = seats.source[seats.key_of.index(key)]
        name = seats.chance.choice(masked)
        if name != "age" and own[HEADER.index(name)]:
            seats.rows[key][name] = own[HEADER.index(name)]


def nothing(seats):
    """The release as it is."""


WAYS = (
    a_share_for_a_share,
    shares_of_equal_records,
    two_shares_for_one_person,
    two_shares_for_one_person,
    a_holder_twice,
    seats_of_two,
    seats_that_may_be_exchanged,
    two_people_are_one,
    two_people_are_one,
    a_person_is_two,
    a_row_without_a_law,
    a_row_that_shows_more,
    nothing,
)


# What each way must have come to at least once.
BOTH = (
    (two_shares_for_one_person, False),
    (shares_of_equal_records, True),
    (seats_that_may_be_exchanged, True),
    (two_people_are_one, False),
    (nothing, True),
)


# ---------------------------------------------------------------- the plain judgement


def person(seats, record):
    return seats.source[record][0]


def crowds_hold(seats, book):
    """Truthful rows, and rows of k people for everyone, compatible and matchable."""
    keys = sorted(seats.rows)
    levels = [
        {name: level(book[name], row[HEADER.index(name)]) for name in QUASI} for row in seats.source
    ]
    cells = {
        key: {name: allowed(book[name], seats.rows[key][name]) for name in QUASI} for key in keys
    }
    fit = np.array(
        [[all(own[name] in cells[key][name] for name in QUASI) for key in keys] for own in levels]
    )
    if not all(fit[record, keys.index(key)] for record, key in enumerate(seats.key_of)):
        return False, fit
    sits = {key: person(seats, record) for record, key in enumerate(seats.key_of)}
    found = True
    for graph in (fit, matchable(fit)):
        for row in graph:
            found &= len({sits[key] for key, fits in zip(keys, row, strict=True) if fits}) >= K
    return found, fit


def law_holds(seats, fit, book):
    """No person has more than 1/k of a row; chances sum to 1, fit, and allow who sits there."""
    keys = sorted(seats.rows)
    if sorted(seats.law) != keys:
        return False
    shares = len(seats.law[keys[0]])
    kind = [
        (person(seats, record), *(level(book[name], row[HEADER.index(name)]) for name in QUASI))
        for record, row in enumerate(seats.source)
    ]
    held = Counter(kind[record] for key in keys for record in seats.law[key])
    if held != Counter({one: times * shares for one, times in Counter(kind).items()}):
        return False
    for place, key in enumerate(keys):
        people = Counter(person(seats, record) for record in seats.law[key])
        if max(people.values()) * K > shares:
            return False
        if not all(fit[record, place] for record in seats.law[key]):
            return False
        if kind[seats.key_of.index(key)] not in [kind[record] for record in seats.law[key]]:
            return False
    return True


@pytest.fixture(scope="module")
def correct(tmp_path_factory):
    order = Order(
        tmp_path_factory.mktemp("people"),
        several(RECORDS, OWNERS),
        **SECTIONS,
    )
    order.fix_seed().release()
    return order


def stated(order, chance):
    """The release and the vault's secrets as plain lists."""
    law = pl.read_parquet(order.run.path / "anonymize" / "law.parquet")
    return Seats(
        several(RECORDS, OWNERS),
        {row["key"]: row for row in order.rows().to_dicts()},
        order.keys_of_records()["key"].to_list(),
        dict(zip(law["key"].to_list(), law["records"].to_list(), strict=True)),
        chance,
    )


def audited(order, seats, folder):
    """The audit of these rows, people, seats and this law."""
    spoiled = Order(folder, seats.source, **SECTIONS)
    plan = ReleasePlan.load(spoiled.plan)
    rows = pl.DataFrame([seats.rows[key] for key in sorted(seats.rows)], infer_schema_length=None)
    (folder / "codebook.json").write_bytes((order.folder_of_v1 / "codebook.json").read_bytes())
    write_typed(rows, folder)
    records = range(len(seats.key_of))
    pl.DataFrame({"record": records, "key": seats.key_of}).write_parquet(
        folder / "matching.parquet"
    )
    pl.DataFrame(
        {"key": list(seats.law), "records": list(seats.law.values())},
        schema={"key": pl.String, "records": pl.List(pl.Int64)},
    ).write_parquet(folder / "law.parquet")
    return audit_rows(
        folder,
        ["parquet"],
        Reading(plan.data.source),
        plan.data.columns,
        plan.data.demand,
        folder / "matching.parquet",
        plan.build_anonymizer().promise,
        person="ssn",
    )


@pytest.mark.long
def test_corruptions_are_caught_if_and_only_if_they_break_a_guarantee(correct, tmp_path):
    book, outcomes, wrong = attributes(correct.folder_of_v1), Counter(), []
    for seed in range(CORRUPTIONS):
        chance = random.Random(seed)
        seats, way = stated(correct, chance), WAYS[seed % len(WAYS)]
        way(seats)
        audit = audited(correct, seats, tmp_path / str(seed))
        found, fit = crowds_hold(seats, book)
        kept = found and law_holds(seats, fit, book)
        outcomes[way.__name__, kept] += 1
        if audit.passed != kept:
            wrong.append((seed, way.__name__, kept, audit.sentence()))
    assert wrong == []
    for way, kept in BOTH:
        assert outcomes[way.__name__, kept] > 0, (way.__name__, kept)


def test_the_plain_judgement_finds_the_release_correct(correct):
    seats, book = stated(correct, random.Random(0)), attributes(correct.folder_of_v1)
    found, fit = crowds_hold(seats, book)
    assert found
    assert law_holds(seats, fit, book)
    privacy = json.loads((correct.folder_of_v1 / "manifest.json").read_text())["privacy"]
    assert (privacy["below_k"], privacy["people"]) == (0, OWNERS)
