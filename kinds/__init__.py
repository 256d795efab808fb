"""The kinds of data: all that differs between a table, a matrix and a graph.

`KINDS` names the package of each kind. Its module `kind` has the kind as `KIND`; its module `words`
has the kind's words for reports as `WORDS`, and imports nothing slow. Both are loaded when they are
asked for. A new kind is one folder and one entry.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Types only: a report that needs the words of a kind must not load readers and ledgers.
    from crowdcover.kinds.base import Kind
    from crowdcover.reports.words import Words

KINDS = {
    "table": "crowdcover.kinds.table",
    "matrix": "crowdcover.kinds.matrix",
    "graph": "crowdcover.kinds.graph",
}


def kind_called(name: str) -> "Kind":
    """The kind of this name; KeyError where there is none."""
    kind: Kind = import_module(f"{KINDS[name]}.kind").KIND
    return kind


def words_called(name: str) -> "Words":
    """The words of the kind of this name."""
    words: Words = import_module(f"{KINDS[name]}.report.words").WORDS
    return words


def words_of(manifest: Mapping[str, Any]) -> "Words":
    """The words of the kind that a manifest names; releases before kinds are tables."""
    return words_called(manifest["source"].get("kind", "table"))
