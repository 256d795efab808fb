"""Every column of the source with its role, in plain words."""

from reports.facts import Manifest
from reports.quantities import printable
from reports.words import ColumnRole

ROLES = {
    "quasi": ("quasi-identifier", "masked values"),
    "sensitive": ("sensitive", "the values as they are"),
    "keep": ("kept", "the values as they are"),
    "identifier": ("identifier", "nothing"),
    "drop": ("dropped", "nothing"),
}
DECIDES_K = "; k is read from it"


def list_column_roles(manifest: Manifest) -> list[ColumnRole]:
    """The columns in the order of the plan; none if the manifest does not name them."""
    listed = []
    for name, stated in manifest.get("columns", {}).items():
        role = str(stated.get("role"))
        word, shown = ROLES.get(role, (printable(role), "not stated"))
        decides = DECIDES_K if stated.get("decides_k") else ""
        listed.append(ColumnRole(printable(name), word, shown + decides))
    return listed


def list_columns_by_role(manifest: Manifest, role: str) -> list[str]:
    """Names of the columns with a role."""
    columns = manifest.get("columns", {}).items()
    return [printable(name) for name, stated in columns if stated.get("role") == role]
