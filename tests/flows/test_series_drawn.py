"""Drawn series in which people leave, return, change, wait and withdraw, by the naive auditor.

The naive auditor knows the sources, the published bytes, and whose row is whose from the matching
of each batch. It knows nothing of the numbers by which the vault follows people.
"""

import csv
import random
import shutil
from dataclasses import dataclass
from itertools import islice

import polars as pl
import pytest

from anon_core.anonymizers.in_parts import cut as cutting
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.partitions import format_partition_settings
from crowdcover.kinds.table.judge import versions as judge
from crowdcover.kinds.table.version_fits import load_fits
from crowdcover.kinds.versions import Before
from crowdcover.reports.drawing import left_out
from crowdcover.storage.ledger.identifier_spelling import FORM
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.series.series import NobodyHidesError, Series
from crowdcover.storage.vault.files import read_json
from crowdcover.storage.vault.vault import Vault
from tests import naive
from tests.flows.orders import Order
from tests.support.audits import audit_release
from tests.support.soaking import soak_after
from tests.typed import text_rows

MOST = 300  # histories that the naive auditor counts of a person
QUASI = ("sex", "job", "age")
COLUMNS = {
    "id": {"role": "identifier"},
    "sex": {"role": "quasi", "kind": "binary"},
    "job": {"role": "quasi", "kind": "categorical"},
    "age": {"role": "quasi", "kind": "numeric", "bins": "none"},
    "birth": {"role": "keep"},
    "income": {"role": "sensitive"},
}
JOBS = ("pilot", "cook", "nurse")
TREED_JOBS = ("a1", "a2", "b1", "b2", "b3")  # a cell shows one of them, a*, b* or *
LATE_JOB = "c1"  # of those who join late: no earlier month has it, nor the node above it
TREES = {
    "job": {"role": "quasi", "kind": "categorical", "hierarchy": {"prefix": [1]}},
    "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"ladder": [1, 2, 4]}},
}


class Registry:
    """People who move, and the versions that are released of them."""

    def __init__(self, folder, seed, *, constant=("birth",)):
        self.chance = random.Random(seed)
        self.k = self.chance.choice([2, 2, 3])
        self.births = self.chance.choice([2, 3, 5])
        self.here, self.away, self.asked = {}, {}, set()
        self.joined = 0
        series = {"record": "id", "constant": list(constant)}
        self.order = Order(
            folder,
            privacy={"k": self.k},
            anonymizer={"name": self.chance.choice(["k-member", "k-member", "adaptive"])},
            checks={"drift": "off"},
            series=series,
        )
        self.jobs = random.Random(f"trees {seed}").choice([JOBS, TREED_JOBS])
        self.columns = COLUMNS | (TREES if self.jobs is TREED_JOBS else {})
        self.order.document["columns"] = self.columns
        # Apart from `chance`, so that a seed moves the same people with and without parts.
        self.order.document["anonymizer"]["part"] = random.Random(f"part {seed}").choice([0, 3, 6])
        self.order.write()
        self.versions, self.owner = [], {}
        self.join(self.chance.randint(3 * self.k, 30))

    def join(self, number):
        for _ in range(number):
            self.here[f"P{self.joined:03d}"] = self.drawn()
            self.joined += 1

    def drawn(self):
        chance = self.chance
        late = self.jobs is TREED_JOBS and self.joined > 20
        return {
            "sex": chance.choice("mf"),
            "job": chance.choice((*self.jobs, LATE_JOB) if late else self.jobs),
            "age": chance.randint(20, 24),
            "birth": f"b{chance.randrange(self.births)}",
            "income": chance.randint(1, 4),
        }

    def move(self):
        """A month in which anybody may leave, return or change; some join, some withdraw."""
        chance = self.chance
        back = [person for person in self.away if chance.random() < 0.4]
        for person in list(self.here):
            fate = chance.random()
            if fate < 0.12:
                self.away[person] = self.here.pop(person)
            elif fate < 0.25:
                self.here[person] = {**self.drawn(), "birth": self.here[person]["birth"]}
        self.here |= {person: self.away.pop(person) for person in back}
        self.join(min(chance.choice([0, 1, 4]), 40 - self.joined))
        if self.here and chance.random() < 0.3:
            self.withdraw(chance.choice(sorted(self.here)))

    def withdraw(self, person):
        plan = ReleasePlan.load(self.order.plan)
        vault = Vault(self.order.vault)
        key = Ledger(vault, plan.kind.remade).key
        Series(vault, "people").withdraw(frozenset(plan.kind.versions.digests([person], key, FORM)))
        self.asked.add(person)

    def release(self):
        """The next version, or the one that stands."""
        with self.order.source.open("w", newline="", encoding="utf-8") as handle:
            writer = csv.writer(handle)
            writer.writerow(["id", *self.drawn()])
            writer.writerows([person, *values.values()] for person, values in self.here.items())
        return self.publish(ReleasePlan.load(self.order.plan))

    def publish(self, plan):
        """Make a version if there is one to make, and note it."""
        try:
            folder = release_plan(plan).folder
        except NobodyHidesError:  # the version that stands shows people who left: retract it
            return f"v{len(self.versions)}"
        last = Series(Vault(self.order.vault), "people").last
        if last.number > len(self.versions):
            self.note(folder, last)
        return folder

    def note(self, folder, version):
        """What the naive auditor is told of a version."""
        batch = pl.read_parquet(
            self.order.vault / f"series/people/{version.number}/split/batch.parquet", glob=False
        )
        matching = pl.read_parquet(version.run.path / "anonymize/matching.parquet", glob=False)
        ids = batch["id"].to_list()
        self.owner |= {key: ids[record] for record, key in matching.rows()}
        rows = {
            row["key"]: (
                {name: allowed(row[name]) for name in QUASI},
                {"birth": row["birth"]},
            )
            for row in text_rows(self.order.releases / f"v{version.number}").iter_rows(named=True)
        }
        known = {
            person: {name: str(values[name]) for name in QUASI}
            for person, values in self.here.items()
        }
        owner = {self.owner[key]: key for key in rows}
        assert len(owner) == len(rows)
        assert not set(owner) & self.asked
        self.versions.append({"people": known, "rows": rows, "owner": owner})


