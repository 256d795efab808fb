"""Ladders of numbers, calendars and hours, from the plan to the audit and the reader."""

import datetime as dt
import random

import pytest

import crowdcover
from anon_core.errors import GuaranteeError
from anon_core.tables import ladders
from tests.flows.orders import Order, people
from tests.support.audits import audit_release
from tests.support.releases import attributes

AGE = {"role": "quasi", "kind": "numeric", "hierarchy": {"ladder": [5, 10, 20]}}
STEPS = ["month", "quarter", "year", "decade"]
BORN = {"role": "quasi", "kind": "date", "hierarchy": {"calendar": STEPS}}
TIME = {"role": "quasi", "kind": "categorical", "hierarchy": {"hours": [1, 6]}}


def visits(records=400, draws=7, first=0, *, ages=(18, 80)):
    """Rows whose city is a time of day, and whose junk is a date; some dates are missing."""
    chance = random.Random(draws)
    return [
        (
            row[0],
            chance.randint(*ages),
            f"{chance.randint(6, 20):02}:{chance.randrange(0, 60, 20):02}",
            *row[3:6],
            ""
            if chance.random() < 0.05
            else dt.date(2018, 1, 1) + dt.timedelta(days=chance.randrange(1500)),
        )
        for row in people(records, first=first)
    ]


def order_of(folder, rows=None, **sections):
    columns = {"age": AGE, "city": TIME, "junk": BORN, "smokes": {"role": "drop"}}
    sections = {
        "columns": columns,
        "privacy": {"k": 5},
        "publish": {"formats": ["parquet", "csv"]},
        **sections,
    }
    return Order(folder, visits() if rows is None else rows, **sections)


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    order = order_of(tmp_path_factory.mktemp("ladders"))
    order.release()
    return order


@pytest.mark.long
def test_cells_show_intervals_periods_and_hours(released):
    book = attributes(released.folder_of_v1)
    assert book["age"]["labels"][:2] == ["15..19", "20..24"]
    assert {node["name"] for node in book["age"]["nodes"]} >= {"20..29", "40..59"}
    assert {node["name"] for node in book["junk"]["nodes"]} >= {"2019-Q1", "2019", "..2010s"}
    assert {node["name"] for node in book["city"]["nodes"]} >= {"08:00-08:59", "06:00-11:59"}
    for name in ("age", "junk", "city"):
        cells = set(released.rows()[name])
        nodes = {node["name"] for node in book[name]["nodes"]}
        assert cells <= {*book[name]["labels"], *nodes, "*"}
        assert cells & nodes
    assert audit_release(released.folder_of_v1, released.plan).passed


def test_typed_cells_are_intervals_that_hold_what_their_text_says(released):
    typed = crowdcover.read(released.folder_of_v1).rows
    texts = released.rows()
    for text, cell in zip(texts["age"], typed["age"], strict=True):
        if text == "*":
            assert cell is None
        else:
            low, _, high = text.partition("..")
            assert (cell["lo"], cell["hi"]) == (int(low), int(high))
    quarter = {
        (cell["lo"], cell["hi"])
        for text, cell in zip(texts["junk"], typed["junk"], strict=True)
        if text == "2019-Q2"
    }
    assert quarter <= {(dt.date(2019, 4, 1), dt.date(2019, 6, 30))}


@pytest.mark.long
def test_the_reader_counts_alike_in_both_files_and_completes(released, tmp_path):
    order = order_of(tmp_path, publish={"formats": ["csv"]})
    order.release()
    grown = {"age": crowdcover.Between(20, 39)}
    year = {"junk": crowdcover.Between(dt.date(2019, 1, 1), dt.date(2019, 12, 31))}
    rows = visits()
    true = sum(20 <= row[1] <= 39 for row in rows)
    of_year = sum(str(row[6]).startswith("2019") for row in rows)
    for folder in (released.folder_of_v1, order.folder_of_v1):
        release = crowdcover.read(folder)
        for question, number in ((grown, true), (year, of_year)):
            found = release.count(question)
            assert found.certain <= number <= found.possible
            assert abs(found.expected - number) < 40
        completed = release.complete(1, seed=1)[0]
        assert completed["age"].is_between(15, 84).all()


@pytest.mark.long
@pytest.mark.parametrize(
    "sections",
    [
        {"privacy": {"k": {"by": "smokes", "levels": {"yes": 9, "no": 3}}}},
        {"privacy": {"person": "ssn", "k": 4}},
        {"anonymizer": {"name": "local-search", "part": 150}},
        {"anonymizer": {"name": "local-search", "loss": "range"}},
        {"anonymizer": {"name": "adaptive", "seats": "even"}},
        {"anonymizer": {"name": "k-member"}},
    ],
    ids=["own k", "people", "parts", "range", "even seats", "classes"],
)
def test_releases_of_every_kind_pass_their_audit(tmp_path, sections):
    rows = visits(300)
    if "person" in sections.get("privacy", {}):
        rows = [(f"ident-{at // 2:05d}", *row[1:]) for at, row in enumerate(rows)]
    order = order_of(tmp_path, rows, **sections)
    if isinstance(sections.get("privacy", {}).get("k"), dict):
        order.write(columns={"smokes": {"role": "quasi", "kind": "binary"}})
    order.release()
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.long
def test_a_later_month_with_values_outside_of_what_was_known(tmp_path):
    order = order_of(tmp_path, visits(200))
    order.write(series={"record": "ssn"}, checks={"drift": "off"})
    order.release()
    order.write_source([*visits(200), *visits(150, 9, 200, ages=(3, 104))])
    order.release()
    assert order.versions == ["v1", "v2"]
    assert audit_release(order.releases / "v2", order.plan).passed
    release = crowdcover.read(order.releases / "v2")
    found = release.count({"age": crowdcover.Between(None, 17)})
    true = sum(row[1] <= 17 for row in visits(150, 9, 200, ages=(3, 104)))
    assert found.certain <= true <= found.possible


@pytest.mark.long
def test_few_people_at_an_end_share_an_open_interval(tmp_path, monkeypatch):
    rows = visits()
    rows[3] = (rows[3][0], 107, *rows[3][2:])
    order = order_of(tmp_path, rows)
    order.release()
    assert attributes(order.folder_of_v1)["age"]["labels"][-1] == "80.."
    other = order_of(tmp_path / "other", rows)
    monkeypatch.setattr(ladders, "find_outer_ends", lambda place, count, *_: [*range(1, count + 1)])
    with pytest.raises(GuaranteeError, match="levels of enough people"):
        other.release()
