"""Estimates of time and memory: which methods have one, and how it grows."""

from dataclasses import asdict

import pytest

from anon_core.anonymizers import ANONYMIZERS, Adaptive
from crowdcover.flows.estimates import MODELS, estimate_release

SIZES = {
    "table": {"records": 5000, "attributes": 8, "features": 120, "k": 10},
    "matrix": {"records": 5000, "entries": 60_000, "k": 10},
    "graph": {"records": 1500, "edges": 6000, "k": 10},
}


def of(name, threads=1, **changes):
    maker = ANONYMIZERS[name]
    sizes = {**SIZES[maker.kind], **changes}
    return estimate_release({"name": name, **asdict(maker())}, sizes, threads)


@pytest.mark.parametrize("name", sorted(ANONYMIZERS))
def test_every_method_has_an_estimate_that_grows_with_the_records(name):
    small, large = of(name, records=1000), of(name, records=2000)
    for what in ("processor_seconds", "bytes"):
        assert 0 < small[what] <= large[what]
    assert large["bytes"] > small["bytes"] > 2**28


def test_both_forms_of_seats_have_a_model():
    labels = {f"adaptive, {seats} seats" for seats in ("even", "matchable")}
    labels.add("local-search, even seats")
    assert MODELS.keys() == labels | set(ANONYMIZERS) - {"adaptive", "local-search"}
    one, two = (
        estimate_release({"name": "adaptive", **asdict(Adaptive(seats=seats))}, SIZES["table"], 1)
        for seats in ("even", "matchable")
    )
    assert one != two


def test_threads_widen_the_range_downwards():
    one, eight = of("adaptive"), of("adaptive", threads=8)
    assert one["processor_seconds"] == eight["processor_seconds"]
    assert eight["seconds_range"][0] < one["seconds_range"][0]
    assert eight["seconds_range"][1] == one["seconds_range"][1]


def test_an_extrapolation_is_called_one():
    assert "extrapolation" not in of("adaptive")["basis"]
    assert (
        "none had more than 30,000 records or k above 60" in of("adaptive", records=10**6)["basis"]
    )
    assert "extrapolation" in of("adaptive", k=100)["basis"]


# Whole commands, measured: their sizes, processor seconds and MiB.
MEASURED = {
    "adult-ncp": ("even", (30162, 8, 162, 10), 27.2, 678),
    "acs": ("even", (27111, 9, 156, 10), 25.8, 660),
    "poker": ("even", (25010, 10, 80, 5), 24.4, 659),
    "90 rows": ("even", (90, 3, 48, 4), 18.9, 592),
}


def test_a_release_of_many_records_took_less_than_the_longest_that_is_stated():
    """Payments to physicians: 271 s of processor time, where none of so many had been measured."""
    sizes = {"records": 126_084, "attributes": 7, "features": 399, "k": 5}
    found = estimate_release({"name": "adaptive", **asdict(Adaptive(seats="even"))}, sizes, 2)
    assert found["processor_seconds"] < 271 <= found["seconds_range"][1]


@pytest.mark.parametrize("name", MEASURED)
def test_measured_commands_lie_in_the_stated_range(name):
    seats, sizes, seconds, mebibytes = MEASURED[name]
    settings = {"name": "adaptive", **asdict(Adaptive(seats=seats))}
    keys = ("records", "attributes", "features", "k")
    found = estimate_release(settings, dict(zip(keys, sizes, strict=True)), 1)
    assert found["seconds_range"][0] <= seconds <= found["seconds_range"][1]
    assert found["bytes"] / 1.24 <= mebibytes * 2**20 <= found["bytes"] * 1.24


def test_a_method_that_was_not_measured_has_none():
    assert estimate_release({"name": "another"}, SIZES["table"], 1) is None
