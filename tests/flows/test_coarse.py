"""Kept and sensitive numbers and dates that are published coarser, from the plan to the reader."""

import datetime as dt
import json
import random

import polars as pl
import pytest

import crowdcover
from crowdcover import at_least, at_most
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.table.pipeline import coarsening
from tests.codebooks import keeps_schema
from tests.flows.orders import Order, people
from tests.reports.browsed import Page
from tests.support.audits import audit_release
from tests.support.releases import manifest

K = 5
PAY = {"role": "sensitive", "kind": "numeric", "step": 100, "top": "k"}
DEBT = {"role": "keep", "kind": "numeric", "top": "k", "bottom": "k"}


def paid(records=200, draws=9):
    """Rows whose note is a pay, and whose junk is a debt, both of one person only."""
    chance = random.Random(draws)
    return [
        (*row[:5], round(chance.lognormvariate(10, 0.6)), f"{chance.gauss(0, 900):.2f}")
        for row in people(records)
    ]


def order_of(folder, rows=None, **more):
    columns = {"note": PAY, "junk": DEBT, "diagnosis": {"role": "keep"}} | more.pop("columns", {})
    order = Order(folder, paid() if rows is None else rows, **{"privacy": {"k": K}, **more})
    order.write(columns=columns, publish={"formats": ["parquet", "csv"]})
    return order


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    order = order_of(tmp_path_factory.mktemp("coarse"))
    order.release()
    return order


def coarsened(folder):
    book = json.loads((folder / "codebook.json").read_text(encoding="utf-8"))
    return {entry.pop("name"): entry for entry in book["coarsened"]}


@pytest.mark.long
def test_shown_numbers_are_multiples_and_extremes_are_shared(released):
    rows, stated = crowdcover.read(released.folder_of_v1).frame(), coarsened(released.folder_of_v1)
    pay, debt = rows["note"], rows["junk"]
    assert (pay.dtype, debt.dtype) == (pl.Int64, pl.Float64)
    assert (pay % 100 == 0).all()
    assert stated["note"] == {"step": 100, "top": pay.max()}
    assert stated["junk"] == {"top": debt.max(), "bottom": debt.min()}
    for shared in (pay == pay.max(), debt == debt.max(), debt == debt.min()):
        assert K <= shared.sum() < 3 * K
    own = {float(row[6]) for row in paid()}
    assert not own & {debt.max(), debt.min()}


def test_the_audit_agrees_and_pages_say_how(released):
    assert audit_release(released.folder_of_v1, released.plan).passed
    stated = manifest(released.folder_of_v1)["columns"]
    assert (stated["note"]["step"], stated["note"]["top"]) == (100, "k")
    page = Page((released.folder_of_v1 / "report.html").read_text(encoding="utf-8")).text
    assert "numbers rounded to multiples of 100; the greatest number shown stands for those" in page
    assert "Publish coarser numbers of it (step, top, bottom)" in page  # debts are still unique
    package = (released.folder_of_v1 / "datapackage.json").read_text(encoding="utf-8")
    assert "sensitive: a number, coarser than it was" in package


@pytest.mark.long
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_reader_takes_a_number_for_all_that_it_stands_for(released, tmp_path, form):
    order = order_of(tmp_path)
    order.write(publish={"formats": [form]})
    order.release()
    read, top = crowdcover.read(order.folder_of_v1), coarsened(order.folder_of_v1)["note"]["top"]
    for least in (top + 40_000, 30_020):
        true = sum(row[5] >= least for row in paid())
        found = read.count({"note": at_least(least)})
        assert found.certain <= true <= found.possible
        assert found.possible > found.certain
    assert read.count({"junk": at_most(0)}).certain == sum(float(row[6]) <= 0 for row in paid())
    mean = read.mean("note")
    assert mean.lo <= sum(row[5] for row in paid()) / 200 <= mean.hi == float("inf")


@pytest.mark.long
@pytest.mark.parametrize(
    "fault",
    [
        lambda numbers, ends: (numbers.set(numbers == ends.top, int(ends.top) + 100), ends),
        lambda numbers, ends: (numbers, coarsening.Ends(ends.bottom, ends.top + 100)),
        lambda numbers, ends: (numbers + 1, ends),
    ],
    ids=["another top is shown", "another top is stated", "no multiples"],
)
def test_the_auditor_finds_what_the_maker_did_wrong(tmp_path, monkeypatch, fault):
    right = coarsening.coarsen_values

    def wrong(series, column, least, person=None):
        shown, ends = right(series, column, least, person)
        return fault(shown, ends) if column.name == "note" else (shown, ends)

    monkeypatch.setattr(coarsening, "coarsen_values", wrong)
    order = order_of(tmp_path)
    with pytest.raises(Exception, match="publication refused"):
        order.release()
    assert order.versions == []


DAYS = [f"{3 + number % 9}.{1 + number % 12}.{2015 + number % 7}" for number in range(200)]


