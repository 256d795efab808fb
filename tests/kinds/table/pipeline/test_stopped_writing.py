"""Whoever stops a run while rows are written does not wait until all are packed."""

import threading
from types import SimpleNamespace

import polars as pl
import pytest

from crowdcover.kinds import rows as kinds_rows
from crowdcover.kinds.table.pipeline import write

LONGEST = 20  # seconds until a wait is given up
BATCHES = 50


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_packing_ends_when_the_other_files_cannot_be_written(tmp_path, monkeypatch, error):
    monkeypatch.setattr(kinds_rows, "GROUP", 1)
    began, stopped, packed = threading.Event(), threading.Event(), []
    monkeypatch.setattr(write, "Event", lambda: stopped)

    def cut_text(at):
        packed.append(at)
        began.set()
        assert stopped.wait(LONGEST)
        return pl.DataFrame({"a": ["x"]})

    def fail(*_):
        assert began.wait(LONGEST)
        raise error

    monkeypatch.setattr(write, "write_parquet_of_batches", fail)
    rows = SimpleNamespace(keys=range(BATCHES), cut_text=cut_text, cut_native=cut_text)
    with pytest.raises(error):
        write.write_masked_rows(rows, tmp_path)
    assert stopped.is_set()
    assert len(packed) == 1
