"""Every column of the source with its role, in plain words."""

from collections.abc import Mapping
from typing import Any

from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import printable
from crowdcover.reports.words import ColumnRole

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")
_BY_K = {"top": "top_by_k", "bottom": "bottom_by_k"}  # messages where k finds the number


def list_column_roles(manifest: Manifest) -> list[ColumnRole]:
    """The columns in the order of the plan; none if the manifest does not name them."""
    listed = []
    for name, stated in manifest.get("columns", {}).items():
        role = str(stated.get("role"))
        word, shown = (
            _MESSAGES.list_texts("columns", role)[0]
            if role in _MESSAGES.list_names("columns")
            else (printable(role), _MESSAGES.say("column_notes", "unknown"))
        )
        if coarse := _describe_coarse_values(stated, manifest):
            shown = coarse
        notes = (
            _MESSAGES.say("column_notes", note, stated=stated[note], cells=stated.get("cells"))
            for note in ("decides_k", "hierarchy", "floor")
            if stated.get(note)
        )
        listed.append(ColumnRole(printable(name), word, "".join([shown, *notes])))
    return listed


def _describe_coarse_values(stated: Mapping[str, Any], manifest: Manifest) -> str:
    """How the values of a column are published that are not shown as they are; else nothing."""
    told = []
    for key in ("step", "top", "bottom"):
        if (value := stated.get(key)) is None:
            continue
        message = _BY_K[key] if value == "k" else "step_of_dates" if isinstance(value, str) else key
        number = value if isinstance(value, str) else f"{value:,.15g}"
        least = manifest["privacy"]["k_max"]
        told.append(_MESSAGES.say("coarse", message, number=number, least=least))
    return "; ".join(told)


def list_columns_by_role(manifest: Manifest, role: str) -> list[str]:
    """Names of the columns with a role."""
    columns = manifest.get("columns", {}).items()
    return [printable(name) for name, stated in columns if stated.get("role") == role]
