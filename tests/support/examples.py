"""Releases of the examples."""

import os
from pathlib import Path

import pytest

from crowdcover.flows.look.named_release import read_manifest
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.release import release
from tests.support.audits import audit_release

ROOT = Path(__file__).parents[2]


DATA = Path(os.environ.get("CROWDCOVER_DATA", ROOT.parent / "shared" / "data"))


def published(example, table, folder, *overrides):
    """Release an example of a table, audit it and return the manifest."""
    manifest = audited(example, table, folder, *overrides)
    assert manifest["privacy"]["below_k"] == manifest["privacy"]["matchable_below_k"] == 0
    return manifest


def audited(example, table, folder, *overrides):
    """Release an example of any kind, audit it and return the manifest."""
    source = DATA / table
    if not source.exists():
        pytest.skip(f"left out: {table} is not in CROWDCOVER_DATA")
    places = [
        f"source.path={source}",
        f"publish.path={folder / 'releases'}",
        f"publish.vault={folder / 'vault'}",
        *overrides,
    ]
    plan = ReleasePlan.load(ROOT / "examples" / example, places)
    found = Path(release(str(plan.freeze(Path(plan.publish.vault) / "plans"))))
    audit = audit_release(found, ROOT / "examples" / example, places)
    assert audit.passed, audit.sentence()
    return read_manifest(found)
