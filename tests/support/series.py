"""Versions of a registry of people."""

import csv
import random

import pytest

from crowdcover.flows import cli
from crowdcover.storage.vault.files import read_json
from tests.flows.orders import Order, people
from tests.typed import text_rows

K = 4


SERIES = {"record": "ssn"}


def registry(folder, rows=None, **sections):
    rows = people(60) if rows is None else rows
    settings = {"series": SERIES, "privacy": {"k": K}, "checks": {"drift": "off"}, **sections}
    return Order(folder, rows, **settings)


def months(number=4, start=200, seed=1, change=0.02):
    """Drawn sources: some people join, some leave, some change each month."""
    chance = random.Random(seed)
    now, first = people(start), 1000
    yield now
    for _ in range(number - 1):
        now = [row for row in now if chance.random() > 0.02]
        now = [
            (row[0], chance.randint(18, 80), *row[2:]) if chance.random() < change else row
            for row in now
        ]
        now += people(chance.randint(0, 6), draws=first, first=first)
        first += 100
        chance.shuffle(now)
        yield now


def release_all(order, sources):
    folders = []
    for rows in sources:
        order.write_source(rows)
        folders.append(order.release())
    return folders


def frame(folder):
    return text_rows(folder)


def series_of(folder):
    return read_json(folder / "manifest.json")["series"]


def withdraw(order, *identifiers, code=0, more=()):
    listed = order.folder / "leavers.txt"
    listed.write_text("".join(f"{each}\n" for each in identifiers), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        cli.main(["withdraw", str(listed), "--plan", str(order.plan), *more])
    assert ended.value.code == code
    listed.unlink()


JOBS = ("id", "sex", "job", "birth", "income")
ANNA, BERT = ("ANNA", "f", "pilot", "Rome", "11"), ("BERT", "f", "pilot", "Oslo", "22")
CARA, DORA = ("CARA", "f", "pilot", "Bern", "33"), ("DORA", "f", "pilot", "Rome", "44")
# Four people of each kind: pairs are left to themselves, and so is that of Anna and Bert.
OTHERS = [
    (f"O{n:02d}", "mf"[n % 2], f"job{n // 8}", str(1 + n % 3), str(1000 * n)) for n in range(24)
]


class Registry(Order):
    """Twenty-four people who stay, and whoever is added to them."""

    def __init__(self, folder, **sections):
        super().__init__(folder)
        self.document["columns"] = {
            "id": {"role": "identifier"},
            "sex": {"role": "quasi", "kind": "categorical"},
            "job": {"role": "quasi", "kind": "categorical"},
            "birth": {"role": "keep"},
            "income": {"role": "sensitive", "kind": "numeric"},
        }
        self.document["series"] = {"record": "id", "constant": ["birth"]}
        del self.document["anonymizer"]
        self.write(privacy={"k": 2}, checks={"drift": "off"}, **sections)

    def month(self, *more, others=OTHERS):
        with self.source.open("w", newline="", encoding="utf-8") as handle:
            csv.writer(handle).writerows([JOBS, *others, *more])
        return self.release()
