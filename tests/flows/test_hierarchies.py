"""Masked cells show nodes of trees, from the plan to the audit and the reader."""

import gzip
import json
import random

import polars as pl
import pytest

import crowdcover
from anon_core.errors import GuaranteeError, InputError
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from tests.codebooks import keeps_schema
from tests.flows.orders import Order, people
from tests.reports.browsed import Page
from tests.support.audits import audit_release
from tests.support.releases import attributes, manifest

REGIONS = "169"  # first letters of codes
ICD = "I20;I;*\nI21;I;*\nJ10;J;*\nJ11;J;*\nJ12;J;*\n"
LADDER = {"kind": "numeric", "hierarchy": {"ladder": [5, 10]}}
ZIP = {"role": "quasi", "kind": "categorical", "hierarchy": {"prefix": [4, 3, 1]}}


def weighed(*weights):
    """Codes whose nodes lose what the plan says."""
    return {"hierarchy": {"prefix": [4, 3, 1], "weights": list(weights)}}


def places(records=600, draws=5):
    """Rows whose cities are codes of three regions, and whose junk is an illness."""
    chance = random.Random(draws)
    codes = [
        f"{region}{part:02}{end}0" for region in REGIONS for part in range(6) for end in "0123"
    ]
    ills = ["I20", "I21", "J10", "J11", "J12"]
    return [
        (row[0], row[1], chance.choice(codes), *row[3:6], chance.choice(ills))
        for row in people(records)
    ]


def order_of(folder, rows=None, icd=ICD, **city):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "icd.csv").write_text(icd, encoding="utf-8")
    ill = {"role": "quasi", "kind": "categorical", "hierarchy": "icd.csv"}
    columns = {"city": {**ZIP, **city}, "age": {"role": "drop"}, "junk": ill}
    return Order(
        folder,
        places() if rows is None else rows,
        columns=columns,
        privacy={"k": 5},
        publish={"formats": ["parquet", "csv"]},
    )


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    order = order_of(tmp_path_factory.mktemp("hierarchies"))
    order.release()
    return order


def test_every_cell_is_a_value_a_node_or_a_star(released):
    book = attributes(released.folder_of_v1)
    for name in ("city", "junk"):
        nodes = {node["name"] for node in book[name]["nodes"]}
        cells = set(released.rows()[name])
        assert cells <= {*book[name]["labels"], *nodes, "*"}
        assert cells & nodes
    assert {node["name"] for node in book["junk"]["nodes"]} == {"I", "J"}
    assert {"1*", "100*", "6*"} <= {node["name"] for node in book["city"]["nodes"]}
    assert "labels" in book["city"]


def test_nodes_are_a_table_beside_the_codebook_for_any_reader(released):
    folder = released.folder_of_v1
    rows = pl.read_csv(folder / "nodes.csv", infer_schema=False)
    assert rows.filter(level="*").height == 5 + rows.filter(column="city", node="*").height
    rows = rows.filter(pl.col("node") != "*")
    chapters = rows.filter(column="junk")
    assert set(chapters.select("level", "node", "value").rows()) == {
        *(("1", "I", value) for value in ("I20", "I21")),
        *(("1", "J", value) for value in ("J10", "J11", "J12")),
    }
    assert set(rows.filter(column="city")["level"]) == {"1", "3", "4"}  # letters that nodes keep
    assert "nodes.csv" in manifest(folder)["files"]
    release = crowdcover.read(folder)
    listed = release.tree("city").explode("values").rename({"values": "value"})
    assert listed.select("level", "node", "value").rows() == (
        rows.filter(column="city").select("level", "node", "value").rows()
    )
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    (plain,) = [each for each in package["resources"] if each["path"] == "nodes.csv"]
    assert plain["mediatype"] == "text/csv"
    (data,) = [each for each in package["resources"] if each["path"] == "data.csv.gz"]
    (city,) = [each for each in data["schema"]["fields"] if each["name"] == "city"]
    assert "nodes.csv" in city["description"]
    assert keeps_schema(json.loads((folder / "codebook.json").read_text("utf-8")))


