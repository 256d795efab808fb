"""Starter plans: once decided they load, fit their table and can be released; they hold no cell."""

import csv
import datetime
import decimal
import io
import re
import tomllib

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive
from anon_core.errors import InputError
from anon_core.tables.cells import write_cells
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.table.pipeline.encode import encode_records
from crowdcover.kinds.table.pipeline.read import read_table
from crowdcover.storage.source.reading import Reading
from tests.support.starter import MARK, decided, people, store, written

KINDS = ["csv", "csv.gz", "parquet", "arrow"]


def plan_of(source, folder, header=None):
    """The starter plan, written, decided and loaded as a person would."""
    path = folder / "starter.toml"
    text = written(source, header)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError, match=r"k of privacy: .*; people of privacy: "):
        ReleasePlan.load(path)
    path.write_text(decided(text), encoding="utf-8")
    return ReleasePlan.load(path)


def release(plan):
    """Cells of a release, without Prefect."""
    reading = Reading(plan.data.source)
    plan.data.check_header(reading.header)
    frame, k, _ = read_table(reading, plan.data.columns, plan.data.demand, ())
    table, kept, _ = encode_records(frame, k, plan.data.columns, plan.data.demand)
    assert kept.all()
    masked = Adaptive(max_iterations=1).anonymize(table)
    return write_cells(table, masked.hidden)


def roles(plan):
    return {name: section.role for name, section in plan.columns.items()}


ROLES = {
    "patient.id": "identifier",
    "first name": "identifier",
    "Größe (cm)": "quasi",
    'the "job"': "quasi",
    "visit": "quasi",
    "sex": "quasi",
    "wards": "quasi",
    "serial": "identifier",
    "empty": "drop",
    "[x]": "quasi",
}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_starter_plan_names_every_column_and_can_be_released(tmp_path, kind):
    source = store(people(), tmp_path, kind)
    plan = plan_of(source, tmp_path)
    assert roles(plan) == ROLES
    assert [plan.columns[name].kind for name in ("Größe (cm)", "visit", "sex", "wards")] == [
        "numeric",
        "date",
        "binary",
        "categorical",
    ]
    assert plan.name == "people"
    assert plan.data.demand.constant == 5
    cells = release(plan)
    assert list(cells) == [name for name, role in ROLES.items() if role == "quasi"]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_stands_in_a_starter_plan(tmp_path, kind):
    text = written(store(people(), tmp_path, kind))
    for cell in (MARK, "150.5", "2020", "7000", '"f"'):
        assert cell not in text


@pytest.mark.long
def test_every_proposal_has_its_reason(tmp_path):
    text = written(store(people(), tmp_path, "csv"))
    sections = re.split(r"^\[columns\.", text, flags=re.MULTILINE)[1:]
    assert len(sections) == len(ROLES)
    for section in sections:
        assert re.search(r'^role = "\w+" +# \w+', section, flags=re.MULTILINE)
        assert re.search(r"# .*\d+ (distinct|rows)", section)
    assert "names or numbers someone, by its name: 40 distinct texts in 40 rows" in text
    assert "no value in 40 rows" in text
    assert "30 distinct numbers in 40 rows" in text


NAMES = st.text(st.sampled_from("ab.'\"\\ #=[]äß\t\n\x7f\U0001f600*^$ZI"), max_size=6).map(
    str.strip
)


@pytest.mark.long
@settings(max_examples=25)  # a release each
@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True), kind=st.sampled_from(KINDS))
def test_any_column_name_makes_a_plan(tmp_path_factory, names, kind):
    folder = tmp_path_factory.getbasetemp()
    cells = {name: [f"{MARK}{i % 2}" for i in range(120)] for name in names} | {
        "sure": list("xy") * 60
    }
    source = store(pl.DataFrame(cells), folder, kind)
    text = written(source)
    assert MARK not in text
    assert list(tomllib.loads(text)["columns"]) == [*names, "sure"]
    plan = plan_of(source, folder)
    cells = release(plan)
    assert "sure" in cells


@pytest.mark.long
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_found(tmp_path, separator):
    frame = people()
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows([frame.columns, *frame.rows()])
    source = tmp_path / "people.tsv"
    source.write_text(text.getvalue(), encoding="utf-8")
    plan = plan_of(source, tmp_path)
    assert plan.source.separator == separator
    assert roles(plan) == ROLES
    release(plan)


