"""First plans for graphs."""

import gzip

import polars as pl
import pytest

from tests.flows.processes import command
from tests.kinds.graph.orders import GraphOrder, edges, manifest


def proposed(order, *arguments):
    """The plan that the command writes, with its questions answered."""
    done = command("plan", *arguments, "--kind", "graph")
    assert done.code == 0, done.err
    order.plan.write_text(done.out)
    assert command("release", order.plan).code == 2  # k and knows are to be decided
    order.plan.write_text(done.out.replace('decide = ["k", "knows"]', ""))
    return order.release()


def test_three_columns_are_ends_and_a_probability(tmp_path):
    order = GraphOrder(tmp_path)
    stated = manifest(proposed(order, order.source, "--header"))
    assert stated["columns"]["p"] == {"role": "probability"}
    assert stated["privacy"]["records"] == 40


def test_columns_without_a_header_get_names_and_comments_are_seen(tmp_path):
    order = GraphOrder(tmp_path)
    lines = ["# a graph", "# from\tto", *(f"{u}\t{v}" for u, v, _ in edges())]
    path = tmp_path / "graph.txt.gz"
    path.write_bytes(gzip.compress(("\r\n".join(lines) + "\r\n").encode()))
    folder = proposed(order, path, "--names", "from,to")
    assert manifest(folder)["columns"] == {
        "from": {"role": "identifier"},
        "to": {"role": "identifier"},
    }
    text = order.plan.read_text()
    assert r'separator = "\t"' in text
    assert 'comment = "#"' in text


@pytest.mark.parametrize("separator", [" ", ";"])
def test_other_separators(tmp_path, separator):
    order = GraphOrder(tmp_path)
    order.source.write_text("\n".join(separator.join(row) for row in edges()) + "\n")
    folder = proposed(order, order.source, "--names", "u,v,p")
    assert manifest(folder)["source"]["rows"] == 80
    assert "comment" not in order.plan.read_text()


def test_a_parquet_file_has_names(tmp_path):
    order = GraphOrder(tmp_path)
    path = tmp_path / "links.parquet"
    pl.DataFrame(edges(), schema=["one", "other", "chance"], orient="row").write_parquet(path)
    assert "chance" in manifest(proposed(order, path))["columns"]


def test_what_no_plan_is_proposed_for_is_refused(tmp_path):
    order = GraphOrder(tmp_path)
    wide = tmp_path / "wide.csv"
    wide.write_text("a,b,c,d\n1,2,3,4\n4,5,6,7\n")
    for arguments, words in (
        ([order.source], "give --header"),
        ([wide, "--header"], "this one has 4"),
        (["sqlite:///x.db", "--query", "select 1"], "made for files"),
    ):
        done = command("plan", *arguments, "--kind", "graph")
        assert (done.code, words in done.err) == (2, True)
