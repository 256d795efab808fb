"""The columns of a released table, as catalogues tell of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcover.kinds.table.layout import KEY
from crowdcover.kinds.table.version_files import SINCE
from crowdcover.reports.catalogue.described import Field, Type
from crowdcover.reports.messages import load_messages

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")
OF_KIND: Mapping[str, Type] = {"numeric": "number", "date": "date"}
OWN = (KEY, SINCE)  # columns that the source does not have


def describe_fields(
    manifest: Mapping[str, Any], types: Mapping[str, Type]
) -> tuple[Sequence[Field], Sequence[str]]:
    """Each column with its role, and the key."""
    columns, roles = manifest.get("columns", {}), _MESSAGES.name_entries("catalogue_roles")
    listed = []
    for name, kind in types.items():
        role = str(columns.get(name, {}).get("role", ""))
        if role in roles:
            stated = _find_field_type(role, kind, str(columns[name].get("kind")))
            about = roles[role]
            if columns[name].get("hierarchy"):
                shown = {"set": "sets", "shorter": "nodes_or_sets"}
                about = _MESSAGES.say(
                    "catalogue_columns", shown.get(columns[name].get("cells"), "nodes")
                )
            elif isinstance(step := columns[name].get("step"), str):
                about = _MESSAGES.say("catalogue_columns", "coarse_date", role=role, step=step)
            elif any(key in columns[name] for key in ("step", "top", "bottom")):
                about = _MESSAGES.say("catalogue_columns", "coarse", role=role)
            listed.append(Field(name, stated, role, about))
        elif name in OWN:
            listed.append(Field(name, kind, name, _MESSAGES.say("catalogue_columns", name)))
        else:
            listed.append(Field(name, kind, "", ""))
    return listed, [KEY]


def _find_field_type(role: str, found: Type, kind: str) -> Type:
    """The type of a column in a file; of a carried column the plan's, as CSV has only text."""
    return OF_KIND.get(kind, found) if found == "string" and role != "quasi" else found
