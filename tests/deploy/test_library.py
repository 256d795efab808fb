"""The library by itself, in an environment that holds nothing of the pipeline."""

import os
import subprocess
import venv

import polars as pl
import pytest

import crowdcover as cc
from crowdcover.kinds.table.pipeline.warm import COMPILING_NOTICE
from tests.names import ROOT

PIPELINE = ("prefect", "great_expectations", "pandas", "jinja2", "matplotlib", "rich", "pyarrow")
MOST_MIB = 650  # measured: 641, of which numpy, numba, scipy and polars take 605
ROWS = {
    "age": [20 + i % 41 for i in range(300)],
    "zip": [str(1000 + 7 * (i % 13)) for i in range(300)],
    "income": [float(i % 11) for i in range(300)],
}
PROGRAM = f"""
import sys

import flows, tasks
import polars as pl

import crowdcover as cc

assert flows.OWNER == tasks.OWNER == "another project"
df = pl.DataFrame({ROWS})
given = dict(quasi=["age", "zip"], sensitive="income", k=5, secret=bytes(32), cells="text")
out = cc.anonymize(df, **given)
out.frame.write_csv("rows.csv")
print(out, out.risk, out.loss, out.audit, out.vault)
assert out.audit.passed and len(out.complete(2)) == 2 and out._repr_html_()
assert cc.assess(df, quasi=["age", "zip"], sensitive="income", k=5)
assert cc.anonymize(df, plan=cc.plan(df).settle(k=5)).audit.passed
for call, extra in ((lambda: out.save("saved"), "pipeline"), (out.plot, "plots")):
    try:
        call()
    except ImportError as error:
        assert f"pip install 'crowdcover[{{extra}}]'" in str(error), error
    else:
        raise AssertionError(extra)
assert not set({PIPELINE}) & set(sys.modules)
assert sorted(name for name in dir(cc) if name[0] != "_") == sorted(set(cc.__all__))
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A new environment with the library and what it needs, in the versions of the lock."""
    folder = tmp_path_factory.mktemp("library")
    venv.create(folder / "venv", with_pip=True)
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    pins = folder / "pins.txt"
    pins.write_text("\n".join(line for line in lines if not line.startswith("crowdcover")), "utf-8")
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet"]
    run([*pip, "--constraint", pins, ROOT], folder)
    return folder / "venv"


def run(words, folder, heard="", code=0):
    # Without the sources of this checkout, which tests of a copy have on their path.
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=folder, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    # pip may speak of its index.
    told = [line for line in done.stderr.splitlines() if line.startswith("crowdcover")]
    assert told == ([heard] if heard else [])
    return done.stdout


@pytest.mark.soak  # all kernels are compiled, two minutes
def test_it_stands_beside_a_project_with_packages_of_its_own(environment, tmp_path):
    """`flows` and `tasks` are names that many projects use."""
    for name in ("flows", "tasks"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text('OWNER = "another project"', "utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    # Nothing is compiled yet: the auditor's kernels are compiled beside the makers'.
    run([environment / "bin" / "python", "program.py"], tmp_path, heard=COMPILING_NOTICE)
    run([environment / "bin" / "python", "program.py"], tmp_path)
    given = {"quasi": ["age", "zip"], "sensitive": "income", "k": 5, "secret": bytes(32)}
    here = cc.anonymize(pl.DataFrame(ROWS), **given, cells="text").frame
    assert (tmp_path / "rows.csv").read_text("utf-8") == here.write_csv()


def test_it_installs_two_packages_and_little_else(environment):
    packages = next(environment.glob("lib/python3*/site-packages"))
    names = {path.name for path in packages.iterdir()}
    assert {"crowdcover", "anon_core"} <= names
    assert not {"flows", "kinds", "tasks", "storage", "validations", "reports", "tests"} & names
    assert not set(PIPELINE) & names
    size = sum(each.lstat().st_size for each in packages.rglob("*") if each.is_file())
    assert size < MOST_MIB * 2**20


def test_its_command_says_what_it_lacks(environment, tmp_path):
    command = environment / "bin" / "crowdcover"
    assert "release" in run([command, "--help"], tmp_path)
    pl.DataFrame(ROWS).write_csv(tmp_path / "people.csv")
    document = cc.plan(pl.DataFrame(ROWS)).settle(k=5)
    document["source"]["path"] = "people.csv"
    document.write(tmp_path / "people.toml")
    lacks = (
        "crowdcover: the package 'rich' is not installed; frames need the library alone, this "
        "command needs the pipeline: pip install 'crowdcover[pipeline]'"
    )
    run([command, "release", "people.toml"], tmp_path, heard=lacks, code=1)