def test_another_table_of_nodes_is_refused(released):
    path = released.folder_of_v1 / "nodes.csv"
    before = path.read_bytes()
    try:
        path.write_bytes(before.replace(b",I,I21", b",J,I21"))
        audit = audit_release(released.folder_of_v1, released.plan)
        assert "nodes of the codebook" in {finding.guarantee for finding in audit.broken}
    finally:
        path.write_bytes(before)


def test_the_reader_answers_by_nodes(released):
    release, rows = crowdcover.read(released.folder_of_v1), places()
    for node, true in (
        ("6*", sum(row[2][0] == "6" for row in rows)),
        ("100*", sum(row[2][:3] == "100" for row in rows)),
    ):
        found = release.count({"city": crowdcover.under(node)})
        assert found.certain <= true <= found.possible
    regions = release.frequencies("city", level=1)
    assert regions["city"].to_list() == ["1*", "6*", "9*"]
    truth = [sum(row[2][0] == region for row in rows) for region in REGIONS]
    assert regions["expected"].to_list() == pytest.approx(truth, abs=60)
    table = release.complete(1)[0]
    cells = release.rows["city"].to_list()
    assert all(
        cell is None or code in cell for cell, code in zip(cells, table["city"], strict=True)
    )


def test_the_manifest_counts_what_cells_show(released):
    shown = manifest(released.folder_of_v1)["utility"]["per_column"]["city"]["shown"]
    cells = released.rows()["city"].to_list()
    for level in "134":
        of_level = [cell for cell in cells if cell[-1] == "*" and len(cell) == int(level) + 1]
        assert shown["levels"][level] == pytest.approx(len(of_level) / len(cells))
    assert shown["all"] == pytest.approx(cells.count("*") / len(cells))
    page = Page((released.folder_of_v1 / "report.html").read_text(encoding="utf-8"))
    assert "a group of near values, level 3" in page.text


def test_manifest_and_report_say_which_columns_have_one(released):
    stated = manifest(released.folder_of_v1)["columns"]
    assert [name for name, column in stated.items() if column.get("hierarchy")] == ["city", "junk"]
    page = Page((released.folder_of_v1 / "report.html").read_text(encoding="utf-8"))
    assert "group of near values" in page.text


def test_typed_cells_list_the_values_of_their_node(released):
    typed = crowdcover.read(released.folder_of_v1).rows["city"]
    for text, cell in zip(released.rows()["city"], typed, strict=True):
        if text == "*":
            assert cell is None
        elif text.endswith("*"):
            assert len(cell) > 1
            assert all(code.startswith(text[:-1]) for code in cell)
        else:
            assert cell.to_list() == [text]


def test_the_audit_agrees_and_a_set_of_values_is_refused(released, tmp_path):
    assert audit_release(released.folder_of_v1, released.plan).passed
    path = released.folder_of_v1 / "data.csv.gz"
    before = path.read_bytes()
    text = gzip.decompress(before).decode()
    assert ",I\n" in text
    try:
        path.write_bytes(gzip.compress(text.replace(",I\n", ",I20|I21\n").encode(), mtime=0))
        assert not audit_release(released.folder_of_v1, released.plan).passed
    finally:
        path.write_bytes(before)


def test_the_reader_counts_alike_in_both_files(released, tmp_path):
    other = order_of(tmp_path / "csv")
    other.write(publish={"formats": ["csv"]})
    other.release()
    read = crowdcover.read(other.folder_of_v1)
    of_text, of_lists = (
        read.count({"junk": ["J10", "J11"]}),
        crowdcover.read(released.folder_of_v1).count({"junk": ["J10", "J11"]}),
    )
    true = sum(row[6] in ("J10", "J11") for row in places())
    for found in (of_text, of_lists):
        assert found.certain <= true <= found.possible
        assert abs(found.expected - true) < 60


