"""`anonymize`: a frame of any library goes in, what the command would publish comes out."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from anon_core.errors import AnonymityError, GuaranteeError, InputError
from crowdcover import anonymize
from crowdcover import plan as propose
from crowdcover.flows.look.audit import recompute_guarantees
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.releasing.saving import save_release
from tests.crowdcover.releasing.people import people
from tests.names import ROOT

SECRET = bytes(range(32))
LIBRARIES = {
    "polars": (lambda frame: frame, pl.DataFrame),
    "pandas": (pl.DataFrame.to_pandas, None),
    "pyarrow": (pl.DataFrame.to_arrow, None),
}


def drawn_demands(seed):
    """What to ask of a drawn table."""
    rng = np.random.default_rng(seed)
    frame = people(int(rng.integers(12, 70)), seed)
    asked = {"k": int(rng.integers(2, 6)), "sensitive": ["income"], "keep": ["note"]}
    quasi = [name for name in ("age", "zip", "born", "smokes") if rng.random() < 0.8] or ["age"]
    form = rng.integers(0, 7)
    if form == 1:
        owner = rng.integers(0, frame.height // 2, frame.height)
        frame = frame.with_columns(pl.Series("who", [f"p{each}" for each in owner]))
        asked |= {"person": "who", "k": 2}
    elif form == 2:
        frame = frame.with_columns(pl.Series("wish", rng.integers(2, 5, frame.height)))
        asked |= {"k": {"column": "wish"}, "columns": {"wish": {"role": "drop"}}}
    elif form == 3:
        asked["leave_out"] = 0.1
    elif form == 4:
        asked["method"] = "classes"
    elif form == 5 and "zip" in quasi:
        asked["hierarchies"] = {"zip": {"prefix": [5, 3, 1]}}
    elif form == 6:
        asked["columns"] = {"income": {"step": 2000}}
    return frame, quasi, asked


def releases_are_equal(seed, folder):
    """Whether the frame's release has the rows of the command's, with one secret."""
    frame, quasi, asked = drawn_demands(seed)
    try:
        out = anonymize(frame, quasi, **asked, secret=SECRET)
    except (InputError, PlanError):
        with pytest.raises((InputError, PlanError)):
            save_release(made_plan(frame, quasi, asked), SECRET, frame, folder)
        return None
    release = out.save(folder)
    saved = pl.read_parquet(release / "data.parquet")
    assert saved.equals(out.frame), seed
    assert out.frame.height == frame.height - out.risk["rows_left_out"]
    return folder, release


def made_plan(frame, quasi, asked):
    """The plan that `anonymize` makes of its arguments."""
    from crowdcover.releasing.plans import build_frame_plan

    given = dict(asked)
    roles = {"quasi": quasi, "sensitive": given["sensitive"], "keep": given["keep"]}
    roles["identifier"] = [given["person"]] if "person" in given else []
    columns = {name: {"hierarchy": of} for name, of in given.get("hierarchies", {}).items()}
    columns |= given.get("columns", {})
    privacy = {key: given[key] for key in ("k", "person", "leave_out") if key in given}
    method = {"name": "k-member"} if given.get("method") == "classes" else {}
    return build_frame_plan(frame, roles, columns, privacy, method)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_rows_are_those_of_the_command(seed, tmp_path):
    releases_are_equal(seed, tmp_path / "saved")


@pytest.mark.slow
def test_rows_of_20_tables_are_those_of_the_command(tmp_path):
    made = [releases_are_equal(seed, tmp_path / str(seed)) for seed in range(8, 28)]
    assert sum(each is not None for each in made) > 10


@pytest.mark.long
def test_a_saved_folder_passes_the_audit(tmp_path):
    release = anonymize(people(), ["age", "zip"], k=5, sensitive="income").save(tmp_path / "a")
    plan = ReleasePlan.load(tmp_path / "a" / "plan.toml")
    audit = recompute_guarantees(release, plan)
    assert audit.passed, audit.sentence()
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="not empty"):
        anonymize(people(), "age", k=5).save(tmp_path / "a")


@pytest.mark.long
@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_come_back_as_they_came(library):
    convert, _ = LIBRARIES[library]
    frame = people().drop("born") if library == "pandas" else people()
    given = convert(frame)
    out = anonymize(given, ["age", "zip"], k=5, sensitive="income", secret=SECRET, cells="text")
    plain = anonymize(frame, ["age", "zip"], k=5, sensitive="income", secret=SECRET, cells="text")
    assert type(out.frame) is type(given)
    assert pl.from_dataframe(out.frame)["age"].to_list() == plain.frame["age"].to_list()
    (completed,) = out.complete(1)
    assert type(completed) is type(given)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_everybody_has_a_crowd_by_definition(seed):
    frame, k = people(40, seed), 4
    frame = frame.with_columns(pl.col("note", "zip").fill_null("none"))
    out = anonymize(frame, ["note", "zip"], k=k, sensitive="income", cells="text")
    rows = out.frame.select("note", "zip").rows()
    for record in frame.select("note", "zip").rows():
        assert sum(all(map(allows, row, record)) for row in rows) >= k


def allows(cell, value):
    """Whether a cell of categories allows a value."""
    return cell == "*" or value in cell.split("|")


@pytest.mark.long
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_snippet_of_the_readme(library):
    text = (ROOT / "README.md").read_text("utf-8")
    snippet = text.partition("```python\n")[2].partition("```")[0]
    assert "cc.anonymize(df" in snippet
    names = {"df": LIBRARIES[library][0](people().drop("born"))}
    exec(snippet, names)
    assert names["out"].audit.passed
    assert len(names["out"].frame) == 60


def test_classes_are_seen_by_counting():
    quasi = ["age", "zip"]
    out = anonymize(people(), quasi, k=5, method="classes", cells="text")
    assert out.frame.group_by(quasi).len()["len"].min() >= 5


@pytest.mark.long
def test_the_secret_alone_decides():
    ask = {"quasi": ["age", "zip"], "k": 5, "keep": "note"}
    one, same = (anonymize(people(), **ask, secret=SECRET).frame for _ in range(2))
    other = anonymize(people(), **ask).frame
    assert one.equals(same)
    assert not one["key"].equals(other["key"])


def test_nothing_private_is_shown():
    frame = people().with_columns(name=pl.Series([f"Person {n}" for n in range(60)]))
    out = anonymize(frame, ["age", "zip"], k=5, identifiers="name", sensitive="income")
    pages = (out._repr_html_(), out.risk._repr_html_())
    shown = "\n".join(
        [*map(repr, (out, out.vault, out.plan, out.audit, out.risk, out.loss)), *pages]
    )
    assert "Person" not in shown
    assert not set(out.frame["key"]) & set(shown.split())
    assert "never publish" in repr(out.vault)
    assert out.dropped == ["born", "smokes", "note", "name"]
    assert out.audit.passed
    assert 0 < float(out.loss) < 1
    assert out.risk["below_k"] == 0


def test_it_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = anonymize(people(), "age", k=5)
    repr(out), out._repr_html_(), out.complete(1)
    assert out.plot()._repr_png_().startswith(b"\x89PNG")  # what a notebook shows
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"quasi": ["agee"]}, "no column agee"),
        ({"quasi": ["age"], "keep": ["age"]}, "two roles"),
        ({"quasi": []}, "quasi-identifier"),
        ({"k": None}, "needs k"),
        ({"k": 1}, "protects nobody"),
        ({"k": 61}, "60"),
        ({"cells": "lists"}, "cells"),
        ({"secret": b"short"}, "32 bytes"),
        ({"method": "mondrian"}, "anonymizer.name"),
        ({"columns": {"age": {"bin": 3}}}, "columns.age.bin"),
        ({"effort": 9}, "effort"),
        ({"person": "note"}, "people who own more than 1/k"),
        ({"columns": {"age": {"bins": object()}}}, "texts, numbers, booleans"),
    ],
)
def test_refusals_are_those_of_the_plan(change, says):
    ask = {"quasi": ["age"], "k": 5, **change}
    with pytest.raises(AnonymityError, match=says):
        anonymize(people(), **ask)


def test_what_is_no_table_is_refused():
    for data in ([1, 2], {"a": [1]}, people().lazy()):
        with pytest.raises(InputError, match="polars, pandas or pyarrow"):
            anonymize(data, "a", k=2)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ([0, 1, 2], "must be texts"),
        ([("a", 1), ("a", 2), ("b", 1)], "must be texts"),
        (["a", "b", "a"], "same name"),
    ],
)
def test_names_of_columns_that_polars_does_not_take_are_refused(names, says):
    data = pd.DataFrame([[1, 2, 3]] * 9)
    data.columns = names
    with pytest.raises(InputError, match=says):
        anonymize(data, "a", k=2)


def test_numbers_of_numpy_and_nan_are_taken():
    data = people().with_columns(pl.col("age").cast(pl.Float64))
    missing = data.with_columns(pl.col("age").fill_null(float("nan")))
    ask = {"quasi": ("age", "zip"), "secret": bytes(32)}
    one = anonymize(
        missing, k=np.int64(5), columns={"age": {"bins": {"edges": np.array([30, 45])}}}, **ask
    )
    other = anonymize(data, k=5, columns={"age": {"bins": {"edges": [30, 45]}}}, **ask)
    assert_frame_equal(one.frame, other.frame)


@pytest.mark.long
def test_limits_of_the_plan_are_demanded():
    plan = propose(people()).settle(k=5)
    plan["checks"] = {"min_utility": 1.0}
    with pytest.raises(GuaranteeError, match="nothing is returned"):
        anonymize(people(), plan=plan)


@pytest.mark.long
def test_a_proposed_plan_is_edited_and_released():
    plan = propose(people())
    assert "privacy.k" in plan.questions
    with pytest.raises(PlanError, match="decide"):
        anonymize(people(), plan=plan)
    settled = plan.settle(k=5)
    assert plan.questions
    assert not settled.questions
    assert "# " in settled.to_toml()  # the reasons stay
    settled["columns"]["note"]["role"] = "keep"
    out = anonymize(people(), plan=settled)
    assert "note" in out.frame.columns
    assert type(settled)(settled.to_toml()) == settled
    with pytest.raises(InputError, match="state a plan, or roles"):
        anonymize(people(), "age", k=5, plan=settled)


def test_a_release_survives_pickle():
    out = anonymize(people(), "age", k=5)
    assert pickle.loads(pickle.dumps(out)).frame.equals(out.frame)


@pytest.mark.long
def test_neither_prefect_nor_great_expectations_is_loaded():
    program = (
        "import sys, polars as pl\n"
        "from crowdcover import anonymize\n"
        "out = anonymize(pl.DataFrame({'a': [1, 1, 2, 2], 's': list('abcd')}), 'a', k=2,"
        " sensitive='s', effort=0)\n"
        "out.frame, out.risk, out.loss, out.audit, repr(out), out.complete(1)\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'prefect', 'great_expectations', 'pandas', 'dask'}, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_numbers_of_few_values_are_no_groups():
    """As in a starter plan: groups of six ages would show no cell exactly."""
    frame = pl.DataFrame(
        {
            "few": [float(i % 6) / 2 for i in range(240)],
            "many": [float(i % 60) for i in range(240)],
            "step": [i % 3 for i in range(240)],
        }
    )
    columns = {"step": {"hierarchy": {"ladder": [1, 2]}}}
    out = anonymize(frame, quasi=["few", "many", "step"], k=3, columns=columns)
    stated = out.plan.to_dict()["columns"]
    assert stated["few"] == {"role": "quasi", "kind": "numeric", "bins": "none"}
    assert stated["many"] == {"role": "quasi", "kind": "numeric"}
    assert "bins" not in stated["step"]
    assert out.loss["per_column"]["few"]["one_value"] > 0.1
