"""A new kind is one folder, a new anonymizer one file: registered, each goes the whole course.

Plan, release, audit and show are called as a user's command calls them. Nothing else is changed.
"""

import json
from pathlib import Path

import polars as pl
import pytest

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.flows.cli import main
from crowdcover.flows.release import release
from tests.contract.alike import Alike
from tests.contract.conftest import VALUES
from tests.contract.runs import Runs
from tests.contract.stripes import Stripes
from tests.flows.orders import Order
from tests.support.commands import call


def test_a_kind_in_one_folder_goes_from_plan_to_show(bag, capsys):
    folder = Path(release.fn(str(bag)))
    assert pl.read_parquet(folder / "lines.parquet")["value"].value_counts()["count"].min() >= 4
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["source"] == {"kind": "bag", "rows": 18, "columns": 1}
    assert manifest["privacy"]["promise"] == ["groups of k"]
    assert "hides in a group of k" in (folder / "report.html").read_text()
    assert Path(release.fn(str(bag))) == folder
    code, text, _ = call(capsys, "audit", folder, "--plan", bag)
    assert (code, "all 9 guarantees hold" in text) == (0, True)
    code, text, _ = call(capsys, "show", folder, "--all")
    assert code == 0
    assert "Groups below k" in text
    assert "hides in a group of k" in " ".join(text.split())


def test_the_audit_of_a_kind_refuses_changed_rows(bag, capsys):
    folder = Path(release.fn(str(bag)))
    pl.DataFrame({"value": [*VALUES[:-1], "d"]}).write_parquet(folder / "lines.parquet")
    code, text, _ = call(capsys, "audit", folder, "--plan", bag)
    assert code == 4
    assert "groups of k" in text


def test_a_kind_refuses_the_anonymizers_of_another(bag, capsys):
    bag.write_text(bag.read_text() + '[anonymizer]\nname = "adaptive"\n')
    code, _, _ = call(capsys, "release", bag)
    assert code == 2


@pytest.mark.long
def test_a_table_anonymizer_in_one_file_goes_from_plan_to_show(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(ANONYMIZERS, "stripes", Stripes)
    order = Order(tmp_path, anonymizer={"name": "stripes", "width": 6})
    folder = order.release()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["anonymizer"] == {"name": "stripes", "width": 6}
    assert "equivalence classes" in manifest["privacy"]["promise"]
    page = (folder / "report.html").read_text()
    assert "Identical rows." in page
    assert "A checker that compares cells as text" not in page
    code, text, _ = call(capsys, "audit", folder, "--plan", order.plan)
    assert code == 0
    code, text, _ = call(capsys, "show", folder, "--all")
    assert code == 0
    assert "identical rows" in " ".join(text.split())


def test_a_setting_of_another_type_is_refused_by_key(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(ANONYMIZERS, "stripes", Stripes)
    order = Order(tmp_path, anonymizer={"name": "stripes", "width": "six"})
    with pytest.raises(SystemExit) as ended:
        main(["release", str(order.plan)])
    assert ended.value.code == 2
    assert "anonymizer.width must be a whole number" in capsys.readouterr().err


# ---------------------------------------------------------------- the second kind


@pytest.fixture
def matrix(tmp_path, monkeypatch):
    """Users x items, a toy anonymizer in one file, and a plan."""
    monkeypatch.setitem(ANONYMIZERS, "runs", Runs)
    pairs = [(f"u{user}", f"i{user % 4 + step}") for user in range(24) for step in range(3)]
    pl.DataFrame(pairs, schema=["user", "item"], orient="row").write_csv(tmp_path / "likes.csv")
    plan = tmp_path / "likes.toml"
    plan.write_text(
        'name = "likes"\n[source]\nkind = "matrix"\npath = "likes.csv"\n'
        '[columns]\nuser = "user"\nitem = "item"\n[privacy]\nk = 4\n[anonymizer]\nname = "runs"\n'
    )
    return plan


@pytest.mark.long
def test_a_matrix_goes_from_plan_to_show(matrix, capsys):
    folder = Path(release.fn(str(matrix)))
    rows = pl.read_parquet(folder / "rows.parquet")
    classes = rows["items"].cast(pl.List(pl.String)).list.join(" ").value_counts()
    assert (rows.height, classes["count"].min() >= 4) == (24, True)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["anonymizer"] == {"name": "runs", "longer": 0}
    assert manifest["privacy"]["promise"] == list(Runs.promise.findings)
    assert Path(release.fn(str(matrix))) == folder
    code, text, _ = call(capsys, "audit", folder, "--plan", matrix)
    assert (code, "smooth majority" in text) == (0, True)
    code, text, _ = call(capsys, "show", folder, "--all")
    shown = " ".join(text.replace("│", " ").replace("║", " ").split())
    assert (code, "some entries are false" in shown) == (0, True)


def test_a_matrix_refuses_the_anonymizers_of_tables(matrix, capsys):
    matrix.write_text(matrix.read_text().replace('"runs"', '"k-member"'))
    code, _, _ = call(capsys, "release", matrix)
    assert code == 2


# ---------------------------------------------------------------- the third kind


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """Uncertain edges, a toy anonymizer in one file, and a plan."""
    monkeypatch.setitem(ANONYMIZERS, "alike", Alike)
    edges = [(f"v{i}", f"v{(i * step + step) % 24}", 0.5) for i in range(24) for step in (1, 5)]
    edges = [(u, v, p) for u, v, p in edges if u < v]
    pl.DataFrame(edges, schema=["u", "v", "p"], orient="row").unique(["u", "v"]).write_csv(
        tmp_path / "links.csv"
    )
    plan = tmp_path / "links.toml"
    plan.write_text(
        'name = "links"\n[source]\nkind = "graph"\npath = "links.csv"\n[columns]\nu = "u"\n'
        'v = "v"\np = "p"\n[privacy]\nk = 12\n[anonymizer]\nname = "alike"\n'
    )
    return plan


@pytest.mark.long
def test_a_graph_goes_from_plan_to_show(graph, capsys):
    folder = Path(release.fn(str(graph)))
    assert pl.read_parquet(folder / "edges.parquet").columns == ["u", "v", "p"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["anonymizer"] == {"name": "alike", "times": 1}
    assert manifest["privacy"]["promise"] == list(Alike.promise.findings)
    assert manifest["privacy"]["below"] == 0
    assert Path(release.fn(str(graph))) == folder
    code, text, _ = call(capsys, "audit", folder, "--plan", graph)
    assert (code, "obfuscated" in text) == (0, True)
    code, text, _ = call(capsys, "show", folder, "--all")
    shown = " ".join(text.replace("│", " ").split())
    assert (code, "no vertex is likelier than 1 in k" in shown) == (0, True)


def test_a_graph_refuses_the_anonymizers_of_matrices(graph, capsys):
    graph.write_text(graph.read_text().replace('"alike"', '"smooth"'))
    code, _, _ = call(capsys, "release", graph)
    assert code == 2
