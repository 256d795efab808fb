"""`crowdcover check`: what a release would refuse, in its words, and without the data."""

import json
import re
import subprocess
import sys
from textwrap import dedent

import pytest
import yaml

from crowdcover.flows import cli
from crowdcover.flows.launch.one_plan import load_ready_plan
from crowdcover.kinds.section import PlanError
from tests.names import ROOT

PLAN = """
name = "people"
[source]
path = "people.csv"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.income]
role = "sensitive"
[privacy]
k = 3
"""
NAMES = ["age", "income"]
FIELDS = [{"name": "age", "type": "integer"}, {"name": "income", "type": "string"}]
ODCS = """
apiVersion: v3.0.2
kind: DataContract
schema:
  - name: people
    physicalName: raw_people
    properties:
      - {name: age, logicalType: integer, physicalType: bigint}
      - {name: income, logicalType: string}
"""
DBT = """
version: 2
models:
  - name: people
    columns:
      - {name: age, data_type: numeric(10, 2)}
      - {name: income, data_type: varchar(20)}
"""
FORMS = {  # by file name, each with the two columns
    "names.txt": "age\nincome\n",
    "header.csv": 'age,"income"\n',
    "head.csv": "age,income\n41,zq7\n",
    "schema.json": json.dumps({"fields": FIELDS}),
    "fields.json": json.dumps(FIELDS),
    "datapackage.json": json.dumps(
        {"resources": [{"name": "r", "path": "data/people.csv", "schema": {"fields": FIELDS}}]}
    ),
    "contract.yaml": ODCS,
    "older.yaml": "dataset:\n- table: people\n  columns:\n  - column: age\n  - column: income\n",
    "schema.yml": DBT,
    "sources.yml": "sources:\n- name: raw\n  tables:\n  - name: people\n    columns:\n"
    "    - {name: age}\n    - {name: income}\n",
}


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_text(dedent(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def check(capsys):
    """Run the command; its exit code, what it printed, and the refusals."""

    def check(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main(["check", *map(str, arguments)])
        printed = capsys.readouterr()
        return ended.value.code, printed.out.splitlines(), printed.err.splitlines()

    return check


def released(path):
    """What a release refuses."""
    with pytest.raises(PlanError) as refused:
        load_ready_plan(path, [])
    return str(refused.value)


def test_a_good_plan_is_good_without_its_source(check, write):
    plan = write("people.toml", PLAN)
    assert check(plan) == (0, [f"{plan}: nothing is refused"], [])
    assert check(plan, "--quiet") == (0, [], [])


def test_all_that_is_wrong_is_told_and_the_first_is_what_a_release_says(check, write):
    wrong = PLAN + 'person = "age"\nmix = "age"\n[compute]\nmemory = "much"\nengine = "mpi"\n'
    plan = write("people.toml", wrong.replace("k = 3", "k = 1") + '[publish]\npath = "vault"\n')
    code, out, told = check(plan)
    start = f"crowdcover: {plan}: "
    assert (code, out) == (2, [])
    assert all(line.startswith(start) for line in told)
    assert [line.removeprefix(start).partition(";")[0] for line in told] == [
        "privacy.k = 1 protects nobody",
        "privacy.person: column 'age' has role = 'quasi'",
        "privacy.mix: column 'age' has role = 'quasi'",
        "compute.memory must be a number and a unit, e.g. '4GiB'",
        "compute.engine = 'mpi' needs compute.cluster, e.g. {launcher = 'mpirun', "
        "tasks_per_node = 2}",
        "publish.path and publish.vault are the same folder: a copy of one may include the other, "
        "and the vault holds secrets",
    ]
    assert told[0] == start + released(plan)


def test_columns_that_are_wrong_are_all_told(check, write):
    text = PLAN.replace('kind = "numeric"', 'kind = "numeric"\norder = ["a"]')
    text = text.replace('role = "sensitive"', 'role = "sensitive"\nweight = 2.0')
    plan = write("people.toml", text)
    assert [line.partition("columns.")[2] for line in check(plan)[2]] == [
        "age.order belongs to kind = 'categorical'",
        "income.weight belongs to role = 'quasi', this column has role = 'sensitive'",
    ]


def test_several_plans_are_each_checked(check, write):
    good, bad = write("good.toml", PLAN), write("bad.toml", PLAN.replace("k = 3", "k = 0"))
    lost = good.with_name("lost.toml")
    code, out, told = check(bad, good, lost)
    assert (code, out) == (2, [f"{good}: nothing is refused"])
    assert told == [
        f"crowdcover: {bad}: every k must be at least 1 and at most 2147483647",
        f"crowdcover: {lost}: the plan {lost} cannot be read; give the path of a TOML file",
    ]
    code, out, _ = check(good, bad, "--json")
    plans = json.loads("\n".join(out))["plans"]
    assert (code, [each["plan"] for each in plans]) == (2, [str(good), str(bad)])
    assert [len(each["refusals"]) for each in plans] == [0, 1]
    assert check(good, "--set", "privacy.k=0")[0] == 2


def test_refusals_may_be_lines_of_json(check, write, monkeypatch):
    monkeypatch.setenv("CROWDCOVER_LOGS", "json")
    (line,) = check(write("bad.toml", PLAN.replace("k = 3", "k = 0")))[2]
    assert "every k must be at least 1" in json.loads(line)["message"]


# ---------------------------------------------------------------- columns


@pytest.mark.parametrize("name", FORMS)
def test_columns_are_read_in_each_form(check, write, name):
    columns, plan = write(name, FORMS[name]), write("people.toml", PLAN)
    assert check(plan, "--columns", columns)[0] == 0
    other = write("other.toml", PLAN.replace("columns.income", "columns.pay"))
    code, _, told = check(other, "--columns", columns)
    write("people.csv", "age,income\n41,zq7\n")
    assert (code, told) == (2, [f"crowdcover: {other}: {released(other)}"])
    assert "columns of the plan that the source does not have: pay" in told[0]
    assert "columns of the source that the plan does not name: income" in told[0]


def test_names_that_occur_twice_and_a_number_of_columns(check, write):
    plan = write("people.toml", PLAN)
    (told,) = check(plan, "--columns", write("names.txt", "age\nincome\nage\n"))[2]
    assert "1 of 3 column names of the source occur more than once" in told
    plan = write("people.toml", PLAN.replace("[columns.age]", "header = false\n[columns.age]"))
    columns = write("names.txt", "a\nb\nc\n")
    write("people.csv", "41,1,2\n")
    assert check(plan, "--columns", columns)[2] == [f"crowdcover: {plan}: {released(plan)}"]
    # Without a header a file has no names that could be wrong.
    assert check(plan, "--columns", write("names.txt", "a\nb\n"))[0] == 0


def test_the_table_of_a_document_is_chosen(check, write):
    two = [
        {"name": "towns", "schema": {"fields": [{"name": "town"}]}},
        {"name": "r2", "path": "x/people.parquet", "schema": {"fields": FIELDS}},
    ]
    columns = write("datapackage.json", json.dumps({"resources": two}))
    plan = write("people.toml", PLAN)
    assert check(plan, "--columns", columns)[0] == 0  # the file of the source is called so, too
    assert check(plan, "--columns", f"{columns}#r2")[0] == 0
    assert "names of none of the 2 columns" in check(plan, "--columns", f"{columns}#towns")[2][0]
    (told,) = check(plan, "--columns", f"{columns}#town")[2]
    assert told.endswith(
        f"lists the tables towns, r2; say which one, such as --columns {columns}#towns; did you "
        "mean 'towns'?"
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("lost.txt", None, "cannot be read as text; give a list of names, a CSV header"),
        ("bad.json", '{"zq7', "is no JSON or YAML; correct it"),
        ("bad.yml", "zq7: [", "is no JSON or YAML; correct it"),
        ("none.json", "{}", "lists no columns; give a list of names"),
        ("none.yml", "zq7", "lists no columns"),
        ("odd.yml", "models: [zq7, {columns: {name: 3}}]", "lists no columns"),
    ],
)
def test_files_of_columns_that_are_none(check, write, name, content, words):
    columns = write(name, content) if content is not None else name
    code, _, told = check(write("people.toml", PLAN), "--columns", columns)
    assert code == 2
    assert words in told[0]
    assert "zq7" not in told[0]


def test_types_count_where_a_source_has_types(check, write):
    fields = [{"name": "age", "type": "date"}, {"name": "income", "type": "object"}]
    columns, plan = write("schema.json", json.dumps(fields)), write("people.toml", PLAN)
    assert check(plan, "--columns", columns)[0] == 0  # all of a CSV file is text
    plan = write("people.toml", PLAN.replace("people.csv", "people.parquet"))
    assert [line.partition(f"{plan}: ")[2] for line in check(plan, "--columns", columns)[2]] == [
        "column 'age' holds Date, not numbers; make it a date or categorical",
        "column 'income' holds Struct; convert it or give it role = 'drop'",
    ]


MATRIX = """
name = "baskets"
[source]
kind = "matrix"
layout = "edges"
path = "baskets.csv"
[columns]
user = "user"
item = "item"
[privacy]
k = 3
"""
GRAPH = """
name = "friends"
[source]
kind = "graph"
path = "friends.csv"
[columns]
u = "u"
v = "v"
[privacy]
k = 3
eps = 0.1
"""


@pytest.mark.parametrize(
    ("text", "names", "lacking"), [(MATRIX, "user,item", "item"), (GRAPH, "u,v", "v")]
)
def test_other_kinds_are_checked_too(check, write, text, names, lacking):
    plan = write("plan.toml", text)
    assert check(plan, "--columns", write("columns.csv", names))[0] == 0
    code, _, told = check(
        plan, "--columns", write("columns.csv", f"other,{names.partition(',')[0]}")
    )
    assert code == 2
    assert f"that the source does not have: {lacking}; " in told[0]


def test_the_hook_for_pre_commit_calls_this_command(check, write):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert f"id: {hook['id']}" in (ROOT / "docs/how-to/plans-in-git.md").read_text("utf-8")
    assert re.search(hook["files"], "plans/a/people.toml")
    assert not re.search(hook["files"], "pyproject.toml")
    program, command, *options = hook["entry"].split()
    assert (program, command) == ("crowdcover", "check")
    assert check(*options, write("people.toml", PLAN)) == (0, [], [])


# ---------------------------------------------------------------- what is not touched


PROGRAM = """
import sys

opened, made = [], []
sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None)
sys.addaudithook(lambda event, arguments: made.append(event) if "socket.connect" in event else None)
sys.argv = ["crowdcover", "check", *sys.argv[1:]]
from crowdcover.flows.cli import main

try:
    main()
except SystemExit as end:
    code = end.code
slow = {"prefect", "great_expectations", "numba", "scipy", "pandas", "llvmlite"} & {*sys.modules}
private = [path for path in map(str, opened) if "/private/" in path]
print(code, slow, private, made)
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["table", "matrix", "graph"])
def test_neither_source_nor_vault_is_opened_and_nothing_slow_is_imported(tmp_path, write, kind):
    """A source of the wrong format, which a look at it would tell."""
    texts = {"table": PLAN, "matrix": MATRIX, "graph": GRAPH}
    (tmp_path / "private" / "vault").mkdir(parents=True)
    for name in ("people", "baskets", "friends"):
        (tmp_path / "private" / f"{name}.csv").write_bytes(b"PK\x03\x04")
    text = texts[kind].replace('path = "', 'path = "private/')
    plan = write("plan.toml", text + '[publish]\nvault = "private/vault"\n')
    names = {"table": "age,income", "matrix": "user,item", "graph": "u,v"}
    columns = write("columns.csv", names[kind])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(plan), "--columns", str(columns)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.splitlines()[-1] == "0 set() [] []", done.stdout + done.stderr
    assert not any((tmp_path / "private" / "vault").iterdir())