class Partitions(Registry):
    """New rows each month, few in some; nobody leaves but those who withdraw.

    A birthplace that only one record has waits where neither a row nor the month has it.
    """

    def __init__(self, folder, seed):
        super().__init__(folder, seed)
        self.order.document["columns"] = self.columns | {"day": {"role": "drop"}}
        self.order.document["series"] = {"constant": ["birth"]}
        self.order.document["source"]["partition"] = {"column": "day", "by": "month"}
        self.order.document["privacy"]["person"] = "id"  # so that people can withdraw
        self.order.document["anonymizer"]["name"] = "adaptive"  # k-member counts rows
        self.order.write()
        self.month = dict.fromkeys(self.here, "2014-01")

    def drawn(self):
        values = super().drawn()
        return values | ({"birth": f"only-{self.joined}"} if self.chance.random() < 0.2 else {})

    def move(self):
        """A month in which some join, few or more, and one may withdraw."""
        label = f"2014-{1 + len(set(self.month.values())):02}"
        self.join(self.chance.choice([1, 2, 3, 3, 8]))
        self.month = {person: self.month.get(person, label) for person in self.here}
        if self.chance.random() < 0.5:
            self.withdraw(self.chance.choice(sorted(self.here.keys() - self.asked)))

    def release(self):
        with self.order.source.open("w", newline="", encoding="utf-8") as handle:
            writer = csv.writer(handle)
            writer.writerow(["id", *self.drawn(), "day"])
            writer.writerows(
                [person, *values.values(), f"{self.month[person]}-01"]
                for person, values in self.here.items()
            )
        last = format_partition_settings(max(self.month.values()))
        plan = ReleasePlan.load(self.order.plan, last)
        return self.publish(plan)


def allowed(cell):
    """The values that a cell allows, as texts."""
    if cell == "*":
        return Span(0, 99)
    if cell.endswith("*"):
        return {job for job in (*TREED_JOBS, LATE_JOB) if job.startswith(cell[:-1])}
    if ".." in cell:
        low, high = cell.split("..")
        return Span(float(low or 0), float(high or 99))
    return set(cell.split("|"))


@dataclass(frozen=True)
class Span:
    """Any text, or the numbers of an interval."""

    low: float
    high: float

    def __contains__(self, value):
        return not value.isdigit() or self.low <= float(value) <= self.high


