"""Random corruptions of a correct release: the audit fails exactly those that break a guarantee.

Each is judged twice: by the audit of the check, and here by plain counting over the texts of rows,
source and the vault's matching, without arrays or kernels. Wrong makers do not pass the check.
"""

import gzip
import io
import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from anon_core.anonymizers import Adaptive
from anon_core.errors import GuaranteeError
from anon_core.steps import State, Step
from anon_core.tables.records import BinaryTable, MaskedTable
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.table.judge import audit_rows
from crowdcover.storage.source.reading import Reading
from tests.flows.orders import HEADER, Order, people
from tests.naive import matchable
from tests.support.releases import QUASI, SHOWN, allowed, attributes, level
from tests.typed import write_typed

RECORDS, K = 36, 3
CORRUPTIONS, FEW = 200, 100
CARRIED = {"diagnosis": 4, "note": 5}


def source_rows():
    """A table in which people share sensitive and kept values."""
    return [
        (*row[:4], f"illness-{n % 3}", f"note-{n % 2}", row[6])
        for n, row in enumerate(people(RECORDS))
    ]


# ---------------------------------------------------------------- the plain judgement


def readable(attribute, cell):
    """The levels of a cell, None if no reader of the codebook could tell them."""
    try:
        parts = cell.split("|")
        return (allowed(attribute, cell) or None) if parts == sorted(set(parts)) else None
    except (ValueError, TypeError, AttributeError):
        return None


def keeps_every_guarantee(names, rows, source, key_of, book):
    """By docs/guarantees.md, on lists of texts."""
    keys = [row["key"] for row in rows]
    if names != SHOWN or None in keys or keys != sorted(keys) or sorted(keys) != sorted(key_of):
        return False
    if (
        not all(re.fullmatch("[0-9a-f]{16}", key) for key in keys)
        or guessed_by_order(list(map(keys.index, key_of))) >= 13
    ):
        return False
    cells = [{name: readable(book[name], row[name]) for name in QUASI} for row in rows]
    if any(levels is None for row in cells for levels in row.values()):
        return False
    persons = [
        {name: level(book[name], person[HEADER.index(name)]) for name in QUASI} for person in source
    ]
    for record, person in enumerate(source):
        own = keys.index(key_of[record])
        if any(persons[record][name] not in cells[own][name] for name in QUASI):
            return False
        if any(rows[own][name] != person[place] for name, place in CARRIED.items()):
            return False
    fit = np.array(
        [[all(person[name] in row[name] for name in QUASI) for row in cells] for person in persons]
    )
    return min(fit.sum(axis=1)) >= K and min(matchable(fit).sum(axis=1)) >= K


def guessed_by_order(row_of):
    """For how many people the best of four guesses by order is right."""
    pairs = list(zip(row_of[1:], row_of[:-1], strict=True))
    return max(
        sum(row == person for person, row in enumerate(row_of)),
        sum(row == len(row_of) - 1 - person for person, row in enumerate(row_of)),
        sum(row == before + 1 for row, before in pairs),
        sum(row == before - 1 for row, before in pairs),
    )


def files_are_plain(folder):
    """The gzip header has no name and no time; the Parquet footer has only the writer's schema."""
    plain = (folder / "data.csv.gz").read_bytes()[3:8] == bytes(5)
    return plain and pl.read_parquet_metadata(folder / "data.parquet").keys() == {"ARROW:schema"}


# ---------------------------------------------------------------- corruptions


