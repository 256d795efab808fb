"""Changed releases and row maps: the audit names what is broken in each of them."""

import gzip
import json

import numpy as np
import polars as pl
import pytest

from crowdcover.kinds.matrix.pipeline.rows import flatten_rows
from crowdcover.kinds.rows import write_csv
from tests.kinds.matrix.orders import MatrixOrder
from tests.support.corruptions import Copy


@pytest.fixture
def copy(likes, tmp_path):
    return Copy(likes, tmp_path)


def lists(copy):
    return copy.rows["items"].to_list()


def with_items(copy, items):
    return copy.rows.with_columns(items=pl.Series(items, dtype=pl.List(pl.Int32)))


@pytest.mark.long
def test_the_release_as_it_is_keeps_everything(copy):
    assert copy.broken() == set()


def test_an_item_added_to_a_row(copy):
    items = lists(copy)
    place = next(at for at, row in enumerate(items) if 0 not in row)
    items[place] = [0, *items[place]]
    copy.write(with_items(copy, items))
    assert "equivalence classes" in copy.broken()


def test_an_item_added_to_a_whole_class(copy):
    items = lists(copy)
    row = next(row for row in items if row and 0 not in row)
    copy.write(with_items(copy, [[0, *each] if each == row else each for each in items]))
    assert copy.broken() == {"smooth majority"}


def test_a_class_of_k_minus_1(copy):
    items = lists(copy)
    kinds, counts = np.unique([repr(row) for row in items], return_counts=True)
    small = kinds[np.argmin(counts)]
    place = next(at for at, row in enumerate(items) if repr(row) == small)
    other = next(row for row in items if repr(row) != small)
    items[place] = other
    copy.write(with_items(copy, items))
    assert counts.min() == 5
    assert "equivalence classes" in copy.broken()


def test_an_empty_row_dropped(copy):
    empty = copy.rows.with_row_index("at").filter(pl.col("items").list.len() == 0)["at"][0]
    copy.write(copy.rows.with_row_index("at").filter(pl.col("at") != empty).drop("at"))
    assert {"one row a record", "known keys"} <= copy.broken()


def test_all_empty_rows_dropped_as_an_edge_list_would(copy):
    copy.write(copy.rows.filter(pl.col("items").list.len() > 0))
    assert {"one row a record", "known keys", "equivalence classes"} <= copy.broken()


def test_the_row_map_moved(copy):
    keys = copy.seats["key"].to_list()
    copy.move(keys[7:] + keys[:7])
    assert "smooth majority" in copy.broken()


def test_a_row_map_with_a_foreign_key(copy):
    keys = copy.seats["key"].to_list()
    copy.move(["0" * 16, *keys[1:]])
    assert "known keys" in copy.broken()


def test_two_records_with_one_row(copy):
    """Of equal class: every class and every majority stay, but one row is nobody's."""
    keys = copy.seats["key"].to_list()
    joined = copy.seats.join(copy.rows, on="key", how="left", maintain_order="left")
    empty = joined.with_row_index("at").filter(pl.col("items").list.len() == 0)["at"]
    keys[empty[1]] = keys[empty[0]]
    copy.move(keys)
    assert copy.broken() == {"known keys"}


@pytest.mark.parametrize("marked", ["0{}", "+{}", " {}", "{} "])
def test_a_row_of_a_csv_file_that_is_written_in_another_way(copy, marked):
    """The same items, but the row differs from those that equal it."""
    rows = flatten_rows(copy.rows)
    items = rows["items"].to_list()
    place = next(at for at, text in enumerate(items) if text)
    items[place] = marked.format(items[place])
    write_csv(rows.with_columns(items=pl.Series(items)), copy.folder / "rows.csv.gz")
    assert "no traces in the files" in copy.broken(["csv"])


