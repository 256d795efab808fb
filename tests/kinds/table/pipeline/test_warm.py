"""What is compiled ahead is what a release calls."""

import importlib
import logging
from functools import partial

import pytest

from crowdcover.kinds.base import say_nothing
from crowdcover.kinds.table.pipeline import warm
from crowdcover.tasks.orchestration.json_lines import write_line

# Rooms whose kernels every release of a table calls.
ROOMS = (
    "anon_core.search.nearest_kernels",
    "anon_core.search.costs_kernels",
    "anon_core.anonymizers.adaptive.agreement_kernels",
    "anon_core.anonymizers.adaptive.showing_kernels",
    "anon_core.seating.exchanges.narrowing_kernels",
    "anon_core.seating.exchanges.swapping_kernels",
    "anon_core.seating.levelling_kernels",
    "anon_core.seating.seats_kernels",
    "anon_core.measures.table.crowds_kernels",
    "anon_core.measures.table.diversity_kernels",
    "anon_core.measures.table.attackers.attacks_kernels",
)


def signatures():
    """By parallel kernel, which only Python calls, the signatures compiled."""
    found = {}
    for room in ROOMS:
        for name, function in vars(importlib.import_module(room)).items():
            if hasattr(function, "work"):
                found[name] = {str(types) for types in function.work.signatures}
    return found


@pytest.mark.long
def test_a_larger_table_calls_no_other_signature(monkeypatch):
    table = warm.tiny_table()
    warm.compile_makers(table)
    warm.compile_judge(table)
    before = signatures()
    assert len(before) > 15
    assert all(before.values())
    monkeypatch.setattr(warm, "RECORDS", 700)
    table = warm.tiny_table()
    warm.compile_makers(table)
    warm.compile_judge(table)
    assert signatures() == before


@pytest.mark.parametrize("late", [False, True])
def test_a_machine_compiles_once(monkeypatch, capsys, late):
    steps = []
    monkeypatch.setattr(warm, "has_compiled_kernels", lambda: late)
    monkeypatch.setattr(warm, "tiny_table", lambda: "table")
    monkeypatch.setattr(warm, "compile_makers", steps.append)
    monkeypatch.setattr(warm, "compile_judge", steps.append)
    with warm.compile_in_background(partial(write_line, logging.INFO)):
        pass
    assert len(steps) <= (0 if late else 2)
    assert capsys.readouterr().err == ("" if late else warm.COMPILING_NOTICE + "\n")


def test_quiet_says_nothing(monkeypatch, capsys):
    monkeypatch.setattr(warm, "has_compiled_kernels", lambda: False)
    monkeypatch.setattr(warm, "tiny_table", lambda: "table")
    monkeypatch.setattr(warm, "compile_makers", lambda _: None)
    monkeypatch.setattr(warm, "compile_judge", lambda _: None)
    with warm.compile_in_background(say_nothing):
        pass
    assert capsys.readouterr().err == ""
