"""The release folder that a person names, or a refusal that says what is there instead."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anon_core.errors import InputError
from crowdcover.kinds import KINDS, words_of
from crowdcover.kinds.base import Kind
from crowdcover.kinds.section import PlanError
from crowdcover.storage.places.objects import StoreError
from crowdcover.storage.places.place import Place
from crowdcover.storage.shelf.content import read_document
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.shelf.shelf import shelf_of
from crowdcover.storage.vault.refusals import FolderError

GIVE = "give the folder that `crowdcover release` printed"
# What the manifest of every version has stated.
_STATED = {"crowdcover", "name", "version", "source", "anonymizer", "privacy", "utility"}


def require_release(folder: Place, *files: str) -> None:
    """Refuse a place that has neither a manifest nor one of these files; it may be damaged."""
    if (refusal := _describe_absence(folder, (MANIFEST, *files))) is not None:
        raise PlanError(refusal)


def _describe_absence(folder: Place, files: Sequence[str]) -> str | None:
    """What is wrong with a place that holds none of these files."""
    try:
        if any((folder / name).is_file() for name in files):
            return None
        if not folder.exists():
            return f"{folder} was not found; {GIVE}"
        if not folder.is_dir():
            return f"{folder} is a file and no release; {GIVE}"
        versions = shelf_of(folder).versions()
    # It is an OSError, too, with words of its own about the storage.
    except StoreError:
        raise
    except OSError as error:
        refusal = f"{folder} cannot be read ({type(error).__name__}); correct its permissions"
    else:
        if versions:
            return (
                f"{folder} holds {len(versions)} release{'s' * (len(versions) != 1)} and is none "
                f"itself; give one of them, such as {folder / versions[-1]}"
            )
        return f"{folder} holds no release: it has no {MANIFEST}; {GIVE}"
    raise FolderError(refusal)


def refuse_another_kind(folder: Path, kind: Kind) -> None:
    """Refuse a release of another kind of data than the plan's, by its manifest and its files.

    Beside files of the plan's kind, a manifest that names another one was changed: no refusal.
    """
    manifest = _parse_manifest(folder / MANIFEST) or {}
    source = manifest.get("source")
    named = source.get("kind", kind.name) if isinstance(source, dict) else kind.name
    files = kind.files.values()
    another = isinstance(named, str) and named in KINDS and named != kind.name
    if another and not any((folder / file).exists() for file in files):
        raise PlanError(
            f"{folder} is a release of a {named}, and the plan is of a {kind.name}; give the plan "
            "that the release was made with"
        )


def read_manifest(folder: Place) -> dict[str, Any]:
    """The manifest of a release folder; refused unless it states these keys."""
    require_release(folder)
    manifest = _parse_manifest(folder / MANIFEST)
    if manifest is None or not manifest.keys() >= _STATED:
        raise InputError(
            f"{folder / MANIFEST} is no manifest of a release, or it is damaged; {GIVE}, unchanged"
        )
    return manifest


@contextmanager
def refuse_damaged_manifest() -> Iterator[None]:
    """Refuse a manifest that lacks what is read of it, or has something else in its place."""
    from jinja2 import UndefinedError  # as reports do: short messages need no jinja2

    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, UndefinedError):
        raise InputError("a manifest.json is damaged; give a release as it was published") from None


def print_first_screen(manifest: Mapping[str, Any], place: str, alarm: str = "") -> None:
    """Print what decides about a release, and where to read on; `alarm` stands first."""
    from crowdcover.reports.terminal.overview import print_overview
    from crowdcover.reports.terminal.printing import create_console

    with refuse_damaged_manifest():
        print_overview(manifest, create_console(), words_of(manifest), place, alarm)


def print_manifest(manifest: Mapping[str, Any]) -> None:
    """Print what a release guarantees and keeps: counts, shares and column names, no values."""
    from crowdcover.reports.terminal.printing import create_console
    from crowdcover.reports.terminal.summary import print_release

    with refuse_damaged_manifest():
        print_release(manifest, create_console(), words_of(manifest))


def _parse_manifest(file: Place) -> dict[str, Any] | None:
    """What a manifest states; None where it does not read as one."""
    try:
        return read_document(file)
    except StoreError:
        raise
    except PermissionError:
        refusal = f"{file} cannot be read by this account; correct its permissions"
    except (OSError, ValueError, TypeError):
        return None
    raise FolderError(refusal)