def test_a_tree_loses_less_than_sets_that_are_widened_to_it(released):
    """Where only the last step knew the tree, nearly all masked cells would join regions."""
    cells = released.rows()["city"].to_list()
    masked = [cell for cell in cells if cell.endswith("*")]
    assert sum(cell == "*" for cell in masked) < 0.1 * len(masked)


@pytest.mark.parametrize("cells", ["set", "shorter"])
def test_a_cell_lists_the_values_of_its_holders_where_the_plan_says_so(tmp_path, released, cells):
    order = order_of(tmp_path, cells=cells)
    junk = order.document["columns"]["junk"]
    order.write(columns={"junk": {**junk, "cells": cells}})
    order.release()
    folder = order.folder_of_v1
    assert audit_release(folder, order.plan).passed
    entry, texts = attributes(folder)["city"], order.rows()["city"].to_list()
    nodes = {
        node["name"]: entry["labels"][node["levels"][0] : node["levels"][1] + 1]
        for node in entry.get("nodes", ())
    }
    assert (entry.get("sets"), bool(nodes)) == ((None, False), (True, True))[cells == "shorter"]
    # The tree is published alike, for questions by its nodes.
    assert entry["tree"] == attributes(released.folder_of_v1)["city"]["tree"]
    assert (folder / "nodes.csv").read_bytes() == (released.folder_of_v1 / "nodes.csv").read_bytes()
    release = crowdcover.read(folder)
    for text, cell in zip(texts, release.rows["city"], strict=True):
        listed = entry["labels"] if text == "*" else nodes.get(text, text.split("|"))
        assert (entry["labels"] if cell is None else cell.to_list()) == listed
        # A set of all values of a node has the node's name.
        assert text in nodes or text == "*" or listed not in nodes.values()
    masked = [text for text in texts if "|" in text]
    assert masked
    true = sum(row[2][0] == "6" for row in places())
    found = release.count({"city": crowdcover.under("6*")})
    assert found.certain <= true <= found.possible
    text_only = order_of(tmp_path / "csv", cells=cells)
    text_only.write(publish={"formats": ["csv"]}, columns={"junk": {**junk, "cells": cells}})
    text_only.release()
    same = crowdcover.read(text_only.folder_of_v1)
    assert same.frequencies("city", level=1)["possible"].sum() > 0
    assert keeps_schema(json.loads((folder / "codebook.json").read_text("utf-8")))
    kept = manifest(folder)
    assert kept["columns"]["city"]["cells"] == cells
    shown = kept["utility"]["per_column"]["city"]["shown"]
    assert shown["sets"] == pytest.approx(len(masked) / len(texts))
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert "a set of values" in page.text
    words = "lists values, which a hierarchy groups", "or lists its values where they are fewer"
    assert words[cells == "shorter"] in page.text
    listed = "Where a column with a hierarchy lists values, each of them is that of somebody behind"
    assert listed in page.text
    before = Page((released.folder_of_v1 / "report.html").read_text(encoding="utf-8"))
    assert "lists values, each of them" not in before.text
    if cells == "shorter":
        # Methods price nodes: few sets join regions, and each loses less than the node.
        far = [text for text in masked if len({code[0] for code in text.split("|")}) > 1]
        assert len(far) < 0.1 * len(masked)
        before = manifest(released.folder_of_v1)["utility"]["per_column"]["city"]["ncp"]
        assert kept["utility"]["per_column"]["city"]["ncp"] < before


