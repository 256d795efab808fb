"""Names of columns in answers: none of a release may take the place of another."""

from collections.abc import Iterable


def label_name(column: str, taken: Iterable[str]) -> str:
    """What a column of labels is called beside others: as its column, or `<column>.level`.

    `taken` are the names that an answer has in any case, such as `certain`, or the levels of
    another column.
    """
    others = set(taken)
    while column in others:
        column += ".level"
    return column


def number_repeated_names(names: Iterable[str]) -> list[str]:
    """Names that all differ: a repeated one becomes `name (2)`, `name (3)`, ..."""
    wanted = list(names)
    free, found = set(wanted), dict[str, None]()
    for name in wanted:
        new, number = name, 1
        # A made name must not take that of a column to come, so all wanted names are avoided.
        while new in found or (number > 1 and new in free):
            number += 1
            new = f"{name} ({number})"
        found[new] = None
    return list(found)
