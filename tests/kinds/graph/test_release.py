"""A graph from plan to show, and what is refused on the way."""

import json
import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from anon_core.errors import GuaranteeError
from anon_core.graphs.records import UncertainGraph
from anon_core.specs.graphs import ONE
from crowdcover.kinds.graph.judge.source import SourceGraph
from crowdcover.kinds.graph.pipeline.encode import encode_edges
from crowdcover.kinds.graph.pipeline.ingest import ingest_source
from crowdcover.kinds.graph.pipeline.people import rebuild_people
from crowdcover.kinds.graph.pipeline.read import read_source
from crowdcover.kinds.graph.pipeline.write import write_release
from crowdcover.kinds.graph.plan.checks import ChecksSection
from crowdcover.kinds.graph.report.facts import list_sides
from crowdcover.kinds.graph.report.words import WORDS
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.refusals import SecondReleaseError
from tests.codebooks import keeps_schema
from tests.flows.processes import command
from tests.kinds.graph.orders import GraphOrder, edges, manifest, name
from tests.support.audits import audit_release


def test_edges_stand_under_random_keys_in_their_order(links):
    rows = pl.read_parquet(links.published / "edges.parquet")
    assert keeps_schema(json.loads((links.published / "codebook.json").read_text()))
    claim = pl.read_parquet(links.secrets / "matching.parquet")
    keys = sorted(claim["key"])
    assert rows.columns == ["u", "v", "p"]
    assert rows.select("u", "v").rows() == [
        (a, b) for i, a in enumerate(keys) for b in keys[i + 1 :]
    ]
    stated = manifest(links.published)
    assert stated["source"] == {"kind": "graph", "rows": 80, "columns": 3}
    assert stated["privacy"]["promise"] == ["obfuscated"]
    assert (stated["privacy"]["records"], stated["privacy"]["rows"]) == (40, 780)
    assert stated["protection"]["hides_among"]["least"] == 40
    expected = sum(float(p) for _, _, p in edges())
    assert math.isclose(rows["p"].sum(), expected, rel_tol=1e-3)
    assert stated["utility"]["expected_edges"] == round(expected)


def test_audit_and_show_say_what_holds(links):
    assert audit_release(links.published, links.plan).passed
    done = command("audit", links.published, "--plan", links.plan)
    assert (done.code, "obfuscated" in done.out) == (0, True)
    shown = " ".join(command("show", links.published, "--all").out.replace("│", " ").split())
    assert "Someone who knows the expected degree of a vertex, rounded up" in shown
    assert "that no vertex is likelier than 1 in k" in shown
    page = (links.published / "report.html").read_text()
    assert "Hidden by degree." in page
    assert "Promised for all vertices</h3>" in page
    assert "Protection against knowledge of edges." in page
    assert "780" in page


def test_the_page_states_triangles_of_source_and_release(links):
    """The toy joins all pairs with one probability, so that its numbers have closed forms."""
    stated = manifest(links.published)["utility"]
    there = {frozenset((a, b)): float(p) for a, b, p in edges()}
    names = [name(number) for number in range(40)]
    expected = sum(
        math.prod(there.get(frozenset(side), 0) for side in combinations(corners, 2))
        for corners in combinations(names, 3)
    )
    p = pl.read_parquet(links.published / "edges.parquet")["p"][0]
    alone, paired = p**3 * (1 - p**3), p**5 * (1 - p)
    variance = math.comb(40, 3) * alone + 2 * math.comb(40, 2) * math.comb(38, 2) * paired
    assert stated["triangles"] == round(expected)
    assert stated["triangles_released"] == round(math.comb(40, 3) * p**3)
    assert stated["triangles_deviation_released"] == round(math.sqrt(variance), 2) > 1
    assert stated["triangles_deviation"] > 0
    page = (links.published / "report.html").read_text()
    shown = " ".join(command("show", links.published, "--all").out.replace("│", " ").split())
    for words in ("Triangles in numbers", "Standard deviation of their number", "Transitivity"):
        assert words in page
        assert words in shown


def test_a_manifest_without_the_deviation_of_triangles_still_agrees(released_once):
    """The vault alone knows that this manifest was changed."""
    order = released_once(GraphOrder)
    path = order.published / "manifest.json"
    stated = json.loads(path.read_text())
    for key in ("triangles_deviation", "triangles_deviation_released"):
        del stated["utility"][key]
    path.write_text(json.dumps(stated))
    broken = [each.guarantee for each in audit_release(order.published, order.plan).broken]
    assert broken == ["manifest as published"]
    assert WORDS.list_unstated(stated) == ["how much the number of triangles varies"]
    assert len(list_sides(stated, "triangles")) == 2
    stated["utility"]["triangles"] += 1
    path.write_text(json.dumps(stated))
    broken = {each.guarantee for each in audit_release(order.published, order.plan).broken}
    assert "numbers as measured" in broken


