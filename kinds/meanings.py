"""What docstrings say of the keys of a plan: of a section, and of an anonymizer's settings."""

import re
from inspect import cleandoc

ENTRY = re.compile(r"(\w+(?:, \w+)*) : (.*)")
_HEADING = "Attributes\n----------\n"


def list_key_meanings(of: type, *, typed: bool = False) -> dict[str, str]:
    """The text of each entry under Attributes, in the docstring of a class and those it is made of.

    A section writes `key : text`. The core writes `key : type` and the text below it: `typed`.
    """
    found: dict[str, str] = {}
    # Bases first: what a subclass says of a key replaces what they say.
    for each in reversed(of.__mro__):
        _, _, entries = cleandoc(vars(each).get("__doc__") or "").partition(_HEADING)
        found |= _parse_entries(entries, typed=typed)
    return found


def _parse_entries(text: str, *, typed: bool) -> dict[str, str]:
    """The entries up to the next line that belongs to none."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in text.splitlines():
        entry = ENTRY.fullmatch(line)
        if entry is not None:
            names = entry[1].split(", ")
            found |= {name: [] if typed else [entry[2]] for name in names}
        elif line and not line.startswith(" "):
            break
        else:
            for name in names:
                found[name].append(line.strip())
    return {name: " ".join(filter(None, lines)) for name, lines in found.items()}
