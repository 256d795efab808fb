"""The kinds of data: all that differs between a table, a matrix and a graph.

`KINDS` names the package of each kind. Its module `kind` has the kind as `KIND`; its module `words`
has the kind's words for reports as `WORDS`, and imports nothing slow. Its module `rules` may have
what the kind says of a plan as `RULES`; where there is none, the kind itself says it. They are
loaded when they are asked for. A new kind is one folder and one entry, or a plug-in: its entry
point in `crowdcover.kinds` names such a package.
"""

from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from anon_core.errors import AnonymityError
from anon_core.plugins import leave_out, list_plugins

if TYPE_CHECKING:
    # Types only: a report that needs the words of a kind must not load readers and ledgers.
    from crowdcover.kinds.base import Kind
    from crowdcover.kinds.plan.rules import PlanRules
    from crowdcover.reports.words import Words

KINDS = {
    "table": "crowdcover.kinds.table",
    "matrix": "crowdcover.kinds.matrix",
    "graph": "crowdcover.kinds.graph",
}
_PLUGINS = {each.name: each for each in list_plugins("kinds") if each.name not in KINDS}
KINDS |= {name: each.entry.value for name, each in _PLUGINS.items()}


def kind_called(name: str) -> "Kind":
    """The kind of this name; KeyError where there is none, PlanError where it cannot be loaded."""
    kind: Kind = _load_part(name, "kind", "KIND")
    return kind


def rules_called(name: str) -> "PlanRules":
    """What the kind of this name says of a plan; numba is not needed for the kinds of ours."""
    if name in _PLUGINS or find_spec(f"{KINDS[name]}.rules") is None:
        return kind_called(name)
    rules: PlanRules = _load_part(name, "rules", "RULES")
    return rules


def words_called(name: str) -> "Words":
    """The words of the kind of this name."""
    words: Words = _load_part(name, "report.words", "WORDS")
    return words


def list_usable_kinds() -> list[str]:
    """The kinds that can be loaded; one of another package that cannot is warned of."""
    usable = []
    for name in KINDS:
        with suppress(AnonymityError):
            kind_called(name)
            usable.append(name)
    return usable


def _load_part(name: str, module: str, part: str) -> Any:
    try:
        return getattr(import_module(f"{KINDS[name]}.{module}"), part)
    # Whatever another project's module raises; some end the program when they are imported.
    except (Exception, SystemExit) as error:
        if name not in _PLUGINS:
            raise
        why = f"cannot be loaded: {type(error).__name__}"
    from crowdcover.kinds.section import PlanError

    leave_out(_PLUGINS[name], why)
    raise PlanError(f"{_PLUGINS[name].describe_broken(why)}; mend or uninstall it")


def words_of(manifest: Mapping[str, Any]) -> "Words":
    """The words of the kind that a manifest names; releases before kinds are tables."""
    return words_called(manifest["source"].get("kind", "table"))
