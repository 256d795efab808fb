"""Released rows beside their people: of categories that look like sets, and of versions."""

import csv
import gzip
import json
import re
from html import unescape

import polars as pl
import pytest

import crowdcover as cc
from crowdcover.flows.page.draft import Draft
from crowdcover.flows.page.released import first_rows
from crowdcover.flows.page.released.first_rows import read_first_rows
from crowdcover.flows.page.released.owned_rows import read_owned_rows
from crowdcover.flows.page.released.private_side import find_private_side
from crowdcover.storage.vault.files import read_json
from tests.flows.orders import Order, people
from tests.flows.page.conftest import post, refused_words, session_of, visit
from tests.flows.processes import command
from tests.support.series import ANNA, BERT, CARA, DORA, Registry, registry

ODD = ["a|b", "*", "c\\d", "..", "(missing)", "x|*"]
FEW = 12  # of rows where all of them shall be exact


@pytest.fixture
def every_row(monkeypatch):
    """The page shows all rows of a release, as it does the first ones."""
    monkeypatch.setattr(first_rows, "FIRST", 10**6)


def owned_of(order, folder):
    manifest = read_json(folder / "manifest.json")
    side = find_private_side(Draft.read(order.plan), folder)
    return (
        None if side is None else read_owned_rows(side, read_first_rows(folder, manifest), manifest)
    )


def cells_of(owned, name):
    """Released cell, own cell of each row of a column."""
    place = owned.names.index(name)
    rows = zip(owned.shown, owned.own, strict=True)
    return [(shown[place], own.cells[place]) for shown, own in rows]


