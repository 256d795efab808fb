"""The code that is installed here, known by a hash of its files."""

from collections.abc import Iterable
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
        for place in sorted(path.relative_to(root).as_posix() for path in (root / name).rglob("*")):
            if _is_source(place) and (root / place).is_file():
                content = sha256((root / place).read_bytes()).hexdigest()
                digest.update(f"{content} {place}\n".encode())
    return digest.hexdigest()


def _is_source(place: str) -> bool:
    """Whether a file is part of the program; Python, numba and editors leave others."""
    hidden = any(part.startswith(".") or part == "__pycache__" for part in place.split("/"))
    return not hidden and not place.endswith((".pyc", "~"))
