"""The audit of a published folder: its files, the manifest's numbers, the plan's [checks]."""

import math
from pathlib import Path
from typing import Any

from kinds.table.judge.findings import Audit, Finding
from kinds.table.layout import MANIFEST
from tasks.judging.floors import Floors
from tasks.vault.storage import holds_files, read_json


def audit_folder(folder: Path, audit: Audit, floors: Floors) -> Audit:
    """Add findings on the manifest's claims, the folder's files and the plan's [checks]."""
    try:
        manifest = read_json(folder / MANIFEST)
        claimed = dict(manifest["files"])
        claims = (
            manifest["privacy"],
            manifest["utility"],
            manifest.get("protection", {}),
            manifest.get("attacks", {}),
        )
        numbers = {name: number for section in claims for name, number in section.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        unreadable = Finding("manifest", passed=False, detail=f"{MANIFEST} cannot be read")
        return audit.also(unreadable)
    audit = audit.also(_files(folder, claimed))
    if audit.measured is None:
        return audit
    sections = audit.measured.sections()
    measured = {name: number for section in sections.values() for name, number in section.items()}
    differ = sum(not _agree(numbers.get(name), value) for name, value in measured.items())
    audit = audit.also(
        Finding("numbers as measured", differ == 0, f"{differ} of {len(measured)} numbers differ")
    )
    if not floors.stated:
        return audit
    short = [asked.short for asked in floors.shortfalls(sections)]
    return audit.also(
        Finding("checks of the plan", not short, "; ".join(short) or "all are reached")
    )


def _files(folder: Path, claimed: dict[str, Any]) -> Finding:
    """Compare the folder's files with the hashes in its manifest."""
    names = {path.name for path in folder.iterdir()} - {MANIFEST}
    changed = sum(
        not holds_files(folder, {name: sha}) for name, sha in claimed.items() if name in names
    )
    strays, lost = len(names - set(claimed)), len(set(claimed) - names)
    return Finding(
        "files as published",
        changed + strays + lost == 0,
        f"{changed} files changed, {lost} missing, {strays} too many of {len(claimed)}",
    )


def _agree(claimed: Any, measured: Any) -> bool:
    """Whether numbers are equal; shares up to the rounding of another machine's sums."""
    if isinstance(measured, dict):
        same = isinstance(claimed, dict) and claimed.keys() == measured.keys()
        return same and all(_agree(claimed[name], value) for name, value in measured.items())
    if isinstance(measured, list):
        same = isinstance(claimed, list) and len(claimed) == len(measured)
        return same and all(
            _agree(one, value) for one, value in zip(claimed, measured, strict=True)
        )
    if isinstance(measured, float) and isinstance(claimed, (int, float)):
        return math.isclose(claimed, measured, abs_tol=1e-9)
    return bool(claimed == measured)
