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
    "BinaryTable": "tables.records",
    "Checkpoint": "tables.records",
    "Codebook": "tables.records",
    "ColumnSpec": "specs.columns",
    "Crowds": "measures.table.crowds",
    "Demand": "specs.demands",
    "GuaranteeError": "errors",
    "InfeasibleError": "errors",
    "InputError": "errors",
    "LimitError": "errors",
    "MaskedTable": "tables.records",
    "Observer": "tables.records",
    "ReleasedCells": "measures.table.classes",
    "Utility": "measures.table.utility",
    "crowds": "measures.table.crowds",
    "encode": "tables.encoding",
    "fit": "tables.encoding",
    "from_bits": "tables.encoding",
    "random_matching": "seating.matching",
    "read_cells": "measures.table.cells",
    "run": "engines.local",
    "utility": "measures.table.utility",
    "write_cells": "tables.encoding",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anon_core' has no attribute {name!r}")
    return getattr(import_module(f"anon_core.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
