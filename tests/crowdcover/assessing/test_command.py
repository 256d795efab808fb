"""`crowdcover assess` on files."""

import json

import polars as pl
import pytest

from tests.support.commands import call, refusal

ROWS = "age,zip,illness\n20-29,101**,flu\n20-29,101**,cold\n30-39,10117,gout\n,*,gout\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(ROWS)
    return path


def test_a_table_below_k_exits_with_4(table, capsys):
    asked = ["--quasi", "age,zip", "--sensitive", "illness", "--k", 2]
    code, shown, _ = call(capsys, "assess", table, *asked)
    assert code == 4
    lines = shown.splitlines()
    assert lines[0] == "<Assessment: 4 rows, k = 1>"
    assert lines[1] == "  2 of 4 rows are in groups of fewer than 2 identical rows"
    assert not any(value in shown for value in ("flu", "101", "20-29"))
    assert call(capsys, "assess", table, "--quasi", "age,zip")[0] == 0


def test_all_numbers_as_json(table, tmp_path, capsys):
    people = tmp_path / "people.parquet"
    pl.DataFrame({"age": [25, 31, 90], "zip": ["10115", "10117", "x"]}).write_parquet(people)
    arguments = ["--quasi", "age,zip", "--sensitive", "illness", "--source", people, "--json"]
    code, shown, _ = call(capsys, "assess", table, *arguments)
    assert code == 0
    found = json.loads(shown, parse_constant=lambda name: pytest.fail(name))
    assert found["k"] == 1
    assert found["crowds"]["least"] == 2
    assert found["sensitive"]["illness"]["delta"] is None
    assert (found["source"]["least"], found["source"]["fit_one"]) == (1, 1)
    assert [each["suppressed"] for each in found["columns"]] == [1, 1]


def test_numbers_written_otherwise_are_different_cells(tmp_path, capsys):
    path = tmp_path / "table.csv"
    path.write_text("zip,who,pay\n007,01,1\n7,1,2\n7,1,9\n7,01,9\n")
    asked = ["--quasi", "zip", "--person", "who", "--sensitive", "pay", "--json"]
    found = json.loads(call(capsys, "assess", path, *asked)[1])
    assert (found["classes"]["groups"], found["k"]) == (2, 1)
    assert found["classes"]["alone"] == 1  # 7 is of the people 1 and 01
    assert found["sensitive"]["pay"]["t"] == 0.625  # 0.75 if it had no order


def test_a_column_that_is_absent_is_said(table, capsys):
    told = refusal(call(capsys, "assess", table, "--quasi", "agee"), 3)
    assert "has no column agee; write names as its first row has them" in told


def test_a_first_row_of_cells_is_not_shown(tmp_path, capsys):
    path = tmp_path / "table.csv"
    path.write_text("secret1,secret2\nsecret3,secret4\nsecret5,secret6\n")
    assert "secret" not in refusal(call(capsys, "assess", path, "--quasi", "age"), 3)


def test_a_file_that_is_absent_is_said(tmp_path, capsys):
    absent = call(capsys, "assess", tmp_path / "absent.csv", "--quasi", "age")
    assert "absent.csv was not found" in refusal(absent, 3)
