"""The tables that every suite lets pass."""

from tests.kinds.table.conftest import codebook, packed, release, source, specs  # noqa: F401
