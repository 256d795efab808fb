"""The text of a starter plan: databases, passwords, people, reasons."""

import re
import sqlite3
import tomllib

import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError, source_called
from crowdcover.kinds.table.starter.proposals import propose_role
from crowdcover.kinds.table.starter.writing import propose_plan
from crowdcover.storage.source.snapshot.packed_rows import PackedRows
from crowdcover.storage.source.sources import Source
from tests.support.starter import MARK, decided, people, store, written

ROWS = [(i, f"{MARK}{i % 4}", 20 + i % 9 + i % 17) for i in range(200)]


@pytest.fixture(params=["sqlite", "duckdb"])
def database(request, tmp_path):
    """A database file of one table, as a source."""
    path = tmp_path / f"my people.{request.param}"
    if request.param == "sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("create table people (who integer, city text, age integer)")
            connection.executemany("insert into people values (?, ?, ?)", ROWS)
        connection.close()
    else:
        duckdb = pytest.importorskip(
            "duckdb", reason="the driver is not installed: pip install 'crowdcover[duckdb]'"
        )
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table people (who integer, city text, age integer)")
            connection.executemany("insert into people values (?, ?, ?)", ROWS)
    return source_called(f"{request.param}:///{path}", "select * from people")


@pytest.mark.long
def test_a_database_gets_a_plan(database, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(decided(propose_plan(database)))
    plan = ReleasePlan.load(path)
    assert plan.name == "my-people"
    assert {name: column.role for name, column in plan.columns.items()} == {
        "who": "identifier",
        "city": "quasi",
        "age": "quasi",
    }
    assert (plan.data.source.uri, plan.data.source.query) == (database.uri, database.query)
    assert MARK not in path.read_text()


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://ann:zq7@db/people",
        "postgresql://ann:z@q:7@db:5433/people",
        "postgresql://db/people?user=ann&password=zq7",
    ],
)
def test_a_password_on_the_command_line(uri):
    """Other users of the machine see it in the list of processes."""
    with pytest.raises(PlanError, match="SOURCE or --query holds a password") as caught:
        source_called(uri, "select 1")
    assert "7" not in str(caught.value)


def test_a_plan_says_where_passwords_belong(monkeypatch):
    """The database is not asked: a frame stands in for its answer."""
    frame = pl.DataFrame({"age": [20 + i % 9 for i in range(200)]})
    monkeypatch.setattr(
        "crowdcover.storage.source.reading.query_database", lambda *_: PackedRows.of(frame)
    )
    uri = "postgres://ann@db/people?sslmode=require"
    plan = propose_plan(Source(uri=uri, query="select age from people"))
    assert tomllib.loads(plan)["source"]["uri"] == uri
    assert "PGPASSWORD" in plan


@pytest.mark.parametrize(
    ("address", "query", "words"),
    [
        ("sqlite:///a.db", None, "a database needs a query: --query"),
        ("people.csv", "select 1", "--query belongs to a database"),
        ("people.duckdb", None, "looks like a database: put duckdb:/// before it"),
        ("people.DB", "select 1", "looks like a database: put sqlite:/// before it"),
        ("mysql://a/b", "select 1", "SOURCE must be a file or start with s3://, gs://, sqlite:///"),
    ],
)
def test_sources_on_the_command_line(address, query, words):
    with pytest.raises(PlanError, match=words):
        source_called(address, query)


def test_a_database_that_does_not_answer(tmp_path):
    with pytest.raises(InputError, match=r"none\.db was not found"):
        propose_plan(source_called(f"sqlite:///{tmp_path / 'none.db'}", "select 1"))


# ---------------------------------------------------------------- people


def test_repeated_numbers_ask_who_the_people_are(tmp_path):
    frame = pl.DataFrame(
        {
            "claim_no": list(range(600)),
            "company id": [f"{MARK}{i % 40}" for i in range(600)],
            "visit_id": [i * 7919 % 300 for i in range(600)],
            "patient_id": [i * 7919 % 90 + 1000 for i in range(600)],
            "sex": ["f", "m"] * 300,
        }
    )
    plan = written(store(frame, tmp_path, "csv"))
    roles = {name: column["role"] for name, column in tomllib.loads(plan)["columns"].items()}
    assert roles == {
        "claim_no": "identifier",
        "company id": "drop",
        "visit_id": "identifier",
        "patient_id": "identifier",
        "sex": "quasi",
    }
    assert "600 of 600 rows share the patient_id of another row: 90 distinct" in plan
    assert '# person = "patient_id"' in plan
    assert "# rows_are_people = true" in plan


