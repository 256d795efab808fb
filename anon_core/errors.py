"""The errors of this project.

Every message says what was measured, what is required and what to do. A message carries counts
and column names. It carries no cell value, identifier or row number.
"""


class AnonymityError(Exception):
    """Base of all errors of this project. anon_core never catches it."""


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
