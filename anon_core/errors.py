"""The tree of refusals.

Every message says what was found, what is required and what to do. None carries a cell value, an identifier or a row
number: counts and column names only.
"""


class AnonymityError(Exception):
    """Base of every refusal of this project; never caught inside anon_core."""


class InputError(AnonymityError, ValueError):
    """An array or table breaks its stated shape, type or range."""


class InfeasibleError(AnonymityError):
    """No answer exists for these demands."""


class LimitError(AnonymityError):
    """An answer may exist beyond the stated budget."""


class GuaranteeError(AnonymityError):
    """The result does not keep its promise; nothing may be published."""


class ClusterError(AnonymityError):
    """The machines that were to do the work did not; nothing was decided."""
