"""Write the release folder aside and rename it once."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anon_core.errors import GuaranteeError
from kinds import words_of
from kinds.table.layout import CODEBOOK, FILES
from kinds.table.overlap import second_release, words
from reports import summary
from tasks.judging.floors import Floors
from tasks.orchestration.gates import gate, refusals_shown, show
from tasks.orchestration.stage import log, show_in_prefect, stage
from tasks.people.admit import refuse_second_release
from tasks.people.ledger import Ledger, LedgerError
from tasks.stages.check import CheckedRelease
from tasks.vault.layout import MANIFEST, REPORT
from tasks.vault.storage import (
    CODE_VERSION,
    FolderError,
    Release,
    Run,
    file_sha256,
    holds_files,
    read_json,
    settle,
    write_json,
)


@dataclass(frozen=True)
class Destination:
    """[publish] of the plan, and the ledger of what was published."""

    parent: Path
    formats: Sequence[str]
    ledger: Ledger
    allow_second_release: bool

    @property
    def files(self) -> tuple[str, ...]:
        """What is published as it was checked: the rows in each format, and the codebook."""
        return (*(FILES[kind] for kind in self.formats), CODEBOOK)


@stage("publish")
def publish(run: Run, checked: CheckedRelease, to: Destination, claims: Mapping[str, Any]) -> Path:
    """Publish checked rows as the next version; `claims` are the manifest's entries about plan, source and anonymizer."""
    with to.ledger.vault.publishing():
        to.ledger.mend()
        with refusals_shown(run, "beside"):
            others, section = _beside_others(
                run, checked, to
            )  # once more: others may have published since
            _refuse_unapproved(claims, section)
        try:
            manifest = _publish(run, checked, to, {**claims, **section}, others)
        except OSError as error:
            raise FolderError(
                f"nothing could be published in {to.parent} ({type(error).__name__}); mend publish.path and run again"
            ) from None
    show(run)
    announce(manifest)
    if "second_release" in manifest:
        log(words(manifest["second_release"]))
    log(
        f"published {manifest['privacy']['records']} rows as {manifest['name']} {manifest['version']}"
    )
    return to.parent / str(manifest["version"])


def beside_others(run: Run, checked: CheckedRelease, to: Destination) -> dict[str, Any]:
    """What the manifest says of releases that show the same people; refused where they are not allowed, or crowds fall."""
    with gate(run, "beside") as told:
        _, section = _beside_others(run, checked, to)
        told += [words(found) for found in section.values()]
    return section


def _beside_others(
    run: Run, checked: CheckedRelease, to: Destination
) -> tuple[list[str], dict[str, Any]]:
    """The other runs that were looked at, and the manifest's section on those that released the same people, if allowed."""
    others = to.ledger.others(run, run.source_sha256, to.ledger.people(run))
    overlaps = [other for other in others if other.shares]
    section = {}
    if to.allow_second_release and overlaps:
        section["second_release"] = second_release(run, to.ledger, overlaps, checked.rows)
    elif not to.ledger.knows(run):
        refuse_second_release(overlaps)
    return [other.run for other in others], section


def _refuse_unapproved(claims: Mapping[str, Any], section: Mapping[str, Any]) -> None:
    """What a person approved says how it stands beside other releases."""
    if "approval" in claims and claims.get("second_release") != section.get("second_release"):
        raise GuaranteeError(
            "publication refused; another release of the same people was published since this one was approved; "
            "run again to ask once more"
        )


