"""A rerun on new data: too much drift since the last release is refused, with the reason."""

import json
import random
import re
import shutil

import polars as pl
import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.judge.drift import DriftLimits
from tests.flows.orders import Order, people
from tests.flows.processes import crowdcover
from tests.support.audits import audit_release
from tests.support.releases import change, manifest

# Nothing is carried: the tables share people, and distinct carried values would shrink crowds.
DRIFTS = {"diagnosis": {"role": "drop"}, "note": {"role": "drop"}}
NEW = "new-Lemuria"


def order_of(folder, rows=None, **sections):
    sections = {"publish": {"allow_second_release": True}, "columns": DRIFTS, **sections}
    return Order(folder, rows, **sections)


def changed(number, value, rows=None, some=lambda row: True):
    """Rows in which one field is another for some."""
    return [
        (*row[:number], value(row), *row[number + 1 :]) if some(row) else row
        for row in rows or people()
    ]


def stages(order):
    return {path.parent.name for path in order.run.path.glob("*/stage.json")}


def anonymized(order):
    return order.stage_times()["anonymize"]


@pytest.fixture
def said(monkeypatch):
    """What is logged about the comparison."""
    lines = []
    monkeypatch.setattr("crowdcover.tasks.stages.compare.log_line", lines.append)
    return lines


@pytest.fixture(scope="module")
def monthly(tmp_path_factory):
    """A release of last month; no test publishes another."""
    order = order_of(tmp_path_factory.mktemp("monthly"))
    order.release()
    return order


@pytest.mark.long
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            changed(2, lambda _: NEW, some=lambda row: row[0] == "ident-00003"),
            "column 'city' has 1 new category in 1 of 90 rows",
        ),
        (
            changed(2, lambda _: "kiel", some=lambda row: row[2] == "ulm"),
            r"column 'city' lacks 1 category that \d\d of 90",
        ),
        (
            people()[::2],
            r"there are 45 rows instead of 90, a difference of 0\.5000, above "
            r"checks\.drift\.rows = 0\.3",
        ),
        (
            people() + [(f"other-{row[0]}", *row[1:]) for row in people()],
            "there are 180 rows instead of 90",
        ),
        (people()[:3], "there are 3 rows instead of 90"),  # not: nobody can hide
        (
            changed(1, lambda row: row[1] + 40),
            r"column 'age' has shifted by 0\.\d+, above checks\.drift\.shift = 0\.1 plus",
        ),
        (
            changed(1, lambda row: "", some=lambda row: int(row[0][-2:]) % 2 == 0),
            "column 'age' has shifted",
        ),
        (changed(3, lambda row: "yes"), "column 'smokes' lacks 1 category"),
    ],
    ids=[
        "new category",
        "gone category",
        "half",
        "double",
        "three",
        "shifted",
        "missing",
        "constant",
    ],
)
def test_what_has_drifted_is_refused_before_any_work(monthly, rows, words):
    monthly.write_source(rows)
    with pytest.raises(
        GuaranteeError,
        match=f"publication refused; compared with v1, .*{words}.*; correct the source, or",
    ) as caught:
        monthly.release()
    assert not [text for text in (NEW, "ulm", "kiel") if text in str(caught.value)]
    assert stages(monthly) == {"ingest"}
    assert "Refused: the source compared with the last release" in monthly.verdicts
    assert str(caught.value) in monthly.verdicts
    assert monthly.versions == ["v1"]


def test_a_column_that_is_gone_or_renamed_is_refused_before_anything_is_read(monthly):
    runs = sorted(monthly.vault.rglob("*"))
    text = monthly.source.read_text()
    monthly.source.write_text(text.replace("ssn,age,city", "ssn,age,town", 1))
    with pytest.raises(
        PlanError,
        match=r"does not have: city; correct the source.*; .*does not name: town; give each a role",
    ):
        monthly.release()
    monthly.source.write_text(
        "".join(line.split(",", 1)[1] for line in text.splitlines(keepends=True))
    )
    with pytest.raises(PlanError, match="does not have: ssn; correct the source, or take them out"):
        monthly.release()
    assert sorted(monthly.vault.rglob("*")) == runs


@pytest.mark.long
def test_the_first_release_has_nothing_to_be_compared_with(monthly, tmp_path, said):
    assert "drift" not in manifest(monthly.folder_of_v1)
    order_of(tmp_path).release()
    assert said == [
        "the vault knows no earlier release of this name in this folder: nothing to compare"
    ]


@pytest.mark.long
def test_new_people_like_the_last_ones_pass_and_the_manifest_says_so(tmp_path, said):
    order = order_of(tmp_path, people(300, draws=5))
    order.release()
    order.write_source(people(330, draws=6))
    folder = order.release()
    section = manifest(folder)["drift"]
    before = manifest(order.folder_of_v1)["utility"]["suppression"]
    assert section.pop("shift") < 0.2
    assert section == {
        "compared_with": "v1",
        "rows_before": 300,
        "rows": 330,
        "columns": 3,
        "new_categories": 0,
        "gone_categories": 0,
        "other_types": 0,
        "utility_before": before,
    }
    assert said[1:] == ["compared with v1: 330 rows after 300, 3 columns"]
    assert audit_release(folder, order.plan).passed
    assert order.release() == folder
    # v1 was first: it is not compared with what came later, and v2 still with v1
    shutil.rmtree(folder)
    order.release()
    assert manifest(folder)["drift"]["compared_with"] == "v1"
    shutil.rmtree(order.folder_of_v1)
    order.write_source(people(300, draws=5))
    order.release()
    assert order.versions == ["v1", "v2"]
    assert "drift" not in manifest(order.folder_of_v1)