def test_a_published_release_stays_as_it_is(links):
    assert links.release() == links.published


def test_both_formats_hold_the_same_edges(links):
    rows = pl.read_parquet(links.published / "edges.parquet")
    texts = pl.read_csv(links.published / "edges.csv.gz", infer_schema=False)
    assert texts["p"].to_list() == [f"{p:.6f}" for p in rows["p"]]
    assert texts.select("u", "v").equals(rows.select("u", "v"))


@pytest.mark.long
def test_csv_alone_is_audited(tmp_path):
    order = GraphOrder(tmp_path, publish={"formats": ["csv"]})
    assert audit_release(order.release(), order.plan).passed


@pytest.mark.long
def test_the_same_secrets_make_the_same_bytes_and_others_other_keys(tmp_path, links):
    files = [links.published / "edges.parquet"]
    for place in ("a", "b"):
        folder = GraphOrder(tmp_path / place).fix_seed(bytes([1] * 32)).release()
        files.append(folder / "edges.parquet")
    first, *same = [path.read_bytes() for path in files]
    assert same[0] == same[1] != first


def made(p):
    """Edges between three of four vertices."""
    u, v = np.array([[0, 0], [1, 2]], dtype=np.int32)
    graph = UncertainGraph(u, v, np.array(p, dtype=np.int32), np.ones(4, dtype=np.int32))
    return graph.restore_result({"u": u, "v": v, "p": graph.p}, (), 0)


def test_keys_follow_from_the_secret_alone(tmp_path):
    """Not from the graph: whatever vertex comes first in a source has the same key by number."""
    kept = []
    for seed, p in ((b"1", [1000, 2000]), (b"1", [3000, 1000]), (b"2", [1000, 2000])):
        folder = tmp_path / f"{len(kept)}"
        folder.mkdir()
        write_release(seed, made(p), folder)
        kept.append(pl.read_parquet(folder / "matching.parquet")["key"].to_list())
        rows = pl.read_parquet(folder / "edges.parquet")
        keys = kept[-1]
        assert rows.rows() == sorted(
            (min(keys[0], key), max(keys[0], key), chance / ONE)
            for key, chance in zip(keys[1:3], p, strict=True)
        )
        assert "4" in (folder / "codebook.json").read_text()
    assert kept[0] == kept[1] != kept[2]


@pytest.mark.long
def test_eps_leaves_vertices_out_and_says_so(tmp_path):
    order = GraphOrder(tmp_path, privacy={"eps": 0.29})
    folder = order.release()
    stated = manifest(folder)["privacy"]
    assert (stated["eps"], stated["exempt"], stated["below"]) == (0.29, 11, 0)
    page = (folder / "report.html").read_text()
    assert "Promised for all vertices but up to\n        11</h3>" in page
    assert "The vertices left out." in page
    assert "Limit: at most 11, as promised." in page


def test_eps_n_is_counted_without_rounding(tmp_path):
    """0.29 of 100 is 29; as float64 it is 28.999999999999996. By makers and auditor."""
    order = GraphOrder(tmp_path, edges(vertices=100), privacy={"eps": 0.29})
    k = np.full(100, 20, dtype=np.int32)
    assert encode_edges(order.data, ingested_stage(order), k).exempt == 29
    read = read_source(Reading(order.data.source), order.data)
    assert SourceGraph.of(read, order.data).exempt == 29


def ingested_stage(order, key="a"):
    """What ingest stores of a source, under a ledger's key."""
    ledger = SimpleNamespace(key=key.encode() * 16, key_print=key)
    facts = ingest_source(order.data, Reading(order.data.source), ledger, order.folder)
    return SimpleNamespace(shape=facts["shape"], file=order.folder.joinpath)


@pytest.mark.long
@pytest.mark.parametrize("knows", ["mode", "distribution"])
def test_other_knowledge_of_a_degree(tmp_path, knows):
    order = GraphOrder(tmp_path, privacy={"knows": knows})
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert manifest(folder)["privacy"]["knows"] == knows


@pytest.mark.long
def test_k_1_is_released_if_the_plan_allows_it(tmp_path):
    order = GraphOrder(tmp_path, privacy={"k": 1, "allow_unprotected": True})
    assert "Nobody is protected" in (order.release() / "report.html").read_text()


