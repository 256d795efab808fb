"""The image of deploy/Dockerfile: what it is built from, and every command in it.

It is built by buildah without a registry, on a base of Debian's Python 3.11 instead of
python:3.11-slim. pip's settings are those of this machine.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from crowdcover.flows.cli import PACKAGES
from crowdcover.flows.commands import COMMANDS

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy/Dockerfile"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
BESIDE = {"requirements.lock", "pyproject.toml", "README.md", "LICENSE", "deploy/sbom.py"}
NOT_INSTALLED = {"tests", "benchmarks"}
PROGRAMS = ("buildah", "mmdebstrap")
BASE = ("--variant=apt", "--include=python3,python3-venv,ca-certificates", "bookworm")
MOST_MIB = 1_200  # of what the image adds to its base; measured: 1,070


# ---------------------------------------------------------------- what it is built from


def packages():
    """The packages that pyproject.toml installs: the one list that the others must follow."""
    include = PYPROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert all(name.endswith("*") for name in include)
    return {name.removesuffix("*") for name in include}


def parts():
    """The folders at the top that crowdcover links to."""
    return {path.name for path in (ROOT / "crowdcover").iterdir() if path.is_symlink()}


def test_every_package_of_the_project_is_installed():
    tracked = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert tracked - NOT_INSTALLED == packages() | parts()
    for name in parts():
        assert (ROOT / "crowdcover" / name).readlink() == Path("..", name)


def test_every_list_of_packages_is_that_of_the_wheel():
    tool = PYPROJECT["tool"]
    assert set(PACKAGES) == packages()
    assert set(tool["mypy"]["packages"]) == packages()
    assert set(tool["importlinter"]["root_packages"]) == packages()
    assert set(tool["coverage"]["run"]["source"]) == packages()


def test_the_builder_is_sent_the_packages_and_copies_all_that_it_is_sent():
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    sent = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert sorted(sent) == sorted(packages() | parts() | BESIDE)
    assert "*" in lines  # and nothing else is sent
    copied = re.findall(r"^COPY (.+)$", DOCKERFILE.read_text("utf-8"), re.MULTILINE)
    assert copied == [". .", "--from=build /app /app"]


def test_the_image_is_of_an_account_without_rights():
    assert re.findall(r"^USER (\w+)", DOCKERFILE.read_text("utf-8"), re.MULTILINE) == ["1000"]


# ---------------------------------------------------------------- the image itself


class Image:
    """A working container of the image, in a store of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.container = ""

    def buildah(self, *arguments, **settings):
        """Run buildah as root without mounts of its own, so that it works inside a container."""
        store = ["--root", self.folder / "root", "--runroot", self.folder / "run"]
        command = ["buildah", "--storage-driver", "vfs", *store, *arguments]
        given = {"check": True, "stdout": subprocess.PIPE, **settings}
        return subprocess.run(list(map(str, command)), text=True, **given)  # noqa: PLW1510 - it is

    def build(self):
        """Make a base, then the image on it."""
        base = self.folder / "base.tar"
        made = subprocess.run(
            ["mmdebstrap", *BASE, base],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            why = made.stderr.strip().splitlines()[-1:]
            pytest.skip(f"left out: no base of an image could be made by mmdebstrap: {why}")
        empty = self.buildah("from", "scratch").stdout.strip()
        self.buildah("add", "--quiet", empty, base, "/")
        self.buildah("commit", "--quiet", "--rm", empty, "localhost/base")
        built = self.buildah(
            *("bud", "--isolation", "chroot", "--build-arg", "BASE=localhost/base"),
            *(f"--volume={place}:{inside}:ro" for place, inside in self._pip()),
            *("--file", DOCKERFILE, "--tag", "localhost/crowdcover", ROOT),
            check=False,
            stderr=subprocess.STDOUT,
        )
        assert built.returncode == 0, built.stdout[-4000:]
        self.container = self.buildah("from", "localhost/crowdcover").stdout.strip()

    def run(self, *command):
        """Run a command as the account of the image."""
        isolated = ("run", "--isolation", "chroot", self.container, "--")
        return self.buildah(*isolated, *command, check=False, stderr=subprocess.PIPE)

    def _pip(self):
        """What pip of this machine is told, as a file, and the files that this names.

        Folders are left out: what lies there may lead to other folders. pip says so and goes on.
        """
        pip = [sys.executable, "-m", "pip", "config", "list"]
        told = subprocess.run(pip, check=True, text=True, stdout=subprocess.PIPE).stdout
        stated = dict(re.findall(r"^(?:global\.|:env:\.)([\w-]+)='(.*)'$", told, re.MULTILINE))
        settings = self.folder / "pip.conf"
        lines = (f"{key} = {value}" for key, value in stated.items())
        settings.write_text("\n".join(["[global]", *lines, ""]))
        named = {place for place in stated.values() if Path(place).is_file()}
        return [(settings, "/etc/pip.conf"), *((place, place) for place in sorted(named))]


@pytest.fixture(scope="module")
def image():
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"left out: an image needs {' and '.join(missing)}: apt-get install them")
    if os.geteuid() != 0:
        pytest.skip("left out: an image is built as root here, without a registry")
    folder = Path(tempfile.mkdtemp(prefix="crowdcover-image-"))  # gigabytes: none is kept
    try:
        made = Image(folder)
        made.build()
        yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def of_image(test):
    """Mark a test that needs the image. The first one waits until it is built, for minutes."""
    return pytest.mark.slow(pytest.mark.timeout(2400)(test))


