"""Releases with text cells in data.parquet, as versions up to 0.1.0 made them, are still read."""

import json

import polars as pl
import pytest

from anon_core.tables.codebook import codebook_to_json
from crowdcover.kinds.rows import write_csv
from crowdcover.kinds.table.judge.compared import compare_published_tables
from crowdcover.kinds.table.pipeline import write
from tests.flows.orders import Order, people
from tests.support.audits import audit_release
from tests.support.series import SERIES
from tests.typed import text_rows


def write_text(rows, folder):
    text = rows.cut_text(slice(None))
    text.write_parquet(folder / "data.parquet")
    write_csv(text, folder / "data.csv.gz")


@pytest.fixture
def older(monkeypatch):
    """The makers as they were; `undo` makes them new."""
    monkeypatch.setattr(write, "write_masked_rows", write_text)
    monkeypatch.setattr(write, "build_published_codebook", lambda book, *_: codebook_to_json(book))
    return monkeypatch


def native(folder):
    return pl.read_parquet(folder / "data.parquet", glob=False)


def book(folder):
    return json.loads((folder / "codebook.json").read_text("utf-8"))


@pytest.mark.long
@pytest.mark.parametrize("formats", [["parquet", "csv"], ["parquet"], ["csv"]])
def test_an_older_release_passes_and_is_compared(tmp_path, older, formats):
    order = Order(tmp_path / "a", publish={"formats": formats})
    folder = order.release()
    older.undo()
    assert "format" not in book(folder)
    if "parquet" in formats:
        assert set(native(folder).dtypes) == {pl.String}
    audit = audit_release(folder, order.plan)
    assert audit.passed, audit.sentence()
    assert "types of the columns" not in {finding.guarantee for finding in audit.findings}
    later = Order(tmp_path / "b", publish={"formats": formats}).release()
    assert book(later)["format"] == 2
    columns = compare_published_tables(folder, later)
    assert columns["city"]["new"] == columns["city"]["gone"] == []
    assert columns["age"]["at_least"] == 0.0


@pytest.mark.long
def test_a_series_keeps_the_form_of_its_first_version(tmp_path, older):
    order = Order(tmp_path, people(60), series=SERIES, privacy={"k": 3}, checks={"drift": "off"})
    first = order.release()
    older.undo()
    order.write_source([*people(60)[4:], *people(6, draws=9, first=900)])
    second = order.release()
    assert native(second).schema == native(first).schema
    assert set(native(second).dtypes) == {pl.String, pl.Int32}
    stays = native(second).join(native(first), on="key", how="semi").filter(pl.col("since") == 1)
    assert stays.height
    assert stays.equals(native(first).join(stays, on="key", how="semi"))
    assert native(second).drop("since").equals(text_rows(second).drop("since"))
    assert "format" not in book(second)
    assert {*book(second)["batches"]["2"]["attributes"][0]} == {
        *book(first)["batches"]["1"]["attributes"][0]
    }
    for folder in (first, second):
        audit = audit_release(folder, order.plan)
        assert audit.passed, audit.sentence()
