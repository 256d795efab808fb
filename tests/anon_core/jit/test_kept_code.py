"""Machine code that numba kept of other sources is neither run nor read."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import anon_core

CALLED = """
from typing import NamedTuple
from anon_core.jit.kernel import kernel

class {name}(NamedTuple):
    number: int

@kernel
def add_to(pair):
    return pair.number + {number}
"""
CALLING = """
from anon_core.called import add_to
from anon_core.jit.kernel import kernel

@kernel
def call(pair):
    return add_to(pair)
"""


def run_kernel(root, name, number):
    """What a kernel of an unchanged file gives if the one that it calls was changed."""
    (root / "anon_core/called.py").write_text(CALLED.format(name=name, number=number))
    # Python would run what it kept of a file of the same second and size.
    unkept = {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(root / "kept")}
    code = f"from anon_core import called, calling; print(calling.call(called.{name}(1)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), **unkept},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.long
def test_a_kernel_that_calls_a_changed_one_is_compiled_anew(tmp_path):
    package = Path(anon_core.__file__).parent
    for part in ("__init__.py", "build.py", "jit/__init__.py", "jit/kernel.py"):
        (tmp_path / "anon_core" / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(package / part, tmp_path / "anon_core" / part)
    (tmp_path / "anon_core/calling.py").write_text(CALLING)
    assert run_kernel(tmp_path, "Pair", 1) == 2
    assert run_kernel(tmp_path, "Pair", 2) == 3
    assert run_kernel(tmp_path, "RenamedPair", 2) == 3
    assert len(list((tmp_path / "kept").glob("kernels-*"))) == 3
