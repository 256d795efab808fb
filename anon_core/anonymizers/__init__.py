"""The anonymizers by the name that a plan gives them."""

from typing import Any

from anon_core.anonymizers.adaptive.adaptive import Adaptive
from anon_core.anonymizers.base import Anonymizer
from anon_core.anonymizers.freeform.freeform import Freeform
from anon_core.anonymizers.k_member import KMember
from anon_core.anonymizers.optimal.optimal import Optimal
from anon_core.anonymizers.smooth.smooth import Smooth
from anon_core.anonymizers.uncertain_graph.obfuscate import Obfuscate

ANONYMIZERS: dict[str, type[Anonymizer[Any]]] = {
    "adaptive": Adaptive,
    "freeform": Freeform,
    "k-member": KMember,
    "optimal": Optimal,
    "smooth": Smooth,
    "uncertain_graph": Obfuscate,
}

__all__ = [
    "ANONYMIZERS",
    "Adaptive",
    "Anonymizer",
    "Freeform",
    "KMember",
    "Obfuscate",
    "Optimal",
    "Smooth",
]