def test_a_node_loses_what_the_plan_says(tmp_path, released):
    dear, cheap = weighed(0, 0.9, 0.95, 0.98, 1), weighed(0, 0.01, 0.02, 0.03, 1)
    hashes, stars = set(), []
    for weights in (dear, cheap):
        order = order_of(tmp_path / f"{len(stars)}", **weights)
        hashes.add(ReleasePlan.load(order.plan).sha256)
        order.release()
        folder = order.folder_of_v1
        assert audit_release(folder, order.plan).passed
        entry, cells = attributes(folder)["city"], order.rows()["city"].to_list()
        stated = dict(zip("431", weights["hierarchy"]["weights"][1:4], strict=True))
        losses = {node["name"]: node["loss"] for node in entry["nodes"]} | {"*": 1}
        assert all(loss == stated[str(len(name) - 1)] for name, loss in losses.items() if loss < 1)
        shown = manifest(folder)["utility"]["per_column"]["city"]["shown"]
        lost = sum(losses.get(cell, 0) for cell in cells)
        assert shown["lost"] == pytest.approx(lost / len(cells))
        page = Page((folder / "report.html").read_text(encoding="utf-8"))
        assert "loss by the plan's weights" in page.text
        assert keeps_schema(json.loads((folder / "codebook.json").read_text("utf-8")))
        stars.append(sum(cell.endswith("*") for cell in cells))
        changed = json.loads((folder / "codebook.json").read_text("utf-8"))
        changed["attributes"][0]["nodes"][0]["loss"] = 0.5
        (folder / "codebook.json").write_text(json.dumps(changed), encoding="utf-8")
        assert not audit_release(folder, order.plan).passed
    assert len(hashes | {ReleasePlan.load(released.plan).sha256}) == 3
    # Where wider nodes hardly lose more, nobody pays for values.
    assert stars[0] < stars[1]


def test_weights_of_paths_that_differ_in_depth(tmp_path):
    """A level that repeats the one below it is none; weights are by the depth from the top."""
    icd = "I20;I20;I;*\nI21;I2;I;*\nI22;I2;I;*\nJ10;J;J;*\nJ11;J;J;*\nJ12;J;J;*\n"
    rows = [(*row[:6], f"{'I2' if row[6] < 'J' else 'J1'}{place % 3}") for place, row in
            enumerate(places())]  # fmt: skip
    order = order_of(tmp_path, rows, icd=icd)
    tree = {"path": "icd.csv", "weights": [0, 0.2, 0.7, 1]}
    order.write(columns={"junk": {**order.document["columns"]["junk"], "hierarchy": tree}})
    order.release()
    assert audit_release(order.folder_of_v1, order.plan).passed
    losses = {
        node["name"]: node["loss"] for node in attributes(order.folder_of_v1)["junk"]["nodes"]
    }
    assert losses == {"I2": 0.2, "I": 0.7, "J": 0.7}
    lost = sum({**losses, "*": 1}.get(cell, 0) for cell in order.rows()["junk"])
    shown = manifest(order.folder_of_v1)["utility"]["per_column"]["junk"]["shown"]
    assert shown["lost"] == pytest.approx(lost / len(rows))


def test_nodes_in_words_are_the_plan_without_them(tmp_path):
    order = order_of(tmp_path)
    before = ReleasePlan.load(order.plan).sha256
    order.write(columns={"city": {**order.document["columns"]["city"], "cells": "node"}})
    assert ReleasePlan.load(order.plan).sha256 == before
    order.write(columns={"city": {**order.document["columns"]["city"], "cells": "shorter"}})
    assert ReleasePlan.load(order.plan).sha256 != before
    order.write(columns={"city": {"role": "quasi", "kind": "categorical", "cells": "shorter"}})
    with pytest.raises(PlanError, match=r"columns\.city\.cells belongs to a hierarchy of cat"):
        ReleasePlan.load(order.plan)