@pytest.mark.long
@pytest.mark.usefixtures("every_row")
def test_categories_that_look_like_sets_are_compared_as_categories(tmp_path):
    rows = [
        (
            f"ident-{n:05d}",
            30 + n % 2 / 2,
            ODD[n // FEW],
            ("yes", "no")[n % 3 > 0],
            ODD[n % 5],
            f"{n}|",
            "x",
        )
        for n in range(FEW * len(ODD))
    ]
    order = Order(tmp_path, rows, privacy={"k": 2})
    order.document["columns"]["age"]["bins"] = "none"
    order.write()
    folder = order.release()
    owned = owned_of(order, folder)
    release = cc.read(folder)
    keys = {key: place for place, key in enumerate(release.rows["key"].to_list())}
    with gzip.open(folder / "data.csv.gz", "rt", encoding="utf-8", newline="") as handle:
        shown_keys = [row["key"] for row in csv.DictReader(handle)]
    exact = 0
    for name in ("age", "city", "smokes"):
        column = release.column(name)
        for key, (cell, own) in zip(shown_keys, cells_of(owned, name), strict=True):
            allowed = column.masks[column.which[keys[key]]].nonzero()[0]
            texts = [column.values[int(level)] for level in allowed]
            is_alone = len(texts) == 1 and str(texts[0]) == own.text
            assert own.is_masked != is_alone, (name, cell, own)
            exact += is_alone
    assert exact > len(rows)
    shown = {cell for cell, own in cells_of(owned, "city") if not own.is_masked}
    assert {"a\\|b", "\\*", "c\\\\d"} <= shown
    for name in ("diagnosis", "note"):
        assert not any(own.is_masked for _, own in cells_of(owned, name))


@pytest.mark.long
@pytest.mark.usefixtures("every_row")
def test_native_values_are_compared_as_they_are_written(tmp_path):
    order = Order(tmp_path, privacy={"k": 2})
    frame = pl.read_csv(order.source).with_columns(
        age=pl.lit(40.0),
        note=pl.datetime_range(pl.datetime(2024, 1, 1), pl.datetime(2024, 3, 30), "1d").head(90),
        diagnosis=pl.int_range(90) / 8,
        junk=pl.col("smokes") == "yes",
    )
    frame.write_parquet(tmp_path / "people.parquet")
    order.document["columns"]["junk"] = {"role": "keep"}
    order.document["columns"]["age"]["bins"] = "none"
    order.write(source={"path": "people.parquet"})
    owned = owned_of(order, order.release())
    for name in ("age", "note", "diagnosis", "junk"):
        masked = [own for cell, own in cells_of(owned, name) if own.is_masked and cell != "*"]
        assert masked == [], name
    assert {own.text for _, own in cells_of(owned, "junk")} == {"true", "false"}


@pytest.mark.long
@pytest.mark.usefixtures("every_row")
def test_rows_of_a_version_stand_beside_their_people(tmp_path):
    order = Registry(tmp_path)
    sources = [(ANNA, BERT), (), (ANNA, CARA, DORA)]
    folders = []
    for more in sources:
        folders.append(order.month(*more))
        last = pl.read_csv(order.source, infer_schema=False)
        owned = owned_of(order, folders[-1])
        assert all(own.cells and not own.is_newer for own in owned.own)
        rows = {row[1:] for row in last.iter_rows()}
        # Births and incomes are carried, and tell the person of a row.
        for shown, own in zip(owned.shown, owned.own, strict=True):
            texts = tuple(cell.text for cell in own.cells)
            assert texts in rows
            assert shown[2:] == list(texts[2:])
            assert [own.cells[place].is_masked for place in (2, 3)] == [False, False]
    assert any("Rome" in row for row in owned.shown)
    first = owned_of(order, folders[0])
    births = {row[2]: own for row, own in zip(first.shown, first.own, strict=True)}
    assert not births["Oslo"].cells  # Bert left
    assert births["Rome"].is_newer  # Anna came back, with another row
    assert [cell.text for cell in births["Rome"].cells] == list(ANNA[1:])
    assert sum(bool(own.cells) for own in first.own) == len(first.own) - 1
    stayed = [own for own in first.own if own.cells and not own.is_newer]
    assert len(stayed) >= 10


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    order = registry(tmp_path_factory.mktemp("series"), people(60))
    order.release()
    order.write_source([*people(60)[3:], *people(8, draws=9, first=500)])
    order.release()
    return order


@pytest.mark.long
def test_the_page_of_a_version_says_which_values_are_not_kept(series, monkeypatch):
    monkeypatch.setattr(first_rows, "FIRST", 60)
    session = session_of(series.plan)
    client = visit(session)
    newest = client.get("/release").text  # that of the plan
    assert session.release == series.releases / "v2"
    assert "beside their people" in newest
    assert "not kept" not in newest
    assert "The number of the version in which the row is new." in newest
    assert 'href="/affected"' in newest
    assert client.get("/column?column=city").text.count("<svg") == 2
    older = unescape(post(client, session, "/release", version="v1").text)
    assert 'href="/affected"' not in older
    assert "is measured of the newest version" in older
    assert str(series.releases / "v1") in older
    # Three left. The crowds of others were made anew, so they have another row.
    assert older.count("not kept: the person has no row in the newest version") == 3
    assert "newest source" in older
    assert "values of people who have no row in the newest version" in older
    for number in range(3):
        beside = older.partition('id="owned"')[2]
        row = re.search(f"<td[^>]*>note-{number}</td>.*?</tbody>", beside, re.DOTALL)
        assert "not kept" in row[0]
    page = client.get("/column?column=city").text
    assert page.count("<svg") == 1
    assert "the vault no longer keeps" in page
    for name in ("v1", "v9", "../v2", ""):
        refused = refused_words(post(client, session, "/release", version=name).text)
        assert refused == "choose a version that stands beside the release"
    assert session.release == series.releases / "v1"


@pytest.mark.long
def test_who_is_affected_by_the_newest_version_is_what_the_audit_measures(tmp_path):
    order = Registry(tmp_path)
    order.month()
    # Those who join are alike, so whoever knows that learns their income.
    folder = order.month(*((f"N{n}", "f", "nurse", "Rome", "55") for n in range(4)))
    session = session_of(order.plan)
    client = visit(session)
    post(client, session, "/affected")
    assert "The command has ended" in client.get("/affected/log").text
    page = unescape(client.get("/affected").text)
    audit = ("--plan", order.plan, "--affected")
    found = json.loads(command("audit", folder, *audit, "--json").out)["affected"]
    manifest = read_json(folder / "manifest.json")
    new, stayed = (manifest["series"][name] for name in ("batch", "frozen"))
    assert f"whose rows are new in it: {new} of {new + stayed}." in " ".join(page.split())
    assert (new, stayed) == (4, 24)
    levels = {each["column"]: each["levels"] for each in found}
    assert levels == {
        "sex": [{"level": "f", "affected": 4, "records": 4}],
        "job": [{"level": "nurse", "affected": 4, "records": 4}],
    }
    for level in (level for each in found for level in each["levels"]):
        assert f'>{level["level"]}</th><td class="num">{level["affected"]}<' in page
    printed = command("audit", folder, *audit).out
    assert "one value, of those new in this version" in " ".join(printed.split())


@pytest.mark.long
def test_who_is_affected_by_an_older_version_is_not_measured(series):
    folder = series.releases / "v1"
    done = command("audit", folder, "--plan", series.plan, "--affected")
    assert (done.code, done.out) == (2, "")
    assert "of an older version of a series the vault keeps who fits which row" in done.err
    assert command("audit", folder, "--plan", series.plan).code == 0


@pytest.mark.long
def test_a_version_at_another_place_is_of_no_run(series, tmp_path):
    (series.releases / "v2").rename(tmp_path / "v2")
    try:
        assert owned_of(series, tmp_path / "v2") is None
    finally:
        (tmp_path / "v2").rename(series.releases / "v2")
    assert owned_of(series, series.releases / "v2") is not None
