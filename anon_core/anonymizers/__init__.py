"""The anonymizers by the name that a plan gives them.

A method is loaded when it is first used: numba takes a second to import, and what a plan says of a
method needs its settings alone.
"""

from collections.abc import Iterator, MutableMapping
from dataclasses import is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from anon_core.anonymizers.adaptive.settings import Settings as AdaptiveSettings
from anon_core.anonymizers.freeform.settings import FreeformSettings
from anon_core.anonymizers.k_member_settings import KMemberSettings
from anon_core.anonymizers.local_search.settings import LocalSearchSettings
from anon_core.anonymizers.optimal.settings import OptimalSettings
from anon_core.anonymizers.smooth.settings import SmoothSettings
from anon_core.anonymizers.stated import Stated
from anon_core.anonymizers.uncertain_graph.settings import ObfuscateSettings
from anon_core.plugins import describe_lack, load_plugins

if TYPE_CHECKING:  # the same names for type checkers, which do not run `__getattr__`
    from anon_core.anonymizers.adaptive.adaptive import Adaptive
    from anon_core.anonymizers.base import Anonymizer
    from anon_core.anonymizers.freeform.freeform import Freeform
    from anon_core.anonymizers.k_member import KMember
    from anon_core.anonymizers.local_search.local_search import LocalSearch
    from anon_core.anonymizers.optimal.optimal import Optimal
    from anon_core.anonymizers.smooth.smooth import Smooth
    from anon_core.anonymizers.uncertain_graph.obfuscate import Obfuscate

_HOMES = {
    "Adaptive": "adaptive.adaptive",
    "Anonymizer": "base",
    "Freeform": "freeform.freeform",
    "KMember": "k_member",
    "LocalSearch": "local_search.local_search",
    "Obfuscate": "uncertain_graph.obfuscate",
    "Optimal": "optimal.optimal",
    "Smooth": "smooth.smooth",
}
# By name in a plan: the class, and the settings that it inherits.
_METHODS: dict[str, tuple[str, type[Stated]]] = {
    "adaptive": ("Adaptive", AdaptiveSettings),
    "freeform": ("Freeform", FreeformSettings),
    "k-member": ("KMember", KMemberSettings),
    "local-search": ("LocalSearch", LocalSearchSettings),
    "optimal": ("Optimal", OptimalSettings),
    "smooth": ("Smooth", SmoothSettings),
    "uncertain_graph": ("Obfuscate", ObfuscateSettings),
}


# Python calls this only for names that the module does not hold (PEP 562).
def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anon_core.anonymizers' has no attribute {name!r}")
    return getattr(import_module(f"anon_core.anonymizers.{_HOMES[name]}"), name)


class Methods(MutableMapping[str, "type[Anonymizer[Any]]"]):
    """Methods by name; those of this package are loaded when they are asked for."""

    def __init__(self) -> None:
        # None: not loaded yet.
        self._loaded: dict[str, type[Anonymizer[Any]] | None] = dict.fromkeys(_METHODS)

    def __getitem__(self, name: str) -> "type[Anonymizer[Any]]":
        if (found := self._loaded[name]) is None:
            found = self._loaded[name] = __getattr__(_METHODS[name][0])
        return found

    def __setitem__(self, name: str, method: "type[Anonymizer[Any]]") -> None:
        self._loaded[name] = method

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)

    def __contains__(self, name: object) -> bool:  # that of the base class loads the method
        return name in self._loaded

    def settings_of(self, name: str) -> type[Stated]:
        """The settings of a method, which need no numba: the class itself where it is loaded."""
        return self._loaded[name] or _METHODS[name][1]


ANONYMIZERS = Methods()


def _find_fault_of_method(method: Any) -> str:
    """What keeps a method of another package from being used; see `Anonymizer`."""
    if not (isinstance(method, type) and is_dataclass(method)):
        return "is no dataclass of settings"
    return describe_lack(
        method, ("kind", "data", "promise", "engines", "admit", "memory", "anonymize")
    )


ANONYMIZERS.update(load_plugins("methods", ANONYMIZERS, _find_fault_of_method))

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