@pytest.mark.slow
def test_an_accepted_category_is_new_once(server, released_once):
    order = released_once(order_of)
    rows = changed(2, lambda _: NEW, some=lambda row: row[0] == "ident-00003")
    order.write_source(rows)
    done = crowdcover("release", order.plan)
    assert done.code == 4
    assert (
        "accept it: for one run with --set checks.drift.accepted.city.limit=1 (in Prefect: accept)"
        in done.err
    )
    times = order.stage_times()
    done = crowdcover("release", order.plan, "--set", "checks.drift.accepted.city.limit=1")
    assert (done.code, done.last_line) == (0, str(order.releases / "v2"))
    assert times == {"ingest": order.stage_times()["ingest"]}
    assert manifest(order.releases / "v2")["drift"]["new_categories"] == 1
    order.write_source(rows[1:])
    assert order.release() == order.releases / "v3"
    order.write_source(people()[1:])
    assert (
        order.release() == order.releases / "v4"
    )  # one row less than v3 held it: less than gone_categories
    order.write_source(rows[2:])
    assert manifest(order.release())["drift"]["compared_with"] == "v4"  # known since v2


def unlike(rows, draws=1):
    """The same values in each column, but no more the same people together."""
    chance = random.Random(draws)
    columns = [list(column) for column in zip(*rows, strict=True)]
    for column in columns:
        chance.shuffle(column)
    return list(zip(*columns, strict=True))


@pytest.mark.long
def test_utility_that_falls_is_refused_after_the_check_and_accepting_it_recomputes_nothing(
    tmp_path,
):
    alike = changed(1, lambda row: 20 + int(row[4][-1]) * 10)
    alike = changed(
        2, lambda row: ["ulm", "bonn", "kiel", "essen", "trier"][int(row[4][-1])], alike
    )
    order = order_of(
        tmp_path, changed(3, lambda row: "yes" if row[2] in ("ulm", "kiel") else "no", alike)
    )
    order.release()
    order.write_source(
        unlike(changed(3, lambda row: "yes" if row[2] in ("ulm", "kiel") else "no", alike))
    )
    with pytest.raises(
        GuaranteeError,
        match=(
            r"compared with v1, utility fell from 1\.0000 to 0\.\d+, above "
            r"checks\.drift\.utility"
        ),
    ):
        order.release()
    assert order.versions == ["v1"]
    assert "Refused: utility compared with the last release" in order.verdicts
    times = order.stage_times()
    assert "check" in times
    order.write(checks={"drift": {"utility": 1}})
    folder = order.release()
    assert (
        times.items() < order.stage_times().items()
    )  # and that both releases show the same people
    assert manifest(folder)["drift"]["utility_before"] == 1.0
    assert "Every check was passed" in order.verdicts
    assert "compared with v1: 90 rows after 90" in order.verdicts
    assert re.search(r"utility 0\.\d{4} after 1\.0000", order.verdicts)


@pytest.mark.long
def test_a_gate_that_is_off_compares_nothing(tmp_path, said):
    order = order_of(tmp_path, checks={"drift": "off"})
    order.release()
    order.write_source(people()[::2])
    assert "drift" not in manifest(order.release())
    assert said == ["checks.drift is off: nothing is compared with earlier releases"] * 2


@pytest.mark.parametrize("spoil", [pytest.param("gone", marks=pytest.mark.slow), "tampered"])
def test_a_release_that_is_gone_or_tampered_with_is_compared_with_what_the_vault_keeps(
    released_once, said, spoil
):
    order = released_once(order_of)
    folder = order.folder_of_v1
    if spoil == "gone":
        shutil.rmtree(folder)
    else:
        change(folder / "codebook.json")
    order.write_source(people()[::2])
    with pytest.raises(GuaranteeError, match="compared with v1, there are 45 rows instead of 90"):
        order.release()
    assert "v1 is gone or was changed; the comparison is with what the vault keeps of it" in said
    # a version that is gone is given again: the one that stands is the last
    order.write(checks={"drift": {"rows": 1, "utility": 1}})
    version = order.release().name
    assert version == ("v1" if spoil == "gone" else "v2")
    order.write_source(people()[1::2])
    section = manifest(order.release())["drift"]
    assert (section["compared_with"], section["rows_before"]) == (version, 45)
    assert (
        section["new_categories"] == 0
    )  # the rare city is known, though the last release did without


