"""The code that is installed here, known by a hash of its files."""

import os
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path


@cache
def hash_packages(*names: str) -> str:
    """Return the hash of packages beside `anon_core`, as `hash_sources` finds it at first.

    Files are read once a process, 30 ms for all packages of this program.
    """
    return hash_sources(Path(__file__).parents[1], names)


def hash_sources(root: Path, names: Iterable[str]) -> str:
    """Return the SHA-256 of the source files of packages.

    A version does not tell two builds of a checkout apart; this hash does. A wheel and the checkout
    that it was built from have the same one: it depends on names and contents of the files, not on
    times, the folder or compiled files.

    Parameters
    ----------
    root : Path
        The folder that holds the packages.
    names : iterable of str
        Packages; one that is not there has no files.
    """
    digest = sha256()
    for name in sorted(names):
        # Paths with slashes, sorted as text: order and spelling are the same on every file system.
        sources = {path.relative_to(root).as_posix(): path for path in _list_sources(root / name)}
        for place, path in sorted(sources.items()):
            content = sha256(path.read_bytes()).hexdigest()
            # Digests have one length, so no bytes can pass from one file to the next unseen.
            digest.update(f"{content} {place}\n".encode())
    return digest.hexdigest()


def _list_sources(package: Path) -> Iterator[Path]:
    """Yield the files that are part of the program; Python, numba and editors leave others."""
    if package.is_file():  # a module
        yield package
    # A checkout links to some parts of a package, an installed one holds them.
    for parent, folders, files in os.walk(package, followlinks=True):
        # Compiled files are many: they are not looked at one by one.
        # In place: `os.walk` goes on with what is left in this list.
        folders[:] = [name for name in folders if name != "__pycache__" and name[0] != "."]
        for name in files:
            path = Path(parent, name)
            if not name.startswith(".") and not name.endswith((".pyc", "~")) and path.is_file():
                yield path