def test_names_in_common_number_nobody(tmp_path):
    frame = pl.DataFrame(
        {
            "Vorname": [["Petra", "Uwe", "Anna"][i % 3] for i in range(200)],
            "born_us": [f"{1 + i % 12:02}/{1 + i % 28:02}/{60 + i % 40}" for i in range(200)],
            "sex": ["f", "m"] * 100,
        }
    )
    plan = written(store(frame, tmp_path, "csv"))
    assert "person = " not in plan
    assert "200 of 200 rows share the Vorname of another row. A name numbers nobody" in plan
    assert 'set role = "drop" for Vorname' in plan
    assert "No other value of an identifier repeats" in plan


def test_without_repeats_each_row_is_one_person(tmp_path):
    frame = pl.DataFrame({"id": list(range(200)), "sex": ["f", "m"] * 100})
    plan = written(store(frame, tmp_path, "csv"))
    assert "No value of an identifier repeats. Each row counts as one person. Is that so?" in plan
    assert "rows_are_people" not in plan


# ---------------------------------------------------------------- what a name says

PLAIN = [20 + i % 9 + i % 17 for i in range(600)]
NAMED = {
    "diagnosis": (["a", "b", "c"] * 200, "sensitive", ["role"]),
    "iDisabl2": ([0, 1, 2] * 200, "sensitive", ["role"]),
    "householdIncome": (PLAIN, "sensitive", ["role"]),
    "religion": (["a", "b", "c"] * 200, "sensitive", ["role"]),
    "total_payment_usd": (PLAIN, "sensitive", ["role"]),
    "form of payment": (["a", "b", "c"] * 200, "categorical", []),
    "learning": (["a", "b", "c"] * 200, "categorical", []),
    "survey_weight": (PLAIN, "keep", []),
    "PERWT": ([-1, *PLAIN], "drop", []),
    "weight": (PLAIN, "numeric", ["role"]),
    "age": (PLAIN, "numeric", []),
    "ageGroup": ([1, 2, 3, 4, 5, 6] * 100, "categorical", []),
    "age_in_groups": ([1, 2, 3, 4, 5, 6] * 100, "categorical", []),
    "children": ([0, 1, 2, 3] * 150, "numeric", []),
    "ZIP": (PLAIN, "categorical", []),
    "RACE": ([1, 2, 3] * 200, "categorical", []),
    "procedure_code": (PLAIN, "categorical", []),
    "state_num": (PLAIN, "categorical", []),
    "latitude": ([i * i % 30 + 0.5 for i in range(600)], "numeric", ["role"]),
    "loan_id": (PLAIN, "identifier", ["role"]),
    "credit card number": (PLAIN, "identifier", ["role"]),
    "claim number": (PLAIN, "identifier", []),
    "case no": (PLAIN, "identifier", []),
    "number of claims": (PLAIN, "sensitive", ["role"]),
    "num_siblings": (PLAIN, "numeric", []),
    "individual": (PLAIN, "identifier", []),
    "student": (["yes", "no"] * 300, "binary", []),
    "is_recid": ([0, 1] * 300, "sensitive", ["role"]),
    "two_year_recid": ([0, 1] * 300, "sensitive", ["role"]),
    "recid": (list(range(600)), "identifier", ["role"]),
    "has_email": (["yes", "no"] * 300, "binary", []),
    "phone type": (["home", "work", "none"] * 200, "categorical", []),
    "perweight": ([20.5 + i % 90 for i in range(600)], "keep", []),
    "PERWEIGHT": (PLAIN, "keep", []),
    "percent": ([f"{i / 6:.3f}" for i in range(600)], "numeric", []),
    "pct": ([i * 37 % 101 for i in range(600)], "numeric", []),
    "q7": ([i * 37 % 101 for i in range(606)], "numeric", ["kind"]),
    "anteil": ([f"{i / 6:.2f}%" for i in range(600)], "drop", ["role"]),
    "nombre d'enfants": ([0, 1, 2, 3] * 150, "numeric", []),
    "Nombre": (["Luz", "Paz", "Sol", "Mar"] * 150, "identifier", ["role"]),
    "Gewicht": (PLAIN, "numeric", ["role"]),
    "DPHY": ([1, 2] * 300, "sensitive", ["role"]),
}
DECADES = set(range(10, 100, 10))
GROUPED = {
    "age": ([18 + i % 70 for i in range(600)], DECADES),
    "Lebensalter": ([18 + i % 70 for i in range(600)], DECADES),
    "edad": ([18.5 + i % 70 for i in range(600)], DECADES),
    "年龄": ([18 + i % 70 for i in range(600)], DECADES),
    "birth_year": ([1930 + i % 80 for i in range(600)], set(range(1920, 2030, 10))),
    "rok urodzenia": ([1930 + i % 80 for i in range(600)], set(range(1920, 2030, 10))),
    "age of car in days": ([i % 900 for i in range(600)], set()),
    "born": ([i * i % 90 for i in range(600)], set()),
}


