"""Lists of edges: what becomes a vertex, an edge and a demand, and what is refused."""

import gzip
import sqlite3

import numpy as np
import polars as pl
import pytest

from anon_core.errors import InfeasibleError, InputError
from anon_core.specs.graphs import ONE
from crowdcover.flows.plan.plan import PlanError
from crowdcover.kinds.graph.judge.source import SourceGraph
from crowdcover.kinds.graph.pipeline.edges import join_directions
from crowdcover.kinds.graph.pipeline.read import read_source
from crowdcover.storage.source.reading import Reading
from tests.kinds.graph.orders import GraphOrder, edges, manifest, name
from tests.support.audits import audit_release


def read(order):
    """The source as the plan says, and its edges by names as makers and auditor join them."""
    plan = order.data
    plan.check_header(Reading(plan.source).header)
    found = read_source(Reading(plan.source), plan)
    made, judged = join_directions(found, plan.both_ways), SourceGraph.of(found, plan)
    for one, other in zip(made, judged.edges, strict=False):
        assert one.tolist() == other.tolist()
    names = found.vertices.to_list()
    joined = {
        frozenset((names[u], names[v])): p
        for u, v, p in zip(*(each.tolist() for each in made), strict=True)
    }
    return names, joined, judged


def released(order):
    """The manifest of a release that the audit accepts."""
    folder = order.release()
    audit = audit_release(folder, order.plan)
    assert audit.passed, audit.sentence()
    return manifest(folder)


# ---------------------------------------------------------------- forms of a list


def test_names_become_vertices_and_probabilities_billionths(tmp_path):
    order = GraphOrder(tmp_path, [("a", "b", "0.1"), (" b ", "c", "1"), ("d", "a", "0.123456789")])
    names, joined, _ = read(order)
    assert names == ["a", "b", "c", "d"]
    assert joined == {
        frozenset("ab"): ONE // 10,
        frozenset("bc"): ONE,
        frozenset("ad"): 123_456_789,
    }


@pytest.mark.long
def test_without_a_column_of_probabilities_every_edge_is_certain(tmp_path):
    order = GraphOrder(tmp_path, columns={"p": None})
    assert set(read(order)[1].values()) == {ONE}
    assert released(order)["columns"] == {"u": {"role": "identifier"}, "v": {"role": "identifier"}}


def test_more_digits_than_billionths_are_rounded_and_counted(tmp_path):
    rows = [("a", "b", "0.12345678949"), ("b", "c", "0.5"), ("c", "a", "1e-12")]
    order = GraphOrder(tmp_path, rows)
    assert list(read(order)[1].values()) == [123_456_789, 0, ONE // 2]
    assert read_source(Reading(order.data.source), order.data).rounded == 2


def test_lists_of_snap_start_with_comments(tmp_path):
    text = "# Directed graph: x.txt\r\n# FromNodeId\tToNodeId\r\n1\t2\r\n2\t1\r\n2\t3\r\n"
    order = GraphOrder(
        tmp_path,
        source={"path": "x.txt.gz", "header": False, "separator": "\t", "comment": "#"},
        columns={"u": "from", "v": "to", "p": None, "names": ["from", "to"]},
    )
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert read(order)[1] == {frozenset("12"): ONE, frozenset("23"): ONE}
    order.write(source={"comment": None})
    with pytest.raises(PlanError, match=r"the source has 1 columns.*source.comment = '#'"):
        order.release()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Decimal(10, 6), pl.String])