@of_image
def test_every_command_explains_itself(image):
    each = " && ".join(f"crowdcover {name} --help" for name in COMMANDS)
    done = image.run("sh", "-c", each)  # in one container: its start takes longer than a command
    assert done.returncode == 0, done.stderr
    assert [name for name in COMMANDS if f"crowdcover {name}" not in done.stdout] == []


@of_image
def test_a_release_is_rehearsed_shown_and_completed(image, released):
    """One that was made here: to compile for the image takes minutes, so one kernel stands for all.

    `test_team` and the tests of the flow make releases.
    """
    compiled = (
        "import numpy as np; from anon_core.tables.levels_kernels import is_hidden; "
        "print(is_hidden(np.array([[2]], dtype=np.uint64), 0, 1))"
    )
    assert image.run("python", "-c", compiled).stdout == "True\n"
    there = Path(image.buildah("mount", image.container).stdout.strip()) / "home/crowdcover"
    for path in (released.plan, released.source):
        shutil.copy(path, there)
    shutil.copytree(released.folder_of_v1, there / "v1")
    plan, folder = f"/home/crowdcover/{released.plan.name}", "/home/crowdcover/v1"
    rehearsed = image.run("crowdcover", "release", plan, "--dry-run", "--quiet")
    assert "a release would be made" in rehearsed.stdout, rehearsed.stderr
    shown = image.run("crowdcover", "show", folder)
    assert "the privacy promise holds" in " ".join(shown.stdout.split())
    table = "/home/crowdcover/completed.csv"
    done = image.run("crowdcover", "complete", folder, "--draws", "1", "--output", table)
    assert (done.returncode, done.stdout) == (0, f"{table}\n"), done.stderr
    assert image.run("wc", "-l", table).stdout == f"91 {table}\n"


@of_image
def test_servers_of_compose_start(image):
    assert image.run("prefect", "version").returncode == 0
    libraries = "adbc_driver_postgresql, duckdb, opentelemetry.sdk.trace, pyarrow, asyncpg"
    assert image.run("python", "-c", f"import {libraries}").returncode == 0


@of_image
def test_the_image_is_small_and_of_no_rights(image):
    """What is not needed is not there: tests, benchmarks, pip, compiled files."""
    place = Path(image.buildah("mount", image.container).stdout.strip()) / "app"
    kib = subprocess.run(
        ["du", "-sk", place], check=True, text=True, stdout=subprocess.PIPE
    ).stdout.split()[0]
    assert int(kib) / 1024 < MOST_MIB
    site = next(place.glob("lib/python3*/site-packages"))
    there = {path.name for path in site.iterdir()}
    assert packages() <= there
    assert not there & {*NOT_INSTALLED, "pip", "setuptools", "pytest"}
    assert not list(place.rglob("__pycache__"))
    assert image.run("id", "-u").stdout == "1000\n"
    assert image.run("touch", "/app/x").returncode != 0
