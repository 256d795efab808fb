"""What another package adds is found, used and audited; what is broken is named, not fatal."""

import json
import os
import subprocess
import sys

import polars as pl
import pytest

import crowdcover as cc
from tests.names import ROOT
from tests.support.toy import install_toy

ROWS = {
    "age": [20 + i % 41 for i in range(300)],
    "zip": [str(1000 + 7 * (i % 13)) for i in range(300)],
    "income": [float(i % 11) for i in range(300)],
}
PROGRAM = f"""
import json, warnings
import polars as pl
import crowdcover as cc

warnings.simplefilter("always")
df, told = pl.DataFrame({ROWS}), {{}}

def tell(name, **given):
    try:
        out = cc.anonymize(df, **given, cells="text")
        classes = out.frame.group_by("age", "zip").len()["len"].min()
        found = out.audit.numbers
        details = [each.detail for name, each in found.items() if name.startswith("check ")]
        told[name] = [classes, details]
    except Exception as error:
        told[name] = f"{{type(error).__name__}}: {{error}}"

with warnings.catch_warnings(record=True) as heard:
    for method in ("toy-classes", "toy-careless", "toy-silent", "broken-import", "toy-of-kind"):
        tell(method, quasi=["age", "zip"], sensitive="income", k=5, method=method)
    for check in ("no-teenagers", "raises", "tells", "absent"):
        plan = cc.plan(df).settle(k=5)
        plan["columns"]["age"]["role"] = "quasi"
        plan["checks"]["plugins"] = [check]
        tell(check, plan=plan)
told["warnings"] = sorted(str(each.message) for each in heard)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return install_toy(tmp_path_factory.mktemp("toy"))


def run(site, words, folder, code=0):
    """Run a program of Python where the toy is installed, too."""
    path = os.pathsep.join(map(str, (ROOT, site)))
    # No server: Prefect is not asked.
    environment = {name: value for name, value in os.environ.items() if "PREFECT" not in name}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**environment, "PYTHONPATH": path, "PREFECT_HOME": str(folder / "prefect")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


@pytest.mark.long
def test_methods_and_checks_of_another_package(site, tmp_path):
    told = json.loads(run(site, ["-c", PROGRAM], tmp_path)[0])
    least, _ = told["toy-classes"]
    assert least >= 5
    assert told["toy-careless"].startswith("GuaranteeError: nothing is returned; broken: compat")
    assert told["toy-silent"].startswith("PlanError: the method does not promise compatible crowds")
    for name in ("broken-import", "toy-of-kind"):
        assert told[name].startswith("PlanError: anonymizer.name is not known; allowed: adaptive, ")
    assert told["no-teenagers"][1] == ["0 of 300 rows break it"]
    refused = "GuaranteeError: nothing is returned; broken: check {0} (not judged: {1})"
    assert told["raises"] == refused.format("raises", "the check ends with ValueError")
    assert told["tells"] == refused.format("tells", "it answers with no count")
    assert told["absent"].endswith("installed: no-teenagers, raises, tells")
    of = "the plug-in {0!r} of crowdcover.{1} (crowdcover-toy 1.0) {2}; it is left out"
    assert told["warnings"] == sorted(
        [
            of.format("broken-exit", "methods", "cannot be loaded: SystemExit"),
            of.format("broken-import", "methods", "cannot be loaded: ModuleNotFoundError"),
            of.format("broken-type", "methods", "is no dataclass of settings"),
            of.format("k-member", "methods", "has a name that is taken"),
            of.format("broken-format", "formats", "is no class"),
        ]
    )


@pytest.mark.slow
def test_a_kind_and_a_format_of_another_package(site, tmp_path):
    frame = pl.DataFrame(ROWS)
    (tmp_path / "people.toy").write_bytes(b"TOY 1\n" + frame.write_csv().encode())
    plan = cc.plan(frame).settle(k=5)
    plan["name"], plan["source"]["path"] = "toys", "people.toy"
    plan["source"]["kind"] = "toy-table"
    plan["columns"]["age"]["role"] = "quasi"
    plan["checks"]["plugins"] = ["no-teenagers"]
    plan["publish"] = {"path": "releases", "vault": "vault"}
    plan.write(tmp_path / "people.toml")
    command = ["-m", "crowdcover.flows.cli"]
    folder = run(site, [*command, "release", "people.toml", "--quiet"], tmp_path)[0].split()[-1]
    audited, _ = run(site, [*command, "audit", folder, "--plan", "people.toml"], tmp_path)
    assert "check no-teenagers" in audited
    manifest = json.loads((tmp_path / folder / "manifest.json").read_text("utf-8"))
    assert manifest["source"]["kind"] == "toy-table"
    assert manifest["anonymizer"]["name"] == "toy-of-kind"
    # Where the package is gone, its kind is not known, and nothing else breaks.
    done = run(tmp_path, [*command, "audit", folder, "--plan", "people.toml"], tmp_path, code=2)
    assert "source.kind is not known; allowed: table, matrix, graph" in done[1]
    plan["source"]["kind"] = "broken-kind"
    plan.write(tmp_path / "broken.toml")
    done = run(site, [*command, "release", "broken.toml"], tmp_path, code=2)
    assert "the plug-in 'broken-kind' of crowdcover.kinds (crowdcover-toy 1.0) cannot be" in done[1]
    # Text is read although a format fails at it.
    pl.DataFrame(ROWS).write_csv(tmp_path / "people.csv")
    starter, heard = run(site, [*command, "plan", "people.csv"], tmp_path)
    assert "[columns.age]" in starter
    assert "the format 'failing' of another package fails with IndexError" in heard
    schema, heard = run(site, [*command, "schema"], tmp_path)
    source = json.loads(schema)["properties"]["source"]["properties"]
    assert source["kind"]["enum"] == ["table", "matrix", "graph", "toy-table"]
    assert "toy.absent:1: PluginWarning: the plug-in 'broken-kind'" in heard
    assert "the settings of the method 'toy-untyped' have no schema" in heard
    shown, _ = run(site, [*command, "doctor"], tmp_path, code=1)
    assert "plug-in toy-classes (methods)" in shown
    assert "plug-in broken-import (methods)" in shown
    for why in ("cannot be loaded: ModuleNotFoundError", "has a name that is taken", "is no class"):
        assert f"crowdcover-toy 1.0 {why}" in " ".join(shown.split())
