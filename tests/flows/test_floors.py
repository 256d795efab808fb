"""A place is shown only if enough people live in it, from the plan to the audit and the reader."""

import json
import random
from collections import Counter

import pytest

import crowdcover
from anon_core.errors import GuaranteeError
from anon_core.tables import categories
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from tests.codebooks import keeps_schema
from tests.flows.orders import Order, people
from tests.reports.browsed import Page
from tests.support.audits import audit_release
from tests.support.releases import attributes, manifest

FLOOR = 30


def places(records=600, draws=5):
    """Rows whose cities are codes of three regions."""
    chance = random.Random(draws)
    codes = [f"{region}{part:02}{end}0" for region in "169" for part in range(6) for end in "0123"]
    return [(*row[:2], chance.choice(codes), *row[3:]) for row in people(records)]


def order_of(folder, rows=None, **city):
    stated = {"role": "quasi", "kind": "categorical", "hierarchy": {"prefix": [4, 3, 1]}, **city}
    return Order(
        folder,
        places() if rows is None else rows,
        columns={"city": stated, "age": {"role": "drop"}},
        privacy={"k": 5},
    )


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    order = order_of(tmp_path_factory.mktemp("floors"), floor=FLOOR)
    order.release()
    return order


@pytest.mark.long
def test_every_place_has_enough_people(released):
    book = attributes(released.folder_of_v1)["city"]
    assert book["floor"] == FLOOR
    people = Counter(row[2] for row in places())
    assert min(people.values()) < FLOOR
    assert len(book["labels"]) > 5
    for label in book["labels"]:
        beginning = label.removesuffix(" (other)")
        assert sum(held for code, held in people.items() if code.startswith(beginning)) >= FLOOR
    assert {len(label) for label in book["labels"]} == {3, len("1 (other)")}


def test_codebook_manifest_and_report_state_the_floor(released):
    document = json.loads((released.folder_of_v1 / "codebook.json").read_text(encoding="utf-8"))
    assert keeps_schema(document)
    assert "floors" in document
    stated = manifest(released.folder_of_v1)["columns"]
    assert {name: column.get("floor") for name, column in stated.items()}["city"] == FLOOR
    page = Page((released.folder_of_v1 / "report.html").read_text(encoding="utf-8"))
    assert "smaller places were joined until each had 30 people" in page.text


def test_the_reader_and_the_audit_take_places_for_values(released):
    assert audit_release(released.folder_of_v1, released.plan).passed
    read = crowdcover.read(released.folder_of_v1)
    true = sum(row[2].startswith("603") for row in places())
    found = read.count({"city": ["603"]})
    assert found.certain <= true <= found.possible


def labels(order):
    return attributes(order.folder_of_v1)["city"]["labels"]


def shows_all(spec, paths, values, least, persons):
    """A maker that forgets the floor."""
    return {path[-1]: path for path in paths}


def counts_records(spec, paths, values, least, persons):
    """A maker that takes records for people."""
    return FIND_PLACES(spec, paths, values, least, None)


FIND_PLACES = categories.find_places


@pytest.mark.long
@pytest.mark.parametrize("plant", [shows_all, counts_records])
def test_a_maker_without_floor_is_caught(tmp_path, monkeypatch, plant):
    rows = places()
    rows = [rows[at // 2] for at in range(len(rows))]  # two rows a person
    order = order_of(tmp_path, rows, floor=FLOOR)
    order.write(privacy={"person": "ssn"})
    monkeypatch.setattr(categories, "find_places", plant)
    with pytest.raises(GuaranteeError, match="codebook of the source"):
        order.release()


@pytest.mark.long
def test_a_population_cuts_each_version_of_a_series_alike(tmp_path):
    rows = places()
    (tmp_path / "people.txt").write_text(
        "place;people\n"
        + "".join(f"{region}0{part};{part}000\n" for region in "169" for part in "012345"),
        encoding="utf-8",
    )
    stated = {"people": 2000, "population": "people.txt", "header": True}
    order = order_of(tmp_path, rows[:500], hierarchy={"prefix": [3, 1]}, floor=stated)
    order.write(series={"record": "ssn"})
    order.release()
    order.write_source(rows)
    order.release()
    assert audit_release(order.releases / "v2", order.plan).passed
    book = json.loads((order.releases / "v2" / "codebook.json").read_text(encoding="utf-8"))
    of_batches = [
        [entry["labels"] for entry in batch["attributes"] if entry["name"] == "city"]
        for batch in book["batches"].values()
    ]
    # 100 and 101 have fewer than 2,000 people: 102 joins them.
    assert of_batches[0] == of_batches[1]
    assert of_batches[0][0][:4] == ["1 (other)", "103", "104", "105"]


def test_a_column_that_says_nothing_is_told(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr("crowdcover.tasks.stages.encode.log_line", said.append)
    order = order_of(tmp_path, floor=601)
    order.release()
    assert labels(order) == ["(any)"]
    assert audit_release(order.folder_of_v1, order.plan).passed
    assert any("'city' says nothing: its hierarchy" in line for line in said)


def test_the_file_of_a_population_is_part_of_the_plan_and_its_place_is_not(tmp_path):
    order = order_of(tmp_path, floor={"people": 9, "population": "a.csv"})
    (tmp_path / "a.csv").write_text("100;8\n101;7\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("101\t7\n100\t8\n", encoding="utf-8")
    hashes = [ReleasePlan.load(order.plan).sha256]
    for floor in ({"people": 9, "population": "b.csv"}, {"people": 8, "population": "b.csv"}, 9):
        order.write(columns={"city": {**order.document["columns"]["city"], "floor": floor}})
        hashes.append(ReleasePlan.load(order.plan).sha256)
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


@pytest.mark.parametrize(
    ("city", "words"),
    [
        ({"floor": 0}, "columns.city.floor must be a number of people"),
        ({"floor": "many"}, "columns.city.floor must be a number of people"),
        ({"floor": {"population": "a.csv"}}, "columns.city.floor must be"),
        ({"floor": {"people": 5, "header": True}}, "header belongs to a file"),
        ({"floor": {"people": 5, "population": "a.csv"}}, "columns.city.floor: .* cannot be read"),
        ({"floor": 5, "kind": "numeric"}, "belongs to kind"),
        ({"floor": 5, "role": "keep", "kind": "categorical"}, "belongs to role = 'quasi'"),
        ({"floor": {"people": 5, "population": "s3://a/b.csv"}}, "must be a local file"),
    ],
)
def test_what_is_wrong_with_a_floor_is_refused_by_its_key(tmp_path, city, words):
    order = order_of(tmp_path, **city)
    with pytest.raises(PlanError, match=words):
        ReleasePlan.load(order.plan)


def test_a_floor_without_a_hierarchy_is_refused(tmp_path):
    order = order_of(tmp_path)
    order.write(columns={"city": {"role": "quasi", "kind": "categorical", "floor": 5}})
    with pytest.raises(PlanError, match=r"columns.city.floor belongs to a hierarchy"):
        ReleasePlan.load(order.plan)


@pytest.mark.parametrize("text", ["100;8\n100;9\n", "100;8;9\n", "100;8\n101;1.5\n", "", "100;-1"])
def test_a_bad_file_of_a_population_is_refused_with_its_line(tmp_path, text):
    order = order_of(tmp_path, floor={"people": 9, "population": "a.csv"})
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(
        PlanError, match=r"columns.city.floor: .* refused: (line [12] |it is empty)"
    ):
        ReleasePlan.load(order.plan)
