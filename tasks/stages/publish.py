"""Write the release folder aside and rename it once."""

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anon_core.errors import GuaranteeError
from crowdcover.kinds import words_of
from crowdcover.kinds.catalogued import catalogue_of
from crowdcover.kinds.judge.limits import ReleaseLimits
from crowdcover.reports.facts import count_published_rows
from crowdcover.storage.approval.attestation import build_envelope, hash_folder_files
from crowdcover.storage.approval.signing_keys import key_at
from crowdcover.storage.ledger.admission import refuse_second_release
from crowdcover.storage.ledger.digests import People
from crowdcover.storage.ledger.ledger import LedgerError
from crowdcover.storage.ledger.other_releases import describe_crowd_counts, runs_of, second_release
from crowdcover.storage.places.objects import StoreError
from crowdcover.storage.places.place import Place
from crowdcover.storage.shelf.content import hash_released_file
from crowdcover.storage.shelf.layout import MANIFEST, REPORT, SIGNATURE
from crowdcover.storage.vault.disk_space import describe_full_disk, is_full
from crowdcover.storage.vault.files import flush_folder
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.release_owner import claim_folder, refuse_foreign
from crowdcover.storage.vault.run import Release, Run
from crowdcover.tasks.orchestration.gates import pass_gate, refusals_shown, write_verdicts_page
from crowdcover.tasks.orchestration.stage import log_line, stage, tell_at_work
from crowdcover.tasks.stages.check import CheckedRelease
from crowdcover.tasks.stages.manifest import (
    Destination,
    announce_release,
    draft_manifest,
    render_report,
)


@stage("publish")
def publish(run: Run, checked: CheckedRelease, to: Destination, claims: Mapping[str, Any]) -> Place:
    """Publish checked files as the next version.

    `claims` are the manifest's entries about plan, source and anonymizer.
    """
    with to.ledger.vault.lock_publishing():
        # First enter what became visible before a crash: the look at others must not miss it.
        to.ledger.mend()
        with refusals_shown(run, "beside"):
            people = to.ledger.people(run)
            # A second time: other runs may have published since the first.
            others, section = _beside_others(run, checked, to, people)
            _refuse_unapproved(claims, section)
        try:
            manifest = _publish_version(run, checked, to, {**claims, **section}, others, people)
        except OSError as error:
            raise FolderError(_explain_write_failure(error, run, checked, to)) from None
    write_verdicts_page(run)
    announce_release(manifest, _describe_places(to.parent / str(manifest["version"])))
    if "second_release" in manifest:
        log_line(describe_crowd_counts(manifest["second_release"]))
    log_line(
        f"published {count_published_rows(manifest)} rows as {manifest['name']} "
        f"{manifest['version']}"
    )
    if sentence := words_of(manifest).describe_no_change(manifest):
        log_line(sentence)
    return to.parent / str(manifest["version"])


def _describe_places(folder: Place) -> list[str]:
    """Where the report of a release lies, and how the release is opened on this machine."""
    places = [f"The report: {folder.absolute() / REPORT}"]
    if isinstance(folder, Path):
        places.append(f"The page: crowdcover open {shlex.quote(str(folder.absolute()))}")
    return places


def beside_others(run: Run, checked: CheckedRelease, to: Destination) -> dict[str, Any]:
    """The manifest's section on other releases of the same people.

    Refused: other releases where the plan does not allow them, and crowds that fall below k.
    """
    # No stage, but with many people it takes as long as one.
    with pass_gate(run, "beside") as remarks, tell_at_work("compare with other releases"):
        _, section = _beside_others(run, checked, to, to.ledger.people(run))
        remarks += [describe_crowd_counts(left) for left in section.values()]
    return section


def _beside_others(
    run: Run, checked: CheckedRelease, to: Destination, people: People
) -> tuple[list[str], dict[str, Any]]:
    """The other runs of the ledger, and the manifest's section on those that share people."""
    ledger = to.ledger
    others = ledger.others(run, run.source_sha256, people)
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
            lambda: to.kind.intersect_crowds(run, ledger, overlaps),
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


