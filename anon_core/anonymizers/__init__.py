"""The anonymizers by the name that a plan gives them."""

from dataclasses import is_dataclass
from typing import Any

from anon_core.anonymizers.adaptive.adaptive import Adaptive
from anon_core.anonymizers.base import Anonymizer
from anon_core.anonymizers.freeform.freeform import Freeform
from anon_core.anonymizers.k_member import KMember
from anon_core.anonymizers.local_search.local_search import LocalSearch
from anon_core.anonymizers.optimal.optimal import Optimal
from anon_core.anonymizers.smooth.smooth import Smooth
from anon_core.anonymizers.uncertain_graph.obfuscate import Obfuscate
from anon_core.plugins import describe_lack, load_plugins

ANONYMIZERS: dict[str, type[Anonymizer[Any]]] = {
    "adaptive": Adaptive,
    "freeform": Freeform,
    "k-member": KMember,
    "local-search": LocalSearch,
    "optimal": Optimal,
    "smooth": Smooth,
    "uncertain_graph": Obfuscate,
}


def _find_fault_of_method(method: Any) -> str:
    """What keeps a method of another package from being used; see `Anonymizer`."""
    if not (isinstance(method, type) and is_dataclass(method)):
        return "is no dataclass of settings"
    return describe_lack(
        method, ("kind", "data", "promise", "engines", "admit", "memory", "anonymize")
    )


ANONYMIZERS |= load_plugins("methods", ANONYMIZERS, _find_fault_of_method)

# By name of a method, what a person must know before its first use.
NOTICES: dict[str, str] = {
    "smooth": "a patent may cover the method 'smooth': US 11,727,147 B2 (2023), US 12,164,673 B2 "
    "(2024). Have a person look who knows patents before you use the release; this is no legal "
    "advice (docs/how-to/matrix.md). Said once for each plan"
}

__all__ = [
    "ANONYMIZERS",
    "NOTICES",
    "Adaptive",
    "Anonymizer",
    "Freeform",
    "KMember",
    "LocalSearch",
    "Obfuscate",
    "Optimal",
    "Smooth",
]