@pytest.mark.long
@pytest.mark.parametrize(
    "first",
    [
        ["31", f"{MARK} job", "f"],
        [f"{MARK} job", "2020-01-31", "f"],
        [f"{MARK} a", "-1.5", "0"],
        ["0", "0", f"{MARK} a"],
    ],
)
def test_a_first_row_of_cells_is_not_taken_for_names(tmp_path, first):
    """Otherwise a person's cells would stand in the plan as the names of its columns."""
    source = tmp_path / "people.csv"
    rows = [first, *([f"{i % 4}", f"{MARK} {i % 3}", "fm"[i % 2]] for i in range(12))]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    source.write_text(text.getvalue(), encoding="utf-8")
    assert MARK not in written(source)
    plan = plan_of(source, tmp_path)
    assert not plan.source.header
    assert list(plan.columns) == ["column_1", "column_2", "column_3"]
    assert len(next(iter(release(plan).values()))) == 13


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("id", "identifier"),
        ("ID", "identifier"),
        ("patientId", "identifier"),
        ("Patient-ID", "identifier"),
        ("lastName", "identifier"),
        ("surname", "identifier"),
        ("Full Name", "identifier"),
        ("e-mail", "identifier"),
        ("email_address", "identifier"),
        ("phone", "identifier"),
        ("SSN", "identifier"),
        ("licence", "identifier"),
        ("iban", "identifier"),
        ("street", "identifier"),
        ("patient name", "identifier"),
        ("hospital_mrn", "identifier"),
        ("clinic patient id", "identifier"),
        ("ward phone", "identifier"),
        ("ward", "quasi"),
        ("drug name", "quasi"),
        ("school_id", "quasi"),
        ("email_of_manufacturer", "drop"),
        ("idle", "quasi"),
        ("humidity", "quasi"),
        ("renamed", "quasi"),
        ("key", "drop"),
        ("", "drop"),
    ],
)
def test_names_that_name_a_person(tmp_path, name, role):
    frame = pl.DataFrame({name: ["a", "b"] * 60, "sure": ["x", "y"] * 60})
    assert roles(plan_of(store(frame, tmp_path, "csv"), tmp_path))[name] == role


