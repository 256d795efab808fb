"""`crowdcover check` says what the whole suite knows of refused plans."""

import json
import os
import subprocess
import sys

import pytest

from tests.names import ROOT

SUITES = ("tests/flows/plan", "tests/kinds/table/plan")


@pytest.mark.slow
def test_the_refusals_of_the_suite_are_told_in_the_same_words(tmp_path):
    """Each refused plan is checked when its test sees it refused: see `tests.support.checked`."""
    told = tmp_path / "told.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.support.checked", *SUITES]
    environment = {**os.environ, "CROWDCOVER_TOLD": str(told)}
    done = subprocess.run(
        command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    refusals = [tuple(each) for each in json.loads(told.read_text("utf-8"))]
    words = {words for words, _ in refusals}
    assert len(words) > 200
    assert sum(same for _, same in refusals) >= 0.95 * len(refusals)
