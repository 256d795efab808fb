"""Compare a table, and what its release keeps, with the last release of that name: a scheduled rerun stops where they drift."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from anon_core.errors import GuaranteeError
from tasks.check import CheckedRelease
from tasks.drift import Changes, DriftLimits
from tasks.ingest import TABLE
from tasks.layout import MANIFEST
from tasks.profiles import changes
from tasks.sources import Column
from tasks.stage import log, stage
from tasks.storage import Release, Run, Stored, Vault, holds_files, read_json


@dataclass(frozen=True)
class LastRelease:
    """What the vault keeps of an earlier release: no part of it is taken from the published folder."""

    version: str
    plan_sha256: str
    table: Mapping[str, Any] = field(repr=False)
    utility: float
    limits: DriftLimits


def last_release(vault: Vault, run: Run, parent: Path, limits: DriftLimits | None) -> LastRelease | None:
    """The highest version in this folder that another run of the vault has published, before this run did."""
    if limits is None:
        log("checks.drift is off: nothing is compared with earlier releases")
        return None
    own = run.released(parent)
    before = _number(own) if own is not None and own.published else None
    found = []
    for path in sorted(vault.runs.glob("*/run.json")):
        other = Run(path.parent)
        release = other.released(parent)
        if other.path == run.path or release is None or not (release.published or release.stands()):
            continue
        if before is None or _number(release) < before:
            found.append((_number(release), _whole(release), other.path.name, other, release))
    if not found:
        log("the vault knows no earlier release of this name in this folder: there is nothing to compare with")
        return None
    _, whole, _, other, release = max(found, key=lambda each: each[:3])
    if not whole:
        log(f"{release.folder.name} is gone, or no more what was published; what the vault keeps of it is compared with")
    return _kept(other, release.folder.name, limits)


@stage("compare")
def compare(
    run: Run,  # noqa: ARG001 - a stage's first argument
    last: LastRelease,
    ingested: Stored,
    columns: tuple[Column, ...],
) -> Changes:
    """Refuse a table that differs too much from that of the last release, before any work is done on it."""
    found = changes(last.version, last.table, pl.read_parquet(ingested.file(TABLE)), columns)
    log(f"compared with {last.version}: {found.rows} rows after {found.rows_before}, {len(found.columns)} quasi-identifiers")
    found.require(last.limits)
    return found


def drift_claims(run: Run, last: LastRelease | None, found: Changes | None, checked: CheckedRelease) -> dict[str, Any]:
    """The manifest's drift section, if there is one; a release that keeps much less than the last one did is refused."""
    if last is None or found is None:
        return {}
    if run.plan_sha256 == last.plan_sha256:
        found = replace(found, utility=(last.utility, checked.verdict.facts["utility"]["suppression"]))
        found.require(last.limits)
    else:
        log(f"{last.version} was made under another plan: utility is not compared")
    return {"drift": found.claims}


def _kept(run: Run, version: str, limits: DriftLimits) -> LastRelease:
    try:
        table, check = (read_json(run.path / name / "stage.json")["facts"] for name in ("ingest", "check"))
        return LastRelease(version, run.plan_sha256, table["profile"], check["utility"]["suppression"], limits)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise GuaranteeError(
        f"publication refused; the vault no longer holds what {version} is remembered by (runs/{run.path.name}, stages ingest "
        "and check), which this table is to be compared with; restore it, or go without for one run with --set checks.drift=off"
    )


def _number(release: Release) -> int:
    return int(release.folder.name.removeprefix("v"))


def _whole(release: Release) -> bool:
    return release.stands() and holds_files(release.folder, read_json(release.folder / MANIFEST)["files"])
