"""What OpenLineage is told of a release: its source when it starts, its columns when it ends."""

import json
from collections.abc import Callable
from typing import Any

from anon_core.errors import AnonymityError
from flows.plan.plan import ReleasePlan
from reports.facts import count_published_rows
from storage.approval.approval import WaitingError
from storage.places.place import Place, place_of
from storage.shelf.content import read_document
from storage.shelf.layout import MANIFEST
from tasks.orchestration.lineage import Column, Lineage, Written, build_lineage, place_name

DESCRIBED = "datapackage.json"
SHOWN = ("quasi", "sensitive", "keep")  # roles of columns that a release has under their names


def trace_release(order: ReleasePlan, work: Callable[[], str]) -> str:
    """Do the work of a release between two events. A release that waits is aborted, not failed."""
    columns = order.kind.describe_columns(order.data).get("columns", {})
    roles = {name: str(stated.get("role", "")) for name, stated in columns.items()}
    told = build_lineage(order.name, order.data.source, roles)
    if told is None:
        return work()
    told.told("START")
    try:
        folder = work()
    except WaitingError:
        told.told("ABORT")
        raise
    except AnonymityError as refusal:
        told.told("FAIL", refusal=str(refusal))
        raise
    except BaseException as error:
        told.told("FAIL", refusal=type(error).__name__)  # its words may hold values
        raise
    _emit_completion(told, place_of(folder))
    return folder


def _emit_completion(told: Lineage, folder: Place) -> None:
    """Tell what was published."""
    manifest = read_document(folder / MANIFEST)
    columns = tuple(_build_column(field, manifest) for field in _read_fields(folder))
    told.told(
        "COMPLETE",
        Written(
            place_name(str(folder)),
            str(manifest["version"]),
            columns,
            int(count_published_rows(manifest)),
            int(manifest["source"]["rows"]),
            len(manifest["files"]) + 1,
        ),
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
    source = name if role in SHOWN and field.get("crowdcover:role") == role else ""
    return Column(name, field["type"], field.get("description", ""), source, role == "quasi")
