"""[purpose], from the plan to the page and back through the audit."""

import csv
import json

import numpy as np
import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError
from tests.flows.orders import HEADER, Order, people
from tests.support.audits import audit_release

PREDICT = {"predict": "diagnosis"}
OTHERS = PREDICT | {"path": "others.csv"}
SHARE = PREDICT | {"share": 0.2}
ROWS = people(600)


def telling(rows):
    """Whose diagnosis follows from whether they smoke."""
    return [
        (*row[:4], "illness-1" if row[3] == "yes" else f"illness-{number % 3}", *row[5:])
        for number, row in enumerate(rows)
    ]


def write_others(order, header=HEADER, rows=None):
    with (order.folder / "others.csv").open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(
            [header, *(telling(people(300, draws=9)) if rows is None else rows)]
        )


def weights_of(folder):
    book = json.loads((folder / "codebook.json").read_text("utf-8"))
    return {entry["name"]: entry["weight"] for entry in book["attributes"]}


def list_broken(order, folder):
    return {each.guarantee for each in audit_release(folder, order.plan).broken}


@pytest.fixture
def order(tmp_path):
    made = Order(tmp_path, telling(ROWS))
    write_others(made)
    return made


@pytest.mark.long
@pytest.mark.parametrize("answer", [OTHERS, SHARE, PREDICT | {"allow_released": True}])
def test_what_tells_more_weighs_more(order, answer):
    order.write(purpose=answer)
    folder = order.release()
    weights = weights_of(folder)
    assert weights["smokes"] == 1.0
    assert all(0.1 <= weights[name] < 0.6 for name in ("age", "city"))
    assert audit_release(folder, order.plan).passed
    stated = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert stated["purpose"]["predict"] == "diagnosis"
    records = 480 if "share" in answer else 600
    assert stated["privacy"]["records"] == records
    page = " ".join((folder / "report.html").read_text("utf-8").split())
    assert "Columns that tell more of diagnosis are masked less" in page


@pytest.mark.long
def test_the_own_weight_counts_too(order):
    columns = order.document["columns"]
    columns["smokes"]["weight"] = 3.0
    order.write(columns=columns, purpose=OTHERS)
    assert weights_of(order.release())["smokes"] == 3.0


@pytest.mark.long
def test_margins_need_no_data(order):
    order.write(purpose={"margins": ["age x city", "age x diagnosis"]})
    folder = order.release()
    assert weights_of(folder) == {"age": 1.0, "city": 0.5, "smokes": 0.1}
    assert audit_release(folder, order.plan).passed
    page = " ".join((folder / "report.html").read_text("utf-8").split())
    assert "(age x city, age x diagnosis) are masked less" in page


@pytest.mark.long
def test_who_is_learnt_from_is_not_released_and_may_be_later(order, tmp_path):
    order.write(purpose=SHARE)
    order.release()
    shown = set(pl.read_parquet(order.run.path / "anonymize/matching.parquet")["record"])
    missing = [row for row in range(600) if row % 5 == 4]
    assert shown == set(range(600)) - set(missing)
    later = Order(
        tmp_path / "later",
        [telling(ROWS)[row] for row in missing],
        name="later",
        publish={"vault": str(order.vault)},
    )
    later.release()


@pytest.mark.long
def test_all_rows_of_a_person_go(tmp_path):
    rows = [(f"p{number // 3}", *row[1:]) for number, row in enumerate(telling(ROWS))]
    order = Order(tmp_path, rows, privacy={"person": "ssn"}, purpose=SHARE)
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    shown = set(pl.read_parquet(order.run.path / "anonymize/matching.parquet")["record"])
    gone = {rows[row][0] for row in range(600) if row not in shown}
    assert gone == {rows[row][0] for row in range(0, 600, 3) if row % 5 == 4}
    assert not gone & {rows[row][0] for row in shown}


@pytest.mark.long
def test_other_weights_are_found(order, monkeypatch):
    order.write(purpose=OTHERS)
    monkeypatch.setattr(
        "crowdcover.kinds.table.pipeline.ingest.learn_weights",
        lambda *given: {"age": 0.3, "city": 0.3, "smokes": 1.0},
    )
    with pytest.raises(Exception, match="codebook of the source"):
        order.release()


@pytest.mark.long
def test_a_row_that_was_learnt_from_is_found(order, monkeypatch):
    order.write(purpose=SHARE)
    monkeypatch.setattr(
        "crowdcover.kinds.table.pipeline.ingest.find_learning_rows",
        lambda purpose, rows, person: np.arange(rows) % 5 == 3,
    )
    with pytest.raises(Exception, match="known keys"):
        order.release()


def test_another_file_of_others_is_another_source(order):
    order.write(purpose=OTHERS)
    first = order.run.path
    write_others(order, rows=telling(people(200, draws=5)))
    assert order.run.path != first


def test_a_file_of_others_without_a_column_is_refused(order):
    order.write(purpose=OTHERS)
    write_others(order, header=("ssn", "years", *HEADER[2:]))
    with pytest.raises(InputError, match=r"the file of purpose.path has no column age"):
        order.release()


def test_the_source_is_no_file_of_others(order):
    order.write(purpose=PREDICT | {"path": "people.csv"})
    with pytest.raises(InputError, match="is the source itself"):
        order.release()


def test_the_hash_of_a_plan_counts_it_where_it_is_stated(order):
    before = ReleasePlan.load(order.plan).sha256
    assert "purpose" not in ReleasePlan.load(order.plan).kind.sections_for_hash(
        ReleasePlan.load(order.plan)
    )
    order.write(purpose={"margins": ["age"]})
    assert ReleasePlan.load(order.plan).sha256 != before


@pytest.mark.parametrize(
    ("purpose", "words"),
    [
        (PREDICT, r"allow_released = true .* to two digits, how much each column tells"),
        ({}, "needs either predict, a column, or margins"),
        (PREDICT | {"margins": ["age"]}, "needs either predict, a column, or margins"),
        (OTHERS | {"share": 0.1}, "exclude each other"),
        (PREDICT | {"share": 0.6}, "purpose.share"),
        ({"predict": "ssn", "allow_released": True}, "does not show; allowed: age"),
        ({"predict": "diagnoses", "allow_released": True}, "did you mean 'diagnosis'"),
        ({"margins": ["age x cty"]}, "did you mean 'city'"),
        ({"margins": ["age x age"]}, "twice"),
        ({"margins": ["diagnosis"]}, "no quasi-identifier"),
        ({"margins": []}, "purpose.margins"),
        ({"margins": ["age"], "share": 0.1}, "need no data"),
    ],
)
def test_refused(order, purpose, words):
    order.write(purpose=purpose)
    with pytest.raises(PlanError, match=words):
        ReleasePlan.load(order.plan).data  # noqa: B018 - reading it checks it


def test_a_series_learns_no_weights(order):
    order.write(series={"record": "ssn"}, purpose=OTHERS)
    with pytest.raises(PlanError, match="anew for every version"):
        ReleasePlan.load(order.plan).data  # noqa: B018 - reading it checks it
