"""Is the first row names? A row of cells taken for names would stand in the plan."""

import tomllib

import pytest

from anon_core.errors import InputError
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.table.starter.header import compare_first_row
from crowdcover.storage.source.sources import Source
from tests.support.starter import MARK, people, store, written

CITIES = ("ulm", "bonn", "kiel")


def table(folder, first, rows):
    path = folder / "people.csv"
    path.write_text("\n".join(",".join(row) for row in [first, *rows]) + "\n", encoding="utf-8")
    return path


def texts(number):
    """Rows of texts only, so that no type tells."""
    return [(CITIES[i % 3], "fm"[i % 2], f"{MARK}{i % 5}") for i in range(number)]


@pytest.mark.parametrize(
    ("first", "rows", "named"),
    [
        (("place", "s", "remark"), texts(300), True),  # new to columns that repeat their values
        (("ulm", "f", "zq70"), texts(300), False),  # all occur again
        (("oslo", "f", "zq70"), texts(300), False),  # most occur again
        (("oslo", "x", "zq79"), texts(4), None),  # four rows tell nothing
        (("gender", "city", "state"), texts(5), True),  # words that tables use
        (("town", "sex", "remark"), [*texts(300), ("a", "sex", "b")], True),  # one recurs by chance
        (("a", "b"), [(f"{i}", f"{i % 2}") for i in range(9)], True),  # over numbers
        (("7", "b"), [(f"{i}", f"{i % 2}") for i in range(9)], False),
        (("a", "b"), [(f"x{i}", f"y{i}") for i in range(300)], None),  # each cell is new
        (("heart disease", "x"), [(f"disease {i}", f"y{i}") for i in range(90)], None),
        (("heart", "drug"), [(f"illness {i}", f"drug {i}") for i in range(300)], None),
        (("N", "x9"), [(f"{i}", f"x{i}") for i in range(10, 99)], None),  # N may be "not given"
        (("ann",), [(f"x{i}",) for i in range(300)], None),
        (("name",), [(f"x{i}",) for i in range(300)], True),
        (("a", "2020-01-01"), [(f"x{i}", "2020-01-02") for i in range(9)], False),
    ],
)
def test_what_the_first_row_is(tmp_path, first, rows, named):
    assert compare_first_row(Source(path=table(tmp_path, first, rows))).named is named


def test_cells_that_recur_are_refused_as_names(tmp_path):
    """A table of texts only, in which no number betrays the first row."""
    plan = written(table(tmp_path, ("ulm", "f", f"{MARK}0"), texts(300)))
    parsed = tomllib.loads(plan)
    assert parsed["source"]["header"] is False
    assert list(parsed["columns"]) == ["column_1", "column_2", "column_3"]
    assert MARK not in plan
    assert "ulm" not in plan
    assert "3 of 3 first fields look like cells; --header" in plan


TEXTS = [("ulm", "f"), ("bonn", "m"), ("kiel", "f")]


@pytest.mark.parametrize(
    ("rows", "repeated"),
    [
        ([("city", "age"), *((c, str(20 + i % 9)) for i in range(60) for c in CITIES[:1])], 1),
        ([*((CITIES[i % 3], str(i % 7)) for i in range(60)), ("city", "age")], 1),
        ([*((CITIES[i % 3], str(i % 7)) for i in range(30)), ("city", "age")] * 2, 2),
        ([("city", "age"), ("city", "age"), *((CITIES[i % 3], "7") for i in range(500))], 2),
        ([("city", "age"), *(TEXTS[i % 3] for i in range(90))], 1),
        ([("city", "age"), *((f"x{i}", f"y{i}") for i in range(300))], 1),
    ],
)
def test_a_header_that_stands_twice_is_a_header(tmp_path, rows, repeated):
    plan = written(table(tmp_path, ("city", "age"), rows))
    parsed = tomllib.loads(plan)
    assert parsed["source"].get("header", True)
    assert list(parsed["columns"]) == ["city", "age"]
    assert f"{repeated} rows repeat the names of the columns" in plan


def test_two_people_who_are_alike_are_no_header(tmp_path):
    rows = [("ulm", "f"), *TEXTS * 30]
    assert compare_first_row(Source(path=table(tmp_path, ("ulm", "f"), rows))).named is False


def test_where_nothing_tells_a_person_is_asked(tmp_path):
    path = table(tmp_path, ("ann", "ulm"), [(f"x{i}", f"y{i}") for i in range(300)])
    with pytest.raises(InputError, match="say --header or --no-header") as caught:
        written(path)
    assert "ann" not in str(caught.value)
    assert list(tomllib.loads(written(path, header=True))["columns"]) == ["ann", "ulm"]
    assert list(tomllib.loads(written(path, header=False))["columns"]) == ["column_1", "column_2"]


def test_names_can_be_given(tmp_path):
    path = table(tmp_path, ("ulm", "f", f"{MARK}0"), texts(300))
    parsed = tomllib.loads(written(path, names=["city", "sex", "illness"]))
    assert parsed["source"]["header"] is False
    assert parsed["columns"]["illness"]["role"] == "sensitive"
    with pytest.raises(PlanError, match="--names gives 2 names, the source has 3 columns"):
        written(path, names=["city", "sex"])
    with pytest.raises(InputError, match="1 of 3 column names of the source occur more than once"):
        written(path, names=["city", "city", "sex"])


@pytest.mark.parametrize("given", [{"header": True}, {"header": False}, {"names": ["a"]}])
def test_files_that_name_their_columns_take_no_header(tmp_path, given):
    with pytest.raises(PlanError, match="are about CSV files"):
        written(store(people(), tmp_path, "parquet"), **given)
