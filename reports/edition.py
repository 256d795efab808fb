"""Which texts of the program a release was described with.

Report and catalogue are functions of a release and of the program's texts. Who has the same texts
can make them again and compare.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_DIGITS = 16
SUFFIXES = (".py", ".j2", ".toml")


@cache
def hash_texts(packages: Sequence[Path]) -> str:
    """A hash of the texts in these packages, the same wherever they are installed."""
    digest = hashlib.sha256()
    for package in packages:
        # Sorted: file systems list files in different orders.
        for path in sorted(package.rglob("*")):
            if path.suffix in SUFFIXES:
                name = path.relative_to(package.parent).as_posix()
                # Hashes have one length: the end of a file cannot pass for the start of the next.
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{name} {content}\n".encode())
    return digest.hexdigest()[:_DIGITS]