def test_types_of_columnar_files(tmp_path, kind, dtype):
    order = GraphOrder(tmp_path, source={"path": f"links.{kind}"})
    frame = pl.DataFrame({"u": [1, 2, 3], "v": [2, 3, 1], "p": ["0.1", "0.25", "0.7"]})
    frame = frame.with_columns(pl.col("p").cast(dtype))
    write = {"parquet": frame.write_parquet, "arrow": frame.write_ipc}
    write[kind](tmp_path / f"links.{kind}")
    assert sorted(read(order)[1].values()) == [ONE // 10, ONE // 4, 7 * ONE // 10]


@pytest.mark.long
def test_edges_of_a_database(tmp_path):
    order = GraphOrder(
        tmp_path,
        source={"path": None, "uri": "sqlite:///g.db", "query": "select u, v, p from links"},
    )
    with sqlite3.connect(tmp_path / "g.db") as base:
        base.execute("create table links (u text, v text, p real)")
        base.executemany("insert into links values (?, ?, ?)", edges())
    base.close()
    assert released(order)["privacy"]["records"] == 40


# ---------------------------------------------------------------- both directions


BOTH = [("a", "b", "0.2"), ("b", "a", "0.5"), ("c", "d", "0.3"), ("d", "c", "0.3"), ("a", "c", "1")]


def test_two_directions_that_differ_are_refused_with_a_count(tmp_path):
    order = GraphOrder(tmp_path, BOTH)
    with pytest.raises(InputError, match=r"^1 pairs of vertices are listed in both directions"):
        order.release()


def test_two_directions_that_agree_are_one_edge(tmp_path):
    order = GraphOrder(tmp_path, BOTH[2:])
    assert read(order)[1] == {frozenset("cd"): 3 * ONE // 10, frozenset("ac"): ONE}


@pytest.mark.parametrize(
    ("rule", "of_ab", "of_cd"),
    [("mean", 0.35, 0.3), ("max", 0.5, 0.3), ("union", 0.6, 0.51)],
)
def test_the_plan_may_have_a_rule_for_two_directions(tmp_path, rule, of_ab, of_cd):
    order = GraphOrder(tmp_path, BOTH, source={"both_ways": rule})
    assert read(order)[1] == {
        frozenset("ab"): round(of_ab * ONE),
        frozenset("cd"): round(of_cd * ONE),
        frozenset("ac"): ONE,
    }


def test_the_auditor_joins_directions_as_the_makers_do(tmp_path):
    """Of random billionths, to the last one; `read` compares both."""
    draws = np.random.default_rng(5)
    rows = [
        (f"v{i}", f"v{j}", f"0.{draws.integers(10**9):09d}")
        for i in range(12)
        for j in range(12)
        if i != j
    ]
    for rule in ("mean", "max", "union"):
        _, joined, _ = read(GraphOrder(tmp_path, rows, source={"both_ways": rule}))
        assert len(joined) == 66


# ---------------------------------------------------------------- refusals of edges


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("a", "a", "0.2")], "1 of 41 edges join a vertex with itself"),
        ([("a", "b", "0.2"), ("a", "b", "0.2")], "1 of 42 edges repeat an edge in the same dir"),
        ([("a", "b", "1.5"), ("c", "d", "-0.1")], "0 of 42 probabilities are no numbers and 2 are"),
        ([("a", "b", "often"), ("a", "c", "")], "2 of 42 probabilities are no numbers and 0 are"),
        ([("a", "b", "nan"), ("a", "c", "inf")], "2 of 42 probabilities are no numbers and 0 are"),
        ([("", "b", "0.2")], r"column 'u': 1 of 41 edges lack this end"),
        ([("a", "?", "0.2")], r"column 'v': 1 of 41 edges lack this end"),
    ],
)
def test_edges_that_are_none_are_refused_with_counts(tmp_path, rows, words):
    order = GraphOrder(tmp_path, [*edges(degree=2), *rows], source={"missing": ["?"]})
    with pytest.raises(InputError, match=words) as refusal:
        order.release()
    assert "often" not in str(refusal.value)


def test_a_list_without_edges_is_refused(tmp_path):
    with pytest.raises(InputError, match="no rows"):
        GraphOrder(tmp_path, []).release()


def test_columns_of_other_things_are_refused(tmp_path):
    order = GraphOrder(tmp_path, source={"path": "links.parquet"})
    frame = pl.DataFrame({"u": ["a", "b"], "v": ["b", "c"], "p": [[1], [2]]})
    frame.write_parquet(tmp_path / "links.parquet")
    with pytest.raises(InputError, match="column 'p' holds List; convert it"):
        order.release()
    frame.with_columns(p=pl.lit(value=True)).write_parquet(tmp_path / "links.parquet")
    with pytest.raises(InputError, match="2 of 2 probabilities are no numbers"):
        order.release()


# ---------------------------------------------------------------- vertices and demands


def demands(order, k_of, extra=()):
    names = [*(name(i) for i in range(40)), *extra]
    frame = pl.DataFrame({"vertex": names, "k": [k_of(each) for each in names]})
    frame.write_csv(order.folder / "k.csv")
    order.write(privacy={"k": {"path": "k.csv"}})


@pytest.mark.long
def test_each_vertex_has_a_k_of_its_own_and_may_be_lonely(tmp_path):
    order = GraphOrder(tmp_path)
    demands(order, lambda each: 3 + len(each) % 7, extra=["lonely", "alone1"])
    names, _, judged = read(order)
    assert names[-2:] == ["lonely", "alone1"]
    assert judged.vertices == 42
    stated = released(order)
    assert (stated["privacy"]["records"], stated["utility"]["isolated"]) == (42, 2)
    assert (stated["privacy"]["k_min"], stated["privacy"]["k_max"]) == (5, 9)