@dataclass
class Table:
    """Rows as they will be written, and what the one who spoils them knows."""

    names: list
    rows: list
    source: list
    key_of: list
    book: dict
    chance: random.Random
    footer: dict = field(default_factory=dict)
    header: dict = field(default_factory=lambda: {"filename": "", "mtime": 0})

    def write(self, folder):
        """Both formats, and what the vault says of keys."""
        types = {"key": pl.String}
        rows = pl.DataFrame(
            {name: [row[name] for row in self.rows] for name in self.names}, schema_overrides=types
        )
        write_typed(rows, folder, metadata=self.footer or None)
        packed = io.BytesIO()
        with gzip.GzipFile(mode="wb", fileobj=packed, **self.header) as file:
            file.write(rows.write_csv().encode())
        (folder / "data.csv.gz").write_bytes(packed.getvalue())
        people = pl.DataFrame({"record": range(len(self.key_of)), "key": self.key_of})
        people.write_parquet(folder / "matching.parquet")

    def give_keys(self, keys):
        """New keys by person, known to the vault; rows stay in their order."""
        new = dict(zip(self.key_of, keys, strict=True))
        self.rows = sorted(
            ({**row, "key": new[row["key"]]} for row in self.rows), key=lambda r: r["key"]
        )
        self.key_of = keys

    def any_row(self):
        return self.chance.randrange(len(self.rows))

    def two_rows(self):
        return self.chance.sample(range(len(self.rows)), 2)

    def any_masked_cell(self):
        masked = [
            (r, n)
            for r, row in enumerate(self.rows)
            for n in QUASI
            if len(allowed(self.book[n], row[n])) > 1
        ]
        return self.chance.choice(masked)

    def own_level(self, row, name):
        person = self.source[self.key_of.index(self.rows[row]["key"])]
        return level(self.book[name], person[HEADER.index(name)])

    def set_levels(self, row, name, levels):
        """Write a set of levels as the codebook says."""
        labels, levels = self.book[name]["labels"], sorted(levels)
        ordinal = self.book[name]["encoding"] == "ordinal"
        low, high = labels[levels[0]].split("..")[0], labels[levels[-1]].split("..")[-1]
        interval = f"{low}..{high}"  # a level may itself be an interval
        self.rows[row][name] = (
            interval if ordinal and len(levels) > 1 else "|".join(labels[l] for l in levels)
        )

    def swap(self, names):
        first, second = self.two_rows()
        for name in names:
            self.rows[first][name], self.rows[second][name] = (
                self.rows[second][name],
                self.rows[first][name],
            )


def unmask(table):
    row, name = table.any_masked_cell()
    table.set_levels(row, name, {table.own_level(row, name)})


def narrow(table):
    row, name = table.any_masked_cell()
    own, levels = (
        table.own_level(row, name),
        sorted(allowed(table.book[name], table.rows[row][name])),
    )
    left = (
        [l for l in levels if l <= own]
        if table.chance.random() < 0.5
        else [l for l in levels if l >= own]
    )
    table.set_levels(row, name, left)


def widen(table):
    table.rows[table.any_row()][table.chance.choice(QUASI)] = "*"


def say_the_same_otherwise(table):
    row, name = table.any_masked_cell()
    levels = sorted(allowed(table.book[name], table.rows[row][name]))
    if table.book[name]["encoding"] == "ordinal":
        table.set_levels(row, name, levels)
    else:
        table.chance.shuffle(levels)
        table.rows[row][name] = "|".join(table.book[name]["labels"][l] for l in levels)


def alter_a_cell(table):
    row, name = table.any_row(), table.chance.choice(QUASI)
    table.rows[row][name] = table.chance.choice(table.book[name]["labels"])


def spoil_a_cell(table):
    row, name = table.any_row(), table.chance.choice(QUASI)
    table.rows[row][name] = table.chance.choice(
        [None, "Atlantis", "ulm|", "|", "*|*", " *", "80..18"]
    )


def alter_a_carried_value(table):
    row, name = table.any_row(), table.chance.choice(list(CARRIED))
    table.rows[row][name] = table.chance.choice([r[name] for r in table.rows] + [None])


def swap_sensitive_values(table):
    table.swap(["diagnosis"])


def swap_all_that_is_carried(table):
    table.swap(list(CARRIED))


def swap_cells(table):
    table.swap([table.chance.choice(QUASI)])


def swap_seats(table):
    table.swap(QUASI)


def drop_rows(table):
    for _ in range(table.chance.choice([1, 1, 4])):
        table.rows.pop(table.any_row())


def duplicate_a_row(table):
    row = table.any_row()
    copy = dict(table.rows[row])
    if table.chance.random() < 0.5:
        copy["key"] = f"{table.chance.getrandbits(64):016x}"
    table.rows.append(copy)
    table.rows.sort(key=lambda r: r["key"])


def put_a_copy_in_place_of_a_row(table):
    one, other = table.two_rows()
    table.rows[one] = {**table.rows[other], "key": table.rows[one]["key"]}


