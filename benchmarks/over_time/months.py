"""Drawn series of people who come and go: python -m benchmarks.months [--series N] [--months M].

Draws N series (20) of 12 months: 1,000 to 3,000 people with four quasi-identifiers and a
birthplace that never changes, k = 5 or 10. Each series has its own rates, 3 to 10 %: who joins,
leaves, returns (of those away) and changes in a month. Each month is released as the next version,
by the real course in a temporary folder.

After each month everybody who ever had a row is counted again, by code that shares nothing with the
auditor: from the sources, the published rows, and whose row is whose by the matchings of the
batches. Prints a line for each series; `refused` months and `wrong` counts must be 0. `anew` is the
share of the rows before that a month issued anew: median and greatest. `wait` is the greatest share
of the source that was held back. NCP is that of the first and of the last version.
"""

import argparse
import csv
import json
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from anon_core.errors import AnonymityError
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.storage.series.series import Series
from crowdcover.storage.vault.vault import Vault

QUASI = ("age", "sex", "job", "region")
PLAN = """name = "months"
[source]
path = "months.csv"
[columns]
id = {{role = "identifier"}}
age = {{role = "quasi", kind = "numeric"}}
sex = {{role = "quasi", kind = "categorical"}}
job = {{role = "quasi", kind = "categorical"}}
region = {{role = "quasi", kind = "categorical"}}
birth = {{role = "keep"}}
income = {{role = "sensitive", kind = "numeric"}}
[privacy]
k = {k}
[publish]
path = "releases"
vault = "vault"
[checks]
drift = "off"
[series]
record = "id"
constant = ["birth"]
"""


class People:
    """Who is in the source; everybody else who ever was may return."""

    def __init__(self, seed):
        self.draw = np.random.default_rng(seed)
        self.here, self.away, self.joined = {}, {}, 0
        self.births = int(self.draw.choice([2, 5, 10, 25]))
        self.k = int(self.draw.choice([5, 10]))
        self.rates = self.draw.uniform(0.03, 0.10, 4)
        self.join(int(self.draw.integers(1_000, 3_001)))

    def values(self):
        draw = self.draw
        return {
            "age": int(draw.integers(18, 80)),
            "sex": "mf"[draw.integers(2)],
            "job": f"job{int(draw.zipf(1.6)) % 12}",
            "region": f"r{draw.integers(8)}",
            "birth": f"b{int(draw.zipf(1.5)) % self.births}",
            "income": int(draw.integers(10, 90)) * 1000,
        }

    def join(self, number):
        for _ in range(number):
            self.here[f"P{self.joined:05d}"] = self.values()
            self.joined += 1

    def move(self):
        draw, (joins, leaves, returns, changes) = self.draw, self.rates
        before = list(self.here)
        for person in [each for each in self.away if draw.random() < returns]:
            self.here[person] = self.away.pop(person)
        for person in before:
            if draw.random() < leaves:
                self.away[person] = self.here.pop(person)
            elif draw.random() < changes:
                column = str(draw.choice(["job", "region", "income"]))
                self.here[person] = {**self.here[person], column: self.values()[column]}
        self.join(round(joins * len(before)))

    def write(self, path):
        with path.open("w", newline="", encoding="utf-8") as handle:
            writer = csv.writer(handle)
            writer.writerow(["id", *QUASI, "birth", "income"])
            writer.writerows([person, *values.values()] for person, values in self.here.items())


