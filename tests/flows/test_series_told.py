"""What manifest, log and drift say of a series."""

import logging

import numpy as np
import pytest

from anon_core.errors import GuaranteeError
from crowdcover.storage.vault.files import read_json
from tests.flows.orders import columns, people
from tests.support.audits import audit_release
from tests.support.series import frame, months, registry, release_all, series_of

LOOSE = {"utility": 0.0, "shift": 1.0, "rows": 1.0, "gone_categories": 1.0}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Four versions of 200 people: their folders."""
    order = registry(tmp_path_factory.mktemp("told"))
    return order, release_all(order, months())


@pytest.mark.long
def test_each_version_lists_all_before_it(told):
    _, folders = told
    lists = [series_of(folder)["versions"] for folder in folders]
    for number, (folder, versions) in enumerate(zip(folders, lists, strict=True), start=1):
        assert versions == lists[-1][:number]
        now, section = versions[-1], series_of(folder)
        assert now["number"] == number
        assert now["rows"] == frame(folder).height == now["frozen"] + now["new"]
        assert now["new"] == (frame(folder)["since"] == number).sum()
        for name in ("rows", "frozen", "left", "pulled", "held_back", "kept", "crowd_least"):
            assert now[name] == section[name]
    for before, now in zip(lists[-1], lists[-1][1:], strict=False):
        assert now["frozen"] == before["rows"] - now["gone"]
        reasons = [now[name] for name in ("left", "withdrawn", "changed", "pulled")]
        assert now["gone"] == sum(reasons)


def test_changed_columns_are_those_of_the_sources(told):
    _, folders = told
    sources = [{row[0]: row for row in rows} for rows in months()]
    assert series_of(folders[0])["changed_by"] == {}
    for number in range(1, 4):
        before, now = sources[number - 1 : number + 1]
        section = series_of(folders[number])
        both = before.keys() & now.keys()
        ages = sum(before[name][1] != now[name][1] for name in both)
        assert section["followed"] == len(both)
        assert section["changed_by"] == {
            **dict.fromkeys(("city", "smokes", "diagnosis", "note"), 0),
            "age": ages,
        }
        assert section["changed"] == ages


@pytest.mark.slow
def test_information_is_that_of_all_rows(tmp_path):
    """Each row by the codebook of its own version, cells read as text."""
    settings = {**columns(), "age": {"role": "drop"}}
    order = registry(tmp_path, columns=settings)
    for folder in release_all(order, (people(60)[:50], people(60), people(60)[4:])):
        books = read_json(folder / "codebook.json")["batches"]
        lost, exact = [], []
        for row in frame(folder).iter_rows(named=True):
            for column in books[str(row["since"])]["attributes"]:
                if column["name"] in ("city", "smokes"):
                    levels = len(column["labels"])
                    shown = row[column["name"]]
                    size = levels if shown == "*" else 1 + shown.count("|")
                    lost.append((size - 1) / (levels - 1))
                    exact.append(size == 1)
        section = series_of(folder)
        assert section["gcp"] == pytest.approx(np.mean(lost))
        assert section["kept"] == pytest.approx(1 - np.mean(lost))
        assert section["cells_exact"] == pytest.approx(np.mean(exact))


def test_crowds_are_of_rows_that_are_there(told):
    for folder in told[1]:
        section = series_of(folder)
        assert section["k_min"] == section["k_max"] == 4
        assert 4 <= section["crowd_least"] <= section["crowd_median"] <= section["rows"]
        assert section["people"] == section["rows"]


def test_the_audit_measures_the_same(told):
    order, folders = told
    assert audit_release(folders[-1], order.plan).passed
    path = folders[-1] / "manifest.json"
    whole = path.read_text(encoding="utf-8")
    kept = str(series_of(folders[-1])["gcp"])
    path.write_text(whole.replace(f'"gcp": {kept}', '"gcp": 0.5', 1), encoding="utf-8")
    try:
        broken = {each.guarantee for each in audit_release(folders[-1], order.plan).broken}
    finally:
        path.write_text(whole, encoding="utf-8")
    assert "numbers as measured" in broken


@pytest.mark.long
def test_a_column_that_changes_for_many_is_said_in_the_log(released_once, caplog):
    order = released_once(registry)
    rows = [(*row[:4], f"illness-{number}", *row[5:]) for number, row in enumerate(people(60))]
    order.write_source(rows)
    with caplog.at_level(logging.INFO):
        folder = order.release()
    changed = series_of(folder)["changed_by"]["diagnosis"]
    assert changed == sum(row[4] != old[4] for row, old in zip(rows, people(60), strict=True))
    assert f"The column diagnosis changed since the version before in {changed} of 60" in (
        caplog.text
    )
    assert "illness" not in caplog.text
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "The column diagnosis changed since the version before" in page


@pytest.mark.long
def test_drift_compares_what_all_rows_keep(tmp_path):
    """A small batch keeps much less than the first version; the version as a whole does not."""
    order = registry(tmp_path, people(200), checks={"drift": {"utility": 0.1}})
    order.release()
    order.write_source(people(200) + people(5, draws=9, first=700))
    folder = order.release()
    manifest = read_json(folder / "manifest.json")
    before, now = manifest["series"]["versions"]
    assert manifest["drift"]["utility_before"] == before["kept"]
    assert before["kept"] - now["kept"] <= 0.1
    assert manifest["drift"]["compared_with"] == "version 1"


@pytest.mark.long
def test_a_version_that_keeps_much_less_is_refused(tmp_path):
    order = registry(tmp_path, checks={"drift": LOOSE})
    order.release()
    order.write_source(people(60)[:20])
    with pytest.raises(GuaranteeError, match="compared with version 1, utility fell from"):
        order.release()
