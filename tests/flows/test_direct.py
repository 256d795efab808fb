"""A release with direct identifiers is refused with counts, and let through where the plan says."""

import gzip
import json
import random

import pytest

from anon_core.errors import AnonymityError
from crowdcover.flows.course import release_plan
from crowdcover.flows.outcome import exit_code
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.storage.places.place import place_of
from tests.support.audits import audit_release
from tests.validations.recognition.columns import FORMS

PLAN = """
name = "people"
[source]
path = "people.csv"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.ward]
role = "quasi"
kind = "categorical"
[columns.illness]
role = "sensitive"
[columns.note]
role = "keep"
[privacy]
k = 4
[publish]
path = "releases"
vault = "vault"
"""
MATRIX = """
name = "likes"
[source]
kind = "matrix"
path = "likes.csv"
[columns]
user = "user"
item = "item"
keyed = false
[privacy]
k = 4
[publish]
path = "releases"
vault = "vault"
"""
PLANTED = {row: FORMS[form][2] for row, form in ((3, "Germany, mobile"), (9, "Mr"), (30, "Mr"))}
NOTED = 'columns.note.note="the porter of the ward"'


def release(plan, *overrides):
    """Exit code and message of a release."""
    try:
        release_plan(ReleasePlan.load(plan, overrides))
    except AnonymityError as refusal:
        return exit_code(refusal), str(refusal)
    return 0, ""


def audit(folder, plan, *overrides):
    return audit_release(place_of(str(folder)), plan, overrides)


def allowed(*kinds):
    return f"columns.note.allow={json.dumps(kinds)}", NOTED


@pytest.fixture
def plan(tmp_path):
    rng = random.Random(4)
    lines = ["age,ward,illness,note"]
    for row in range(60):
        note = PLANTED.get(row, rng.choice(["ok", "better"]))
        lines.append(
            f"{rng.randrange(20, 60)},{rng.choice('AB')},{rng.choice(['flu', 'cold'])},{note}"
        )
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = tmp_path / "people.toml"
    path.write_text(PLAN)
    return path


@pytest.mark.long
def test_a_release_is_refused_with_column_kinds_and_rows_and_no_cell(plan):
    code, told = release(plan)
    assert code == 4
    for part in ("'note'", "telephone numbers in 1 of 60", "names beside a title in 2 of 60",
                 "columns.note.allow = ['name', 'phone']", "role = 'drop'"):  # fmt: skip
        assert part in told
    assert not any(cell in told for cell in PLANTED.values())
    assert not (plan.parent / "releases" / "people" / "v1").exists()
    code, told = release(plan, *allowed("name"))
    assert code == 4
    assert "telephone" in told
    assert "names beside" not in told


@pytest.mark.long
def test_what_the_plan_allows_is_published_and_told(plan):
    folder = plan.parent / "releases" / "people" / "v1"
    assert release(plan, *allowed("phone", "name"))[0] == 0
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["protection"]["direct_identifiers"] == {"note": {"phone": 1, "name": 2}}
    assert manifest["columns"]["note"] == {
        "role": "keep", "allow": ["name", "phone"], "allow_note": "the porter of the ward"
    }  # fmt: skip
    page = (folder / "report.html").read_text()
    assert "The plan allows it: the porter of the ward." in page
    assert "telephone numbers in 1 of 60 rows" in page
    assert "which shows none" not in page
    assert audit(folder, plan, *allowed("phone", "name")).passed
    assert [each.guarantee for each in audit(folder, plan).broken] == ["no direct identifiers"]


def test_what_is_allowed_and_not_shown_is_told(plan):
    assert release(plan, *allowed("phone", "name", "email"))[0] == 0
    page = (plan.parent / "releases" / "people" / "v1" / "report.html").read_text()
    assert "The plan allows e-mail addresses in the column note, which shows none." in page


def test_labels_of_a_quasi_identifier_are_looked_at_too(plan):
    source = plan.parent / "people.csv"
    text = source.read_text()
    for cell in PLANTED.values():
        text = text.replace(cell, "ok")
    source.write_text(text.replace(",A,", ",Frau Müller,"))
    code, told = release(plan)
    assert code == 4
    assert "column 'ward' shows names beside a title" in told
    assert "Müller" not in told


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (("columns.note.allow=['phone']",), "columns.note.allow needs columns.note.note"),
        (("columns.note.note='why'",), "state both"),
        (("columns.note.allow=['post']", "columns.note.note='why'"), "columns.note.allow"),
        (("columns.note.allow=['phone']", "columns.note.note='ask anna@example.org'"),
         "columns.note.note shows what looks like e-mail addresses"),
        (("columns.note.role='drop'", "columns.note.allow=['phone']", "columns.note.note='why'"),
         "belongs to columns that are published"),
    ],
)  # fmt: skip
def test_a_permission_needs_a_known_kind_a_note_and_a_published_column(plan, keys, told):
    code, refusal = release(plan, *keys)
    assert code == 2
    assert told in refusal


def test_items_of_a_matrix_are_looked_at(tmp_path):
    rng = random.Random(5)
    items = ["tea", "milk", "anna@example.org"]
    pairs = {(user, rng.choice(items)) for user in range(60) for _ in range(3)}
    lines = ["user,item", *(f"u{user},{item}" for user, item in sorted(pairs))]
    (tmp_path / "likes.csv").write_text("\n".join(lines) + "\n")
    plan = tmp_path / "likes.toml"
    plan.write_text(MATRIX)
    code, told = release(plan)
    assert code == 4
    assert "column 'item' shows e-mail addresses" in told
    assert "anna" not in told
    sets = "columns.allow=['email']", "columns.note='a newsletter of a shop'"
    assert release(plan, *sets)[0] == 0
    folder = tmp_path / "releases" / "likes" / "v1"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["protection"]["direct_identifiers"]["item"]["email"] > 0
    assert manifest["columns"]["item"]["allow_note"] == "a newsletter of a shop"
    assert "a newsletter of a shop" in (folder / "report.html").read_text()
    assert audit(folder, plan, *sets).passed


def test_cells_without_text_pass(plan):
    source = plan.parent / "people.csv"
    text = source.read_text()
    for cell in PLANTED.values():
        text = text.replace(cell, "")
    source.write_text(text)
    assert release(plan)[0] == 0
    folder = plan.parent / "releases" / "people" / "v1"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["protection"]["direct_identifiers"] == {}
    with gzip.open(folder / "data.csv.gz", "rt") as file:
        assert len(file.readlines()) == 61
