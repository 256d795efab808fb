"""Edges in batches are those of the whole file."""

import gzip

import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.storage.source import edge_batches
from crowdcover.storage.source.edge_batches import read_edge_batches
from crowdcover.storage.source.edges import name_vertices, number_vertices, read_edges
from tests.support.edge_files import EDGES, FORMS, join_edges, list_numbered

MANY = [(i, (7 * i) % 101) for i in range(1, 101)]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(edge_batches, "TEXT_AT_ONCE", 20)
    monkeypatch.setattr(edge_batches, "ROWS_AT_ONCE", 7)


def in_batches(path):
    """Sorted pairs of numbers, each once, as `read_edges` gives them; how many batches."""
    batches = list(read_edge_batches(path))
    whole = pl.concat(batches)
    names = name_vertices(whole["u"], whole["v"])
    u, v = (number_vertices(whole[end], names).tolist() for end in ("u", "v"))
    pairs = {(min(pair), max(pair)) for pair in zip(u, v, strict=True) if pair[0] != pair[1]}
    return sorted(pairs), len(batches)


@FORMS
def test_every_form_gives_the_same_edges(tmp_path, content):
    for name, data in (("a.txt", content.encode()), ("a.csv.gz", gzip.compress(content.encode()))):
        (tmp_path / name).write_bytes(data)
        assert in_batches(tmp_path / name)[0] == list_numbered(read_edges(tmp_path / name))


@pytest.mark.parametrize("kind", [pl.Int32, pl.String])
def test_many_batches(tmp_path, kind):
    frame = pl.DataFrame(MANY, schema=["a", "b"], orient="row").cast(kind)
    frame.with_columns(weight=1.5).write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    for name in ("a.parquet", "a.csv"):
        pairs, batches = in_batches(tmp_path / name)
        assert pairs == list_numbered(read_edges(tmp_path / name))
        assert batches > 10


@pytest.mark.parametrize(
    "kinds", [(pl.Int32, pl.Int64), (pl.Int64, pl.String), (pl.String, pl.Categorical)]
)
def test_columns_of_two_types(tmp_path, kinds):
    frame = pl.DataFrame(EDGES, schema=["a", "b"], orient="row").cast(pl.String)
    frame = frame.with_columns(pl.col("a").cast(kinds[0]), pl.col("b").cast(kinds[1]))
    frame.write_parquet(tmp_path / "a.parquet")
    assert in_batches(tmp_path / "a.parquet")[0] == list_numbered(
        read_edges(tmp_path / "a.parquet")
    )


def test_a_name_of_a_file_is_no_pattern(tmp_path):
    frame = pl.DataFrame(EDGES, schema=["u", "v"], orient="row")
    frame.write_parquet(tmp_path / "g[12].parquet")
    frame[:1].write_parquet(tmp_path / "g1.parquet")
    assert len(in_batches(tmp_path / "g[12].parquet")[0]) == len(EDGES)


def test_lines_of_one_field_where_a_batch_begins(tmp_path):
    lines = "1,2,x\n# a note\n2,3,x\n\n3,1,x\n" * 9
    (tmp_path / "a.csv").write_text("# of all\n" + lines)
    assert in_batches(tmp_path / "a.csv")[0] == list_numbered(read_edges(tmp_path / "a.csv"))
    (tmp_path / "a.csv").write_text("1,2\n" * 5 + "5\n" + "2,3\n" * 5)
    whole = pl.concat(read_edge_batches(tmp_path / "a.csv"))
    assert whole["v"].null_count() == 1


def test_leading_zeros(tmp_path):
    (tmp_path / "a.txt").write_text("1 2\n01 3\n2 3\n" + "4 5\n" * 9)
    assert in_batches(tmp_path / "a.txt")[0] == list_numbered(read_edges(tmp_path / "a.txt"))


def test_names_of_words(tmp_path):
    (tmp_path / "a.txt").write_text("who whom\nann bob\nbob 7\n7 ann\n")
    assert in_batches(tmp_path / "a.txt")[0] == list_numbered(read_edges(tmp_path / "a.txt"))


def test_what_is_refused(tmp_path):
    for name, content, words in (
        ("a.csv", 'a,"b"\n', "names in quotes cannot be read in batches"),
        ("a.txt", "# nothing\n", "the source is empty"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=words):
            in_batches(tmp_path / name)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(join_edges(",").encode())[:-9])
    with pytest.raises(InputError, match="gzip stream is damaged"):
        in_batches(tmp_path / "a.csv.gz")
    pl.DataFrame({"u": [1]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="fewer than 2 columns"):
        in_batches(tmp_path / "a.parquet")
    pl.DataFrame(EDGES, schema=["u", "v"], orient="row").write_ipc(tmp_path / "a.arrow")
    with pytest.raises(InputError, match="only text and Parquet are read in batches"):
        in_batches(tmp_path / "a.arrow")
