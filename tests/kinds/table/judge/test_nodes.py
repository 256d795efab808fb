"""nodes.csv: what the maker writes, read by the standard library, and what the auditor refuses."""

import csv
import json

import pytest

from crowdcover.kinds.table.judge.nodes import nodes_findings
from crowdcover.kinds.table.pipeline.nodes import write_nodes

ODD = ("(missing)", "", 'say "x"', "a,b", "two\nlines", "plain")
TREE = [
    {"name": "n.1*", "level": "1", "levels": [1, 5]},
    {"name": "m|", "level": "2", "levels": [2, 3]},
]
NAMED = {"name": "c,d", "kind": "categorical", "nodes": []}
BOOK = {"attributes": [NAMED | {"labels": [*ODD], "has_missing": True, "tree": TREE}]}
LATER = [{"name": "n.1*", "level": "1", "levels": [0, 1]}]
GROWN = {"attributes": [NAMED | {"labels": ["plain", "new"], "has_missing": False, "tree": LATER}]}
WITHOUT = {"attributes": [{"name": "c,d", "labels": [*ODD]}]}


def lines(folder):
    with (folder / "nodes.csv").open(encoding="utf-8", newline="") as file:
        return [*csv.reader(file)]


def test_each_value_of_each_node_has_a_line(tmp_path):
    write_nodes(BOOK, tmp_path)
    header, *rows = lines(tmp_path)
    assert header == ["column", "level", "node", "value"]
    assert rows == [
        *(["c,d", "*", "*", value] for value in ODD[1:]),
        *(["c,d", "1", "n.1*", value] for value in ODD[1:]),
        *(["c,d", "2", r"m\|", value] for value in ODD[2:4]),  # as the cell spells it
    ]
    (finding,) = nodes_findings(tmp_path, json.loads(json.dumps(BOOK)))
    assert finding.passed
    assert finding.detail == "12 values of nodes compared"


def test_batches_have_one_table(tmp_path):
    book = {"batches": {"1": BOOK, "2": GROWN}}
    write_nodes(book, tmp_path)
    rows = lines(tmp_path)
    assert len(rows) == 1 + 12 + 2
    assert rows[-1] == ["c,d", "1", "n.1*", "new"]
    assert nodes_findings(tmp_path, book)[0].passed


def test_without_a_tree_there_is_no_file(tmp_path):
    write_nodes(WITHOUT, tmp_path)
    assert not [*tmp_path.iterdir()]
    assert nodes_findings(tmp_path, WITHOUT) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("plain", "Plain"),
        lambda text: text.replace(",plain", ',"plain"'),
        lambda text: text.replace("1,n", "2,n", 1),
        lambda text: text[: text.rindex(chr(10), 0, -1) + 1],
        lambda text: text + text.splitlines()[-1] + chr(10),
        lambda text: text[:-1],
        lambda text: text.replace(chr(10), "\r\n"),
        lambda text: chr(0xFEFF) + text,
        lambda text: "",
        lambda text: text.replace("m", '"'),
    ],
)
def test_another_byte_is_found(tmp_path, change):
    write_nodes(BOOK, tmp_path)
    path = tmp_path / "nodes.csv"
    before = path.read_bytes().decode()
    assert change(before) != before
    path.write_bytes(change(before).encode())
    assert not nodes_findings(tmp_path, BOOK)[0].passed


def test_a_file_that_lacks_or_should_not_be_is_found(tmp_path):
    assert not nodes_findings(tmp_path, BOOK)[0].passed
    write_nodes(BOOK, tmp_path)
    assert not nodes_findings(tmp_path, WITHOUT)[0].passed
    (tmp_path / "nodes.csv").write_bytes(b"\xff")
    assert not nodes_findings(tmp_path, BOOK)[0].passed


@pytest.mark.parametrize("book", [None, [], {"attributes": 1}, {"attributes": [{"nodes": []}]}])
def test_a_codebook_of_any_form_is_no_crash(tmp_path, book):
    assert all(not finding.passed for finding in nodes_findings(tmp_path, book))
