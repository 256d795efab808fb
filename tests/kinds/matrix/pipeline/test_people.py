"""The people of a matrix as digests."""

from types import SimpleNamespace

import polars as pl

from crowdcover.kinds.matrix.layout import ENTRIES, ITEM, RECORD
from crowdcover.kinds.matrix.pipeline import people

KEY = bytes(32)


def of_entries(tmp_path, pairs, records):
    frame = pl.DataFrame(pairs, schema={RECORD: pl.UInt32, ITEM: pl.String}, orient="row")
    frame.write_parquet(tmp_path / ENTRIES)
    stored = SimpleNamespace(shape=[records], facts={}, file=lambda name: tmp_path / name)
    return people.build_people(KEY, stored)


def test_people_told_apart_by_what_they_hold_in_parts_as_at_once(tmp_path, monkeypatch):
    pairs = [(4, "b"), (0, "a"), (4, "a"), (2, "a"), (1, "b"), (1, "a")]
    whole = of_entries(tmp_path, pairs, 6)
    monkeypatch.setattr(people, "USERS_AT_ONCE", 2)
    assert of_entries(tmp_path, pairs, 6) == whole
    assert of_entries(tmp_path, pairs[::-1], 6) == whole
    assert of_entries(tmp_path, pairs[1:], 6) != whole