@pytest.mark.parametrize(
    ("icd", "city", "words"),
    [
        (ICD, LADDER | {"cells": "set"}, "columns.city.cells belongs to a hierarchy of categories"),
        (ICD + "I20;J;*\n", {}, "columns.junk.hierarchy: the file .*icd.csv is refused: line 6"),
        ("\n" + ICD.replace("J10;J", "\nJ10;I20"), {}, "line 5 has a node .* like a leaf"),
        ("", {}, "it is empty"),
        (ICD, {"hierarchy": "none.csv"}, "columns.city.hierarchy: the file .* cannot be read"),
        (ICD, {"hierarchy": {"prefix": [1, 3]}}, "falling, such as"),
        (ICD, {"hierarchy": {}}, "must be a file"),
        (ICD, {"hierarchy": {"path": "icd.csv", "other": "K"}}, "other names no node"),
        (ICD, {"kind": "numeric"}, "columns.city.hierarchy belongs to kind = 'categorical'"),
        (ICD, {"hierarchy": {"ladder": [5]}}, "columns.city.hierarchy belongs to kind = 'numeric'"),
        (ICD, {"hierarchy": {"ladder": [5], "prefix": [1]}}, "must be a file"),
        (ICD, {"hierarchy": {"ladder": [5, 12]}}, "ladder must be widths that rise"),
        (ICD, {"hierarchy": {"ladder": [10, 5]}}, "ladder must be widths that rise"),
        (ICD, {"hierarchy": {"ladder": [0]}}, "columns.city.hierarchy"),
        (ICD, {"hierarchy": {"hours": [5]}}, "hours must divide the 24 hours"),
        (ICD, {"hierarchy": {"calendar": ["year", "month"]}}, "calendar must name steps"),
        (ICD, {"hierarchy": {"calendar": ["week", "month"]}}, "weeks, which cross the ends"),
        (ICD, {"hierarchy": {"calendar": ["century"]}}, "columns.city.hierarchy"),
        (ICD, weighed(0, 0.5, 1), "weights has 3 numbers, and this hierarchy needs 5: one of"),
        (ICD, weighed(0, 0.5, 0.4, 0.8, 1), "weights must rise from 0, of values, to 1"),
        (ICD, weighed(0, 0.5, 0.5, 0.8, 1), "weights must rise from 0, of values, to 1"),
        (ICD, weighed(0.1, 0.2, 0.5, 0.8, 1), "weights must rise from 0, of values, to 1"),
        (ICD, weighed(0, 0.2, 0.5, 0.8, 0.9), "weights must rise from 0, of values, to 1"),
        (ICD, weighed(0, 0.2, 0.5, 0.8, 2), "columns.city.hierarchy"),
        (ICD, weighed(0, 0.2, 0.5, 0.8, 1) | {"cells": "set"}, "weights say what nodes lose"),
        (ICD, weighed(0, 0.2, 0.5, 0.8, 1) | {"floor": 9}, "which would then lose nothing; leave"),
        (ICD, LADDER | {"bins": "none"}, "columns.city.bins: the finest step"),
        (ICD, LADDER | {"carry": "median"}, "columns.city.carry belongs to"),
        (ICD, LADDER | {"encoding": "ordinal"}, "encoding = 'one-hot'"),
        (ICD, LADDER | {"rare": "pool"}, "rare = 'pool'"),
        (ICD, {"rare": "pool"}, "rare = 'pool'"),
        (
            "code;code;all\n" + ICD,
            {"hierarchy": {"path": "icd.csv", "header": True}},
            "line 1 has 3 names of levels, the lines below 3 levels; give each level a name of its",
        ),
        (ICD, {"hierarchy": "https://example.org/zip.csv"}, "an address that is not read"),
        (ICD, {"hierarchy": "s3://bucket/zip.csv"}, "columns.city.hierarchy must be a local file"),
    ],
)
def test_what_is_wrong_with_a_hierarchy_is_refused_by_its_key(tmp_path, icd, city, words):
    order = order_of(tmp_path, icd=icd, **city)
    with pytest.raises(PlanError, match=words):
        ReleasePlan.load(order.plan)


