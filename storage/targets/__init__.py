"""Targets: databases that releases are loaded into. A file and an entry in `TARGETS` each."""

from crowdcover.storage.targets.base import Target
from crowdcover.storage.targets.duck import DUCKDB_TARGET
from crowdcover.storage.targets.postgres import POSTGRES_TARGET

TARGETS = (POSTGRES_TARGET, DUCKDB_TARGET)


def target_of(uri: str) -> Target | None:
    """The target of an address; None where it is no such address."""
    return next((each for each in TARGETS if uri.startswith(each.starts)), None)
