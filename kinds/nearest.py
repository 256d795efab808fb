"""What a person may have meant by a name that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a refusal that offers the nearest known name; empty if none is near."""
    # difflib takes another case for other letters, and that is a common slip.
    by_folded = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), list(by_folded), n=1)
    return f"; did you mean {by_folded[near[0]]!r}?" if near else ""
