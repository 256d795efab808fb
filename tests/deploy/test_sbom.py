"""The list of what is installed, as deploy/Dockerfile and `make sbom` write it."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]


def write():
    done = subprocess.run(
        [sys.executable, ROOT / "deploy/sbom.py"], capture_output=True, check=True, cwd=ROOT
    )
    return done.stdout


def test_every_installed_package_is_listed_once_with_its_version():
    document = json.loads(write())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["version"] == version("crowdcover")
    listed = {each["name"].lower(): each["version"] for each in document["components"]}
    assert len(listed) == len(document["components"]) > 20
    for name in ("numpy", "polars", "numba", "prefect"):
        assert listed[name] == version(name)
    assert all(each["purl"].startswith("pkg:pypi/") for each in document["components"])


def test_every_dependency_is_a_package_of_the_list():
    document = json.loads(write())
    known = {each["bom-ref"] for each in document["components"]}
    known.add(document["metadata"]["component"]["bom-ref"])
    assert {each["ref"] for each in document["dependencies"]} == known
    needed = {each["ref"]: each["dependsOn"] for each in document["dependencies"]}
    assert all(set(each) <= known for each in needed.values())
    own = needed[document["metadata"]["component"]["bom-ref"]]
    assert f"pkg:pypi/numpy@{version('numpy')}" in own


def test_one_installation_gives_the_same_bytes():
    assert write() == write()


def test_the_image_has_it():
    dockerfile = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    assert "deploy/sbom.py > /app/sbom.cdx.json" in dockerfile
    assert "!deploy/sbom.py" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
