"""Compare a table, and what its release keeps, with the last release of that name: a scheduled rerun stops where they drift."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from anon_core.errors import GuaranteeError
from kinds.table.columns import Column
from kinds.table.layout import TABLE
from kinds.table.profile import changes
from tasks.judging.drift import Changes, DriftLimits
from tasks.orchestration.gates import gate
from tasks.orchestration.stage import log, stage
from tasks.stages.check import CheckedRelease
from tasks.vault.layout import MANIFEST
from tasks.vault.storage import Release, Run, Stored, Vault, holds_files, read_json

UNREADABLE = (OSError, ValueError, KeyError, TypeError)


@dataclass(frozen=True)
class LastRelease:
    """What the vault keeps of an earlier release, and of the tables before it; nothing is read from a published folder."""

    version: str
    plan_sha256: str
    utility: float
    table: Mapping[str, Any] = field(repr=False)
    earlier: tuple[Mapping[str, Any], ...] = field(repr=False)
    limits: DriftLimits


def last_release(
    vault: Vault, run: Run, parent: Path, limits: DriftLimits | None
) -> LastRelease | None:
    """The highest version in this folder that another run of the vault has published, before this run did."""
    if limits is None:
        log("checks.drift is off: nothing is compared with earlier releases")
        return None
    found = sorted(
        _earlier(vault, run, parent), key=lambda each: (_number(each[1]), each[1].stands())
    )
    if not found:
        log(
            "the vault knows no earlier release of this name in this folder: nothing to compare with"
        )
        return None
    other, release = found.pop()
    version = release.folder.name
    if not (
        release.stands()
        and holds_files(release.folder, read_json(release.folder / MANIFEST)["files"])
    ):
        log(
            f"{version} is gone or not what was published; it is what the vault keeps of it that is compared with"
        )
    table, utility = _remembered(other), _utility(other)
    if table is None or utility is None:
        raise GuaranteeError(
            f"publication refused; the table is to be compared with {version}, and the vault does not hold what that is "
            f"remembered by (runs/{other.path.name}, ingest and check); restore it, or go without for one run by "
            "--set checks.drift=off"
        )
    earlier = tuple(known for before, _ in found if (known := _remembered(before)) is not None)
    return LastRelease(version, other.plan_sha256, utility, table, earlier, limits)


@stage("compare")
def compare(
    run: Run,
    last: LastRelease,
    ingested: Stored,
    columns: tuple[Column, ...],
) -> Changes:
    """Refuse a table that differs too much from that of the last release, before any work is done on it."""
    table = pl.read_parquet(ingested.file(TABLE))
    found = changes(last.version, last.table, table, columns, last.earlier)
    words = f"compared with {last.version}: {found.rows} rows after {found.rows_before}, {len(found.columns)} quasi-identifiers"
    log(words)
    with gate(run, "alike") as told:
        found.require(last.limits)
        told.append(words)
    return found


def drift_claims(
    run: Run, last: LastRelease | None, found: Changes | None, checked: CheckedRelease
) -> dict[str, Any]:
    """The manifest's drift section, if there is one; a release that keeps much less than the last one did is refused."""
    if last is None or found is None:
        return {}
    if run.plan_sha256 == last.plan_sha256:
        kept = checked.verdict.facts["utility"]["suppression"]
        found = replace(found, utility=(last.utility, kept))
        with gate(run, "kept") as told:
            found.require(last.limits)
            told.append(f"utility {kept:.4f} after {last.utility:.4f}")
    else:
        log(f"{last.version} was made under another plan: utility is not compared")
    return {"drift": found.claims}


def _earlier(vault: Vault, run: Run, parent: Path) -> Iterator[tuple[Run, Release]]:
    """What other runs have published in this folder; before this run did, if it did."""
    own = run.released(parent)
    for other in vault.every_run():
        release = other.released(parent)
        if other.path == run.path or release is None or not (release.published or release.stands()):
            continue
        if own is None or not own.published or _number(release) < _number(own):
            yield other, release


def _number(release: Release) -> int:
    return int(release.folder.name.removeprefix("v"))


def _remembered(run: Run) -> dict[str, Any] | None:
    """What `ingest` found worth remembering, by whatever version of the code."""
    try:
        return dict(read_json(run.path / "ingest" / "stage.json")["facts"]["profile"])
    except UNREADABLE:
        return None


def _utility(run: Run) -> float | None:
    try:
        return float(
            read_json(run.path / "check" / "stage.json")["facts"]["utility"]["suppression"]
        )
    except UNREADABLE:
        return None
