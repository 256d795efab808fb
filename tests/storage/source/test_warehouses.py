"""Snowflake and BigQuery: what their drivers are asked. A stand-in answers; no server was asked."""

import sys
import types

import pytest

from anon_core.errors import InputError
from crowdcover.storage.places.credentials import with_password
from crowdcover.storage.source.databases import query_database
from crowdcover.storage.source.sources import Source


@pytest.fixture
def asked(monkeypatch):
    """Drivers that note what they are asked and answer with two rows."""
    pa = pytest.importorskip("pyarrow")
    notes = []

    class Cursor:
        def execute(self, statement):
            notes.append(statement)

        def fetch_record_batch(self):
            return pa.table({"b": [2, 1], "a": ["x", "y"]}).to_reader()

        def close(self):
            pass

        cursor = lambda self: self  # noqa: E731

    def connect(*arguments, **options):
        notes.append((*arguments, options))
        return Cursor()

    for scheme in ("snowflake", "bigquery"):
        name = f"adbc_driver_{scheme}"
        driver = types.ModuleType(f"{name}.dbapi")
        driver.connect = connect
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        monkeypatch.setitem(sys.modules, f"{name}.dbapi", driver)
    return notes


def test_snowflake(asked, monkeypatch):
    monkeypatch.setenv("ZQ7", "p@ss:w")
    uri = with_password("snowflake://ann@account/db/schema?warehouse=w", "env:ZQ7")
    frame = query_database(uri, "select 1").unpack_columns(["b", "a"])
    assert asked == [("ann:p%40ss%3Aw@account/db/schema?warehouse=w", {}), "select 1"]
    assert frame.sort("b").rows() == [(1, "y"), (2, "x")]


def test_bigquery(asked):
    query_database("bigquery://project/people", "select 1")
    query_database("bigquery://project", "select 1")
    project, dataset = "adbc.bigquery.sql.project_id", "adbc.bigquery.sql.dataset_id"
    assert asked[0] == ({"db_kwargs": {project: "project", dataset: "people"}},)
    assert asked[2] == ({"db_kwargs": {project: "project"}},)


@pytest.mark.parametrize("scheme", ["snowflake", "bigquery"])
def test_without_the_driver(monkeypatch, scheme):
    monkeypatch.setitem(sys.modules, f"adbc_driver_{scheme}", None)
    with pytest.raises(InputError, match=rf"pip install 'crowdcover\[{scheme}\]'"):
        query_database(Source(uri=f"{scheme}://a", query="select 1").uri, "select 1")
