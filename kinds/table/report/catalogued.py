"""The columns of a released table, as catalogues tell of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from kinds.table.layout import KEY
from kinds.table.version_files import SINCE
from reports.catalogue.described import Field, Type

OF_ROLE = {
    "quasi": (
        "quasi-identifier, masked: a value, a set or an interval that holds it, or anything; "
        "codebook.json says how to read a cell"
    ),
    "sensitive": "sensitive attribute: the value as it was",
    "keep": "kept: the value as it was",
}
OF_KIND: Mapping[str, Type] = {"numeric": "number", "date": "date"}
OWN = {
    KEY: ("key", "random key of the row"),
    SINCE: ("since", "number of the version in which the row was new"),
}


def describe_fields(
    manifest: Mapping[str, Any], types: Mapping[str, Type]
) -> tuple[Sequence[Field], Sequence[str]]:
    """Each column with its role, and the key."""
    columns = manifest.get("columns", {})
    listed = []
    for name, kind in types.items():
        role = str(columns.get(name, {}).get("role", ""))
        if role in OF_ROLE:
            stated = _find_field_type(role, kind, str(columns[name].get("kind")))
            listed.append(Field(name, stated, role, OF_ROLE[role]))
        elif name in OWN:
            listed.append(Field(name, kind, *OWN[name]))
        else:
            listed.append(Field(name, kind, "", ""))
    return listed, [KEY]


def _find_field_type(role: str, found: Type, kind: str) -> Type:
    """The type in this format; of a carried column the plan's, where only texts are there."""
    return OF_KIND.get(kind, found) if found == "string" and role != "quasi" else found
