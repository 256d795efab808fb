"""Imports Great Expectations without what no check here uses: plots, statistics, databases, S3.

That is a third of the time of its import. What it uses in single checks only is loaded when it uses
it. Packages that are optional for it are hidden from it. What others import is not touched.
"""

import gc
import importlib
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

LATER = ("altair", "jsonschema", "scipy.stats")
HIDDEN = ("boto3", "botocore", "sqlalchemy")


class _Later(ModuleType):
    """Stands for a module until an attribute of it is used.

    LazyLoader of importlib is not enough: `inspect` asks each module for its file.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        # Another thread may ask while this one stands where the module would.
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


class _Hidden(MetaPathFinder):
    """Finds none of the hidden packages in the thread that made it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the protocol
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Refuse to find it; leave all else to the other finders."""
        if fullname in HIDDEN and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(fullname, name=fullname)
        return None


@contextmanager
def _leave_out() -> Iterator[None]:
    """Leave out what the import inside need not load."""
    finder = _Hidden()
    later = {name: _Later(name) for name in LATER if name not in sys.modules}
    sys.modules.update(later)
    sys.meta_path.insert(0, finder)
    collects = gc.isenabled()
    gc.collect()  # what is garbage now would be kept, too
    gc.disable()  # what modules define stays: a tenth of the time went into looking for garbage
    try:
        yield
    finally:
        if collects:
            gc.freeze()  # else the next look would go through all of it
            gc.enable()
        sys.meta_path.remove(finder)
        for name, module in later.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


if "great_expectations" not in sys.modules:
    with _leave_out():
        importlib.import_module("great_expectations.expectations")
