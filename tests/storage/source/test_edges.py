"""Edge lists of every form are read alike; what is no edge is refused with counts."""

import gzip

import numpy as np
import polars as pl
import pytest

from anon_core.errors import InputError
from anon_core.specs.graphs import ONE
from crowdcover.storage.source.edges import read_edges
from tests.support.edge_files import EDGES, FORMS, list_numbered


@FORMS
def test_every_form_gives_the_same_graph(tmp_path, content):
    for name, data in (("a.txt", content.encode()), ("a.csv.gz", gzip.compress(content.encode()))):
        (tmp_path / name).write_bytes(data)
        edges = read_edges(tmp_path / name)
        assert list_numbered(edges) == [(0, 1), (0, 2), (1, 2), (2, 3)]
        assert (edges.vertices, edges.rows, edges.loops, edges.repeated) == (4, 4, 0, 0)
        assert edges.p is None


@pytest.mark.parametrize("names", [str, int])
def test_columnar_files(tmp_path, names):
    ends = [list(map(names, column)) for column in zip(*EDGES, strict=True)]
    frame = pl.DataFrame({"a": ends[0], "b": ends[1], "p": [0.5, 0.25, 1.0, 0.0]})
    frame.write_parquet(tmp_path / "g.parquet")
    frame.write_ipc(tmp_path / "g.arrow")
    for name in ("g.parquet", "g.arrow"):
        edges = read_edges(tmp_path / name, uncertain=True)
        order = np.lexsort((edges.v, edges.u))
        assert (order == np.arange(4)).all()
        assert edges.vertices == 4
        assert sorted(edges.p.tolist()) == [0, ONE // 4, ONE // 2, ONE]


def test_whole_numbers_keep_their_order_and_names_that_of_their_text(tmp_path):
    (tmp_path / "n.txt").write_text("10 9\n9 100\n")
    assert list_numbered(read_edges(tmp_path / "n.txt")) == [(0, 1), (0, 2)]
    (tmp_path / "t.txt").write_text("b10\tb9\nb9\tb100\n")
    assert list_numbered(read_edges(tmp_path / "t.txt")) == [(0, 2), (1, 2)]


def test_numbers_that_differ_in_leading_zeros_are_two_vertices(tmp_path):
    (tmp_path / "n.txt").write_text("1 2\n01 3\n2 3\n")
    edges = read_edges(tmp_path / "n.txt")
    assert edges.vertices == 4
    assert list_numbered(edges) == [(0, 3), (1, 2), (2, 3)]  # 01, 1, 2, 3


def test_numbers_of_one_width_keep_their_order(tmp_path):
    for name, content in (
        ("n.txt", "7 10\n10 100\n7 0\n"),
        ("z.txt", "007 010\n010 100\n007 000\n"),
    ):
        (tmp_path / name).write_text(content)
        assert list_numbered(read_edges(tmp_path / name)) == [(0, 1), (1, 2), (2, 3)]


def test_both_directions_are_one_edge_and_loops_none(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n2 1\n1 2\n2 2\n2 3\n")
    edges = read_edges(tmp_path / "g.txt")
    assert list_numbered(edges) == [(0, 1), (1, 2)]
    assert (edges.rows, edges.loops, edges.repeated) == (5, 1, 2)


def test_probabilities_follow_their_edges(tmp_path):
    (tmp_path / "g.txt").write_text("z\ty\t0.25\nx\tz\t1\ny\tx\t0.123456789\nz\tx\t1.0\n")
    edges = read_edges(tmp_path / "g.txt", uncertain=True)
    assert list_numbered(edges) == [(0, 1), (0, 2), (1, 2)]
    assert edges.p.tolist() == [123_456_789, ONE, ONE // 4]
    assert edges.repeated == 1


@pytest.mark.parametrize(
    ("first", "given", "rows"),
    [("a,b", None, 1), ("a,b", True, 1), ("a,b", False, 2), ("5,6", True, 1), ("u,v", None, 1)],
)
def test_the_first_line_is_a_header_if_told_or_seen(tmp_path, first, given, rows):
    (tmp_path / "g.csv").write_text(f"{first}\n1,2\n")
    assert read_edges(tmp_path / "g.csv", header=given).rows == rows


@pytest.mark.parametrize(
    ("content", "uncertain", "refusal"),
    [
        ("", False, "the source is empty"),
        ("# nothing\n\n", False, "the source is empty"),
        ("u,v\n", False, "the graph holds no edges"),
        ("1\n2\n", False, "fewer than 2 columns|2 of 2 edges lack an end"),
        ("1,2\n3\n,4\n", False, "2 of 3 edges lack an end"),
        ("1 2\n3\n4 5\n", False, "1 of 3 edges lack an end"),
        ("1 2\n", True, "no third column|1 of 1 edges have no probability"),
        ("1 2 0.5\n3 4 1.5\n5 6 -1\n7 8 x\n9 10\n", True, "4 of 5 edges have no probability"),
        ("1 2 nan\n", True, "1 of 1 edges have no probability"),
        ("1 2 0.5\n2 1 0.4\n3 4 1\n4 3 1\n", True, "1 of 4 edges are stated again"),
    ],
)
def test_refusals_count_and_quote_nothing(tmp_path, content, uncertain, refusal):
    (tmp_path / "g.txt").write_text(content)
    with pytest.raises(InputError, match=refusal) as raised:
        read_edges(tmp_path / "g.txt", uncertain=uncertain)
    assert raised.value.__context__ is None


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match=r"g\.csv was not found; correct GRAPH"):
        read_edges(tmp_path / "g.csv")
    with pytest.raises(InputError, match="GRAPH must name one file"):
        read_edges(tmp_path)
    (tmp_path / "g.txt.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match="gzip"):
        read_edges(tmp_path / "g.txt.gz")
    (tmp_path / "g.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputError, match="Parquet"):
        read_edges(tmp_path / "g.parquet")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "h.parquet")
    with pytest.raises(InputError, match="fewer than 2 columns"):
        read_edges(tmp_path / "h.parquet")