@pytest.mark.long
def test_a_list_of_vertices_names_those_without_an_edge(tmp_path):
    order = GraphOrder(tmp_path, source={"vertices": "all.csv"}, columns={"vertex": "who"})
    pl.DataFrame({"who": ["lonely", name(3)]}).write_csv(tmp_path / "all.csv")
    stated = released(order)
    assert (stated["privacy"]["records"], stated["utility"]["isolated"]) == (41, 1)
    pl.DataFrame({"who": ["lonely", "lonely", ""]}).write_csv(tmp_path / "all.csv")
    order.write(checks={"drift": "off"})
    with pytest.raises(InputError, match=r"of 3 rows in source.vertices 1 name no vertex and 1 "):
        order.release()
    pl.DataFrame({"who": ["lonely", "lonely", "", ""]}).write_csv(tmp_path / "all.csv")
    with pytest.raises(InputError, match=r"of 4 rows in source.vertices 2 name no vertex and 1 "):
        order.release()
    order.write(source={"vertices": "none.csv"})
    with pytest.raises(InputError, match=r"none.csv was not found; correct source.vertices"):
        order.release()
    order.write(source={"vertices": "all.csv"})
    pl.DataFrame({"name": ["lonely", "x"]}).write_csv(tmp_path / "all.csv")
    with pytest.raises(InputError, match=r"^source.vertices: the source has no column who"):
        order.release()


def test_the_place_of_a_list_of_vertices_shapes_no_release(tmp_path):
    order = GraphOrder(tmp_path, source={"vertices": "all.csv"})
    pl.DataFrame({"vertex": ["lonely", name(3)]}).write_csv(tmp_path / "all.csv")
    first = order.run.path
    (tmp_path / "all.csv").rename(tmp_path / "every.csv")
    order.write(source={"vertices": "every.csv"})
    assert order.run.path == first
    order.write(source={"both_ways": "max"})
    assert order.run.path != first


@pytest.mark.parametrize(
    ("k_of", "error", "words"),
    [
        (lambda _: 0, InputError, "of 40 demands in privacy.k.path 40 have no vertex or no whole"),
        (lambda _: 1, InputError, "40 of 40 vertices have k = 1"),
        (lambda _: 41, InfeasibleError, "40 records demand more than 40"),
    ],
)
def test_demands_that_cannot_be_met_are_refused(tmp_path, k_of, error, words):
    order = GraphOrder(tmp_path)
    demands(order, k_of)
    with pytest.raises(error, match=words):
        order.release()


def test_a_demand_of_nobody_is_none_of_somebody_again(tmp_path):
    order = GraphOrder(tmp_path)
    demands(order, lambda _: 3)
    with (tmp_path / "k.csv").open("a") as file:
        file.write(",3\n" * 2)
    with pytest.raises(InputError, match=r"42 demands in privacy.k.path 2 have no .* and 0 are of"):
        order.release()


def test_vertices_without_a_demand_are_refused(tmp_path):
    order = GraphOrder(tmp_path)
    demands(order, lambda _: 3)
    lines = (tmp_path / "k.csv").read_text().splitlines()
    (tmp_path / "k.csv").write_text("\n".join(lines[:-2]) + "\n")
    with pytest.raises(InputError, match="2 of 40 vertices have no k"):
        order.release()


# ---------------------------------------------------------------- refusals of plans


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"privacy": {"k": 1}}, "privacy.k = 1 protects nobody"),
        ({"privacy": {"k": 0}}, "privacy.k must be at least 1"),
        ({"privacy": {"k": "many"}}, "privacy.k must be a whole number or"),
        ({"privacy": {"k": {"path": "k.csv", "user": "x"}}}, "unknown key privacy.k.user"),
        ({"privacy": {"eps": 1.0}}, "privacy.eps must"),
        ({"privacy": {"eps": -0.1}}, "privacy.eps must"),
        ({"privacy": {"knows": "nearest"}}, "privacy.knows must"),
        ({"columns": {"v": "u"}}, "names one column twice"),
        ({"columns": {"v": "to"}}, "does not have: to"),
        ({"columns": {"names": ["u", "v", "p"]}}, "source.header = false"),
        ({"source": {"both_ways": "min"}}, "source.both_ways must"),
        ({"source": {"path": "links.npz"}}, "write the array as a table"),
        ({"source": {"path": "links.parquet", "comment": "#"}}, "source.comment is for CSV"),
        (
            {"source": {"vertices": "v.csv"}, "privacy": {"k": {"path": "k.csv"}}},
            "leave out source.vertices",
        ),
        ({"anonymizer": {"name": "smooth"}}, "anonymizer.name is not known"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused(tmp_path, sections, words):
    with pytest.raises(PlanError, match=words):
        GraphOrder(tmp_path, **sections).release()
