"""The algorithms: numpy and numba; no orchestration, no files, no clocks.

A public name is loaded when it is first used: numba takes a second to import, and
`crowdcover --help` needs none of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for type checkers, which do not run `__getattr__`
    from anon_core.anonymizers import (
        ANONYMIZERS as ANONYMIZERS,
    )
    from anon_core.anonymizers import (
        Adaptive as Adaptive,
    )
    from anon_core.anonymizers import (
        Anonymizer as Anonymizer,
    )
    from anon_core.anonymizers import (
        Freeform as Freeform,
    )
    from anon_core.anonymizers import (
        KMember as KMember,
    )
    from anon_core.anonymizers import (
        Optimal as Optimal,
    )
    from anon_core.engines.local import (
        run as run,
    )
    from anon_core.errors import (
        AnonymityError as AnonymityError,
    )
    from anon_core.errors import (
        GuaranteeError as GuaranteeError,
    )
    from anon_core.errors import (
        InfeasibleError as InfeasibleError,
    )
    from anon_core.errors import (
        InputError as InputError,
    )
    from anon_core.errors import (
        LimitError as LimitError,
    )
    from anon_core.measures.table.cells import (
        read_cells as read_cells,
    )
    from anon_core.measures.table.classes import (
        ReleasedCells as ReleasedCells,
    )
    from anon_core.measures.table.crowds import (
        Crowds as Crowds,
    )
    from anon_core.measures.table.crowds import (
        crowds as crowds,
    )
    from anon_core.measures.table.utility import (
        Utility as Utility,
    )
    from anon_core.measures.table.utility import (
        utility as utility,
    )
    from anon_core.promise import (
        Promise as Promise,
    )
    from anon_core.seating.matching import (
        random_matching as random_matching,
    )
    from anon_core.specs.columns import (
        ColumnSpec as ColumnSpec,
    )
    from anon_core.specs.demands import (
        Demand as Demand,
    )
    from anon_core.steps import (
        Observer as Observer,
    )
    from anon_core.steps import (
        State as State,
    )
    from anon_core.steps import (
        Step as Step,
    )
    from anon_core.tables.cells import (
        write_cells as write_cells,
    )
    from anon_core.tables.encoding import (
        encode as encode,
    )
    from anon_core.tables.encoding import (
        fit as fit,
    )
    from anon_core.tables.encoding import (
        from_bits as from_bits,
    )
    from anon_core.tables.records import (
        BinaryTable as BinaryTable,
    )
    from anon_core.tables.records import (
        Codebook as Codebook,
    )
    from anon_core.tables.records import (
        MaskedTable as MaskedTable,
    )

_HOMES = {
    "ANONYMIZERS": "anonymizers",
    "Adaptive": "anonymizers",
    "AnonymityError": "errors",
    "Anonymizer": "anonymizers",
    "BinaryTable": "tables.records",
    "Codebook": "tables.records",
    "ColumnSpec": "specs.columns",
    "Crowds": "measures.table.crowds",
    "Demand": "specs.demands",
    "Freeform": "anonymizers",
    "GuaranteeError": "errors",
    "InfeasibleError": "errors",
    "InputError": "errors",
    "KMember": "anonymizers",
    "LimitError": "errors",
    "MaskedTable": "tables.records",
    "Observer": "steps",
    "Optimal": "anonymizers",
    "Promise": "promise",
    "ReleasedCells": "measures.table.classes",
    "State": "steps",
    "Step": "steps",
    "Utility": "measures.table.utility",
    "crowds": "measures.table.crowds",
    "encode": "tables.encoding",
    "fit": "tables.encoding",
    "from_bits": "tables.encoding",
    "random_matching": "seating.matching",
    "read_cells": "measures.table.cells",
    "run": "engines.local",
    "utility": "measures.table.utility",
    "write_cells": "tables.cells",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anon_core' has no attribute {name!r}")
    return getattr(import_module(f"anon_core.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
