"""Write the release folder aside and rename it once."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anon_core.errors import GuaranteeError
from kinds import words_of
from kinds.catalogued import catalogue_of
from reports.facts import published_rows
from tasks.judging.floors import Floors
from tasks.orchestration.gates import gate, refusals_shown, show
from tasks.orchestration.stage import log, stage
from tasks.people.admit import refuse_second_release
from tasks.people.beside import runs_of, second_release, sentence
from tasks.people.ledger import LedgerError
from tasks.places.objects import StoreError
from tasks.places.place import Place
from tasks.shelf.content import holds, read_document, sha256
from tasks.shelf.layout import MANIFEST, REPORT, SIGNATURE
from tasks.stages.check import CheckedRelease
from tasks.stages.manifest import Destination, announce, draft, report
from tasks.vault.attestation import envelope, hashes
from tasks.vault.belonging import claim, refuse_foreign
from tasks.vault.room import full, is_full
from tasks.vault.signing import key_at
from tasks.vault.storage import (
    FolderError,
    Release,
    Run,
    settle,
)


@stage("publish")
def publish(run: Run, checked: CheckedRelease, to: Destination, claims: Mapping[str, Any]) -> Place:
    """Publish checked files as the next version.

    `claims` are the manifest's entries about plan, source and anonymizer.
    """
    with to.ledger.vault.publishing():
        to.ledger.mend()
        with refusals_shown(run, "beside"):
            # A second time: other runs may have published since the first.
            others, section = _beside_others(run, checked, to)
            _refuse_unapproved(claims, section)
        try:
            manifest = _publish(run, checked, to, {**claims, **section}, others)
        except OSError as error:
            raise FolderError(_unwritten(error, run, checked, to)) from None
    show(run)
    announce(manifest)
    if "second_release" in manifest:
        log(sentence(manifest["second_release"]))
    log(f"published {published_rows(manifest)} rows as {manifest['name']} {manifest['version']}")
    if told := words_of(manifest).unchanged(manifest):
        log(told)
    return to.parent / str(manifest["version"])


def beside_others(run: Run, checked: CheckedRelease, to: Destination) -> dict[str, Any]:
    """The manifest's section on other releases of the same people.

    Refused: other releases where the plan does not allow them, and crowds that fall below k.
    """
    with gate(run, "beside") as remarks:
        _, section = _beside_others(run, checked, to)
        remarks += [sentence(left) for left in section.values()]
    return section


def _beside_others(
    run: Run, checked: CheckedRelease, to: Destination
) -> tuple[list[str], dict[str, Any]]:
    """The other runs of the ledger, and the manifest's section on those that share people."""
    ledger = to.ledger
    others = ledger.others(run, run.source_sha256, ledger.people(run))
    overlaps = [other for other in others if other.shares]
    section = {}
    if to.allow_second_release and overlaps:
        stages = ("ingest", to.kind.encoded, "anonymize")
        of_others = (other.whole(name) for other in runs_of(ledger, overlaps) for name in stages)
        inputs = [checked.rows, *(stored for stored in of_others if stored is not None)]
        section["second_release"] = second_release(
            run,
            ledger,
            inputs,
            lambda: to.kind.intersected(run, ledger, overlaps),
            to.kind.remedy,
        )
    elif not ledger.knows(run):
        refuse_second_release(overlaps)
    return [other.run for other in others], section


def _refuse_unapproved(claims: Mapping[str, Any], section: Mapping[str, Any]) -> None:
    """An approval is also about how the release stands beside others."""
    if "approval" in claims and claims.get("second_release") != section.get("second_release"):
        raise GuaranteeError(
            "publication refused; another release of the same people was published since this one "
            "was approved; run again to ask once more"
        )


