"""Freeform's segments as tasks: the bytes of one process. A cluster: engines/test_farm_freeform."""

import pickle

import numpy as np
import pytest

from anon_core.anonymizers import Freeform
from anon_core.anonymizers.freeform import farmed
from anon_core.engines import local
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from tests.observers import Seen
from tests.support.farms import LastFirst
from tests.support.large import big_table

RECORDS = 200
MAKER = Freeform(segment=30, exchanges=False)


def content(made):
    arrays = {name: array.tobytes() for name, array in made.arrays().items()}
    return arrays, made.steps, made.result_step


@pytest.fixture(scope="module")
def table():
    """Records of which some demand 2 and some 5."""
    table = big_table(RECORDS, 9, 5)
    table.k[::3] = 2
    return table


@pytest.mark.parametrize("method", ["greedy", "sort-greedy", "hungarian"])
@pytest.mark.parametrize("segment", [0, 30])
@pytest.mark.parametrize("tasks", [2, 128])
def test_tasks_make_the_bytes_of_one_process(table, method, segment, tasks, monkeypatch):
    monkeypatch.setattr(farmed, "ROUND_TASKS", tasks)
    maker = Freeform(method=method, segment=segment)
    order = np.random.default_rng(1).permutation(RECORDS)
    farm, seen = LastFirst(), Seen()
    made = farmed.anonymize(maker, table, farm, tie_order=order, observer=seen)
    assert content(made) == content(local.run(maker, table, tie_order=order))
    assert len(farm.sent) == 4 * min(tasks, RECORDS // segment if segment else 1)
    assert max(seen.records) == RECORDS
    state = seen.states[2]
    assert content(farmed.anonymize(maker, table, farm, tie_order=order, resume=state)) == content(
        made
    )


def test_neither_texts_nor_names_travel_and_what_travels_shows_nothing():
    """Dask writes what a task was given into its log when the task fails."""
    columns = {
        "Pcolumn": np.array([f"Pvillage{number % 9}Q" for number in range(60)], dtype=object)
    }
    book = encoding.fit([ColumnSpec(name="Pcolumn", kind="categorical")], columns)
    farm = LastFirst()
    farmed.anonymize(MAKER, encoding.encode(book, columns, np.full(60, 3)), farm)
    for sent in farm.sent:
        assert b"Pvillage" not in sent
        assert b"Pcolumn" not in sent
        ground, chunk = pickle.loads(sent)
        assert repr(chunk).startswith(
            "<anon_core.anonymizers.freeform.farmed.SegmentChunk object at"
        )
        assert repr(ground).startswith(
            "<anon_core.anonymizers.freeform.farmed.RoundGround object at"
        )
