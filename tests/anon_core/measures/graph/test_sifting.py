"""Added edges that look unlike true ones protect nobody from who drops them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.graph.degrees import Degrees, UncertainEdges
from anon_core.measures.graph.obfuscation import Obfuscation
from anon_core.measures.graph.posteriors import compute_posteriors
from anon_core.measures.graph.sifting import sift_edges
from anon_core.specs.graphs import ONE, Knowledge
from tests.anon_core.measures.graph.graphs import edges_of, pairs_of_graphs

STAR = {(0, leaf): 0.9 for leaf in range(1, 6)}  # nobody else has the degree of its centre


@pytest.mark.parametrize(
    ("added", "rule"), [(0.612345, "at most 1 decimal"), (0.1, "at least 0.2")]
)
def test_whoever_drops_added_edges_has_the_source(added, rule):
    more = {(a, b): added for a in range(1, 6) for b in range(a + 1, 6)}
    source = Degrees.of(edges_of(STAR, 6))
    before = compute_posteriors(source, source, "ceiling")
    released = edges_of({**STAR, **more}, 6)
    tried = {each.rule: each for each in sift_edges(source, released, "ceiling")}
    whole, part = tried["all edges"], tried[rule]
    assert (whole.kept, part.kept) == (15, 5)
    assert (part.found.bits == before.bits).all()
    assert whole.found.own[0] < part.found.own[0] == 1
    assert Obfuscation(part.found.bits, np.full(6, 2)).below.tolist() == [True] + [False] * 5


def test_of_rules_that_keep_the_same_edges_the_first_is_tried():
    """The added edge alone has more than one decimal, and alone is below 0.2."""
    released = edges_of({**STAR, (1, 2): 0.12}, 6)
    rules = [each.rule for each in sift_edges(Degrees.of(released), released, "mode")]
    assert rules == ["all edges", "at most 1 decimal"]


def test_edges_that_look_alike_cannot_be_sifted():
    alike = edges_of({**STAR, (1, 2): 0.9}, 6)
    assert [each.rule for each in sift_edges(Degrees.of(alike), alike, "mode")] == ["all edges"]


@given(pairs_of_graphs(), st.sampled_from(Knowledge.__args__))
def test_each_rule_keeps_the_edges_that_it_names(drawn, knowledge):
    source, released, _ = drawn
    first, *others = sift_edges(Degrees.of(source), released, knowledge)
    assert (first.rule, first.kept) == ("all edges", len(released.p))
    for each in others:
        bound = float(each.rule.split()[2])
        if each.rule.startswith("at most"):
            kept = [p % 10 ** (9 - int(bound)) == 0 for p in released.p.tolist()]
        else:
            kept = [p >= bound * ONE for p in released.p.tolist()]
        edges = UncertainEdges(
            released.u[kept], released.v[kept], released.p[kept], source.vertices
        )
        expected = compute_posteriors(Degrees.of(source), Degrees.of(edges), knowledge)
        assert 0 < each.kept == sum(kept) < len(kept)
        assert (each.found.own == expected.own).all()