def reuse_a_key(table):
    one, other = table.two_rows()
    table.rows[one]["key"] = table.rows[other]["key"]
    table.rows.sort(key=lambda r: r["key"])


def draw_a_new_key(table):
    table.rows[table.any_row()]["key"] = f"{table.chance.getrandbits(64):016x}"
    table.rows.sort(key=lambda r: r["key"])


def sort_by_source(table):
    table.rows.sort(key=lambda r: table.key_of.index(r["key"]))


def shuffle_rows(table):
    table.chance.shuffle(table.rows)


def leak_a_column(table):
    name = table.chance.choice(["ssn", "junk", "record"])
    place = table.chance.randrange(len(table.names) + 1)
    table.names.insert(place, name)
    for row in table.rows:
        record = table.key_of.index(row["key"])
        row[name] = str(record) if name == "record" else table.source[record][HEADER.index(name)]


def reorder_columns(table):
    table.chance.shuffle(table.names)


def number_keys_by_source(table):
    """Some of them at least: from the front or from the end, all or about half."""
    numbers = list(range(len(table.key_of)))
    if table.chance.random() < 0.3:
        numbers.reverse()
    if table.chance.random() < 0.5:
        shift = table.chance.randrange(len(numbers))
        numbers = numbers[shift:] + numbers[:shift]
    some = table.chance.sample(numbers, table.chance.choice([0, 12, 26]))
    for place, number in zip(
        sorted(map(numbers.index, some)), table.chance.sample(some, len(some)), strict=True
    ):
        numbers[place] = number
    table.give_keys([f"{4096 * number:016x}" for number in numbers])


def draw_all_keys_anew(table):
    table.give_keys([f"{table.chance.getrandbits(64):016x}" for _ in table.key_of])


def write_keys_otherwise(table):
    wrong = table.chance.choice(
        [str.upper, lambda key: key[:12], lambda key: f"k{key}", lambda key: key + "\n"]
    )
    table.give_keys([wrong(f"a{table.chance.getrandbits(60):015x}") for _ in table.key_of])


def name_the_packed_file(table):
    table.header["filename"] = "people.csv"


def date_the_packed_file(table):
    table.header["mtime"] = table.chance.randrange(1, 2**31)


def annotate_the_footer(table):
    table.footer["source"] = "people.csv"


def spoils_nothing(table):
    table.rows.sort(key=lambda r: r["key"])


WAYS = [
    unmask,
    unmask,
    narrow,
    narrow,
    widen,
    say_the_same_otherwise,
    alter_a_cell,
    spoil_a_cell,
    alter_a_carried_value,
    swap_sensitive_values,
    swap_all_that_is_carried,
    swap_cells,
    swap_seats,
    swap_seats,
    drop_rows,
    duplicate_a_row,
    put_a_copy_in_place_of_a_row,
    reuse_a_key,
    draw_a_new_key,
    sort_by_source,
    shuffle_rows,
    leak_a_column,
    reorder_columns,
    number_keys_by_source,
    number_keys_by_source,
    draw_all_keys_anew,
    write_keys_otherwise,
    name_the_packed_file,
    date_the_packed_file,
    annotate_the_footer,
    spoils_nothing,
]
MILD = [
    unmask,
    narrow,
    widen,
    say_the_same_otherwise,
    swap_sensitive_values,
    swap_cells,
    swap_seats,
]


@pytest.fixture(scope="module")
def correct(tmp_path_factory):
    """A release in which some crowds exceed the demand, so that some cells may be unmasked."""
    order = Order(
        tmp_path_factory.mktemp("mutations"),
        source_rows(),
        privacy={"k": K},
        anonymizer={"name": "adaptive", "reclaim": False, "seats": "matchable"},
    )
    order.fix_seed().release()
    return order


