"""Folders whose names look like patterns are names; neighbours that match them are not touched."""

import shutil

import polars as pl
import pytest

from tests.flows.orders import Order, people
from tests.support.audits import audit_release


@pytest.mark.long
def test_folders_with_brackets_and_stars(tmp_path):
    """A neighbour holds other people's files wherever the pattern would match."""
    neighbour = Order(tmp_path / "data1", people(first=90))
    neighbour.release()
    order = Order(tmp_path / "data[1]")
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert order.rows().height == 90
    assert not set(order.rows()["key"]) & set(neighbour.rows()["key"])
    star = tmp_path / "data*"
    shutil.copytree(order.folder, star)
    assert audit_release(star / "releases" / "people" / "v1", star / "people.toml").passed


@pytest.mark.long
def test_sources_with_brackets(tmp_path):
    for name, first in (("people1.parquet", 90), ("people[1].parquet", 0)):
        order = Order(tmp_path, people(first=first))
        frame = pl.read_csv(order.source, infer_schema=False)
        frame.write_parquet(tmp_path / name)
    order.write(source={"path": "people[1].parquet"})
    order.release()
    assert order.keys_of_records().height == 90
