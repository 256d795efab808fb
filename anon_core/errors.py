"""The errors of this project.

Every message says what was measured, what is required and what to do. A message carries counts
and column names. It carries no cell value, identifier or row number.
"""


def escape_unprintable(text: str) -> str:
    """Write control characters, line ends and marks of direction as Python's escapes.

    A name from a source may hold them. Shown as they are, they could rewrite a terminal or a line
    of a log.
    """
    if text.isprintable():
        return text
    # Not `repr` of the whole text: that would double its backslashes, too.
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


class AnonymityError(Exception):
    """Base of all errors of this project. anon_core never catches it.

    Parameters
    ----------
    message : str
        One line; characters that cannot be printed are escaped.
    """

    def __init__(self, message: str = "") -> None:
        # Here, not where messages are made: names of columns enter most of them.
        super().__init__(escape_unprintable(message))


class InputError(AnonymityError, ValueError):
    """An array or table does not have its stated shape, type or range."""


class InfeasibleError(AnonymityError):
    """No solution exists for these demands."""


class LimitError(AnonymityError):
    """A solution may exist, but not within the stated budget."""


class GuaranteeError(AnonymityError):
    """The result breaks a guarantee; it must not be published."""


class ClusterError(AnonymityError):
    """Batch jobs, ranks or workers failed or are missing; there is no result."""
