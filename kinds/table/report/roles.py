"""Every column of the source with its role, in plain words."""

from reports.facts import Manifest
from reports.messages import load_messages
from reports.quantities import printable
from reports.words import ColumnRole

_MESSAGES = load_messages("kinds", "kinds.table")


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
        notes = (
            _MESSAGES.say("column_notes", note)
            for note in ("decides_k", "hierarchy")
            if stated.get(note)
        )
        listed.append(ColumnRole(printable(name), word, "".join([shown, *notes])))
    return listed


def list_columns_by_role(manifest: Manifest, role: str) -> list[str]:
    """Names of the columns with a role."""
    columns = manifest.get("columns", {}).items()
    return [printable(name) for name, stated in columns if stated.get("role") == role]
