"""Releases that were taken back: the decisions, and the folders that were put aside.

    <vault>/runs/<run>/retracted.json            every retraction of the run; none is removed
    <publish.path>/<name>/<version>-retracted/   the release as it was, closed to others, and a
                                                 notice, retracted.json

A retraction has steps: the decision is recorded, the folder is put aside, the run and then the
ledger forget the release, the retraction is done. Each step can be repeated. The ledger comes last,
so a retraction that was killed leaves the source used.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from anon_core.errors import GuaranteeError
from crowdcover.storage.approval.approval import (
    LONGEST_NAME,
    LONGEST_NOTE,
    DecisionError,
    current_time,
    format_record_time,
    one_line,
)
from crowdcover.storage.places.objects import StoreError
from crowdcover.storage.places.place import Place, place_of
from crowdcover.storage.shelf.content import has_version_files, name_aside, read_document
from crowdcover.storage.shelf.layout import NOTICE
from crowdcover.storage.shelf.shelf import has_version_at, shelf_of
from crowdcover.storage.vault.files import UNREADABLE, read_json, write_json
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Release, Run
from crowdcover.storage.vault.vault import Vault

_RECORD = "retracted.json"


@dataclass(frozen=True)
class Retraction:
    """The decision that a release counts no more, with the name and the reason of the person.

    `folder` is where the release was published, `place` where it stood when it was retracted.
    """

    folder: str
    place: str
    files: Mapping[str, str]
    by: str
    reason: str
    at: str
    done: bool = False

    @classmethod
    def of(cls, release: Release, place: Place, *, by: str, reason: str) -> "Retraction":
        """Decide now; refuse a name or a reason that is not one line of printable text."""
        by = one_line("the name", by, 1, LONGEST_NAME)
        reason = one_line("the reason", reason, 1, LONGEST_NOTE)
        return cls(
            str(release.folder),
            str(place),
            dict(release.files),
            by,
            reason,
            format_record_time(current_time()),
        )

    @property
    def sentence(self) -> str:
        """The decision as audits and refusals state it."""
        return f"retracted by {self.by} at {self.at}: {self.reason}"

    @property
    def claims(self) -> dict[str, str]:
        """The decision as the notice states it."""
        return {"by": self.by, "at": self.at, "reason": self.reason}

    @property
    def title(self) -> str:
        """Name and version of the release."""
        folder = place_of(self.folder)
        return f"{folder.parent.name} {folder.name}"

    @property
    def release(self) -> Release:
        """The release as its run marked it."""
        return Release(place_of(self.folder), self.files, published=True)

    @property
    def asides(self) -> list[Place]:
        """Where the folder is put, for each place where it may stand."""
        return [_build_aside_place(path) for path in self.visible_places]

    @property
    def visible_places(self) -> list[Place]:
        """Where the folder may stand that is to be put aside."""
        return [place_of(path) for path in dict.fromkeys((self.place, self.folder))]

    @property
    def places(self) -> list[Place]:
        """Where the folder may stand, before and after it was put aside."""
        return [*self.visible_places, *self.asides]


@dataclass(frozen=True)
class Retractions:
    """The retractions of a run."""

    run: Run
    all: tuple[Retraction, ...] = ()

    @classmethod
    def of(cls, run: Run) -> "Retractions":
        """Read them from the vault."""
        path = run.path / _RECORD
        if not path.exists():
            return cls(run)
        try:
            return cls(run, tuple(Retraction(**each) for each in read_json(path)["retractions"]))
        except (OSError, ValueError, KeyError, TypeError):
            raise GuaranteeError(
                f"the vault's {run.path.name}/{_RECORD} cannot be read; restore it from a backup"
            ) from None

    @property
    def open_retraction(self) -> Retraction | None:
        """The retraction that was stopped before its end, if any."""
        return next((each for each in self.all if not each.done), None)

    def record(self, retraction: Retraction) -> Retraction:
        """Keep a decision, or that what it asks for is done."""
        # Keyed by folder and time: a place may be published and retracted again.
        others = [
            each for each in self.all if (each.folder, each.at) != _retraction_key(retraction)
        ]
        entries = [asdict(each) for each in (*others, retraction)]
        write_json(self.run.path / _RECORD, {"retractions": entries})
        return retraction

    def end(self, retraction: Retraction) -> Retraction:
        """Keep that all steps were taken."""
        return self.record(replace(retraction, done=True))


def every_retraction(vault: Vault) -> list[tuple[Run, Retraction]]:
    """The retractions of all runs of a vault."""
    return [(run, each) for run in vault.every_run() for each in Retractions.of(run).all]


def retraction_of(vault: Vault, folder: Place) -> tuple[Run, Retraction] | None:
    """The retraction of the release in a folder, known by its bytes or by its place.

    Two releases of one run have the same bytes if they were made within one second. The place then
    tells them apart; a release that stands where it was published is no copy of another.
    """
    known = every_retraction(vault)
    there = [(run, each) for run, each in known if _same_as_any(folder, each.places)]
    # Nothing stands there, so the place alone tells; the last decision about it counts.
    if not has_version_at(folder):
        return next(reversed(there), None)
    if isinstance(folder, Path) and not folder.is_dir():
        return None
    of_bytes = [(run, each) for run, each in known if has_version_files(folder, each.files)]
    here = [each for each in of_bytes if each in there]
    standing = [] if here else _find_standing_releases(vault, folder)
    if any(same_place(folder, release.folder) for _, release in standing):
        return None
    return next(iter(here or of_bytes), None)


def release_of(vault: Vault, folder: Place) -> tuple[Run, Release]:
    """The visible release in a folder and its run, known by its bytes or by its place.

    Refused: a folder of which the vault knows nothing, and one that holds other files by now.
    """
    of_bytes = _find_standing_releases(vault, folder)
    of_place = [
        each for each in _list_visible_releases(vault) if same_place(folder, each[1].folder)
    ]
    if of_bytes:
        return next((each for each in of_bytes if each in of_place), of_bytes[0])
    if not of_place:
        raise DecisionError(
            f"the vault {vault.path} knows no release at {folder}; give the folder that "
            "`crowdcover release` printed and the plan that names its vault. What was never "
            "published needs no retraction"
        )
    if has_version_at(folder):
        raise FolderError(
            f"{folder} does not hold the release that was published there; move it away, then "
            "retract again"
        )
    if len(of_place) > 1:
        raise DecisionError(
            f"{len(of_place)} releases were published at {folder}, and none stands there; restore "
            "the folder of the one to retract"
        )
    return of_place[0]


def put_aside(retraction: Retraction) -> list[Place]:
    """Take the release out of sight and leave a notice; returns where it is now.

    Nothing in it is deleted. A folder that somebody deleted is no obstacle.
    """
    notice = json.dumps({"retracted": retraction.claims}, indent=2, ensure_ascii=False)
    try:
        found = [
            shelf_of(place.parent).put_aside(place.name, retraction.files, f"{notice}\n".encode())
            for place in retraction.visible_places
        ]
    # StoreError is an OSError with words of its own.
    except StoreError:
        raise
    except OSError as error:
        raise FolderError(
            f"{retraction.title} could not be put aside ({type(error).__name__}), so it still "
            "counts as released; correct the folder and its permissions, then retract again"
        ) from None
    return [place for place in dict.fromkeys(found) if place is not None]


def notice_of(folder: Place) -> dict[str, Any] | None:
    """What the notice in a folder says of a retraction; None where there is none."""
    if not (folder / NOTICE).exists():
        return None
    try:
        notice = read_document(folder / NOTICE)["retracted"]
        return {name: str(text) for name, text in notice.items()}
    except UNREADABLE:
        return {"by": "unknown", "at": "unknown", "reason": f"{NOTICE} cannot be read"}


def refuse_unfinished(run: Run) -> None:
    """Refuse to go on with a run while one of its releases is half retracted."""
    stopped = Retractions.of(run).open_retraction
    if stopped is not None:
        raise DecisionError(
            f"{stopped.title} was {stopped.sentence}; that was stopped before its end. Run "
            "crowdcover retract again, then release"
        )


def list_retracted_versions(vault: Vault, parent: Place) -> list[str]:
    """Versions that were retracted from a folder: their numbers are not used again."""
    folders = [place_of(each.folder) for _, each in every_retraction(vault)]
    return [folder.name for folder in folders if folder.parent == parent]


def _list_visible_releases(vault: Vault) -> list[tuple[Run, Release]]:
    """All releases of a vault that became visible and were not retracted, with their runs."""
    return [(run, release) for run in vault.every_run() for release in run.ever_visible()]


def _find_standing_releases(vault: Vault, folder: Place) -> list[tuple[Run, Release]]:
    """The visible releases whose files a folder holds: one of them, or copies."""
    return [
        each for each in _list_visible_releases(vault) if has_version_files(folder, each[1].files)
    ]


def _retraction_key(retraction: Retraction) -> tuple[str, str]:
    return retraction.folder, retraction.at


def _build_aside_place(place: Place) -> Place:
    return place.with_name(name_aside(place.name))


def _same_as_any(folder: Place, places: Iterable[Place]) -> bool:
    return any(same_place(folder, place) for place in places)


def same_place(one: Place, other: Place) -> bool:
    """Whether two paths lead to one place, with links followed."""
    if not (isinstance(one, Path) and isinstance(other, Path)):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)