@pytest.mark.parametrize("stage", [pytest.param("ingest", marks=pytest.mark.slow), "check"])
def test_a_vault_that_has_forgotten_the_last_release_is_not_passed_over(
    server, released_once, stage
):
    order = released_once(order_of)
    shutil.rmtree(order.run.path / stage)
    order.write_source(people()[1:])
    with pytest.raises(
        GuaranteeError,
        match=r"the vault lacks what it kept of that .*--set checks\.drift=off",
    ):
        order.release()
    assert stages(order) == set()
    done = crowdcover("release", order.plan, "--set", "checks.drift=off")
    assert (done.code, done.last_line) == (0, str(order.releases / "v2"))


def test_under_a_changed_plan_data_are_compared_and_utility_is_not(released_once, said):
    order = released_once(order_of)
    order.write(privacy={"k": 30}, columns={"smokes": {"role": "drop"}})
    order.write_source(people()[::2])
    with pytest.raises(GuaranteeError, match="compared with v1, there are 45 rows instead of 90"):
        order.release()
    order.write_source(people()[1:])
    section = manifest(order.release())["drift"]
    assert section["columns"] == 2
    assert "utility_before" not in section
    assert said[-1] == "v1 was made under another plan: utility is not compared"


@pytest.mark.long
def test_a_carried_column_of_another_type_is_refused(tmp_path):
    order = order_of(
        tmp_path, source={"path": "people.parquet"}, columns={"note": {"role": "drop"}}
    )
    table = pl.read_csv(order.source, infer_schema=False)
    table.with_columns(diagnosis=pl.col("diagnosis").str.slice(-1).cast(pl.Int64)).write_parquet(
        tmp_path / "people.parquet"
    )
    order.source = tmp_path / "people.parquet"
    order.release()
    table.with_columns(ssn=pl.col("ssn") + "-other").write_parquet(order.source)
    with pytest.raises(
        GuaranteeError,
        match=(
            r"column 'diagnosis' has type String instead of Int64; correct "
            r".*checks\.drift\.accepted\.diagnosis\.limit=1"
        ),
    ):
        order.release()
    order.write(checks={"drift": {"types": "allow"}})
    assert manifest(order.release())["drift"]["other_types"] == 1


def test_what_a_vault_remembers_stays_there(monthly):
    """The categories and percentiles of the table are no part of a release's facts."""
    assert not any(
        '"profile"' in path.read_text(errors="replace") for path in monthly.folder_of_v1.iterdir()
    )
    remembered = [
        json.loads(path.read_text()) for path in monthly.vault.glob("runs/*/ingest/stage.json")
    ]
    assert all(record["facts"]["profile"]["columns"]["city"]["counts"] for record in remembered)


@pytest.mark.parametrize(
    ("drift", "words"),
    [
        ("on", "checks.drift must be 'off' or a table such as {rows = 0.3}"),
        ({"rows": 1.5}, "checks.drift.rows must be less than or equal to 1"),
        ({"shift": "a lot"}, "checks.drift.shift must be a number"),
        (
            {"edges": 0.1},
            "unknown key checks.drift.edges; allowed: rows, replaced, new_categories, "
            "gone_categories, shift, utility, types",
        ),
        (
            {"accepted": {"ssn": {"limit": 1}}},
            "checks.drift.accepted names 'ssn', which is neither a limit of checks.drift nor a "
            "column that is compared; allowed: rows, replaced, new_categories, gone_categories, "
            "shift, utility, types, age, city, smokes, diagnosis, note",
        ),
        (
            {"accepted": {"age": {"limit": 1, "note": "a\nb"}}},
            "checks.drift.accepted.age.note must be one line",
        ),
        ({"accepted": {"age": {"limit": 2}}}, "checks.drift.accepted.age.limit must be less"),
        ({"types": "other"}, "checks.drift.types must be 'refuse' or 'allow'"),
        (
            {"ignore": ["diagnosis"]},
            "checks.drift.ignore: column 'diagnosis' is no quasi-identifier",
        ),
        (
            {"ignore": ["agee"]},
            "checks.drift.ignore names a column that [columns] does not; allowed: age, city, "
            "smokes",
        ),
    ],
)
def test_limits_are_checked(tmp_path, drift, words):
    order = Order(tmp_path, checks={"drift": drift})
    with pytest.raises(PlanError) as caught:
        ReleasePlan.load(order.plan)
    assert words in str(caught.value)


def test_limits_are_no_part_of_the_hash_and_come_back_from_the_frozen_plan(tmp_path):
    order = Order(tmp_path)
    plain = ReleasePlan.load(order.plan)
    assert plain.checks.drift_limits == DriftLimits()
    off = ReleasePlan.load(order.plan, ["checks.drift=off"])
    eased = ReleasePlan.load(order.plan, ["checks.drift.rows=1", "checks.drift.ignore=['age']"])
    assert eased.checks.drift_limits == DriftLimits(rows=1.0, ignore=("age",))
    assert off.checks.drift_limits is None
    assert ReleasePlan.load(off.freeze(tmp_path / "vault" / "plans")).checks.drift_limits is None
    assert plain.sha256 == off.sha256 == eased.sha256
