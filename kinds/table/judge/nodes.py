"""Whether nodes.csv says what follows from the trees of the codebook."""

import csv
import io
import re
from pathlib import Path
from typing import Any

from anon_core.measures.table.cells import ALL_TEXT, format_node
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.table.layout import NODE_COLUMNS, NODES
from crowdcover.kinds.table.version_files import BATCHES

_NAME = "nodes of the codebook"


def nodes_findings(folder: Path, document: Any) -> list[Finding]:
    """Compare the file with the published codebook; nothing where neither has a tree."""
    try:
        expected = _list_nodes(document)
    except (KeyError, TypeError, ValueError, AttributeError):
        return [Finding(_NAME, passed=False, detail="the codebook cannot be read")]
    path = folder / NODES
    if not expected and not path.exists():
        return []
    try:
        text = path.read_bytes().decode()
        header, *found = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (OSError, ValueError, csv.Error):
        return [Finding(_NAME, passed=False, detail=f"{NODES} cannot be read")]
    # The order and the quotes are compared, too: no byte is left free.
    same = [tuple(header), *map(tuple, found)] == [NODE_COLUMNS, *expected]
    same = same and text == "".join(map(_write_line, [NODE_COLUMNS, *expected]))
    return [Finding(_NAME, same, f"{len(expected)} values of nodes compared")]


def _list_nodes(document: Any) -> list[tuple[str, ...]]:
    """Each value of each node: column, level, node, value; as its first batch names it."""
    books = list(document[BATCHES].values()) if BATCHES in document else [document]
    found: dict[tuple[str, ...], None] = {}
    for entry in (entry for book in books for entry in book["attributes"] if "tree" in entry):
        given = entry["labels"][1 if entry["has_missing"] else 0 :]
        found |= {(entry["name"], ALL_TEXT, ALL_TEXT, label): None for label in given}
        for node in entry["tree"]:
            low, high = node["levels"]
            of_column = entry["name"], node["level"], format_node(entry["kind"], node["name"])
            found |= {(*of_column, entry["labels"][level]): None for level in range(low, high + 1)}
    return list(found)


def _write_line(fields: tuple[str, ...]) -> str:
    quoted = (
        each if re.fullmatch(r'[^,"\n\r]+', each) else f'"{each.replace(chr(34), 2 * chr(34))}"'
        for each in fields
    )
    return ",".join(quoted) + "\n"
