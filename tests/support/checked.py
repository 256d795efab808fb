"""Every plan that a test sees refused is checked, too: `crowdcover check` says the same."""

import json
import os
from pathlib import Path

import pytest

from crowdcover.flows.plan.checking import list_refusals
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError

LOAD = ReleasePlan.__dict__["load"].__func__
TOLD = []  # words of each refusal of this process, and whether `check` had them first


@pytest.fixture(autouse=True)
def _refusals_are_checked(monkeypatch):
    """Let `list_refusals` look at each plan that a test cannot load, as it lies then."""

    def load(cls, path, overrides=(), text=None):
        try:
            return LOAD(cls, path, overrides, text)
        except PlanError as error:
            if text is not None:  # not yet in a file, so there is nothing to check
                raise
            refusal = error
        with monkeypatch.context() as patch:
            patch.setattr(ReleasePlan, "load", classmethod(LOAD))
            checked = list_refusals(path, overrides, None)
        TOLD.append((str(refusal), checked[:1] == (str(refusal),)))
        raise refusal

    monkeypatch.setattr(ReleasePlan, "load", classmethod(load))
    before = len(TOLD)
    yield
    untold = [words for words, told in TOLD[before:] if not told]
    assert untold == [], "crowdcover check does not say what a release says"


def pytest_sessionfinish():
    """As a plug-in of pytest: write what was told to the file that the environment names."""
    if place := os.environ.get("CROWDCOVER_TOLD"):
        Path(place).write_text(json.dumps(TOLD), encoding="utf-8")
