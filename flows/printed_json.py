"""JSON as commands print it."""

import json
from collections.abc import Mapping
from typing import Any


def printable_json(document: Mapping[str, Any]) -> str:
    """JSON that reads back the same and holds no sign that could rewrite a terminal."""
    # Line ends are the layout's: those inside of texts are escaped.
    lines = json.dumps(document, indent=2, ensure_ascii=False).split("\n")
    return "\n".join(
        line
        if line.isprintable()
        else "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line)
        for line in lines
    )
