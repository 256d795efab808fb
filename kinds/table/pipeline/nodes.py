"""nodes.csv: the trees of a release as a table, made from its codebook."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anon_core.tables.cells import node_text
from crowdcover.kinds.table.layout import NODE_COLUMNS, NODES
from crowdcover.kinds.table.version_files import BATCHES

ALL = "*"  # the root, and its level
_QUOTED = (",", '"', "\n", "\r")


def write_nodes(codebook: Mapping[str, Any], folder: Path) -> None:
    """Write a line for each value of each node, the root first; no file without a tree."""
    lines = dict.fromkeys(_list_lines(codebook))
    if lines:
        text = "\n".join(",".join(map(_format_field, line)) for line in (NODE_COLUMNS, *lines))
        (folder / NODES).write_bytes(f"{text}\n".encode())


def _list_lines(codebook: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Column, level, node and value, of each batch in turn."""
    for book in codebook.get(BATCHES, {"": codebook}).values():
        for entry in book["attributes"]:
            if "tree" not in entry:
                continue
            for label in entry["labels"][entry["has_missing"] :]:
                yield entry["name"], ALL, ALL, label
            for node in entry["tree"]:
                first, last = node["levels"]
                for label in entry["labels"][first : last + 1]:
                    text = node_text(entry["kind"], node["name"])
                    yield entry["name"], node["level"], text, label


def _format_field(text: str) -> str:
    """A field in quotes where readers of CSV need them; an empty one would read as missing."""
    if text and not any(sign in text for sign in _QUOTED):
        return text
    return '"' + text.replace('"', '""') + '"'