def test_values_that_are_no_leaf_are_counted_and_refused(tmp_path):
    order = order_of(tmp_path, icd=ICD.replace("J12;J;*\n", "").replace("J11;J;*\n", ""))
    with pytest.raises(InputError, match="'junk' has 2 distinct values that are no leaf") as caught:
        order.release()
    assert "J12" not in str(caught.value)
    order.write(columns={"junk": {**order.document["columns"]["junk"], "hierarchy": OTHER}})
    order.release()
    assert audit_release(order.folder_of_v1, order.plan).passed


def test_a_value_that_is_no_leaf_and_named_like_a_node_is_refused(tmp_path):
    rows = [(*row[:6], "I") if place < 9 else row for place, row in enumerate(places())]
    order = order_of(tmp_path, rows)
    order.write(columns={"junk": {**order.document["columns"]["junk"], "hierarchy": OTHER}})
    words = "'junk' has 1 distinct values that have the name of a node of its hierarchy; rename"
    with pytest.raises(InputError, match=words):
        order.release()


OTHER = {"path": "icd.csv", "other": "J"}


def test_another_tree_is_another_release_and_another_place_is_not(tmp_path):
    order = order_of(tmp_path)
    first = ReleasePlan.load(order.plan).sha256
    (tmp_path / "moved.csv").write_text(ICD.replace(";", "\t"), encoding="utf-8")
    junk = order.document["columns"]["junk"]
    order.write(columns={"junk": {**junk, "hierarchy": "moved.csv"}})
    assert ReleasePlan.load(order.plan).sha256 == first
    (tmp_path / "moved.csv").write_text(ICD.replace("J12;J", "J12;I"), encoding="utf-8")
    assert ReleasePlan.load(order.plan).sha256 != first


@pytest.mark.long
@pytest.mark.parametrize("cells", ["node", "shorter"])
def test_a_series_with_trees_is_audited_version_by_version(tmp_path, cells):
    rows = places()
    order = order_of(tmp_path, rows[:500], cells=cells)
    order.write(series={"record": "ssn"})
    order.release()
    order.write_source(rows)
    order.release()
    assert order.versions == ["v1", "v2"]
    assert audit_release(order.releases / "v2", order.plan).passed
    book = json.loads((order.releases / "v2" / "codebook.json").read_text(encoding="utf-8"))
    entries = [entry for each in book["batches"].values() for entry in each["attributes"]]
    assert sum("nodes" in entry for entry in entries) == 4
    for version in ("v1", "v2"):
        folder = order.releases / version
        assert "nodes.csv" in manifest(folder)["files"]
        release = crowdcover.read(folder)
        assert set(release.tree("junk")["node"]) == {"I", "J"}
        assert release.count({"junk": crowdcover.under("I")}).possible > 0


@pytest.mark.long
def test_levels_are_asked_for_as_the_header_names_them(tmp_path):
    order = order_of(tmp_path, icd="code;chapter;all\n" + ICD)
    named = {"path": "icd.csv", "header": True}
    order.write(columns={"junk": {**order.document["columns"]["junk"], "hierarchy": named}})
    order.release()
    found = crowdcover.read(order.folder_of_v1).frequencies("junk", level="chapter")
    assert found["junk"].to_list() == ["I", "J"]
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.long
def test_a_new_leaf_of_a_later_month_is_a_new_category_until_it_is_accepted(tmp_path):
    order = order_of(tmp_path, places(200))
    dropped = {"diagnosis": {"role": "drop"}, "note": {"role": "drop"}}
    order.write(publish={"allow_second_release": True}, columns=dropped)
    order.release()
    later = places(200)
    later[:8] = [(*row[:2], "60990", *row[3:]) for row in later[:8]]
    order.write_source(later)
    with pytest.raises(GuaranteeError, match="column 'city' has 1 new category in 8 of 200") as no:
        order.release()
    assert "60990" not in str(no.value)
    order.write(checks={"drift": {"new_categories": 0.1}})
    order.release()
    release = crowdcover.read(order.releases / "v2")
    (region,) = release.tree("city").filter(node="6*")["values"]
    assert "60990" in region
    assert release.count({"city": crowdcover.under("6*")}).possible >= 8