@pytest.mark.long
def test_limits_of_the_plan_are_kept(tmp_path):
    order = GraphOrder(tmp_path, checks={"max_degree_error": 0.01})
    with pytest.raises(GuaranteeError, match=r"above checks.max_degree_error = 0.01"):
        order.release()
    order.write(checks={"max_degree_error": None, "max_discrepancy": 0.0})
    with pytest.raises(GuaranteeError, match=r"above checks.max_discrepancy = 0.0"):
        order.release()
    order.write(checks={"max_discrepancy": None, "max_attack_success": 0.001})
    with pytest.raises(GuaranteeError, match=r"the right vertex .* above checks.max_attack_suc"):
        order.release()
    limits = {"max_degree_error": 9.0, "max_discrepancy": 1.0, "max_attack_success": 1.0}
    order.write(checks={**limits, "max_below": 0.0})
    checks = manifest(order.release())["checks"]
    measures = {each["measure"] for each in checks}
    assert measures == {"vertices below", "degree error", "discrepancy", "attack success"}


def test_a_limit_of_vertices_below_is_stricter_than_eps():
    limits = ChecksSection(max_below=0.1).release_limits
    measured = {"privacy": {"below": 4, "records": 40}}
    limits.require(measured, "refused")
    measured["privacy"]["below"] = 5
    with pytest.raises(GuaranteeError, match=r"5 of 40 vertices .* above checks.max_below = 0.1"):
        limits.require(measured, "refused")


@pytest.mark.long
def test_a_second_release_of_the_same_vertices_is_refused(released_once):
    order = released_once(GraphOrder)
    order.write_source(edges(draws=4))
    order.write(checks={"drift": "off"})
    with pytest.raises(SecondReleaseError, match=r"40 people of this source were released"):
        order.release()
    order.write(publish={"allow_second_release": True})
    with pytest.raises(SecondReleaseError, match="what several releases of a graph tell"):
        order.release()


def test_columns_of_other_names_do_not_hide_the_same_vertices(released_once):
    order = released_once(GraphOrder)
    rows = [(name(i), name(j), "0.5") for i, j in [(0, 50), (50, 51), (51, 52)]]
    pl.DataFrame(rows, schema=["x", "y", "z"], orient="row").write_csv(order.source)
    order.write(columns={"u": "x", "v": "y", "p": "z"}, checks={"drift": "off"}, privacy={"k": 2})
    with pytest.raises(SecondReleaseError, match=r"1 people of this source were released"):
        order.release()


@pytest.mark.long
def test_other_vertices_are_released_beside_them_unless_their_number_drifts(released_once):
    order = released_once(GraphOrder)
    order.write_source(edges(vertices=90, first=100))
    with pytest.raises(GuaranteeError, match=r"there are 90 vertices instead of 40") as refusal:
        order.release()
    assert "180 edges instead of 80" in str(refusal.value)
    limits = {"vertices": 1.0, "edges": 1.0, "expected_edges": 1.0, "utility": 1.0}
    order.write(checks={"drift": limits})
    folder = order.release()
    assert folder.name == "v2"
    drift = manifest(folder)["drift"]
    assert (drift["vertices_before"], drift["vertices"], drift["edges_before"]) == (40, 90, 80)
    assert "rows" not in drift


def test_people_under_another_key_are_known_by_their_edges(tmp_path):
    """The run of a vault that has another ledger: its digests of names cannot be compared."""

    def found(place, rows):
        stage = ingested_stage(GraphOrder(tmp_path / place, rows), place)
        people = rebuild_people(SimpleNamespace(whole=lambda _: stage), b"k" * 32)
        assert people.records == 40
        return set(people.each("record"))

    first = found("a", edges())
    assert found("b", edges()[::-1]) == first
    assert not found("c", edges(draws=9)) & first


@pytest.mark.long
def test_a_graph_whose_edges_all_vanish_is_a_release(tmp_path, monkeypatch):
    """All degrees are 0 then: no row, in any format, and the codebook counts the vertices."""
    from anon_core.anonymizers import ANONYMIZERS
    from tests.contract.alike import Alike

    class Empty(Alike):
        def anonymize(self, data, **_):
            none = np.zeros(0, dtype=np.int32)
            return data.restore_result({"u": none, "v": none, "p": none}, (), 0)

    monkeypatch.setitem(ANONYMIZERS, "uncertain_graph", Empty)
    rows = [(a, b, "0.0000000001") for a, b, _ in edges()]
    order = GraphOrder(tmp_path, rows)
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert manifest(folder)["privacy"]["rows"] == 0
    order = GraphOrder(tmp_path / "certain", [(a, b, "0.5") for a, b, _ in edges()])
    with pytest.raises(GuaranteeError, match=r"obfuscated \(40 of 40 vertices hide among fewer"):
        order.release()
