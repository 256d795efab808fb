"""Rows of a query: their order and fingerprint do not depend on how many are sorted at once."""

import hashlib
from unittest import mock

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from crowdcover.storage.source.snapshot.packed_rows import PackedRows
from crowdcover.storage.source.snapshot.row_order import sort_rows
from crowdcover.storage.source.values import as_text

FOLDER = "crowdcover.storage.source.snapshot"
MODULES = [f"{FOLDER}.{name}.AT_ONCE" for name in ("packed_rows", "row_order")]
TEXTS = st.sampled_from(
    [None, "", " ", "a", "aa", "b", "\x00", "Z", "\xe4", "\uffff", "\U0001f600"]
)
ROWS = st.lists(st.tuples(TEXTS, st.none() | st.integers(-20, 20), TEXTS), max_size=60)
# Names that select other columns where a name is taken for a pattern.
NAMES = ["^a$", "a", "*"]


def frame_of(rows):
    return pl.DataFrame(
        rows, schema=dict(zip(NAMES, [pl.String, pl.Int8, pl.String], strict=True)), orient="row"
    )


def pack(frame, ends):
    """Pack a frame as it comes in pieces."""
    rows = PackedRows()
    for begin, end in zip([0, *ends], [*ends, frame.height], strict=True):
        rows.pack_frame(frame[begin:end])
    return rows


@given(ROWS, st.integers(1, 20), st.data())
def test_many_rows_are_in_the_order_of_few(rows, at_once, data):
    frame = frame_of(rows)
    ends = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    with mock.patch(MODULES[0], at_once), mock.patch(MODULES[1], at_once):
        found = sort_rows(pack(frame, ends))
    # The definition: all rows as texts, columns by their names, compared by their bytes.
    texts = pl.DataFrame({name: as_text(frame[name]) for name in sorted(NAMES)})
    keys = [[(text is not None, (text or "").encode()) for text in row] for row in texts.rows()]
    order = sorted(range(len(rows)), key=keys.__getitem__)
    assert found.unpack_columns(NAMES).rows() == [rows[at] for at in order]
    assert found.unpack_columns(["a", "^a$"]).columns == ["a", "^a$"]
    lines = texts[order].write_ndjson() if order else ""
    assert found.sha256 == hashlib.sha256(lines.encode()).hexdigest()


def test_rows_are_cut_into_ranges_that_are_unpacked_one_at_a_time(monkeypatch):
    """Equal rows stay together; a range holds no more than a few frames else."""
    for module in MODULES:
        monkeypatch.setattr(module, 100)
    frame = frame_of([(str(at * 7919 % 4000), at % 100, None) for at in range(4000)])
    seen, pack_frame = [], PackedRows.pack_frame

    def noted(rows, some):
        seen.append(some.height)
        pack_frame(rows, some)

    monkeypatch.setattr(PackedRows, "pack_frame", noted)
    found = sort_rows(pack(frame, range(100, 4000, 100)))
    assert found.height == 4000
    assert max(seen) <= 300


def test_rows_in_a_file_are_those_of_the_memory_and_tell_a_change(tmp_path):
    rows = sort_rows(PackedRows.of(frame_of([("b", 2, None), ("a", None, "x")])))
    before = rows.unpack_columns(NAMES).rows()
    with (tmp_path / "kept").open("w+b") as disk:
        rows.move_to_disk(disk)
        again = rows.read_from(disk)
        assert again.unpack_columns(NAMES).rows() == rows.unpack_columns(NAMES).rows() == before
        assert again.sha256 == rows.sha256
        disk.seek(0)
        PackedRows.of(frame_of([("b", 3, None), ("a", None, "x")])).move_to_disk(disk)
        with pytest.raises(InputError, match="the snapshot of the source cannot be read any more"):
            again.unpack_columns(NAMES)