class Recount:
    """What published rows leave open of everybody, by definition and from the outside."""

    def __init__(self, k):
        self.k, self.known, self.shown, self.owner, self.rows = k, [], [], {}, {}

    def add(self, folder, vault, people):
        """Remember a version that was just published."""
        last = Series(Vault(vault), "months").last
        batch = pl.read_parquet(vault / f"series/months/{last.number}/split/batch.parquet")
        matching = pl.read_parquet(last.run.path / "anonymize/matching.parquet")
        ids = batch["id"].to_list()
        self.owner |= {key: ids[record] for record, key in matching.rows()}
        table = pl.read_csv(folder / "data.csv.gz", infer_schema=False)
        self.rows |= {row["key"]: row for row in table.iter_rows(named=True)}
        self.shown.append(set(table["key"]))
        self.known.append({person: dict(values) for person, values in people.items()})

    def count(self):
        """Rows of too small crowds, and people with fewer than k histories; both must be 0."""
        cells = defaultdict(list)
        for key, owner in self.owner.items():
            span = tuple(at for at, keys in enumerate(self.shown) if key in keys)
            cells[span].append((owner, key))
        below, ways = 0, {}
        for span, members in cells.items():
            for person, rows in self.possible(span, members).items():
                below += len(rows) < self.k
                births = defaultdict(int)
                for key in rows:
                    births[self.rows[key]["birth"]] += 1
                before = ways.get(person)
                ways[person] = {
                    birth: number * (1 if before is None else before.get(birth, 0))
                    for birth, number in births.items()
                }
        return below, sum(sum(each.values()) < self.k for each in ways.values())

    def possible(self, span, members):
        """By person the rows of a cell that some perfect matching gives to it."""
        fit = np.ones((len(members), len(members)), dtype=bool)
        for name in QUASI:
            values = [self.known[span[0]][person][name] for person, _ in members]
            cells = [self.rows[key][name] for _, key in members]
            allowed = {cell: [allows(cell, value) for value in values] for cell in set(cells)}
            fit &= np.array([allowed[cell] for cell in cells]).T
        assert fit.diagonal().all()
        _, part = connected_components(csr_array(fit), directed=True, connection="strong")
        fit &= part[:, None] == part
        return {
            person: [members[row][1] for row in np.flatnonzero(fit[at])]
            for at, (person, _) in enumerate(members)
        }


def allows(cell, value):
    """Whether a published cell is true of a value."""
    if cell == "*":
        return True
    if isinstance(value, int):
        low, between, high = cell.partition("..")
        if not between:
            return float(cell) == value
        return float(low or -1e9) <= value <= float(high or 1e9)
    return value in cell.split("|")


def release(folder, people, recount):
    """Publish the next version and count again; the manifest's section, or None if refused."""
    people.write(folder / "months.csv")
    try:
        published = Path(release_plan(ReleasePlan.load(folder / "months.toml")).folder)
    except AnonymityError as refusal:
        print(f"refused: {refusal}", flush=True)
        return None
    if int(published.name[1:]) > len(recount.shown):
        recount.add(published, folder / "vault", people.here)
    return json.loads((published / "manifest.json").read_text(encoding="utf-8"))["series"]


def run(seed, months):
    """The figures of one series."""
    people = People(seed)
    recount, wrong, refused, anew, waits, kept = Recount(people.k), 0, 0, [], [], []
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "months.toml").write_text(PLAN.format(k=people.k), encoding="utf-8")
        for month in range(months):
            if month:
                people.move()
            section = release(folder, people, recount)
            if section is None:
                refused += 1
                continue
            below, short = recount.count()
            wrong += below + short + section["below_k"] + section["histories_below_k"]
            kept.append(section["gcp"])
            waits.append(section["held_back"] / section["source_rows"])
            if month:
                anew.append(section["reissued"] / section["versions"][-2]["rows"])
    return {
        "seed": seed,
        "k": people.k,
        "people": len(recount.known[0]),
        "births": people.births,
        "rates": "/".join(f"{100 * rate:.0f}" for rate in people.rates),
        "refused": refused,
        "wrong": wrong,
        "anew": f"{statistics.median(anew):.3f}",
        "most": f"{max(anew):.3f}",
        "wait": f"{max(waits):.4f}",
        "ncp": f"{kept[0]:.3f}..{kept[-1]:.3f}",
        "seconds": f"{(time.perf_counter() - start) / months:.1f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--series", type=int, default=20)
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--first", type=int, default=0, help="seed of the first series")
    asked = parser.parse_args()
    for seed in range(asked.first, asked.first + asked.series):
        figures = run(seed, asked.months)
        if seed == asked.first:
            print(*figures, flush=True)
        print(*figures.values(), flush=True)


if __name__ == "__main__":
    main()
