"""Which module spreads an anonymizer's work on an engine."""

from importlib import import_module
from typing import Any, cast

from anon_core.anonymizers.base import Anonymizer, Farmed, Ranked, Threaded
from anon_core.errors import LimitError


def load_local_module(anonymizer: Anonymizer[Any]) -> Threaded:
    """Return the module that makes parts on threads of this process, if these settings have one."""
    return cast("Threaded", import_module(anonymizer.engines["local"]))


def load_dask_module(anonymizer: Anonymizer[Any]) -> Farmed:
    """Return the module that spreads the work over a Dask cluster; see `load_engine_module`."""
    return cast("Farmed", load_engine_module(anonymizer, "dask"))


def load_mpi_module(anonymizer: Anonymizer[Any]) -> Ranked:
    """Return the module that spreads the work over MPI ranks; see `load_engine_module`."""
    return cast("Ranked", load_engine_module(anonymizer, "mpi"))


def load_engine_module(anonymizer: Anonymizer[Any], engine: str) -> Farmed | Ranked:
    """Return the module that spreads an anonymizer's work on an engine other than "local".

    Raises
    ------
    LimitError
        The anonymizer does not run on that engine with these settings.
    """
    name = anonymizer.engines.get(engine)
    if not name:
        choice = ", ".join(repr(each) for each in anonymizer.engines)
        raise LimitError(
            f"this anonymizer with these settings does not run on engine {engine!r}, only on "
            f"{choice}; choose another engine, or other settings"
        )
    return cast("Farmed | Ranked", import_module(name))
