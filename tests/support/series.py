"""Versions of a registry of people."""

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
