"""The JSON Schema of plans: what it accepts, and the key that it names of a wrong plan."""

import copy
import json
import re
import tomllib
from dataclasses import fields
from datetime import date
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.flows.plan.schema import FILE, LINE, format_schema, plan_schema
from crowdcover.kinds import KINDS
from crowdcover.kinds.meanings import list_key_meanings
from tests.flows.orders import Order
from tests.flows.processes import crowdcover

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs/schema/plan.schema.json"
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
WHOLE = plan_schema()
TABLE = FILE.format(kind="table")


def errors(document, schema=WHOLE):
    """Where a plan is wrong: the path of each error, and what it says."""
    plain = json.loads(json.dumps(document, default=date.isoformat))
    found = jsonschema.Draft202012Validator(schema).iter_errors(plain)
    return [(list(error.absolute_path), error.message) for error in found]


def example(name):
    return tomllib.loads((ROOT / "examples" / f"{name}.toml").read_text("utf-8"))


def kind_of(document):
    return document["source"].get("kind", "table")


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_it_is_a_schema(kind):
    jsonschema.Draft202012Validator.check_schema(plan_schema(kind))


def test_the_kept_schema_is_that_of_the_code():
    """If it is not: crowdcover schema > docs/schema/plan.schema.json."""
    assert KEPT.read_text("utf-8") == format_schema(WHOLE)


@pytest.mark.long
def test_the_command_prints_the_schema():
    printed = crowdcover("schema")
    assert (printed.code, printed.err, printed.out) == (0, "", format_schema(WHOLE))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_name_the_schema_and_keep_it(path):
    text = path.read_text("utf-8")
    named = text.splitlines()[0]
    assert named.startswith(LINE)
    assert (path.parent / named.removeprefix(LINE)).resolve() == KEPT
    document = tomllib.loads(text)
    assert errors(document) == errors(document, plan_schema(kind_of(document))) == []


def test_plans_of_the_deployment_keep_it():
    text = (ROOT / "deploy/team/women.toml").read_text("utf-8")
    assert errors(tomllib.loads(text)) == []
    part = tomllib.loads((ROOT / "deploy/slurm/compute.toml").read_text("utf-8"))
    assert errors({**example("adult"), **part}) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", list(KINDS))
def test_a_plan_of_another_kind_is_wrong(kind):
    plans = [tomllib.loads(path.read_text("utf-8")) for path in EXAMPLES]
    others = [plan for plan in plans if kind_of(plan) != kind]
    assert others
    assert all(errors(plan, plan_schema(kind)) for plan in others)


def test_plans_of_the_docs_keep_it():
    page = (ROOT / "docs/plan.md").read_text("utf-8")
    plans = [
        tomllib.loads(block)
        for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
        if "[columns" in block and "[source" in block
    ]
    assert {kind_of(plan) for plan in plans} == set(KINDS)
    assert [errors({"name": "docs", **plan}) for plan in plans] == [[]] * len(plans)


@pytest.mark.long
def test_starter_plans_keep_it(tmp_path):
    Order(tmp_path)
    pl.DataFrame({"user": ["a", "b"], "item": ["c", "d"]}).write_csv(tmp_path / "pairs.csv")
    for source, *kind in (
        ("people.csv",),
        ("pairs.csv", "--kind", "matrix", "--header"),
        ("pairs.csv", "--kind", "graph", "--header"),
    ):
        printed = crowdcover("plan", tmp_path / source, *kind)
        named = FILE.format(kind=kind[1] if kind else "table")
        assert printed.out.startswith(f"{LINE}{named}\n")
        assert errors(tomllib.loads(printed.out)) == []


@pytest.mark.long
def test_a_plan_in_a_file_gets_the_schema_beside_it(tmp_path):
    order = Order(tmp_path / "a")
    plan = tmp_path / "starter.toml"
    assert crowdcover("plan", order.source, "--output", plan).code == 0
    assert plan.read_text("utf-8").splitlines()[0] == LINE + FILE.format(kind="table")
    kept = json.loads((tmp_path / FILE.format(kind="table")).read_text("utf-8"))
    assert kept == plan_schema("table")


