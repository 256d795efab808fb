"""Uncertain graphs whose vertices hide by degree: definitions, printed figures, drawn graphs."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st

from anon_core.anonymizers import Obfuscate
from anon_core.anonymizers.uncertain_graph.candidates import draw_candidates
from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges, column_entropies, degrees_of
from anon_core.anonymizers.uncertain_graph.degrees_kernels import add_columns
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.anonymizers.uncertain_graph.perturbation import (
    GRAIN,
    draw_truncated_normal,
    grain_of,
    perturb_probabilities,
    round_source_chances,
)
from anon_core.anonymizers.uncertain_graph.planning.planning import (
    Means,
    build_hiding_targets,
    choose_exempt_vertices,
    compute_shortfalls,
    plan_degree_moves,
)
from anon_core.anonymizers.uncertain_graph.planning.rewiring import rewire_edges
from anon_core.anonymizers.uncertain_graph.search import Turn, find_best_step, most_turns, next_turn
from anon_core.anonymizers.uncertain_graph.selection import compute_uniqueness
from anon_core.errors import InfeasibleError, InputError
from anon_core.measures.graph.degrees import Degrees as AuditedDegrees
from anon_core.measures.graph.degrees import UncertainEdges as AuditedEdges
from anon_core.measures.graph.obfuscation import Obfuscation
from anon_core.measures.graph.posteriors import compute_posteriors
from anon_core.specs.graphs import ONE, Knowledge
from anon_core.steps import Step
from tests import naive
from tests.observers import Seen
from tests.strategies import uncertain_graphs
from tests.support.graphs import drawn, graph

PRINTED = [  # Fig. 2.2 of Xiao, by vertex A..D
    [0.006, 0.092, 0.398, 0.504],
    [0.054, 0.348, 0.542, 0.056],
    [0.020, 0.260, 0.720, 0.000],
    [0.180, 0.740, 0.080, 0.000],
]


def figure(k=3, **stated):
    """Fig. 2.1(a): AB, AC, AD, BC, BD."""
    edges = {(0, 1): 0.7, (0, 2): 0.9, (0, 3): 0.8, (1, 2): 0.8, (1, 3): 0.1}
    return graph(4, edges, k, **stated)


def edges_of(each):
    return GraphEdges(each.records, each.u, each.v, each.p)


def test_degrees_and_entropies_are_those_that_the_paper_prints():
    degrees = degrees_of(edges_of(figure()))
    for v, row in enumerate(PRINTED):
        chances = degrees.chance[degrees.start[v] : degrees.start[v + 1]]
        assert chances == pytest.approx([x for x in row if x], abs=1e-12)
    assert column_entropies(degrees, 4) == pytest.approx([1.248, 1.688, 1.742, 0.469], abs=5e-4)


@pytest.mark.parametrize("knowledge", ["ceiling", "mode"])
def test_one_vertex_of_the_figure_is_not_hidden(knowledge):
    hiding = Hiding.of(figure(knowledge=knowledge))
    assert hiding.known.tolist() == [3, 2, 2, 1]
    bits = hiding.entropies(edges_of(figure()))
    assert hiding.below(bits).tolist() == [True, False, False, False]


@pytest.mark.parametrize("selection", ["degree", "uniqueness", "random"])
def test_a_drawn_graph_hides_its_vertices(selection):
    source = drawn(300, 900, 8, exempt=15)
    made = Obfuscate(selection=selection).anonymize(source)
    hiding = Hiding.of(source)
    bits = hiding.entropies(GraphEdges(300, made.u, made.v, made.p))
    assert np.count_nonzero(hiding.below(bits)) <= 15
    assert np.count_nonzero(hiding.below(hiding.entropies(edges_of(source)))) > 15


def test_what_no_attempt_reaches_is_refused_with_the_greatest_k():
    path = graph(12, {(0, v): 1.0 for v in range(1, 8)}, 12)
    with pytest.raises(InfeasibleError, match=r"greatest k that every vertex reached is \d+"):
        Obfuscate(rounds=3).anonymize(path)


def test_a_search_that_nearly_hides_all_starts_anew():
    """A hub: four plans leave it below, three of a new start hide it."""
    random = np.random.default_rng(6)
    edges = {(0, v): 1.0 for v in range(1, 20)}
    edges |= {(u, v): 1.0 for u in range(1, 40) for v in range(u + 1, 40) if random.random() < 0.1}
    source, method, seen = graph(40, edges, 5), Obfuscate(rounds=4), Seen()
    order = np.random.default_rng(0).permutation(40)
    made = method.anonymize(source, tie_order=order, observer=seen)
    margins = [round(step.figures["margin"], 4) for step in made.steps]
    assert margins == [0, 0.01, 0.0125, 0.0156, 0.0195, 0.01, 0.0125, 0.0156]
    assert [step.figures["below"] > 0 for step in made.steps] == [True] * 7 + [False]
    for state in seen.states[:-1]:
        again = method.anonymize(source, tie_order=order, resume=state)
        assert (again.p == made.p).all()
        assert again.steps == made.steps


# ---------------------------------------------------------------- degrees and entropies


@given(uncertain_graphs())
def test_degrees_are_those_of_all_worlds(source):
    n, degrees = source.records, degrees_of(edges_of(source))
    pairs = list(zip(source.u.tolist(), source.v.tolist(), strict=True))
    expected = naive.degree_chances(pairs, source.p / ONE, n)
    for v in range(n):
        found = np.zeros(n)
        chances = degrees.chance[degrees.start[v] : degrees.start[v + 1]]
        found[degrees.low[v] : degrees.low[v] + len(chances)] = chances
        assert found == pytest.approx(expected[v], abs=1e-12)


@given(uncertain_graphs(), st.sampled_from(get_args(Knowledge)))
@example(graph(4, {(0, 1): 1e-9, (0, 2): 0, (0, 3): 1e-9, (1, 2): 1, (1, 3): 0.5}, 1), "ceiling")
def test_entropies_are_those_of_the_adversary(source, knowledge):
    source = replace(source, knowledge=knowledge)
    released = round_source_chances(source.p)[::-1]
    n = source.records
    pairs = list(zip(source.u.tolist(), source.v.tolist(), strict=True))
    before, after = (
        naive.degree_chances(pairs, naive.fractions(p, ONE), n) for p in (source.p, released)
    )
    expected = [naive.entropy(naive.posterior(each, after, knowledge)) for each in before]
    bits = Hiding.of(source).entropies(GraphEdges(n, source.u, source.v, released))
    assert bits == pytest.approx(expected, abs=1e-9)


def test_entropies_of_vertices_and_degrees_add_up_to_the_same():
    """Section 4.2.3, with the n that the paper leaves out; 12.87499 on Fig. 2.1(a)."""
    for source in (figure(), drawn(60, 150, 2)):
        n, degrees = source.records, degrees_of(edges_of(source))
        totals, weighted = np.zeros((2, n + 1))
        add_columns(degrees, totals, weighted)
        bits = column_entropies(degrees, n + 1)
        some = degrees.chance[degrees.chance > 0]
        of_rows = -(some * np.log2(some)).sum() + n * np.log2(n)
        share = totals[totals > 0] / n
        of_columns = (totals * bits).sum() - n * (share * np.log2(share)).sum()
        assert of_rows == pytest.approx(of_columns)
        if n == 4:
            assert of_rows == pytest.approx(12.87499, abs=1e-5)


def test_chances_that_hardly_differ_from_none_keep_their_ratio():
    """An FFT loses them in rounding; two stars with unlikely edges still look like each other."""
    star = {(h, v): 1e-6 for h, low in ((0, 2), (1, 32)) for v in range(low, low + 30)}
    bits = column_entropies(degrees_of(edges_of(graph(62, star, 2))), 31)
    assert bits[5:31] == pytest.approx(np.ones(26))


def test_the_auditor_finds_the_same_entropies():
    source = drawn(200, 800, 4, power=1.35)
    for knowledge in get_args(Knowledge):
        stated = replace(source, knowledge=knowledge)
        degrees = AuditedDegrees.of(AuditedEdges(source.u, source.v, source.p, 200))
        expected = compute_posteriors(degrees, degrees, knowledge).bits
        assert Hiding.of(stated).entropies(edges_of(source)) == pytest.approx(expected, abs=1e-9)


# ---------------------------------------------------------------- algorithms 5 and 7


def step(number, sigma, below, c=2.0, error=1.0):
    return Step(number, {"sigma": sigma, "c": c, "below": below, "degree error": error})


def test_sigma_is_scanned_then_halved_and_c_escalates():
    """Whatever is below: 0 first, then doubling, then c; an accepted sigma is halved towards."""
    assert next_turn([], 0, 2.0, 3.0) == Turn(0.0, 1.0)
    assert next_turn([step(1, 0.0, 0, c=1.0)], 0, 2.0, 3.0) is None
    steps = [step(1, 0.0, 5, c=1.0)]
    while (turn := next_turn(steps, 0, 2.0, 3.0)) and len(steps) < 100:
        steps.append(step(len(steps) + 1, turn.sigma, 5, c=turn.c))
    sigmas = [each.figures["sigma"] for each in steps[1:]]
    assert len(steps) <= most_turns(2.0, 3.0)
    assert sigmas[0] == min(sigmas)
    assert sigmas[: len(sigmas) // 2] == sigmas[len(sigmas) // 2 :]
    assert {each.figures["c"] for each in steps[1:]} == {2.0, 3.0}
    steps = [step(1, 0.0, 5, c=1.0), step(2, 1 / 256, 5), step(3, 1 / 128, 0, error=0.5)]
    assert next_turn(steps, 0, 2.0, 3.0) == Turn(1.5 / 256, 2.0)
    steps.append(step(4, 1.5 / 256, 7))
    assert next_turn(steps, 0, 2.0, 3.0) == Turn(1.75 / 256, 2.0)
    steps.append(step(5, 1.75 / 256, 0, error=0.4))
    assert next_turn(steps, 0, 2.0, 3.0) == Turn(1.625 / 256, 2.0)
    assert find_best_step(steps, 0) == 5


def test_uniqueness_is_the_inverse_of_the_commonness():
    source = drawn(40, 90, 2)
    degree = edges_of(source).degree_billionths() / ONE
    theta = degree.std()
    density = np.exp(-((degree[:, None] - degree) ** 2) / (2 * theta**2))
    expected = theta * np.sqrt(2 * np.pi) / density.sum(axis=1)
    assert compute_uniqueness(edges_of(source)) == pytest.approx(expected)


def test_candidates_leave_excluded_vertices_alone_and_end():
    source = drawn(60, 150, 2)
    excluded = np.zeros(60, dtype=np.bool_)
    excluded[:4] = True
    stream = np.random.default_rng(3)
    inside, added = draw_candidates(edges_of(source), np.ones(60), excluded, 3.0, stream)
    assert not inside[excluded[source.u] | excluded[source.v]].any()
    assert not (excluded[added.u] | excluded[added.v]).any()
    outside = np.count_nonzero(excluded[source.u] | excluded[source.v])
    assert np.count_nonzero(inside) + len(added.u) == 3 * (150 - outside)
    keys = set(zip(source.u.tolist(), source.v.tolist(), strict=True))
    new = set(zip(added.u.tolist(), added.v.tolist(), strict=True))
    assert len(new) == len(added.u)
    assert not new & keys
    assert (added.u < added.v).all()
    triangle = edges_of(graph(3, {(0, 1): 0.0, (0, 2): 0.0, (1, 2): 0.0}, 1))
    inside, added = draw_candidates(triangle, np.ones(3), np.zeros(3, dtype=np.bool_), 5.0, stream)
    assert inside.all()  # an edge leaves with its probability, here never
    assert len(added.u) == 0


def test_an_edge_leaves_the_candidates_with_its_probability():
    pairs = {(u, v): 0.25 if (u + v) % 2 else 1.0 for u in range(40) for v in range(u + 1, 40, 3)}
    source = edges_of(graph(40, pairs, 1))
    left = np.zeros(2)
    for seed in range(20):
        stream = np.random.default_rng(seed)
        inside, _ = draw_candidates(source, np.ones(40), np.zeros(40, dtype=np.bool_), 1.6, stream)
        likely = source.p == ONE
        left += np.count_nonzero(~inside & likely), np.count_nonzero(~inside & ~likely)
    assert left[0] > 2.5 * left[1] > 0


def test_certain_graphs_are_perturbed_as_boldi_does():
    """An edge gets 1 - r, another pair r: the same r, drawn for the same place."""
    pairs = {(u, v): 1.0 for u in range(30) for v in range(u + 1, 30, 4)}
    edges = edges_of(graph(30, pairs, 1))
    half = edges._replace(p=np.where(np.arange(len(edges.p)) % 2, ONE, 0).astype(np.int32))
    sigma = np.full(len(edges.p), 0.3)
    r = draw_truncated_normal(sigma, np.random.default_rng(5))
    found = perturb_probabilities(half, sigma, 0.0, "towards half", GRAIN, np.random.default_rng(5))
    assert found / ONE == pytest.approx(np.where(half.p == ONE, 1 - r, r), abs=1e-6)
    assert (found % 1000 == 0).all()


def test_perturbations_follow_the_truncated_normal_distribution():
    drawn_ = draw_truncated_normal(np.full(20_000, 0.4), np.random.default_rng(1))
    expected = scipy.stats.truncnorm(0, 1 / 0.4, scale=0.4)
    assert scipy.stats.kstest(drawn_, expected.cdf).pvalue > 1e-3
    assert (draw_truncated_normal(np.zeros(5), np.random.default_rng(1)) == 0).all()
    half = GraphEdges(2000, *(np.full(2000, x, dtype=np.int32) for x in (0, 1, ONE // 2)))
    moved = perturb_probabilities(
        half, np.full(2000, 0.1), 0.0, "undirected", GRAIN, np.random.default_rng(2)
    )
    assert 800 < np.count_nonzero(moved > ONE // 2) < 1200
    white = perturb_probabilities(
        half._replace(p=half.p * 0),
        np.zeros(2000),
        0.5,
        "towards half",
        GRAIN,
        np.random.default_rng(2),
    )
    assert 800 < np.count_nonzero(white) < 1200


# ---------------------------------------------------------------- decimals


@pytest.mark.parametrize(
    ("p", "grain"),
    [
        ([0.5, 0.25], 10**7),
        ([0.5, 0.2], 10**7),
        ([0.125, 1.0], 10**6),
        ([0.1234, 0.0], 10**5),
        ([0.123456, 0.5], 10**3),
        ([0.123456789], 10**3),
        ([0.0, 1.0], 10**3),
        ([], 10**3),
    ],
)
def test_the_grain_is_the_decimals_of_the_source(p, grain):
    assert grain_of(np.array([round(each * ONE) for each in p], dtype=np.int32)) == grain


@pytest.mark.parametrize("selection", ["planned", "degree"])
def test_changed_and_added_edges_have_no_more_decimals_than_the_source(selection):
    """Otherwise the digits alone would tell which edges are the source's."""
    source = drawn(200, 900, 8, power=1.35, exempt=3)
    source = replace(source, p=np.maximum(source.p // 10**7, 1).astype(np.int32) * 10**7)
    made = Obfuscate(selection=selection, trials=1).anonymize(source)
    assert made.steps[0].figures["below"] > 3
    assert (made.p % 10**7 == 0).all()


# ---------------------------------------------------------------- plans


def test_rewiring_moves_expected_degrees_as_planned():
    source = drawn(200, 900, 2, power=1.35)
    edges = edges_of(source)._replace(p=round_source_chances(source.p))
    shift = np.zeros(200)
    shift[[3, 8, 20, 21, 22]] = 2.5
    shift[[0, 1, 2]] = -4
    before = edges.degree_billionths()
    after = rewire_edges(edges, shift, GRAIN, np.random.default_rng(1))
    change = (after.degree_billionths() - before) / ONE
    assert change == pytest.approx(shift, abs=1e-4)
    assert (after.p % 1000 == 0).all()
    assert 0 <= after.p.min() <= after.p.max() <= ONE
    keys = after.u.astype(np.int64) * 200 + after.v
    assert len(np.unique(keys)) == len(keys)
    assert (after.u < after.v).all()


def test_a_plan_reaches_what_it_is_asked_in_its_model():
    source = drawn(400, 2400, 5, power=1.35)
    hiding, edges = Hiding.of(source), edges_of(source)
    degrees = degrees_of(edges)
    bits = hiding.entropies(edges)
    assert hiding.below(bits).any()
    asked = build_hiding_targets(hiding, bits, degrees, 0.01)
    assert compute_shortfalls(asked).any()
    mean = edges.degree_billionths() / ONE
    shift = plan_degree_moves(asked, degrees, Means(mean, mean), 5)
    assert not compute_shortfalls(asked).any()
    assert (mean + shift >= 0).all()
    assert 0 < np.count_nonzero(shift) < 60


def test_exempt_vertices_lack_most_and_share_a_fate():
    source = drawn(300, 900, 8, exempt=9)
    hiding = Hiding.of(source)
    bits = hiding.entropies(edges_of(source))
    chosen = choose_exempt_vertices(hiding, bits)
    assert 0 < np.count_nonzero(chosen) <= 9
    assert hiding.below(bits)[chosen].all()
    for degree in set(hiding.known[chosen].tolist()):
        assert chosen[hiding.known == degree].all()


def test_a_plan_changes_less_than_samples():
    source = drawn(400, 2400, 5, power=1.35)
    error = [
        made.steps[made.result_step - 1].figures["degree error"]
        for made in (Obfuscate(selection=each).anonymize(source) for each in ("planned", "degree"))
    ]
    assert 0 < error[0] < error[1] / 4


# ---------------------------------------------------------------- the whole


@pytest.mark.parametrize("knowledge", get_args(Knowledge))
def test_every_knowledge_is_hidden_from_the_auditor(knowledge):
    source = drawn(300, 1500, 4, power=1.35, exempt=1, knowledge=knowledge)
    made = Obfuscate().anonymize(source)
    degrees = (
        AuditedDegrees.of(AuditedEdges(each.u, each.v, each.p, 300)) for each in (source, made)
    )
    found = Obfuscation(compute_posteriors(*degrees, knowledge).bits, source.k)
    assert np.count_nonzero(found.below) <= 1
    assert (made.p % 1000 == 0).all()
    assert made.p.min() >= 1000


def test_a_graph_that_hides_its_vertices_stays_as_it_is():
    ring = graph(20, {(min(v, w), max(v, w)): 0.5 for v in range(20) for w in [(v + 1) % 20]}, 20)
    for selection in ("planned", "uniqueness"):
        made = Obfuscate(selection=selection).anonymize(ring)
        assert (len(made.steps), made.result_step) == (1, 1)
        assert made.p.tolist() == ring.p.tolist()


def test_another_order_makes_another_graph():
    source = drawn(300, 1500, 4, power=1.35)
    order = np.random.default_rng(1).permutation(300)
    one, same, other = (
        Obfuscate().anonymize(source, tie_order=each) for each in (order, order, order[::-1])
    )
    assert one.p.tobytes() == same.p.tobytes()
    assert one.p.tobytes() != other.p.tobytes()


@pytest.mark.parametrize(
    "wrong", [{"trials": 0}, {"rounds": 0}, {"worlds": 0}, {"c": 0.5}, {"c": 7.0}, {"q": 1.5}]
)
def test_settings_beyond_their_range_are_refused(wrong):
    with pytest.raises(InputError):
        Obfuscate(**wrong)