@pytest.mark.parametrize("name", GROUPED)
def test_ages_and_years_of_birth_get_decades(name):
    cells, edges = GROUPED[name]
    settings = tomllib.loads("\n".join(propose_role(pl.Series(name, cells)).settings))
    bins = settings.get("bins")
    assert set(bins["edges"] if isinstance(bins, dict) else ()) == edges


def test_edges_do_not_tell_how_old_the_oldest_is():
    young, old = (pl.Series("age", [18 + i % most for i in range(600)]) for most in (30, 90))
    assert propose_role(young).settings == propose_role(old).settings


@pytest.mark.parametrize("name", NAMED)
def test_names_decide_what_numbers_mean(name):
    cells, expected, decide = NAMED[name]
    proposal = propose_role(pl.Series(name, cells))
    kind = "".join(proposal.settings[:1]).removeprefix('kind = "').removesuffix('"')
    assert (kind if proposal.role == "quasi" else proposal.role) == expected
    assert list(proposal.decide) == decide


def test_weights_are_kept_in_steps_that_rows_share():
    weights = [round(3 + 400 * (i * 37 % 601 / 601) ** 2, 1) for i in range(600)]
    proposal = propose_role(pl.Series("PERWT", weights))
    settings = tomllib.loads("\n".join(proposal.settings))
    assert settings == {"kind": "numeric", "step": 10, "top": "k", "bottom": "k"}
    counts = pl.Series([round(each / 10) for each in weights]).unique_counts()
    assert counts.filter(counts < 5).sum() < 10
    finer = pl.Series([round(each / 5) for each in weights]).unique_counts()
    assert finer.filter(finer < 5).sum() >= 10
    few = [10.5] * 400 + [float(i) for i in range(200)]
    assert propose_role(pl.Series("PERWT", few)).role == "drop"


def test_dates_whose_day_or_month_may_stand_first_are_asked_about():
    both = [f"{1 + i % 12:02}/{1 + i % 11:02}/2020" for i in range(600)]
    proposal = propose_role(pl.Series("seen", both))
    assert proposal.decide == ("format",)
    clear = [f"{1 + i % 12:02}/{1 + i % 28:02}/2020" for i in range(600)]
    proposal = propose_role(pl.Series("seen", clear))
    assert proposal.decide == ()
    assert 'format = "%m/%d/%Y"' in proposal.settings


LIMITS = {"max_attack_success": 0.2, "min_utility": 0.5, "max_row_loss": 0.02}


METHOD = "\n# Left out, the method is"  # what follows the limits


def offered(text):
    """A plan with the mark of comments taken from every key that stands behind one in [checks]."""
    head, tail = text.split("\n[checks]")
    checks, rest = tail.split(METHOD)
    taken = re.sub(r"(?m)^# (?=\w+ = )", "", checks)
    return f"{head}\n[checks]{taken}{METHOD}{rest}"


@pytest.mark.long
@pytest.mark.parametrize("name", ["illness", "zq7 'ill'.x"])
def test_limits_are_set_and_explained_and_more_are_offered(tmp_path, name):
    frame = people().with_columns(pl.Series(["flu", "none"] * 20).alias(f"{name} diagnosis"))
    text = written(store(frame, tmp_path, "csv"))
    assert tomllib.loads(text)["checks"] == {"max_uniform": 0.05, **LIMITS}
    section = text.partition("\n[checks]")[2].partition(METHOD)[0]
    assert all(re.search(rf"(?m)^{limit} = \S+ +# \w", section) for limit in LIMITS)
    path = tmp_path / "plan.toml"
    path.write_text(offered(decided(text)).replace("# mix = ", "mix = "))
    plan = ReleasePlan.load(path)
    assert plan.checks.equivalence_k == 5
    assert plan.checks.drift == type(plan.checks.drift)()  # offered as it is anyway
    assert [each.column for each in plan.checks.l_diversity] == [f"{name} diagnosis"]
    assert [each.column for each in plan.checks.t_closeness] == [f"{name} diagnosis"]
    assert plan.privacy.mix == f"{name} diagnosis"
    assert plan.checks.columns


@pytest.mark.long
def test_without_a_sensitive_column_no_limit_is_about_one(tmp_path):
    text = written(store(people(), tmp_path, "csv"))
    assert tomllib.loads(text)["checks"] == LIMITS
    assert "mix" not in text
    path = tmp_path / "plan.toml"
    path.write_text(offered(decided(text)))
    with pytest.raises(PlanError, match="no column has role = 'sensitive'; give a column that"):
        ReleasePlan.load(path)


@pytest.mark.long
def test_the_column_with_the_commonest_value_is_offered_to_be_mixed(tmp_path):
    columns = {"diagnosis": ["flu", "none"] * 20, "religion": ["a", "b", "b", "b"] * 10}
    frame = people().with_columns(pl.Series(cells).alias(name) for name, cells in columns.items())
    assert '# mix = "religion"' in written(store(frame, tmp_path, "csv"))