COLUMNS = {
    "texts of one's own": ([f"{MARK}{i}" for i in range(600)], "identifier"),
    "texts of nearly one's own": ([f"{MARK}{i % 590}" for i in range(600)], "identifier"),
    "many texts": ([f"{MARK}{i % 590}" for i in range(1800)], "drop"),
    "scarce texts": ([f"{MARK}{i % 200}" for i in range(600)], "drop"),
    "free text": ([MARK * 30 + str(i % 590) for i in range(600)], "drop"),
    "long names": ([MARK * 30 + str(i % 50) for i in range(600)], "categorical"),
    "few texts": ([f"{MARK}{i % 9}" for i in range(600)], "categorical"),
    "two texts": (["no", "yes"] * 300, "binary"),
    "two and none": (["no", "yes", None] * 200, "binary"),
    "one text": (["no"] * 600, "drop"),
    "one text or none": (["no", None, None] * 200, "categorical"),
    "nothing": ([None] * 600, "drop"),
    "numbers of one's own": (list(range(600)), "identifier"),
    "measures": ([i / 7 for i in range(600)], "numeric"),
    "few numbers": ([i * i % 20 for i in range(600)], "categorical"),
    "ages": ([20 + i % 9 + i % 17 + i % 23 for i in range(600)], "numeric"),
    "codes with gaps": ([i % 40 * 37 % 997 + 1000 * (i % 3) for i in range(600)], "categorical"),
    "codes in the order of the rows": (
        [*range(40), *((i % 40) ** 2 // 40 for i in range(560))],
        "categorical",
    ),
    "amounts of any length": ([2 ** (i % 13) * i for i in range(600)], "numeric"),
    "below zero": ([(i * 7) % 90 - 45 for i in range(600)], "numeric"),
    "numbers of a thousand people": ([i * 7919 % 1000 * 90 for i in range(3000)], "identifier"),
    "numbers without a gap": ([i * 7919 % 300 for i in range(3000)], "identifier"),
    "numbers of people": ([80000 + i * 7919 % 9973 % 550 * 13 for i in range(600)], "identifier"),
    "runs of numbers": ([i // 4 + 1 for i in range(600)], "identifier"),
    "round amounts": ([(i % 60) ** 3 * 100 for i in range(600)], "sensitive"),
    "mails": ([f"{MARK}{i % 50}@example.org" for i in range(600)], "identifier"),
    "full names": (
        [f"{'ABCD'[i % 4]}nn O'Ha{'bcdefgh'[i % 7]}e" for i in range(600)],
        "identifier",
    ),
    "telephones": ([f"+49 30 {1000000 + i % 50}" for i in range(600)], "identifier"),
    "texts and numbers": (["1", "x"] * 300, "binary"),
    "not all finite": (["nan", "1", "2"] * 200, "binary"),
    "codes": ([f"{i % 9 * 1250:05}" for i in range(600)], "categorical"),
    "fractions": ([f"{i % 9 / 8:.3f}" for i in range(600)], "numeric"),
    "long numbers": ([9007199254740993 + i % 2 for i in range(600)], "binary"),
    "long numbers of one's own": ([9007199254740993 + i for i in range(600)], "identifier"),
    "dates": ([str(datetime.date(2020, 1, 1 + i % 9)) for i in range(600)], "date"),
    "years of two digits": ([f"{1 + i % 9:02}-11-20" for i in range(600)], "date"),
    "dates with a month first": ([f"01/{1 + i % 28:02}/2020" for i in range(600)], "date"),
    "dates with a day first": ([f"{1 + i % 28}.01.2020" for i in range(600)], "date"),
    "dates in words": ([f"January {1 + i % 28}, 2020" for i in range(600)], "date"),
    "dates without signs": ([f"202001{1 + i % 28:02}" for i in range(600)], "date"),
    "moments": ([f"2020-01-{1 + i % 28:02} 23:59:00" for i in range(600)], "date"),
    "foreign dates": ([f"{1 + i % 9}/31/2020" for i in range(600)], "categorical"),
}


@pytest.mark.long
@pytest.mark.parametrize("what", COLUMNS)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_proposals(tmp_path, what, kind):
    cells, expected = COLUMNS[what]
    frame = pl.DataFrame({"a": cells, "sure": (["x", "y"] * len(cells))[: len(cells)]})
    plan = plan_of(store(frame, tmp_path, kind), tmp_path)
    section = plan.columns["a"]
    assert (section.kind if section.role == "quasi" else section.role) == expected
    release(plan)


ODD = {
    "list": (pl.Series([[MARK]] * 40), "drop"),
    "struct": (pl.Series([{"x": MARK}] * 40), "drop"),
    "bytes": (pl.Series([b"\xff"] * 40), "drop"),
    "span": (pl.Series([datetime.timedelta(days=1)] * 40), "drop"),
    "null": (pl.Series([None] * 40), "drop"),
    "time": (pl.Series([datetime.time(1), datetime.time(2)] * 20), "binary"),
    "moment": (pl.Series([datetime.datetime(2020, 1, 1 + i % 9) for i in range(40)]), "date"),
    "zoned": (
        pl.Series([datetime.datetime(2020, 1, 1 + i % 9) for i in range(40)]).dt.replace_time_zone(
            "Asia/Tokyo"
        ),
        "date",
    ),
    "flag": (pl.Series([True, False] * 20), "binary"),
    "price": (pl.Series([decimal.Decimal(i % 30) / 8 for i in range(40)]), "numeric"),
    "level": (pl.Series(["a", "b", "c", "d"] * 10, dtype=pl.Categorical), "categorical"),
    "fixed": (pl.Series(["a", "b"] * 20, dtype=pl.Enum(["a", "b"])), "binary"),
    "holes": (pl.Series([float("nan"), 1.0] * 20), "binary"),
    "unsigned": (pl.Series([i * i % 7 for i in range(40)], dtype=pl.UInt8), "categorical"),
}


@pytest.mark.long
@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_proposals_for_types(tmp_path, what, kind):
    series, expected = ODD[what]
    frame = pl.DataFrame({"a": series, "sure": ["x", "y"] * 20})
    plan = plan_of(store(frame, tmp_path, kind), tmp_path)
    section = plan.columns["a"]
    assert (section.kind if section.role == "quasi" else section.role) == expected
    release(plan)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("_x.csv", "x"),
        ("-x.csv", "x"),
        (".hidden.csv", "release"),
        ("größe 2.csv", "gr-e-2"),
        ("ä.csv", "release"),
        (250 * "x" + ".csv", 200 * "x"),
        ('a"\U0001f600.csv', "a"),
    ],
)
def test_file_names_become_release_names(tmp_path, file, name):
    source = tmp_path / file
    source.write_text("a,b\n" + "1,x\n2,y\n" * 10)
    plan = plan_of(source, tmp_path)
    assert plan.name == name
    assert plan.data.source.path == source
    release(plan)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\nzq7,1\n", "1 row"),
        (b"a,b\nzq7\nzq7,1\n", "more or fewer than 2 fields"),
        (b"a,a\nzq7,1\nzq7,1\n", "1 of 2 column names of the source occur more than once"),
        (b"a,b\nzq7,\xff\nzq7,1\n", "not UTF-8 text"),
        (b'a,"b\nzq7,1\nzq7,1\n', "a quoted field of the source does not end"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path, content, words):
    source = tmp_path / "people.csv"
    source.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        written(source)
    assert MARK not in str(caught.value) + repr(caught.value)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_files_that_are_not_there(tmp_path):
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(InputError, match=f"{name} was not found"):
            written(tmp_path / name)
