"""Imports Great Expectations without what no check here uses: plots, statistics, databases.

That is a third of the time of its import. Altair and scipy.stats are loaded when they are used.
SQLAlchemy is hidden from it: it works without, and what others import is not touched.
"""

import importlib
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType

LATER = ("altair", "scipy.stats")
HIDDEN = "sqlalchemy"


class _Hidden(MetaPathFinder):
    """Finds no SQLAlchemy in the thread that made it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the protocol
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Refuse to find it; leave all else to the other finders."""
        if fullname == HIDDEN and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(fullname, name=fullname)
        return None


@contextmanager
def _hide() -> Iterator[None]:
    finder = _Hidden()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _import_later(name: str) -> None:
    """Let a module be loaded when something of it is first used."""
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


if "great_expectations" not in sys.modules:
    for _name in LATER:
        _import_later(_name)
    with _hide():
        importlib.import_module("great_expectations.expectations")
