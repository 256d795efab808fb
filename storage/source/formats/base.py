"""The protocol of a file format: what a source's file must tell, whatever it is written in."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from crowdcover.storage.source.file_bytes import File
from crowdcover.storage.source.packing import ArchiveMembers


class Dialect(NamedTuple):
    """What a plan says of how a file is written; each format takes its `options` of these.

    `sheet` is the sheet of a workbook.
    """

    header: bool = True
    separator: str = ","
    comment: str = ""
    sheet: str | None = None


class Format(Protocol):
    """A format of files that hold a table, or arrays.

    A new format is one file beside this one and an entry in `FORMATS`, or a plug-in. It states its
    name, how the names of its files end, and `columns`; and `names`, or `first_rows` where "header"
    is an option.

    Attributes
    ----------
    name : in plans' refusals and in notes.
    ends : of file names, in small letters.
    zip_ends : those of them that name zip archives.
    options : fields of `Dialect` that it takes. With "header" a file may be without names of
        columns: its first row then holds cells.
    holds_arrays : whether its files hold arrays, and no table.
    typed : whether its files state a type for each column.
    """

    name: ClassVar[str]
    ends: ClassVar[tuple[str, ...]]
    zip_ends: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[frozenset[str]] = frozenset()
    holds_arrays: ClassVar[bool] = False
    typed: ClassVar[bool] = False

    def fits(self, head: bytes) -> bool:
        """Whether a file that begins so is of this format."""
        return False

    def fits_members(self, members: ArchiveMembers) -> bool:
        """Whether a zip archive of these members is a file of this format."""
        return False

    def first_rows(self, file: File, dialect: Dialect, number: int) -> list[list[str]] | None:
        """The fields of the first rows that are not blank; None where "header" is no option."""
        return None

    def names(self, file: File, dialect: Dialect) -> list[str] | int:
        """The names of the columns as the file spells them; their number if it has none."""
        first = self.first_rows(file, dialect, 1)
        if not first:
            return []
        return first[0] if dialect.header else len(first[0])

    def columns(
        self, file: File, dialect: Dialect, width: int, places: Sequence[int]
    ) -> pl.DataFrame:
        """Some of `width` columns by their places, in the types of the file; refused: damage."""
        ...

    def arrays(self, file: File, needed: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """The needed arrays; refused where the format holds none."""
        raise InputError("the source holds no arrays; give a .npz file of scipy.sparse")