@pytest.mark.long
def test_dates_are_the_first_day_of_their_month(tmp_path):
    rows = [(*row[:5], day, row[6]) for row, day in zip(paid(), DAYS, strict=True)]
    seen = {"role": "keep", "kind": "date", "format": "%d.%m.%Y", "step": "month"}
    order = order_of(tmp_path, rows, columns={"note": seen})
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert coarsened(folder)["note"] == {"step": "month"}
    assert keeps_schema(json.loads((folder / "codebook.json").read_text(encoding="utf-8")))
    read = crowdcover.read(folder)
    true = [dt.datetime.strptime(day, "%d.%m.%Y").date() for day in DAYS]
    assert sorted(read.frame()["note"]) == sorted(day.replace(day=1) for day in true)
    for end in (dt.date(2018, 3, 7), dt.date(2018, 3, 31)):
        found, number = read.count({"note": at_most(end)}), sum(day <= end for day in true)
        assert found.certain <= number <= found.possible
        assert (found.certain == found.possible) == (end.day == 31)
    page = Page((folder / "report.html").read_text(encoding="utf-8")).text
    assert "each date is the first day of its month" in page


@pytest.mark.long
def test_the_auditor_finds_a_day_that_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(coarsening, "_find_first_days", lambda dates, step: dates)
    rows = [(*row[:5], day, row[6]) for row, day in zip(paid(), DAYS, strict=True)]
    seen = {"role": "keep", "kind": "date", "format": "%d.%m.%Y", "step": "month"}
    order = order_of(tmp_path, rows, columns={"note": seen})
    with pytest.raises(Exception, match="publication refused"):
        order.release()


@pytest.mark.long
def test_rows_of_one_person_are_counted_as_one(tmp_path):
    rows = paid()
    rows = [
        (f"ident-{number // 4:05d}", *row[1:5], 90_000 + number if number < 8 else row[5], row[6])
        for number, row in enumerate(rows)
    ]
    order = order_of(tmp_path, rows, privacy={"k": K, "person": "ssn"})
    order.release()
    top = coarsened(order.folder_of_v1)["note"]["top"]
    assert len({row[0] for row in rows if row[5] >= top - 50}) >= K
    assert audit_release(order.folder_of_v1, order.plan).passed


def test_values_of_diverse_classes_are_those_that_are_published(tmp_path):
    order = order_of(
        tmp_path,
        columns={"note": {**PAY, "step": 20_000}},
        anonymizer={"name": "k-member"},
    )
    order.write(privacy={"diverse": {"column": "note", "l": 2}})
    order.release()
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"step": 0}, "step"),
        ({"top": "10"}, "top"),
        ({"bottom": 5, "top": 5}, "bottom must be less than top"),
        ({"kind": "categorical", "step": 5}, "columns.note.step belongs to kind = 'numeric'"),
        ({"role": "quasi", "kind": "numeric", "top": 5}, "columns.note.top belongs to kind"),
        ({"step": "month"}, "columns.note.step = 'month' belongs to kind = 'date'"),
        ({"kind": "date", "step": 5}, "columns.note.step belongs to kind = 'numeric'"),
        ({"kind": "date", "step": "fortnight"}, "'month'"),
        ({"kind": "date", "step": "month", "top": "k"}, "top and bottom are about numbers"),
    ],
)
def test_bad_plans_are_refused(tmp_path, column, message):
    order = Order(tmp_path, paid())
    order.write(
        columns={**order.document["columns"], "note": {"role": "keep", "kind": "numeric"} | column}
    )
    with pytest.raises(PlanError, match=message):
        ReleasePlan.load(order.plan)


def test_constant_columns_of_a_series_stay_as_they_are(tmp_path):
    order = order_of(tmp_path, series={"record": "ssn", "constant": ["note"]})
    with pytest.raises(PlanError, match=r"series\.constant: column 'note' is published coarser"):
        ReleasePlan.load(order.plan)


def test_too_few_people_are_a_refusal_without_values(tmp_path):
    rows = [(*row[:5], row[5] if number < 3 else "", row[6]) for number, row in enumerate(paid())]
    with pytest.raises(Exception, match="column 'note': no number that may be shown has 5 people"):
        order_of(tmp_path, rows).release()


def test_a_plan_without_these_keys_has_the_hash_that_it_had(tmp_path):
    order = order_of(tmp_path)
    coarse = ReleasePlan.load(order.plan).sha256
    plain = {"role": "sensitive", "kind": "numeric"}
    order.write(columns={**order.document["columns"], "note": plain})
    assert ReleasePlan.load(order.plan).sha256 != coarse


@pytest.mark.long
def test_each_version_of_a_series_finds_its_own_open_groups(tmp_path):
    order = order_of(tmp_path, series={"record": "ssn"})
    folders = [order.release()]
    rows = [*paid(), *((f"new-{row[0]}", *row[1:5], 3 * row[5], row[6]) for row in paid(60, 4))]
    order.write_source(rows)
    folders.append(order.release())
    for folder in folders:
        audit = audit_release(folder, order.plan)
        assert audit.passed, audit.sentence()
    book = json.loads((folders[1] / "codebook.json").read_text(encoding="utf-8"))
    assert keeps_schema(book)
    tops = [each["coarsened"][0]["top"] for each in book["batches"].values()]
    assert tops[1] > tops[0]
    read = crowdcover.read(folders[1])
    for least in (tops[0] + 100, tops[1] + 100):
        true = sum(row[5] >= least for row in rows)
        found = read.count({"note": at_least(least)})
        assert found.certain <= true <= found.possible
