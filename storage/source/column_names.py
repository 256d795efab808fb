"""Names of a source's columns: each once, and those that the plan needs."""

from collections.abc import Sequence

from anon_core.errors import InputError

MOST_TOLD = 8  # doubled names that a refusal tells


def require_distinct_names(names: Sequence[str], *, shown: bool = True) -> list[str]:
    """Return column names without the blanks around them; a name that occurs twice is refused.

    Not `shown`: the names may be cells of a row that was taken for them, so the refusal tells the
    places of the columns only.
    """
    stripped = [name.strip() for name in names]
    places: dict[str, list[int]] = {}
    for place, name in enumerate(stripped, start=1):
        places.setdefault(name, []).append(place)
    doubled = {name: where for name, where in places.items() if len(where) > 1}
    if doubled:
        clashes = [
            f"columns {' and '.join(map(str, where))}{f' ({name!r})' if shown else ''}"
            for name, where in list(doubled.items())[:MOST_TOLD]
        ]
        more = f" and {len(doubled) - MOST_TOLD} more" if len(doubled) > MOST_TOLD else ""
        raise InputError(
            f"{len(stripped) - len(places)} of {len(names)} column names of the source occur more "
            f"than once: {'; '.join(clashes)}{more}; rename them"
        )
    return stripped


def require_names(present: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a source that lacks a needed column."""
    if lost := [name for name in needed if name not in present]:
        raise InputError(f"the source has no column {', '.join(lost)}; correct [columns]")