@pytest.mark.long
@pytest.mark.parametrize("content", ["{}", "[]", "not JSON", '{"title": "another"}'])
def test_another_file_of_the_schemas_name_stays(tmp_path, content):
    order = Order(tmp_path / "a")
    (tmp_path / TABLE).write_text(content)
    for command in (
        ("plan", order.source, "--output", tmp_path / "starter.toml"),
        ("schema", "--output", tmp_path / TABLE),
    ):
        refused = crowdcover(*command)
        assert (refused.code, refused.out) == (2, "")
        assert "is there and is no schema of crowdcover; choose another --output" in refused.err
    assert (tmp_path / TABLE).read_text() == content
    assert not (tmp_path / "starter.toml").exists()


def test_an_older_schema_is_replaced(tmp_path):
    (tmp_path / TABLE).write_text(format_schema({**WHOLE, "properties": {}}))
    assert crowdcover("schema", "--kind", "graph", "--output", tmp_path / TABLE).code == 0
    assert json.loads((tmp_path / TABLE).read_text("utf-8")) == plan_schema("graph")


WRONG = [
    ("adult", ("nmae",), "x", [], "nmae"),
    ("adult", ("name",), "a b", ["name"], "a b"),
    ("adult", ("source", "hedaer"), True, ["source"], "hedaer"),
    ("adult", ("source", "header"), "yes", ["source", "header"], "boolean"),
    ("adult", ("source", "kind"), "tabel", ["source", "kind"], "tabel"),
    ("adult", ("source", "layout"), "edges", ["source"], "layout"),
    ("adult", ("columns", "age", "role"), "kuasi", ["columns", "age", "role"], "kuasi"),
    ("adult", ("columns", "age", "bins"), {"quantile": 5}, ["columns", "age", "bins"], "quantile"),
    ("adult", ("columns", "age", "weight"), 0, ["columns", "age", "weight"], "0"),
    ("adult", ("privacy", "k"), "5", ["privacy", "k"], "5"),
    ("adult", ("privacy", "k"), {"uniform": [5]}, ["privacy", "k"], "uniform"),
    ("adult", ("privacy", "eps"), 0.1, ["privacy"], "eps"),
    ("adult", ("anonymizer", "name"), "smooth", ["anonymizer", "name"], "smooth"),
    ("adult", ("anonymizer", "sweeps"), 3, ["anonymizer"], "sweeps"),
    ("adult", ("anonymizer", "epsilon"), "2", ["anonymizer", "epsilon"], "number"),
    ("adult", ("anonymizer", "seats"), "odd", ["anonymizer", "seats"], "odd"),
    ("adult", ("compute", "engine"), "slurm", ["compute", "engine"], "slurm"),
    ("adult", ("compute", "threads"), 1.5, ["compute", "threads"], "integer"),
    ("adult", ("checks", "drift"), "on", ["checks", "drift"], "on"),
    ("adult", ("checks", "min_utility"), 2, ["checks", "min_utility"], "2"),
    ("adult", ("publish", "formats"), ["xlsx"], ["publish", "formats", 0], "xlsx"),
    ("facebook", ("source", "layout"), "edge", ["source", "layout"], "edge"),
    ("facebook", ("privacy", "person"), "u", ["privacy"], "person"),
    ("facebook", ("anonymizer", "epsilon"), 2.0, ["anonymizer"], "epsilon"),
    ("facebook", ("series",), {"record": "u"}, ["series"], "not be"),
    ("collins", ("privacy", "eps"), 1, ["privacy", "eps"], "1"),
    ("collins", ("privacy", "knows"), "all", ["privacy", "knows"], "all"),
    ("collins", ("columns", "x"), "y", ["columns"], "x"),
]


