"""The algorithms: numpy and numba; no orchestration, no files, no clocks.

The public names are loaded when they are first used: numba takes a second to import, and `crowdcover --help` has none.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "ANONYMIZERS": "anonymizers",
    "Adaptive": "anonymizers",
    "AnonymityError": "errors",
    "Anonymizer": "anonymizers",
    "BinaryTable": "records",
    "Checkpoint": "records",
    "Codebook": "records",
    "ColumnSpec": "records",
    "Crowds": "measures.privacy",
    "Demand": "demands",
    "GuaranteeError": "errors",
    "InfeasibleError": "errors",
    "InputError": "errors",
    "LimitError": "errors",
    "MaskedTable": "records",
    "Observer": "records",
    "ReleasedCells": "measures.classes",
    "Utility": "measures.utility",
    "crowds": "measures.privacy",
    "encode": "encoding",
    "fit": "encoding",
    "from_bits": "encoding",
    "random_matching": "graphs.perfect_matching",
    "read_cells": "encoding",
    "run": "engines.local",
    "utility": "measures.utility",
    "write_cells": "encoding",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anon_core' has no attribute {name!r}")
    return getattr(import_module(f"anon_core.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
