"""The auditor against all worlds of drawn graphs, whether the promise is kept or not."""

import tempfile
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdcover.kinds.graph.kind import KIND
from crowdcover.kinds.graph.layout import format_codebook
from crowdcover.kinds.graph.pipeline.rows import flatten_rows
from crowdcover.kinds.rows import write_csv
from crowdcover.storage.source.reading import Reading
from tests import naive
from tests.contract.alike import Alike
from tests.kinds.graph.orders import GraphOrder

CHANCES = st.sampled_from([0, 1, 0.5, 0.25, 0.3, 0.999999, 0.000001])


@st.composite
def releases(draw):
    """Edges and chances of a source and of a release of its vertices; k, eps and knowledge."""
    n = draw(st.integers(3, 5))
    every = [(i, j) for i in range(n) for j in range(i)]
    source = draw(st.lists(st.sampled_from(every), min_size=2, max_size=6, unique=True))
    released = draw(st.lists(st.sampled_from(every), max_size=6, unique=True))
    chances = st.lists(CHANCES, min_size=6, max_size=6)
    k = draw(st.lists(st.integers(2, n), min_size=n, max_size=n))
    eps = draw(st.sampled_from([0.0, 0.2, 0.5]))
    knows = draw(st.sampled_from(["ceiling", "mode", "distribution"]))
    before, after = draw(chances)[: len(source)], draw(chances)[: len(released)]
    possible = [(edge, p) for edge, p in zip(released, after, strict=True) if p > 0]
    return n, (source, before), ([e for e, _ in possible], [p for _, p in possible]), k, eps, knows


def publish(folder, n, source, released, k, eps, knows):
    """Write what a release of these edges would be, and its source and plan."""
    names = [f"v{number}" for number in range(n)]
    rows = [(names[i], names[j], str(p)) for (i, j), p in zip(*source, strict=True)]
    order = GraphOrder(folder, rows, privacy={"k": {"path": "k.csv"}, "eps": eps, "knows": knows})
    pl.DataFrame({"vertex": names, "k": k}).write_csv(folder / "k.csv")
    keys = [f"{(number * 0x9E3779B97F4A7C15 + 7) % 2**64:016x}" for number in range(n)]
    pairs = [(*sorted((keys[i], keys[j])), float(p)) for (i, j), p in zip(*released, strict=True)]
    schema = {"u": pl.String, "v": pl.String, "p": pl.Float64}
    frame = pl.DataFrame(sorted(pairs), schema=schema, orient="row")
    frame.write_parquet(folder / "edges.parquet")
    write_csv(flatten_rows(frame), folder / "edges.csv.gz")
    (folder / "codebook.json").write_text(format_codebook(n))
    first = [end for i, j in source[0] for end in (names[i], names[j])]
    own = list(dict.fromkeys([*first, *names]))
    claim = {"record": range(n), "key": [keys[names.index(each)] for each in own]}
    schema = {"record": pl.Int64, "key": pl.String}
    pl.DataFrame(claim, schema=schema).write_parquet(folder / "matching.parquet")
    return order.data


@pytest.mark.long
@settings(deadline=None)
@given(releases())
def test_the_auditor_counts_what_all_worlds_count(drawn):
    n, source, released, k, eps, knows = drawn
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = publish(folder, *drawn)
        formats = ["parquet", "csv"]
        audit = KIND.judge(data, Alike.promise, formats, Reading(data.source), folder, folder)
    before, after = (
        naive.degree_chances(edges, [Fraction(str(each)) for each in p], n)
        for edges, p in (source, released)
    )
    bits = [naive.entropy(naive.posterior(target, after, knows)) for target in before]
    below = sum(2**h < level - 1e-6 for h, level in zip(bits, k, strict=True))
    exempt = int(eps * n + 1e-9)
    assert {each.guarantee for each in audit.broken} == (
        {"obfuscated"} if below > exempt else set()
    )
    stated = audit.measured.sections()
    assert (stated["privacy"]["below"], stated["privacy"]["exempt"]) == (below, exempt)
    degree = [
        [sum(p for e, p in zip(*graph, strict=True) if v in e) for v in range(n)]
        for graph in (source, released)
    ]
    error = sum(abs(one - other) for one, other in zip(*degree, strict=True)) / n
    assert -1e-9 < stated["utility"]["degree_error"] - error < 0.001 + 1e-9
    first, second = (
        {e: p for e, p in zip(*graph, strict=True) if p} for graph in (source, released)
    )
    either, same = first.keys() | second.keys(), len(first.items() & second.items())
    share = Fraction(same, len(either)) if either else 1
    assert 0 <= share - Fraction(str(stated["utility"]["same_edges"])) < Fraction(1, 1000)
    assert (stated["utility"]["same_edges"] == 1) == (first == second)
    shown = stated["protection"]["edges"]
    assert shown["near"] == pytest.approx(count_near(first, second) / n, abs=0.001)


def count_near(source, released):
    exact = ({e: Fraction(str(p)) for e, p in each.items()} for each in (source, released))
    return len(naive.vertices_with_shown_edge(*exact, Fraction(1, 20)))
