"""A toy format: a line of names, then rows, all fields of one width and filled up with blanks."""

import polars as pl

from crowdcover.storage.source.file_bytes import read_bytes
from crowdcover.storage.source.formats.base import Format

SIGN = b"#width "


class FixedWidth(Format):
    """Text whose first line states the width of each field."""

    name = "fixed width"
    ends = (".fwf",)

    def fits(self, head):
        return head.startswith(SIGN)

    def names(self, file, dialect):
        return next(_read_rows(file))

    def columns(self, file, dialect, width, places):
        _, *rows = _read_rows(file)
        return pl.DataFrame({str(place): [row[place] for row in rows] for place in places})


def fixed_width(rows, width=20):
    """The bytes of a file with these rows, the first of names."""
    lines = ("".join(str(cell).ljust(width) for cell in row) for row in rows)
    return b"%s%d\n" % (SIGN, width) + "".join(f"{line}\n" for line in lines).encode()


def _read_rows(file):
    head, *lines = read_bytes(file).decode().splitlines()
    width = int(head.removeprefix(SIGN.decode()))
    for line in lines:
        yield [line[at : at + width].strip() for at in range(0, len(line), width)]