@pytest.mark.parametrize("number", [FEW, pytest.param(CORRUPTIONS, marks=pytest.mark.slow)])
def test_corruptions_are_caught_if_and_only_if_they_break_a_guarantee(correct, tmp_path, number):
    plan, source = ReleasePlan.load(correct.plan), source_rows()
    key_of, book = correct.keys_of_records()["key"].to_list(), attributes(correct.folder_of_v1)
    (tmp_path / "codebook.json").write_bytes((correct.folder_of_v1 / "codebook.json").read_bytes())
    outcomes, wrong = Counter(), []
    for seed in range(number):
        chance = random.Random(seed)
        table = Table(list(SHOWN), correct.rows().to_dicts(), source, key_of, book, chance)
        ways = chance.choices(MILD, k=2) if seed % 4 == 0 else chance.choices(WAYS, k=1)
        for way in ways:
            way(table)
        table.write(tmp_path)
        kept = keeps_every_guarantee(
            table.names, table.rows, source, table.key_of, book
        ) and files_are_plain(tmp_path)
        matching = tmp_path / "matching.parquet"
        audit = audit_rows(
            tmp_path,
            ["parquet", "csv"],
            Reading(plan.data.source),
            plan.data.columns,
            plan.data.demand,
            matching,
            plan.build_anonymizer().promise,
        )
        outcomes[kept] += 1
        if audit.passed != kept:
            wrong.append((seed, [way.__name__ for way in ways], kept, audit.sentence()))
    assert wrong == []
    assert min(outcomes[True], outcomes[False]) >= number // 6, outcomes


def test_the_plain_judgement_finds_the_release_correct(correct):
    rows, book = correct.rows().to_dicts(), attributes(correct.folder_of_v1)
    assert keeps_every_guarantee(
        list(SHOWN), rows, source_rows(), correct.keys_of_records()["key"].to_list(), book
    )
    assert (
        json.loads((correct.folder_of_v1 / "manifest.json").read_text())["privacy"]["below_k"] == 0
    )


# ---------------------------------------------------------------- makers that are wrong on purpose


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """An anonymizer with one verb, and that one wrong."""

    way: str
    kind: ClassVar = "table"
    data: ClassVar = BinaryTable
    promise: ClassVar = Adaptive().promise
    engines: ClassVar = {"local": ""}

    def admit(self, table):
        """Take every table."""

    def admit_demands(self, demanded):
        """Take every demand."""

    def memory(self, table):
        return 0

    def anonymize(self, table, *, tie_order=None, observer=None, resume=None):
        step = Step(1, {"utility": 0.5, "weighted_utility": 0.5, "cover_edges": 0})
        if observer is not None:
            observer.on_step(State({"nothing": np.zeros(0)}, (step,)))
        return MaskedTable(table, WRONG[self.way](table), (step,), 1)


def tell_everything(table):
    return np.zeros_like(table.bits)


def all_bits(table):
    return np.full_like(table.bits, np.uint64(2**table.codebook.features - 1))


def hub_rows(table):
    """A directed cover: k rows that say nothing give everyone k rows that they fit."""
    hidden = tell_everything(table)
    hidden[: table.k.max()] = all_bits(table)[: table.k.max()]
    return hidden


def one_less(table):
    return Adaptive().anonymize(replace(table, k=np.maximum(1, table.k - 1))).hidden


def for_half_of_them(table):
    hidden = Adaptive().anonymize(table).hidden.copy()
    hidden[::2] = 0
    return hidden


WRONG = {
    way.__name__: way for way in (tell_everything, hub_rows, one_less, for_half_of_them, all_bits)
}
REFUSALS = {
    "tell_everything": r"compatible crowds \(\d+ of 90",
    "hub_rows": (
        r"publication refused; broken: matchable crowds \(\d+ of 90 records are matchable with "
        r"fewer than k rows\); "
        r"every result lies in the vault: [0-9a-f]{16}/docs/index\.html$"
    ),
    "one_less": r"compatible crowds \(\d+ of 90",
    "for_half_of_them": r"crowds \(\d+ of 90",
}


@pytest.mark.long
@pytest.mark.parametrize("way", WRONG)
def test_a_wrong_anonymizer_does_not_pass_the_gate(tmp_path, monkeypatch, way):
    monkeypatch.setattr(ReleasePlan, "build_anonymizer", lambda plan: Wrong(way=way))
    order = Order(tmp_path)
    if (
        way == "all_bits"
    ):  # useless, but no lie: the others are not refused because of how they are plugged in
        assert order.release() == order.folder_of_v1
        return
    with pytest.raises(GuaranteeError, match=REFUSALS[way]):
        order.release()
    assert not order.releases.exists()
