"""What OpenLineage is told of a release: its source when it starts, its columns when it ends."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anon_core.errors import AnonymityError
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.reports.facts import count_published_rows
from crowdcover.storage.approval.approval import WaitingError
from crowdcover.storage.places.place import Place
from crowdcover.storage.shelf.content import read_document
from crowdcover.storage.shelf.layout import MANIFEST, SIGNATURE
from crowdcover.tasks.orchestration.lineage import Column, Written, build_lineage, place_name
from crowdcover.tasks.orchestration.stage import log_line

DESCRIBED = "datapackage.json"
_SHOWN = ("quasi", "sensitive", "keep")  # roles of columns that a release has under their names


@contextmanager
def trace_release(plan: ReleasePlan) -> Iterator[list[Place]]:
    """Trace a release by events; the list takes its folder. One that waits is aborted."""
    columns = plan.kind.describe_columns(plan.data).get("columns", {})
    roles = {name: str(stated.get("role", "")) for name, stated in columns.items()}
    folders: list[Place] = []
    lineage = build_lineage(plan.name, plan.data.source, roles)
    if lineage is None:
        yield folders
        return
    lineage.emit_event("START")
    try:
        yield folders
    # Before its base AnonymityError: to wait is no failure.
    except WaitingError:
        lineage.emit_event("ABORT")
        raise
    except AnonymityError as refusal:
        lineage.emit_event("FAIL", refusal=str(refusal))
        raise
    except BaseException as error:
        lineage.emit_event("FAIL", refusal=type(error).__name__)  # its words may hold values
        raise
    try:
        written = _describe_output(folders[0])
    # The release is published: nothing that concerns its event may let the run fail.
    except Exception as error:  # noqa: BLE001 - only an event is concerned
        log_line(f"OpenLineage is told no columns of the release ({type(error).__name__})")
        written = None
    lineage.emit_event("COMPLETE", written)


def _describe_output(folder: Place) -> Written:
    """What was published."""
    manifest = read_document(folder / MANIFEST)
    # Neither is in the manifest's own list of files.
    beside = [name for name in (MANIFEST, SIGNATURE) if (folder / name).is_file()]
    return Written(
        place_name(str(folder)),
        str(manifest["version"]),
        tuple(_build_column(field, manifest) for field in _read_fields(folder)),
        int(count_published_rows(manifest)),
        int(manifest["source"]["rows"]),
        len(manifest["files"]) + len(beside),
    )


def _read_fields(folder: Place) -> list[dict[str, Any]]:
    """The columns of the first data file, as the catalogue states them; none of older releases."""
    try:
        document = json.loads((folder / DESCRIBED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return list(document["resources"][0]["schema"]["fields"])


def _build_column(field: dict[str, Any], manifest: dict[str, Any]) -> Column:
    """A column, and the one of the source whose values it shows or masks."""
    name = str(field["name"])
    role = str(manifest.get("columns", {}).get(name, {}).get("role", ""))
    source = name if role in _SHOWN and field.get("crowdcover:role") == role else ""
    return Column(name, field["type"], field.get("description", ""), source, role == "quasi")
