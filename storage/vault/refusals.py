"""Why a vault, or a release beside those that it knows, is refused."""

from anon_core.errors import AnonymityError


class SecondReleaseError(AnonymityError):
    """Another release already contains people of this source."""


class FolderError(AnonymityError):
    """The vault or a folder for releases cannot be used."""


class BusyError(AnonymityError):
    """Another process works on the same run."""