def _publish(
    run: Run,
    checked: CheckedRelease,
    to: Destination,
    claims: Mapping[str, Any],
    others: Sequence[str],
) -> dict[str, Any]:
    manifest = draft(run, checked, to, claims)
    # After the version was chosen: whoever takes it now makes the rename fail.
    refuse_foreign(to.ledger.vault, to.parent, to.ledger.versions(str(to.parent)))
    final = to.parent / str(manifest["version"])
    refuse_second_release(
        to.ledger.announce(run, str(to.parent), final.name, to.ledger.people(run), others)
    )
    aside = _written_aside(run, checked, to, manifest, final.name)
    release = Release(final, {name: sha256(aside / name) for name in _deciding(aside)})
    try:
        claim(to.ledger.vault, to.parent)
    except FolderError:
        _discard(run, to)
        raise
    run.mark_released(release)
    to.shelf.commit(aside, final.name)
    run.mark_released(replace(release, published=True))
    try:
        to.ledger.confirm(run, str(to.parent))
    except LedgerError:
        log("the ledger could not be told that the release is visible; its entry counts anyway")
    return manifest


def _unwritten(error: OSError, run: Run, checked: CheckedRelease, to: Destination) -> str:
    """Why a release could not be written; what there is of it is removed."""
    refusal = (
        f"nothing could be published in {to.parent} ({type(error).__name__}); "
        "correct publish.path and run again"
    )
    if isinstance(error, StoreError):
        refusal = f"publishing in {to.parent} was interrupted, no half version is visible: {error}"
    elif isinstance(error, FileExistsError) and not isinstance(to.parent, Path):
        refusal = (
            f"another writer published in {to.parent} meanwhile; nothing of this run is published. "
            "Run again"
        )
    elif is_full(error):
        needed = sum(checked.rows.file(name).stat().st_size for name in to.files)
        folders = [place for place in (to.parent, to.ledger.vault.path) if isinstance(place, Path)]
        refusal = full("publishing", folders, needed)
    _discard(run, to)  # after the room was measured
    return refusal


def _discard(run: Run, to: Destination) -> None:
    """Remove what an earlier attempt of this run has left beside the releases."""
    to.shelf.discard(run.path.name, run.scratch)


def _written_aside(
    run: Run, checked: CheckedRelease, to: Destination, manifest: dict[str, Any], version: str
) -> Path:
    """The folder of the release under another name; its manifest gets the hashes of the files."""
    aside = to.shelf.aside(version, run.path.name, run.scratch)
    for file in to.files:
        shutil.copyfile(checked.rows.file(file), aside / file)
    # As a reader finds it in the file: texts must follow from that.
    manifest |= json.loads(json.dumps(manifest))
    (aside / REPORT).write_bytes(report(to.kind, manifest, checked))
    for name, document in catalogue_of(to.kind, words_of(manifest), manifest, aside).items():
        (aside / name).write_bytes(document)
    manifest["files"] = {path.name: sha256(path) for path in sorted(aside.iterdir())}
    audited = checked.rows.record["files"]
    for file in to.files:
        if manifest["files"][file] != audited[file]:
            shutil.rmtree(aside)
            raise GuaranteeError(
                f"publication refused; the vault's {file} changed after it was checked; run again"
            )
    content = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (aside / MANIFEST).write_text(content, encoding="utf-8")
    if to.signing_key is not None:
        signed = envelope(key_at(to.signing_key), manifest["name"], version, hashes(aside))
        (aside / SIGNATURE).write_bytes(signed)
    for path in (*aside.iterdir(), aside):
        path.chmod(0o755 if path.is_dir() else 0o644)
    settle(aside)
    return aside


def _deciding(folder: Path) -> list[str]:
    """The files whose hashes tell a release: the manifest, which has those of the others."""
    return [name for name in (MANIFEST, SIGNATURE) if (folder / name).exists()]


def published(run: Run, parent: Place, floors: Floors, about: Mapping[str, Any]) -> Place | None:
    """The folder that this run has published here, if it is complete.

    A limit of [checks] that is stricter now applies to it, too. Words of [about] that are new do
    not: they are the manifest's, and that stays as it is.
    """
    release = run.released(parent)
    if release is None or not release.stands():
        return None
    manifest = read_document(release.folder / MANIFEST)
    if not holds(release.folder, manifest["files"]):
        return None
    run.mark_released(replace(release, published=True))
    show(run)
    finding = f"{release.folder.name} was published before and stays as it is"
    floors.require(manifest, finding, "ease [checks] to keep it")
    if about.get("about") != manifest.get("about"):
        log(f"{finding}; [about] of the plan changed since and is not what its report says")
    return release.folder
