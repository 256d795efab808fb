"""Write the release folder aside and rename it once."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefect.artifacts import create_markdown_artifact
from prefect.context import FlowRunContext

from reports import summary
from tasks.check import CheckedRelease
from tasks.layout import CODEBOOK, FILES, MANIFEST, REPORT
from tasks.stage import log, stage
from tasks.storage import CODE_VERSION, Run, file_sha256, read_json, write_json


@stage
def publish(
    run: Run, checked: CheckedRelease, name: str, releases: Path, formats: Sequence[str], claims: Mapping[str, Any]
) -> Path:
    """Publish checked rows as the next version; `claims` are the manifest's entries about plan, source and anonymizer."""
    final = _folder(run, releases / name)
    aside = final.with_name(f".{final.name}.{run.path.name}.partial")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    for file in (*(FILES[kind] for kind in formats), CODEBOOK):
        shutil.copyfile(checked.rows.file(file), aside / file)
    manifest = _manifest(run, checked, {"name": name, "version": final.name, **claims})
    _write_report(aside, manifest, checked)
    manifest["files"] = {path.name: file_sha256(path) for path in sorted(aside.iterdir())}
    write_json(aside / MANIFEST, manifest)
    for path in (*aside.iterdir(), aside):
        path.chmod(0o755 if path.is_dir() else 0o644)
    run.mark_released(final, published=False)
    os.rename(aside, final)
    run.mark_released(final, published=True)
    announce(manifest)
    log(f"published {manifest['privacy']['records']} rows as {name} {final.name}")
    return final


def published(run: Run) -> Path | None:
    """The folder this run has published, if it is still whole."""
    mark = run.released()
    folder = Path(mark["path"]) if mark else None
    if folder is None or not (folder / MANIFEST).exists():
        return None
    files = read_json(folder / MANIFEST)["files"]
    if any(not (folder / file).exists() or file_sha256(folder / file) != sha for file, sha in files.items()):
        return None
    run.mark_released(folder, published=True)
    return folder


def announce(manifest: Mapping[str, Any]) -> None:
    """Guarantee and utility as a markdown artifact of the flow run."""
    if FlowRunContext.get() is not None:
        slug = re.sub(r"[^a-z0-9]+", "-", f"release-{manifest['name']}".lower()).strip("-")
        create_markdown_artifact(markdown=summary.markdown(manifest), key=slug, description="Guarantee and utility")


def _folder(run: Run, parent: Path) -> Path:
    """The version that this run was about to publish when it was stopped, or the next free one."""
    mark = run.released()
    if mark and Path(mark["path"]).parent == parent and not Path(mark["path"]).exists():
        return Path(mark["path"])
    taken = [int(found[1]) for path in parent.glob("*") if (found := re.fullmatch(r"v(\d+)", path.name))]
    return parent / f"v{max(taken, default=0) + 1}"


def _manifest(run: Run, checked: CheckedRelease, claims: Mapping[str, Any]) -> dict[str, Any]:
    stages = run.stages()
    facts = checked.verdict.facts
    return {
        "crowdcover": CODE_VERSION,
        **claims,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "privacy": facts["privacy"],
        "utility": facts["utility"],
        "iterations": checked.rows.facts["iterations"],
        "timings": {name: record["seconds"] for name, record in stages.items()},
        "peak_memory_bytes": max(record["peak_memory_bytes"] for record in stages.values()),
    }


def _write_report(folder: Path, manifest: Mapping[str, Any], checked: CheckedRelease) -> None:
    # matplotlib takes a second to import: only where a page is made.
    from reports import page

    (folder / REPORT).write_text(page.render(dict(manifest), checked.crowds), encoding="utf-8")
