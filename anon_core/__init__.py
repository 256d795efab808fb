"""The algorithms: numpy and numba; no orchestration, no files, no clocks.

A public name is loaded when it is first used: numba takes a second to import, and
`crowdcover --help` needs none of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for type checkers, which do not run `__getattr__`
    from anon_core.anonymizers import (
        ANONYMIZERS,
        Adaptive,
        Anonymizer,
        Freeform,
        KMember,
        LocalSearch,
        Optimal,
    )
    from anon_core.engines.local import run
    from anon_core.errors import (
        AnonymityError,
        GuaranteeError,
        InfeasibleError,
        InputError,
        LimitError,
    )
    from anon_core.measures.table.cells import read_cells
    from anon_core.measures.table.classes import ReleasedCells
    from anon_core.measures.table.crowds import Crowds, crowds
    from anon_core.measures.table.utility import Utility, utility
    from anon_core.promise import Promise
    from anon_core.seating.matching import random_matching
    from anon_core.specs.columns import ColumnSpec
    from anon_core.specs.demands import Demand
    from anon_core.steps import Observer, State, Step
    from anon_core.tables.cells import write_cells
    from anon_core.tables.encoding import encode, fit, from_bits
    from anon_core.tables.records import BinaryTable, Codebook, MaskedTable

__all__ = [
    "ANONYMIZERS", "Adaptive", "AnonymityError", "Anonymizer", "BinaryTable", "Codebook",
    "ColumnSpec", "Crowds", "Demand", "Freeform", "GuaranteeError", "InfeasibleError", "InputError",
    "KMember", "LimitError", "LocalSearch", "MaskedTable", "Observer", "Optimal", "Promise",
    "ReleasedCells", "State", "Step", "Utility", "crowds", "encode", "fit", "from_bits",
    "random_matching", "read_cells", "run", "utility", "write_cells",
]  # fmt: skip
_HOMES = {
    "anonymizers": (
        "ANONYMIZERS", "Adaptive", "Anonymizer", "Freeform", "KMember", "LocalSearch", "Optimal",
    ),
    "engines.local": ("run",),
    "errors": ("AnonymityError", "GuaranteeError", "InfeasibleError", "InputError", "LimitError"),
    "measures.table.cells": ("read_cells",),
    "measures.table.classes": ("ReleasedCells",),
    "measures.table.crowds": ("Crowds", "crowds"),
    "measures.table.utility": ("Utility", "utility"),
    "promise": ("Promise",),
    "seating.matching": ("random_matching",),
    "specs.columns": ("ColumnSpec",),
    "specs.demands": ("Demand",),
    "steps": ("Observer", "State", "Step"),
    "tables.cells": ("write_cells",),
    "tables.encoding": ("encode", "fit", "from_bits"),
    "tables.records": ("BinaryTable", "Codebook", "MaskedTable"),
}  # fmt: skip


# Python calls this only for names that the module does not hold (PEP 562).
def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"anon_core.{home}"), name)
    raise AttributeError(f"module 'anon_core' has no attribute {name!r}")


# Without this, `dir` and completion would know only the names that were used so far.
def __dir__() -> list[str]:
    return sorted(__all__)
