"""Latitude and longitude as one place, from the plan to the audit and the reader."""

import json
import random
from collections import Counter

import polars as pl
import pytest

import crowdcover
from anon_core.specs import boxes
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.table.starter.points import join_points
from crowdcover.kinds.table.starter.proposals import propose_role
from tests.codebooks import keeps_schema
from tests.flows.orders import Order, people
from tests.support.audits import audit_release
from tests.support.releases import attributes, manifest

GRID = [0.1, 1.0, 10.0]
DROP = {"role": "drop"}


def places(records=600, draws=5):
    """Rows whose ages are latitudes and whose cities are longitudes around two towns."""
    chance = random.Random(draws)
    rows = []
    for row in people(records):
        north, east = chance.choice([(48.14, 11.58), (-33.87, 151.21)])
        spread = chance.choice([0.02, 0.3])
        at = f"{chance.gauss(north, spread):.5f}", f"{chance.gauss(east, spread):.5f}"
        rows.append((row[0], *at, *row[3:]))
    return rows


def order_of(folder, rows=None, **sections):
    place = {"role": "quasi", "point": ["age", "city"], "hierarchy": {"grid": GRID}}
    columns = {"age": DROP, "city": DROP, "home": {**place, **sections.pop("home", {})}}
    rows = places() if rows is None else rows
    return Order(folder, rows, columns=columns, privacy={"k": 5}, **sections)


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    order = order_of(tmp_path_factory.mktemp("points"), publish={"formats": ["parquet", "csv"]})
    order.release()
    return order


def holds(box, row):
    words = box.removesuffix(" (other)").split()
    sides = zip(words[1::4], words[3::4], strict=True)
    return all(
        float(low) <= float(at) < float(high)
        for (low, high), at in zip(sides, row[1:3], strict=True)
    )


@pytest.mark.long
def test_every_place_holds_a_crowd_and_no_degree_is_published(released):
    book = attributes(released.folder_of_v1)["home"]
    assert book["floor"] == 5
    rows = places()
    for label in book["labels"]:
        assert sum(holds(label, row) for row in rows) >= 5
    assert len(book["labels"]) > 10
    published = (released.folder_of_v1 / "codebook.json").read_text(encoding="utf-8")
    assert keeps_schema(json.loads(published))
    degrees = {at for row in rows for at in row[1:3]}
    texts = {text for row in released.rows().rows() for text in map(str, row)}
    assert not degrees & texts
    assert not any(each in published for each in degrees)


def test_rows_show_a_box_that_holds_the_person(released):
    shown = Counter(released.rows()["home"])
    assert len(shown) > 10
    assert audit_release(released.folder_of_v1, released.plan).passed


def test_manifest_says_what_the_place_is_made_of(released):
    columns = manifest(released.folder_of_v1)["columns"]
    assert columns["home"]["point"] == ["age", "city"]
    assert columns["age"] == columns["city"] == DROP


def test_readers_ask_by_boxes(released):
    release = crowdcover.read(released.folder_of_v1)
    box = "lat 40 to 50 lon 10 to 20"
    true = sum(holds(box, row) for row in places())
    count = release.count({"home": crowdcover.under(box)})
    assert count.certain <= true <= count.possible
    assert abs(count.expected - true) < 0.02 * 600
    assert {"10", "1"} <= set(release.tree("home")["level"])


@pytest.mark.long
def test_another_box_in_the_wider_one_is_found_by_the_auditor(tmp_path, monkeypatch):
    """The maker takes a place for one in the next box; the auditor reads the source again."""
    order = order_of(tmp_path)
    order.release()
    of_maker = boxes.name_side
    from crowdcover.storage.source import points

    monkeypatch.setattr(points, "name_side", lambda at, step, most: of_maker(-at, step, most))
    assert not audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.long
def test_a_series_keeps_places(tmp_path):
    order = order_of(tmp_path, series={"record": "ssn"})
    order.document.pop("anonymizer")
    order.write()
    order.release()
    order.write_source([*places(), *(("new-" + r[0], *r[1:]) for r in places(100, draws=9))])
    order.release()
    folder = order.releases / "v2"
    assert audit_release(folder, order.plan).passed
    assert crowdcover.read(folder).count({}).certain == 700


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"home": {"role": "quasi", "point": ["age", "nowhere"]}}, "role = 'drop'"),
        ({"home": {"role": "quasi", "point": ["age", "age"]}}, "two columns"),
        ({"home": {"role": "quasi", "point": ["age", "home"]}}, "two columns"),
        ({"home": {"role": "quasi", "point": ["age", "smokes"]}}, "role = 'drop'"),
        ({"home": {"role": "keep", "point": ["age", "city"]}}, "belongs to role = 'quasi'"),
        ({"home": {"role": "quasi", "point": ["age"]}}, "point"),
        (
            {"home": {"role": "quasi", "point": ["age", "city"], "hierarchy": {"prefix": [1]}}},
            "grid of degrees",
        ),
        (
            {"note": {"role": "quasi", "kind": "categorical", "hierarchy": {"grid": [1.0]}}},
            "belongs to a point",
        ),
        (
            {"home": {"role": "quasi", "point": ["age", "city"], "hierarchy": {"grid": [7.0]}}},
            "divide 90",
        ),
    ],
)
def test_points_that_would_tell_too_much_or_nothing_are_refused(tmp_path, columns, said):
    order = order_of(tmp_path)
    order.document["columns"].update(columns)
    with pytest.raises(PlanError, match=said):
        ReleasePlan.of(order.document)


def test_frames_have_points_too():
    chance = random.Random(2)
    frame = pl.DataFrame(
        {
            "lat": [chance.gauss(48, 0.5) for _ in range(200)],
            "lon": [chance.gauss(11, 0.5) for _ in range(200)],
            "ill": [chance.choice("abc") for _ in range(200)],
        }
    )
    point = {"home": {"point": ["lat", "lon"]}}
    out = crowdcover.anonymize(frame, quasi=[], sensitive=["ill"], k=5, columns=point)
    assert out.audit.passed
    assert out.frame.columns == ["key", "ill", "home"]


def test_the_starter_joins_degrees_of_one_place():
    chance = random.Random(3)
    frame = pl.DataFrame(
        {
            "pickup_lat": [chance.uniform(40, 41) for _ in range(300)],
            "pickup_lon": [chance.uniform(-74, -73) for _ in range(300)],
            "longitude": [chance.uniform(-74, -73) for _ in range(300)],
            "lat": [chance.uniform(400, 500) for _ in range(300)],
            "age": [chance.randint(18, 80) for _ in range(300)],
        }
    )
    proposals = join_points(frame, {column.name: propose_role(column) for column in frame})
    assert [*proposals] == [*frame.columns, "pickup_place"]
    place = proposals["pickup_place"]
    assert place.settings[0] == 'point = ["pickup_lat", "pickup_lon"]'
    assert place.decide == ("role",)
    assert proposals["pickup_lat"].role == proposals["pickup_lon"].role == "drop"
    assert proposals["longitude"].role != "drop"
