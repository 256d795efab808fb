"""Targets: databases that releases are loaded into. A file and an entry in `TARGETS` each."""

from crowdcover.storage.targets.base import Target
from crowdcover.storage.targets.duck import DUCKDB
from crowdcover.storage.targets.postgres import POSTGRES

TARGETS = (POSTGRES, DUCKDB)


def target_of(uri: str) -> Target | None:
    """The target of an address; None where it is no such address."""
    return next((each for each in TARGETS if uri.startswith(each.starts)), None)
