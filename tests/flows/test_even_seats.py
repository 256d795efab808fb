"""Even seats from plan to audit: the default, what the vault states, and older releases."""

import json

import polars as pl
import pytest

from anon_core.errors import LimitError
from crowdcover.flows.plan.plan import ReleasePlan
from tests.flows.orders import Order, people
from tests.support.audits import audit_release

EVEN = "even seats"
MATCHABLE = {"anonymizer": {"seats": "matchable"}}
ADAPTIVE = {"name": "adaptive"}


def findings(order):
    """The findings of an audit of the first release, by name."""
    audit = audit_release(order.folder_of_v1, order.plan)
    return {finding.guarantee: finding for finding in audit.findings}, audit.passed


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    order = Order(tmp_path_factory.mktemp("even"))
    order.release()
    return order


@pytest.mark.parametrize(
    ("k", "seats"),
    [
        (4, "even"),
        ({"by": "smokes", "levels": {"yes": 3}, "default": 4}, "even"),
        ({"uniform": [2, 5]}, "matchable"),
        ({"column": "junk"}, "matchable"),
    ],
)
def test_a_plan_that_states_its_levels_has_even_seats(tmp_path, k, seats):
    plan = ReleasePlan.load(Order(tmp_path, privacy={"k": k}).plan)
    assert plan.anonymizer_settings["seats"] == seats
    assert (EVEN in plan.build_anonymizer().promise.findings) == (seats == "even")


@pytest.mark.long
def test_the_law_of_a_release_is_even(released):
    found, passed = findings(released)
    assert passed
    assert found[EVEN].required
    insider = json.loads((released.folder_of_v1 / "manifest.json").read_text())["attacks"][
        "insider"
    ]
    assert insider["above"]["1"] == 0
    assert 0 < insider["success"] <= 1 / 4


def lost(law):
    return None


def one_row_less(law):
    return law[1:]


def a_row_twice(law):
    return pl.concat([law[:1], law[:-1]])


def a_share_less(law):
    return law.with_columns(law["records"].list.head(3))


def one_holder(law):
    """One of the holders of a row holds all of it."""
    lists = law["records"].to_list()
    row = next(row for row, held in enumerate(lists) if len({*held}) > 1)
    lists[row] = lists[row][:1] * 4
    return law.with_columns(records=pl.Series(lists))


def nobody(law):
    lists = law["records"].to_list()
    return law.with_columns(records=pl.Series([[10**6] * 4, *lists[1:]]))


def turned(law):
    """Every row has the holders of the next one."""
    return law.with_columns(records=pl.concat([law["records"][1:], law["records"][:1]]))


@pytest.mark.long
@pytest.mark.parametrize(
    "fault", [lost, one_row_less, a_row_twice, a_share_less, one_holder, nobody, turned]
)
def test_a_law_that_is_none_is_found(released, fault):
    path = released.run.path / "anonymize" / "law.parquet"
    stated = path.read_bytes()
    try:
        spoiled = fault(pl.read_parquet(path))
        path.unlink()
        if spoiled is not None:
            spoiled.write_parquet(path)
        found, passed = findings(released)
    finally:
        path.write_bytes(stated)
    assert not passed
    assert not found[EVEN].passed
    assert [name for name, each in found.items() if each.broken] in (
        [EVEN],
        [EVEN, "numbers as measured"],
    )


@pytest.mark.long
def test_what_was_released_before_keeps_its_promise(tmp_path):
    """An older version had no such setting: its plans had the hash of "matchable" seats."""
    order = Order(tmp_path, anonymizer=ADAPTIVE)
    folder = order.release_as_before()
    today = ReleasePlan.load(order.plan)
    order.write(**MATCHABLE)
    before = ReleasePlan.load(order.plan).earlier[-1]
    assert today.sha256 != before.sha256 == today.earlier[-1].sha256
    del order.document["anonymizer"]
    order.write()
    assert order.release() == folder
    assert order.versions == ["v1"]
    found, passed = findings(order)
    assert passed
    assert not found[EVEN].required
    assert found[EVEN].detail == "not promised: the release is older than this promise"
    order.write_source(people(first=90))
    newer = json.loads((order.release() / "manifest.json").read_text())
    assert (newer["version"], EVEN in newer["privacy"]["promise"]) == ("v2", True)


def test_levels_without_a_small_common_multiple_are_refused(tmp_path):
    levels = {"yes": 37, "no": 41}
    order = Order(tmp_path, privacy={"k": {"by": "smokes", "levels": levels, "default": 5}})
    with pytest.raises(LimitError, match=r"set anonymizer\.seats = 'matchable'"):
        order.release()