@pytest.mark.parametrize(("name", "place", "value", "path", "said"), WRONG, ids=str)
def test_a_wrong_plan_fails_at_the_right_key(name, place, value, path, said):
    document = copy.deepcopy(example(name))
    table = document
    for key in place[:-1]:
        table = table.setdefault(key, {})
    table[place[-1]] = value
    found = errors(document)
    assert [where for where, _ in found] == [path] * len(found) != []
    assert any(said in message for _, message in found)
    with pytest.raises(PlanError):  # what a schema refuses, the plan refuses
        ReleasePlan.of(document)


# Refused by a plan only: a value of the right type, by its size, its form or another key.
BY_MEANING = {
    "source", "source.partition.column", "source.separator", "columns", "columns.categorical",
    "privacy.k.seed", "privacy.person", "anonymizer.epsilon", "anonymizer.max_iterations",
    "anonymizer.patience",
}  # fmt: skip
OTHER_VALUES = ["text of no meaning", -7, 3.5, True, [], ["x"], {}, {"zz": 1}]


def places(table, above=()):
    for key, value in table.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from places(value, (*above, key))


@pytest.mark.long
@pytest.mark.parametrize("name", ["adult", "facebook", "collins", "openpayments-series"])
def test_plan_and_schema_refuse_the_same_types_and_keys(name):
    whole = example(name)
    schema = jsonschema.Draft202012Validator(plan_schema(kind_of(whole)))
    for place in places(whole):
        for value in OTHER_VALUES:
            document = copy.deepcopy(whole)
            table = document
            for key in place[:-1]:
                table = table[key]
            table[place[-1]] = value
            try:
                ReleasePlan.of(document)
                refused = False
            except PlanError:
                refused = True
            kept = schema.is_valid(json.loads(json.dumps(document, default=date.isoformat)))
            assert kept != refused or (kept and ".".join(place) in BY_MEANING), (place, value)


@pytest.mark.parametrize("key", ["name", "source", "columns", "privacy"])
def test_a_missing_section_is_named(key):
    document = example("adult")
    del document[key]
    assert any(key in message for _, message in errors(document))


def test_every_key_says_what_it_means():
    def bare(schema, where):
        for name, each in schema.get("properties", {}).items():
            if isinstance(each, dict) and not each.get("description"):
                yield (*where, name)
            yield from bare(each if isinstance(each, dict) else {}, (*where, name))
        for part in ("additionalProperties", "items"):
            if isinstance(schema.get(part), dict):
                yield from bare(schema[part], (*where, part))

    for kind in KINDS:
        forms = list(bare(plan_schema(kind), ()))
        assert forms == [], kind


@pytest.mark.parametrize("name", sorted(ANONYMIZERS))
def test_every_setting_stands_with_its_meaning_and_default(name):
    maker = ANONYMIZERS[name]
    told = list_key_meanings(maker, typed=True)
    assert {field.name for field in fields(maker)} <= told.keys()
    part = plan_schema(maker.kind)["properties"]["anonymizer"]
    (part,) = part["allOf"]
    while part.get("if", {}).get("properties", {}).get("name", {}).get("const", name) != name:
        part = part["else"]
    settings = (part.get("then") or part)["properties"]
    for field in fields(maker):
        assert settings[field.name]["description"] == told[field.name]
        assert settings[field.name]["default"] == field.default


def test_meanings_of_a_docstring():
    class One:
        """First line.

        Attributes
        ----------
        a : of a,
            in two lines.
        b, c : of both.

        Notes
        -----
        d : not this.
        """

    class Two(One):
        """No list."""

    assert list_key_meanings(Two) == {"a": "of a, in two lines.", "b": "of both.", "c": "of both."}

    class Typed:
        """.

        Attributes
        ----------
        a : {"x", "y"}
            What it is.
        The figures are others.
        b : int
        """

    assert list_key_meanings(Typed, typed=True) == {"a": "What it is."}