def count_naively(versions, k, constant):
    """What the auditor must find: rows of too small crowds, people who ever had a row, and so on.

    Histories are counted up to `MOST`.
    """
    held, true = naive.published_in(versions), naive.truths(versions)
    below = short = linked = 0
    for person, own in true.items():
        rows = naive.history_rows(versions, person, "everything")
        for span in {tuple(held[key]) for key in own if key is not None}:
            below += sum(tuple(each) == span for each in rows.values()) < k
        found = list(islice(naive.histories_of(versions, person, "everything", constant), MOST))
        short += len(found) < k
        left = [len({each[at] for each in found}) for at, key in enumerate(own) if key is not None]
        linked += min(left) < k
    return {
        "below_k": below,
        "records_ever": len(true),
        "histories_below_k": short,
        "linked_below_k": linked,
    }


def run(folder, seed, months, kind=Registry):
    """Release a drawn series; every version is audited by both."""
    registry = kind(folder, seed)
    for month in range(months):
        if month:
            registry.move()
        if not registry.here:
            break
        before = len(registry.versions)
        published = registry.release()
        if len(registry.versions) == before:
            continue
        section = read_json(registry.order.releases / published / "manifest.json")["series"]
        expected = count_naively(registry.versions, registry.k, ["birth"])
        assert expected["below_k"] == expected["histories_below_k"] == 0
        assert {name: section[name] for name in expected} == expected
    if registry.versions:
        assert audit_release(registry.order.releases / published, registry.order.plan).passed
    return registry


@pytest.fixture
def quick(monkeypatch):
    """Leave out what these tests do not look at: pictures, and checks before the anonymizer.

    Batches of few records have parts.
    """
    monkeypatch.setattr(cutting, "CROWDS", 1)
    monkeypatch.setattr("crowdcover.flows.course.validate", lambda *_: None)
    with left_out():
        yield


def count_as_auditor(registry):
    """What the auditor counts of a series if birthplaces were said never to change."""
    series = Series(Vault(registry.order.vault), "people")
    kept = Before.of(series.versions())
    listed = pl.read_parquet(kept.assembled.file("rows.parquet"), glob=False)
    history = judge.of_records(listed, kept.identified, "id", kept.form)
    births = {
        key: row[1]["birth"].encode()
        for version in registry.versions
        for key, row in version["rows"].items()
    }
    carried = pl.Series([births[key] for key in history["#key"]], dtype=pl.Binary)
    fits = load_fits(kept.audited, kept.number)
    _, section, _ = judge.of_crowds(history.with_columns(carried.alias("#constant")), fits)
    return section


@pytest.mark.long
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("seed", range(2))
def test_too_few_histories_are_found_where_the_maker_did_not_look(tmp_path, seed):
    """The plan names no constant column; both auditors count as if it did."""
    registry = Registry(tmp_path, seed, constant=())
    for _ in range(4):
        registry.release()
        registry.move()
    expected = count_naively(registry.versions, registry.k, ["birth"])
    assert expected["below_k"] == 0
    assert expected["linked_below_k"] > 0
    found = count_as_auditor(registry)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.long
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("seed", range(2))
def test_a_drawn_series_keeps_what_it_promises(tmp_path, seed):
    run(tmp_path, seed, 4)


@pytest.mark.long
@pytest.mark.usefixtures("quick")
def test_a_drawn_series_of_partitions_keeps_what_it_promises(tmp_path):
    """Records wait from month to month with birthplaces that no row and no new record has."""
    run(tmp_path, 2001, 6, Partitions)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("first", soak_after(2, range(0, 12, 3)))
def test_twelve_drawn_series_keep_what_they_promise(tmp_path, first):
    for seed in range(first, first + 3):
        run(tmp_path / str(seed), 1000 + seed, 4)
        shutil.rmtree(tmp_path / str(seed))


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("first", soak_after(2, range(0, 12, 3)))
def test_twelve_drawn_series_of_partitions_keep_what_they_promise(tmp_path, first):
    for seed in range(first, first + 3):
        run(tmp_path / str(seed), 2000 + seed, 6, Partitions)
        shutil.rmtree(tmp_path / str(seed))
