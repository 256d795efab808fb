"""First plans for graphs."""

import gzip
import io
from contextlib import redirect_stderr, redirect_stdout

import polars as pl
import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows.cli import main
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.graph.pipeline.read import read_source
from crowdcover.storage.source.reading import Reading
from tests.kinds.graph.orders import GraphOrder, edges, manifest


def told(*arguments):
    """Exit code, output and errors of a command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in ("plan", *arguments, "--kind", "graph")])
    return ended.value.code or 0, out.getvalue(), err.getvalue()


def proposed(order, *arguments):
    """What the plan that the command writes reads, with its questions answered."""
    code, text, errors = told(*arguments)
    assert code == 0, errors
    order.plan.write_text(text)
    with pytest.raises(PlanError, match=r"k of privacy: .*; knows of privacy: "):
        ReleasePlan.load(order.plan)
    order.plan.write_text(
        "\n".join(line for line in text.splitlines() if not line.startswith("decide = "))
    )
    reading = Reading(order.data.source)
    order.data.check_header(reading.header)
    return read_source(reading, order.data)


@pytest.mark.long
def test_three_columns_are_ends_and_a_probability(tmp_path):
    order = GraphOrder(tmp_path)
    assert len(proposed(order, order.source, "--header").vertices) == 40
    assert order.data.p == "p"
    with pytest.raises(
        GuaranteeError, match=r"above checks\.max_discrepancy = 0\.2; lower k, raise"
    ):
        order.release()  # 40 vertices of 4 edges cannot hide among 20 and keep their paths
    eased = order.plan.read_text().replace("max_discrepancy = 0.2", "max_discrepancy = 0.3")
    order.plan.write_text(eased)
    folder = order.release()
    assert manifest(folder)["columns"]["p"] == {"role": "probability"}
    assert {each["measure"] for each in manifest(folder)["checks"]} == {
        "attack success",
        "vertices below",
        "discrepancy",
        "unchanged",
    }


def test_columns_without_a_header_get_names_and_comments_are_seen(tmp_path):
    order = GraphOrder(tmp_path)
    lines = ["# a graph", "# from\tto", *(f"{u}\t{v}" for u, v, _ in edges())]
    path = tmp_path / "graph.txt.gz"
    path.write_bytes(gzip.compress(("\r\n".join(lines) + "\r\n").encode()))
    assert len(proposed(order, path, "--names", "from,to").u) == 80
    assert (order.data.u, order.data.v, order.data.p) == ("from", "to", None)
    text = order.plan.read_text()
    assert r'separator = "\t"' in text
    assert 'comment = "#"' in text


@pytest.mark.parametrize("comments", [["# FromNodeId\tToNodeId"], ["# a\tgraph", "#", "# u\tv"]])
def test_a_comment_as_wide_as_the_rows_is_no_edge(tmp_path, comments):
    order = GraphOrder(tmp_path)
    path = tmp_path / "graph.txt"
    path.write_text("\n".join([*comments, *(f"{u}\t{v}" for u, v, _ in edges())]) + "\n")
    found = proposed(order, path, "--names", "from,to")
    assert (len(found.u), len(found.vertices)) == (80, 40)


def test_names_may_begin_with_the_sign_of_comments(tmp_path):
    order = GraphOrder(tmp_path)
    order.source.write_text("\n".join(["#u,v,p", *(",".join(row) for row in edges())]) + "\n")
    assert len(proposed(order, order.source, "--header").u) == 80
    assert order.data.u == "#u"


@pytest.mark.parametrize("separator", [" ", ";"])
def test_other_separators(tmp_path, separator):
    order = GraphOrder(tmp_path)
    order.source.write_text("\n".join(separator.join(row) for row in edges()) + "\n")
    assert len(proposed(order, order.source, "--names", "u,v,p").u) == 80
    assert "comment" not in order.plan.read_text()


def test_a_parquet_file_has_names(tmp_path):
    order = GraphOrder(tmp_path)
    path = tmp_path / "links.parquet"
    pl.DataFrame(edges(), schema=["one", "other", "chance"], orient="row").write_parquet(path)
    assert len(proposed(order, path).u) == 80
    assert order.data.p == "chance"


def test_what_no_plan_is_proposed_for_is_refused(tmp_path):
    order = GraphOrder(tmp_path)
    wide = tmp_path / "wide.csv"
    wide.write_text("a,b,c,d\n1,2,3,4\n4,5,6,7\n")
    for arguments, words in (
        ([order.source], "give --header"),
        ([wide, "--header"], "this one has 4"),
        (["sqlite:///x.db", "--query", "select 1"], "made for files"),
    ):
        code, _, errors = told(*arguments)
        assert (code, words in errors) == (2, True)