def _publish(
    run: Run,
    checked: CheckedRelease,
    to: Destination,
    claims: Mapping[str, Any],
    others: Sequence[str],
) -> dict[str, Any]:
    manifest = draft(run, checked, to, claims)
    final = to.parent / str(manifest["version"])
    refuse_second_release(
        to.ledger.announce(run, str(to.parent), final.name, to.ledger.people(run), others)
    )
    to.parent.mkdir(parents=True, exist_ok=True)
    for leftover in to.parent.glob(f".*.{run.path.name}.partial"):
        shutil.rmtree(leftover)
    aside = final.with_name(f".{final.name}.{run.path.name}.partial")
    aside.mkdir(mode=0o700)
    for file in to.files:
        shutil.copyfile(checked.rows.file(file), aside / file)
    _write_report(aside, manifest, checked)
    manifest["files"] = {path.name: file_sha256(path) for path in sorted(aside.iterdir())}
    judged = checked.rows.record["files"]
    for file in to.files:
        if manifest["files"][file] != judged[file]:
            shutil.rmtree(aside)
            raise GuaranteeError(
                f"publication refused; the vault's {file} changed after it was checked; run again"
            )
    write_json(aside / MANIFEST, manifest)
    for path in (*aside.iterdir(), aside):
        path.chmod(0o755 if path.is_dir() else 0o644)
    settle(aside)
    release = Release(final, {MANIFEST: file_sha256(aside / MANIFEST)})
    run.mark_released(release)
    os.rename(aside, final)
    run.mark_released(replace(release, published=True))
    try:
        to.ledger.confirm(run, str(to.parent))
    except LedgerError:
        log(
            "the ledger does not know yet that the release is visible; its entry counts all the same"
        )
    return manifest


def draft(
    run: Run, checked: CheckedRelease, to: Destination, claims: Mapping[str, Any]
) -> dict[str, Any]:
    """The manifest as it would be published now, but for the hashes of the files."""
    return _manifest(
        run, checked, {"name": to.parent.name, "version": _version(run, to.parent), **claims}
    )


def published(run: Run, parent: Path, floors: Floors) -> Path | None:
    """The folder in which this run has published here, if it is still whole; a stricter check holds for it, too."""
    release = run.released(parent)
    if release is None or not release.stands():
        return None
    manifest = read_json(release.folder / MANIFEST)
    if not holds_files(release.folder, manifest["files"]):
        return None
    run.mark_released(replace(release, published=True))
    show(run)
    standing = f"{release.folder.name} was published before and stays as it is"
    floors.require(manifest, standing, "ease [checks] to keep it")
    return release.folder


def announce(
    manifest: Mapping[str, Any], what: str = "release", words: str = "Guarantee and utility"
) -> None:
    """Guarantee and utility as a markdown artifact of the flow run."""
    slug = re.sub(r"[^a-z0-9]+", "-", f"{what}-{manifest['name']}".lower()).strip("-")
    show_in_prefect(slug, summary.markdown(manifest, words_of(manifest)), words)


def _version(run: Run, parent: Path) -> str:
    """The version that this run was about to publish when it was stopped, or the next free one."""
    release = run.released(parent)
    if release and not release.folder.exists():
        return release.folder.name
    taken = [
        int(found[1]) for path in parent.glob("*") if (found := re.fullmatch(r"v(\d+)", path.name))
    ]
    return f"v{max(taken, default=0) + 1}"


def _manifest(run: Run, checked: CheckedRelease, claims: Mapping[str, Any]) -> dict[str, Any]:
    stages = run.stages()
    facts = checked.verdict.facts
    return {
        "crowdcover": CODE_VERSION,
        **claims,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **{section: facts[section] for section in ("privacy", "utility", "protection", "attacks")},
        "iterations": checked.rows.facts["iterations"],
        "timings": {name: record["seconds"] for name, record in stages.items()},
        "peak_memory_bytes": max(record["peak_memory_bytes"] for record in stages.values()),
    }


def report(manifest: Mapping[str, Any], checked: CheckedRelease) -> bytes:
    """The page of a release, or of one that waits for approval."""
    # matplotlib takes a second to import: only where a page is made.
    from reports import page

    return page.render(manifest, checked.crowds, words_of(manifest)).encode()


def _write_report(folder: Path, manifest: Mapping[str, Any], checked: CheckedRelease) -> None:
    (folder / REPORT).write_bytes(report(manifest, checked))
