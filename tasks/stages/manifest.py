"""What a release says about itself: manifest and report, shared by `ask` and `publish`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from platform import python_version
from typing import Any

from crowdcover.kinds import words_of
from crowdcover.kinds.base import Kind
from crowdcover.kinds.catalogued import find_text_edition
from crowdcover.kinds.judge.manifest_keys import SOFTWARE, count_unknown, list_manifest_keys
from crowdcover.reports import markdown
from crowdcover.reports.verdict import judge_manifest
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.places.place import Place
from crowdcover.storage.series.retractions import list_retracted_versions
from crowdcover.storage.shelf.layout import ASIDE
from crowdcover.storage.shelf.shelf import Shelf, has_version_at, shelf_of
from crowdcover.storage.vault.build import CODE_VERSION
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.tasks.orchestration.events import emit_release_event, key_of
from crowdcover.tasks.orchestration.stage import show_in_prefect
from crowdcover.tasks.stages.check import CheckedRelease


@dataclass(frozen=True)
class Destination:
    """[publish] of the plan, and the ledger of what was published."""

    kind: Kind
    parent: Place
    formats: Sequence[str]
    ledger: Ledger
    allow_second_release: bool
    signing_key: str | None = None  # where it lies; it is read when the folder is signed

    @property
    def shelf(self) -> Shelf:
        """Where the versions stand."""
        return shelf_of(self.parent)

    def list_files(self, rows: Stored) -> tuple[str, ...]:
        """The files that are published as checked: data in each format, codebook, those beside."""
        beside = (name for name in self.kind.beside if name in rows.record["files"])
        return (*(self.kind.files[name] for name in self.formats), self.kind.codebook, *beside)


def draft_manifest(
    run: Run, checked: CheckedRelease, to: Destination, claims: Mapping[str, Any]
) -> dict[str, Any]:
    """The manifest as it would be published now, without the hashes of the files."""
    stages = run.stages()
    manifest = {
        "crowdcover": CODE_VERSION,
        "software": _list_software(),
        "texts": find_text_edition(),
        "name": to.parent.name,
        "version": _choose_version(run, to),
        **claims,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **checked.sections,
        "iterations": to.kind.steps(checked.rows.facts["iterations"]),
        "timings": {name: record["seconds"] for name, record in stages.items()},
        "peak_memory_bytes": max(record["peak_memory_bytes"] for record in stages.values()),
    }
    # The audit refuses a manifest with other keys, so none is written.
    assert not count_unknown(manifest, list_manifest_keys(to.kind.claimed, checked.sections))
    return manifest


def _list_software() -> dict[str, str]:
    """Versions of what computes releases, beside crowdcover's own."""
    return {name: python_version() if name == "python" else version(name) for name in SOFTWARE}


def render_report(kind: Kind, manifest: Mapping[str, Any], checked: CheckedRelease) -> bytes:
    """The page of a release, or of one that waits for approval."""
    # matplotlib takes a second to import: only where a page is made.
    from crowdcover.reports.pages import page

    return page.render_release_page(
        manifest, kind.measured(checked.verdict), words_of(manifest)
    ).encode()


def announce_release(
    manifest: Mapping[str, Any],
    places: Sequence[str],
    what: str = "release",
    description: str = "Guarantee and utility",
) -> None:
    """Show guarantee and utility as a markdown artifact of the flow run; emit its event.

    `places` say where the report lies. They are no links: no browser follows one from Prefect's
    page to a file.
    """
    words = words_of(manifest)
    shown = markdown.render_release(manifest, words, places)
    show_in_prefect(key_of(what, manifest["name"]), shown, description)
    emit_release_event(
        "published" if what == "release" else "waiting",
        version=manifest["version"],
        records=manifest["privacy"]["records"],
        k_min=manifest["privacy"].get("k_min"),
        verdict=judge_manifest(manifest, words).heading,
    )


def _choose_version(run: Run, to: Destination) -> str:
    """The version that this run was about to publish when it was stopped, or the next free one.

    The number of a retracted release is not free.
    """
    release = run.released(to.parent)
    if release and not has_version_at(release.folder):
        return release.folder.name
    names = {name.removesuffix(ASIDE) for name in to.shelf.names()}
    names.update(list_retracted_versions(to.ledger.vault, to.parent))
    taken = [int(found[1]) for name in names if (found := re.fullmatch(r"v(\d+)", name))]
    return f"v{max(taken, default=0) + 1}"
