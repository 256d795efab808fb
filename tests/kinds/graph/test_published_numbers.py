"""What published numbers follow from: rounded where a secret decides, bins where a vertex would."""

import copy
import json
from types import SimpleNamespace

import numpy as np
import pytest

from anon_core.measures.graph.degrees import Degrees, UncertainEdges
from anon_core.measures.graph.posteriors import compute_posteriors
from anon_core.specs.graphs import ONE
from crowdcover.kinds.graph.judge.measured import Measured, round_step
from crowdcover.kinds.graph.kind import KIND
from crowdcover.kinds.graph.report.pictures import choose_degree_bins, degree_plot, level_plot
from tests.kinds.graph.orders import GraphOrder, manifest
from tests.support.audits import audit_release


@pytest.mark.long
def test_what_the_map_of_keys_decides_is_published_in_thousandths(links):
    stated = manifest(links.published)
    utility = stated["utility"]
    numbers = [utility["degree_error"], utility["discrepancy"], *utility["discrepancy_interval"]]
    numbers += [*utility["discrepancy_by_hops"].values(), stated["protection"]["unchanged"]]
    numbers.append(utility["same_edges"])
    numbers += [each for name, each in stated["protection"]["edges"].items() if name != "joined"]
    numbers += [each["success"] for each in stated["attacks"].values()]
    assert all(round(1000 * number) / 1000 == number for number in numbers)


@pytest.mark.parametrize("section", ["privacy", "utility", "protection", "attacks"])
def test_no_number_may_be_left_out_but_those_that_older_releases_lack(links, section):
    numbers = ("triangles_deviation", "triangles_deviation_released", "same_edges")
    older = {*(("utility", each) for each in numbers), ("protection", "edges")}
    stated = manifest(links.published)
    for name in list(stated[section]):
        without = {key: each for key, each in stated[section].items() if key != name}
        compared = KIND.comparable({**stated, section: without}, {section: stated[section]})
        assert (name in compared[section]) == ((section, name) not in older)


def test_the_audit_finds_that_the_number_of_edges_is_left_out(released_once):
    order = released_once(GraphOrder)
    stated = manifest(order.published)
    del stated["utility"]["edges"]
    (order.published / "manifest.json").write_text(json.dumps(stated))
    broken = {each.guarantee for each in audit_release(order.published, order.plan).broken}
    assert "numbers as measured" in broken


def test_an_older_release_may_lack_the_surest_guess(links):
    stated = manifest(links.published)
    measured, name = copy.deepcopy(stated["attacks"]), next(iter(stated["attacks"]))
    del stated["attacks"][name]["highest"]
    compared = KIND.comparable(stated, {"attacks": measured})["attacks"]
    assert compared[name] == stated["attacks"][name]
    del stated["attacks"][name]["success"]
    assert KIND.comparable(stated, {"attacks": measured})["attacks"] == compared


def test_distances_of_few_pairs_are_left_out(links):
    """Each of the 40 vertices has 39 others; fewer than 30 pairs have no path at all."""
    found = set(manifest(links.published)["utility"]["discrepancy_by_hops"])
    assert found == {"1", "2", "3", "4 or more"}


def test_steps_state_rounded_figures():
    step = {"number": 2, "sigma": 0.0312499, "below": 91, "degree error": 0.5001, "seconds": 0.25}
    assert round_step({**step, "published": True}) == {
        "number": 2, "sigma": 0.032, "below": 91, "degree error": 0.501, "seconds": 0.25,
        "published": True,
    }  # fmt: skip


@pytest.mark.parametrize("least", [1, 5, 20, 60, 1000])
def test_each_bin_of_degrees_has_k_vertices_of_the_source(least):
    """A hub of degree 300 is in no bin of its own, and no bin ends behind it."""
    before = np.zeros(301)
    before[:40] = np.geomspace(50, 1, 40)
    before[300] = 1
    starts = choose_degree_bins(before, least)
    held = [before[a:b].sum() for a, b in zip(starts, [*starts[1:], 301], strict=True)]
    assert starts[0] == 0
    assert len(starts) == 1 or min(held) >= least
    drawing = degree_plot(before, before, least)
    assert "300" not in drawing
    assert f"{starts[-1]} or more" in drawing


def test_few_vertices_make_one_bin():
    assert choose_degree_bins(np.array([3.0, 2.0]), 20) == [0]
    assert "0 or more" in degree_plot(np.array([3.0, 2.0]), np.array([5.0]), 20)


def measure_ring(size, k):
    """What is measured of the levels of a ring that is released as it is."""
    u = np.arange(size, dtype=np.int32)
    ends = np.sort(np.stack([u, (u + 1) % size]), axis=0)
    ring = UncertainEdges(*ends, np.full(size, ONE, dtype=np.int64), size)
    degrees = Degrees.of(ring), Degrees.of(ring)
    nothing = dict.fromkeys(("dropping", "joined", "lengths", "shown"))
    return Measured(
        k=np.full(size, k, dtype=np.int32),
        plan=SimpleNamespace(knows="ceiling"),
        exempt=0,
        before=ring,
        after=ring,
        degrees=degrees,
        below_before=0,
        tried={"ceiling": compute_posteriors(*degrees, "ceiling")},
        **nothing,
    )


@pytest.mark.long
@pytest.mark.parametrize("size", range(3, 60))
def test_the_picture_counts_below_k_whom_the_audit_counts(size):
    """All vertices of a ring are alike: each hides among all, by a sum of rounded logarithms."""
    same, more = measure_ring(size, size), measure_ring(size, size + 1)
    assert (same.below, more.below) == (0, size)
    none, all_of_them = (level_plot(each.picture_arrays()["levels"]) for each in (same, more))
    assert "fewer than k: 0" in none
    assert "fewer than k: 100" in all_of_them
