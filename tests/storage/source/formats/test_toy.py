"""A new format is one file (toy.py) and one entry in `FORMATS`: read, planned, released."""

import bz2

import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.kinds import kind_called
from crowdcover.kinds.section import PlanError
from crowdcover.storage.source import formats
from crowdcover.storage.source.edges import read_edges
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source, read_source_header
from tests.flows.orders import HEADER, Order, data_bytes, people
from tests.storage.source.formats.toy import FixedWidth, fixed_width

ROWS = [("name", "age"), ("ann", "1"), ("bob", "2"), ("çan", "3")]


@pytest.fixture(autouse=True)
def entry(monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", (FixedWidth(), *formats.FORMATS))


@pytest.mark.parametrize("pack", [bytes, bz2.compress])
@pytest.mark.parametrize("name", ["t", "t.csv", "t.fwf"])
def test_it_is_told_by_its_content_and_read(tmp_path, name, pack):
    source = Source(path=tmp_path / name)
    source.path.write_bytes(pack(fixed_width(ROWS)))
    assert source.format.name == "fixed width"
    assert read_source_header(source) == ["name", "age"]
    reading = Reading(source)
    reading.keep(tmp_path)
    for each in (reading, reading.again()):
        assert each.columns([], ["age", "name"]).rows() == [row[::-1] for row in ROWS[1:]]
    with pytest.raises(InputError, match="no arrays"):
        reading.arrays(["name"])


def test_options_that_it_does_not_take_are_refused(tmp_path):
    path = tmp_path / "t.fwf"
    path.write_bytes(fixed_width(ROWS))
    with pytest.raises(InputError, match="belongs to a workbook, the source is fixed width"):
        read_source_header(Source(path=path, sheet="one"))
    with pytest.raises(PlanError, match="leave them out"):
        kind_called("table").starter(Source(path=path), False, [])


def test_a_plan_is_proposed_and_a_graph_is_measured(tmp_path):
    path = tmp_path / "people.fwf"
    path.write_bytes(fixed_width([HEADER, *people()]))
    plan = kind_called("table").starter(Source(path=path), None, [])
    assert 'name = "people"' in plan
    assert all(f"[columns.{name}]" in plan for name in HEADER)
    path.write_bytes(fixed_width([("u", "v"), ("a", "b"), ("b", "c")]))
    assert read_edges(path).vertices == 3


@pytest.mark.long
def test_a_release_is_the_one_of_the_same_rows_in_csv(tmp_path):
    written = Order(tmp_path / "csv")
    other = Order(tmp_path / "fwf", source={"path": "people.fwf"})
    rows = pl.read_csv(written.source, infer_schema=False).fill_null("")
    (other.folder / "people.fwf").write_bytes(fixed_width([rows.columns, *rows.rows()]))
    made = [data_bytes(order.fix_seed().release()) for order in (written, other)]
    assert made[0] == made[1]
