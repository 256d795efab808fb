"""Variables of the environment in a plan: `${NAME}` in the keys that say where things lie.

These keys shape no release, so the hash of a plan does not cover them: it is the same whatever a
variable holds. `$${NAME}` stands for the text `${NAME}`. Other keys are left as they are.
"""

import os
import re
from typing import Any

from crowdcover.kinds.section import PlanError

VARIABLE = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")
KEYS = (
    ("source", "path"),
    ("source", "uri"),
    ("publish", "path"),
    ("publish", "vault"),
    ("publish", "reports"),
    ("publish", "ledger"),
    ("publish", "into", "uri"),
    ("compute", "scheduler"),
)


def expand_variables(document: dict[str, Any]) -> None:
    """Put the values of variables into a parsed plan.

    Refused: a variable that is not set, or whose value is no line of text. The refusal has its
    name, and never its value.
    """
    for place in KEYS:
        table: Any = document
        for name in place[:-1]:
            table = table.get(name) if isinstance(table, dict) else None
        if isinstance(table, dict) and isinstance(stated := table.get(place[-1]), str):
            table[place[-1]] = _expand_text(".".join(place), stated)


def _expand_text(key: str, text: str) -> str:
    def fill(found: re.Match[str]) -> str:
        doubled, name = found.groups()
        return f"${{{name}}}" if doubled else _find_value(key, name)

    return VARIABLE.sub(fill, text)


def _find_value(key: str, name: str) -> str:
    value = os.environ.get(name)
    if not value:
        state = "not set" if value is None else "empty"
        raise PlanError(
            f"{key} names the variable {name}, which is {state} in the environment; export it "
            "before the command, or write what it stands for"
        )
    if not value.isprintable():
        raise PlanError(
            f"{key} names the variable {name}, which is not one line of printable text; correct it"
        )
    return value
