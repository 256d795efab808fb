"""Plug-ins: methods, kinds, formats and checks that other packages add.

A package states them as entry points of the groups `crowdcover.methods`, `crowdcover.kinds`,
`crowdcover.formats` and `crowdcover.checks`; it is enough to install it. What cannot be used is
named in a warning and left out.
"""

import warnings
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anon_core.build import hash_sources

PLUGIN_GROUPS = ("methods", "kinds", "formats", "checks")
_LEFT_OUT: dict[tuple[str, str], str] = {}  # why, by group and name


class PluginWarning(UserWarning):
    """A plug-in that cannot be used."""


@dataclass(frozen=True)
class Plugin:
    """One plug-in that is installed.

    Attributes
    ----------
    group : {"methods", "kinds", "formats", "checks"}
    name : str
        As plans call it.
    package : str
        The package that has it, with its version.
    module : str
        Where it is.
    entry : EntryPoint
        What loads it.
    """

    group: str
    name: str
    package: str
    module: str
    entry: EntryPoint

    def describe_broken(self, why: str) -> str:
        """A sentence on a plug-in that cannot be used."""
        return f"the plug-in {self.name!r} of crowdcover.{self.group} ({self.package}) {why}"


@cache
def _list_entries() -> list[EntryPoint]:
    """All entry points of installed packages: reading them takes 20 ms."""
    return [each for package in distributions() for each in package.entry_points]


@cache
def list_plugins(group: str) -> tuple[Plugin, ...]:
    """The plug-ins of a group, by name; of several packages with one name, the first."""
    found: dict[str, Plugin] = {}
    for each in _list_entries():
        if each.group != f"crowdcover.{group}":
            continue
        package = f"{each.dist.name} {each.dist.version}" if each.dist else ""
        plugin = Plugin(group, each.name, package, each.module, each)
        other = found.setdefault(each.name, plugin)
        found[each.name] = min(other, plugin, key=lambda one: one.package)
    return tuple(found[name] for name in sorted(found))


def load_plugins(
    group: str, taken: Collection[str], find_fault: Callable[[Any], str]
) -> dict[str, Any]:
    """Load the plug-ins of a group by their names.

    Parameters
    ----------
    group : str
    taken : collection of str
        Names that crowdcover has itself: no plug-in replaces them.
    find_fault : callable
        Says what keeps a loaded object from being used, such as "is no function"; "" for nothing.

    Warns
    -----
    PluginWarning
        Of each that is left out.
    """
    loaded = {}
    for plugin in list_plugins(group):
        try:
            found = plugin.entry.load()
            why = "has a name that is taken" if plugin.name in taken else find_fault(found)
        # Whatever another project's module raises; some end the program when they are imported.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            why = f"cannot be loaded: {type(error).__name__}"
        if why:
            leave_out(plugin, why)
        else:
            loaded[plugin.name] = found
    return loaded


def describe_lack(found: object, needed: Iterable[str]) -> str:
    """What a loaded object lacks of the needed attributes, in words; "" for nothing."""
    lacking = [name for name in needed if not hasattr(found, name)]
    return f"lacks {', '.join(lacking)}" if lacking else ""


def leave_out(plugin: Plugin, why: str) -> None:
    """Warn of a plug-in that cannot be used, and keep why."""
    _LEFT_OUT[plugin.group, plugin.name] = why
    warn_of_plugin(f"{plugin.describe_broken(why)}; it is left out", plugin.module)


def explain_left_out(plugin: Plugin) -> str:
    """Why a plug-in of a group that was loaded cannot be used; "" where it can."""
    return _LEFT_OUT.get((plugin.group, plugin.name), "")


def warn_of_plugin(told: str, module: str) -> None:
    """Warn of a module of another package: the warning names it in place of our line."""
    warnings.warn_explicit(told, PluginWarning, module, 1)


@cache
def hash_plugins() -> dict[str, str]:
    """The hash of the code of each package that has plug-ins; empty without any."""
    modules = {
        each.module.partition(".")[0] for group in PLUGIN_GROUPS for each in list_plugins(group)
    }
    hashes = {}
    for name in sorted(modules):
        spec = find_spec(name)
        if spec is not None:
            places = spec.submodule_search_locations or [spec.origin or ""]
            folder = Path(places[0])
            hashes[name] = hash_sources(folder.parent, [folder.name])
    return hashes
