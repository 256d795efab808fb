"""The refusals of this package. No message quotes a value of a release."""


class ReleaseError(ValueError):
    """A folder is no release that can be read, or a question names what the release lacks."""


class RulesWarning(UserWarning):
    """Rows of a completed table are impossible by the rules that were given."""