def test_an_empty_row_of_a_csv_file_without_quotes(copy):
    path = copy.folder / "rows.csv.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    assert ',""\n' in text
    path.write_bytes(gzip.compress(text.replace(',""\n', ",\n", 1).encode(), mtime=0))
    assert copy.broken(["csv"]) == {"no traces in the files"}


@pytest.mark.parametrize("more", [gzip.compress(b"", mtime=1), b"\0" * 7])
def test_a_csv_file_that_goes_on_after_its_rows(copy, more):
    path = copy.folder / "rows.csv.gz"
    path.write_bytes(path.read_bytes() + more)
    assert copy.broken() == {"no traces in the files"}


def test_rows_in_the_order_of_their_clusters(copy):
    copy.write(copy.rows.sort(pl.col("items").cast(pl.List(pl.String)).list.join(" ")))
    assert copy.broken() == {"rows ordered by key"}


def test_keys_that_follow_the_source(copy):
    """Keys drawn anew in the order of the records: rows are ordered by key, and tell who is who."""
    keys = sorted(copy.seats["key"].to_list())
    new = dict(zip(copy.seats["key"], keys, strict=True))
    copy.write(copy.rows.with_columns(key=pl.col("key").replace(new)).sort("key"))
    copy.move(keys)
    assert copy.broken() == {"order tells nothing"}


def test_formats_that_differ(copy):
    write_csv(flatten_rows(copy.rows.reverse()), copy.folder / "rows.csv.gz")
    assert copy.broken() == {"same table in every format"}


def test_another_column(copy):
    copy.write(copy.rows.with_columns(group=pl.lit(1)))
    assert copy.broken() == {"no other column"}


@pytest.mark.parametrize("items", [[99], [-1], [3, 3], [4, 3], [None]])
def test_items_that_no_codebook_names_in_order(copy, items):
    copy.write(with_items(copy, [items, *lists(copy)[1:]]))
    assert "readable items" in copy.broken()


@pytest.mark.parametrize(
    "change",
    [
        lambda labels: ["invented", *labels[1:]],
        lambda labels: [*labels, "zzz"],
        lambda labels: [labels[1], labels[0], *labels[2:]],
        lambda labels: [labels[1], *labels[1:]],
    ],
)
def test_a_codebook_of_other_items(copy, change):
    path = copy.folder / "codebook.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "items": change(document["items"])}))
    assert "codebook of the source" in copy.broken()


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + " ",
        lambda text: text.replace('{"reading"', '{"users": ["Pperson001Q"], "reading"'),
        lambda text: text.replace('"keyed": false', '"keyed": true'),
        lambda text: text.replace("counted from 0", "counted from 1"),
    ],
)
def test_a_codebook_that_tells_more(copy, change):
    path = copy.folder / "codebook.json"
    path.write_text(change(path.read_text()))
    assert copy.broken() == {"codebook of the source"}


def test_keys_of_items_that_follow_their_names(tmp_path):
    """Where items are people: keys drawn in the order of the names."""
    order = MatrixOrder(tmp_path, columns={"keyed": True})
    order.release()
    changed = tmp_path / "changed"
    changed.mkdir()
    copy = Copy(order, changed)
    claim = pl.read_parquet(order.secrets / "item-keys.parquet").sort("item")
    claim.write_parquet(changed / "item-keys.parquet")
    keys = claim["key"].sort()
    old = dict(zip(claim["key"], range(len(keys)), strict=True))
    path = changed / "codebook.json"
    document = json.loads(path.read_text())
    labels, document["items"] = document["items"], keys.to_list()
    assert copy.broken() == set()
    path.write_text(json.dumps(document))
    claim.with_columns(key=keys).write_parquet(changed / "item-keys.parquet")
    copy.write(with_items(copy, [sorted(old[labels[i]] for i in row) for row in lists(copy)]))
    assert copy.broken() == {"codebook of the source"}


def test_files_that_cannot_be_read(copy):
    (copy.folder / "rows.parquet").write_bytes(b"PAR1")
    assert copy.broken() == {"readable files"}
