"""What commands print: JSON, and refusals, which may be lines of JSON."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from crowdcover.tasks.orchestration.json_lines import write_line


def printable_json(document: Mapping[str, Any]) -> str:
    """JSON that reads back the same and holds no sign that could rewrite a terminal."""
    # Line ends are the layout's: those inside of texts are escaped.
    lines = json.dumps(document, indent=2, ensure_ascii=False).split("\n")
    return "\n".join(map(_escape_line, lines))


def printable_line(document: Mapping[str, Any]) -> str:
    """JSON as `printable_json` writes it, on one line."""
    return _escape_line(json.dumps(document, ensure_ascii=False))


def _escape_line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line)


def print_refusal(refusal: str) -> None:
    """Print a refusal on standard error."""
    write_line(logging.ERROR, refusal)
