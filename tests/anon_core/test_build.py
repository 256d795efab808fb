"""The hash of the code: what is code, and that nothing else counts."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anon_core.build import hash_packages, hash_sources
from crowdcover.storage.vault.build import PACKAGES

ROOT = Path(__file__).parents[2]
FILES = {
    "one/__init__.py": "",
    "one/a.py": "x = 1\n",
    "one/page.html.j2": "<p>",
    "two/sub/b.py": "y = 2\n",
}
NAMES = ("one", "two")


@pytest.fixture
def root(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "one/a.py").write_text("x = 2\n"),
        lambda root: (root / "one/page.html.j2").write_text("<b>"),
        lambda root: (root / "two/sub/b.py").rename(root / "two/b.py"),
        lambda root: (root / "one/__init__.py").unlink(),
        lambda root: (root / "one/words.txt").write_text("word\n"),
        lambda root: [(root / "one" / each).write_text("x = 1\n"[:n]) for each, n in AT_BORDER],
    ],
)
def test_every_change_of_a_source_file_is_another_build(root, change):
    before = hash_sources(root, NAMES)
    change(root)
    assert hash_sources(root, NAMES) != before


AT_BORDER = (("__init__.py", 6), ("a.py", 0))  # the same bytes one after the other


@pytest.mark.parametrize(
    "name",
    [
        "one/__pycache__/a.cpython-311.pyc",
        "one/__pycache__/a.kernel-1.py311.1.nbc",
        "one/a.pyc",
        "one/.a.py.swp",
        "one/a.py~",
        "one/.cache/x.py",
        "three/c.py",
        "README.md",
    ],
)
def test_what_is_no_source_file_does_not_count(root, name):
    before = hash_sources(root, NAMES)
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("left")
    assert hash_sources(root, NAMES) == before


def test_times_folder_and_order_do_not_count(root, tmp_path_factory):
    before = hash_sources(root, NAMES)
    other = tmp_path_factory.mktemp("other") / "place"
    for name in reversed(FILES):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, other / name)
        os.utime(other / name, (0, 0))
    assert hash_sources(other, NAMES[::-1]) == before


def test_the_installed_code_has_one_hash():
    assert hash_packages(*PACKAGES) == hash_sources(ROOT, PACKAGES)
    assert hash_packages("anon_core") != hash_packages(*PACKAGES)


@pytest.mark.slow
def test_a_wheel_has_the_hash_of_its_checkout(tmp_path):
    here = tmp_path / "checkout"
    here.mkdir()
    for name in (*PACKAGES, "pyproject.toml", "README.md", "LICENSE"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, here / name)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    subprocess.run([*pip, str(tmp_path / "wheel"), str(here)], check=True)
    assert hash_sources(tmp_path / "wheel", PACKAGES) == hash_sources(ROOT, PACKAGES)