def _publish_version(
    run: Run,
    checked: CheckedRelease,
    to: Destination,
    claims: Mapping[str, Any],
    others: Sequence[str],
    people: People,
) -> dict[str, Any]:
    manifest = draft_manifest(run, checked, to, claims)
    # After the version was chosen: whoever takes it now makes the rename fail.
    refuse_foreign(to.ledger.vault, to.parent, to.ledger.versions(str(to.parent)))
    final = to.parent / str(manifest["version"])
    # Entered before it is visible: after a crash its people count as released, never as free.
    refuse_second_release(to.ledger.announce(run, str(to.parent), final.name, people, others))
    aside = _write_aside(run, checked, to, manifest, final.name)
    release = Release(
        final, {name: hash_released_file(aside / name) for name in _list_deciding_files(aside)}
    )
    try:
        claim_folder(to.ledger.vault, to.parent)
    except FolderError:
        _discard_attempt(run, to)
        raise
    # Marked before the rename: after a crash the hashes tell whether the folder is this run's.
    run.mark_released(release)
    to.shelf.commit(aside, final.name)
    run.mark_released(replace(release, published=True))
    try:
        to.ledger.confirm(run, str(to.parent))
    except LedgerError:
        log_line(
            "the ledger could not be told that the release is visible; its entry counts anyway"
        )
    return manifest


def _explain_write_failure(
    error: OSError, run: Run, checked: CheckedRelease, to: Destination
) -> str:
    """Why a release could not be written; what there is of it is removed."""
    refusal = (
        f"nothing could be published in {to.parent} ({type(error).__name__}); "
        "correct publish.path and run again"
    )
    if isinstance(error, StoreError):
        refusal = f"publishing in {to.parent} was interrupted, no half version is visible: {error}"
    # Of a local path: where publish.path is a file, no folder can be made.
    elif isinstance(error, FileExistsError) and (
        not isinstance(to.parent, Path) or to.parent.is_dir()
    ):
        refusal = (
            f"another writer published in {to.parent} meanwhile; nothing of this run is published. "
            "Run again"
        )
    elif is_full(error):
        files = to.list_files(checked.rows)
        needed = sum(checked.rows.file(name).stat().st_size for name in files)
        folders = [place for place in (to.parent, to.ledger.vault.path) if isinstance(place, Path)]
        refusal = describe_full_disk("publishing", folders, needed)
    _discard_attempt(run, to)  # after the room was measured
    return refusal


def _discard_attempt(run: Run, to: Destination) -> None:
    """Remove what an earlier attempt of this run has left beside the releases."""
    to.shelf.discard(run.path.name, run.scratch)


def _write_aside(
    run: Run, checked: CheckedRelease, to: Destination, manifest: dict[str, Any], version: str
) -> Path:
    """The folder of the release under another name; its manifest gets the hashes of the files."""
    aside = to.shelf.aside(version, run.path.name, run.scratch)
    files = to.list_files(checked.rows)
    for file in files:
        shutil.copyfile(checked.rows.file(file), aside / file)
    # As a reader finds it in the file: texts must follow from that.
    manifest |= json.loads(json.dumps(manifest))
    (aside / REPORT).write_bytes(render_report(to.kind, manifest, checked))
    for name, document in catalogue_of(to.kind, words_of(manifest), manifest, aside).items():
        (aside / name).write_bytes(document)
    manifest["files"] = {path.name: hash_released_file(path) for path in sorted(aside.iterdir())}
    audited = checked.rows.record["files"]
    for file in files:
        if manifest["files"][file] != audited[file]:
            shutil.rmtree(aside)
            raise GuaranteeError(
                f"publication refused; the vault's {file} changed after it was checked; run again"
            )
    # The manifest comes last, with the hashes of all other files; a signature covers it, too.
    content = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (aside / MANIFEST).write_text(content, encoding="utf-8")
    if to.signing_key is not None:
        signed = build_envelope(
            key_at(to.signing_key), manifest["name"], version, hash_folder_files(aside)
        )
        (aside / SIGNATURE).write_bytes(signed)
    for path in (*aside.iterdir(), aside):
        # It was private while it was written; a release is for readers of any account.
        path.chmod(0o755 if path.is_dir() else 0o644)
    # On disk before the rename, or a power cut could leave a version of empty files.
    flush_folder(aside)
    return aside


def _list_deciding_files(folder: Path) -> list[str]:
    """The files whose hashes tell a release: the manifest, which has those of the others."""
    return [name for name in (MANIFEST, SIGNATURE) if (folder / name).exists()]


def find_published_folder(
    run: Run, parent: Place, limits: ReleaseLimits, about: Mapping[str, Any]
) -> Place | None:
    """The folder that this run has published here, if it is complete.

    A limit of [checks] that is stricter now applies to it, too. Words of [about] that are new do
    not: they are the manifest's, and that stays as it is.
    """
    if (standing := run.find_standing(parent)) is None:
        return None
    release, manifest = standing
    # After a crash behind the rename, the mark still said that it was about to be published.
    run.mark_released(replace(release, published=True))
    write_verdicts_page(run)
    finding = f"{release.folder.name} was published before and stays as it is"
    limits.require(manifest, finding, "ease [checks] to keep it")
    if about.get("about") != manifest.get("about"):
        log_line(f"{finding}; [about] of the plan changed since and is not what its report says")
    return release.folder
