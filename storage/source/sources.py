"""Where private data lies, and its files, of any format."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from crowdcover.storage.places.place import Place
from crowdcover.storage.source.column_names import require_distinct_names, require_names
from crowdcover.storage.source.file_bytes import CLOSED, File, OpenFile
from crowdcover.storage.source.formats import (
    PARTED,
    format_of_name,
    format_of_path,
    recognize_format,
)
from crowdcover.storage.source.formats.base import Dialect, Format
from crowdcover.storage.source.parts import Parts, in_parts, is_pattern, part_columns, part_names
from crowdcover.storage.source.points import Point
from crowdcover.storage.source.values import FORM

EMPTY_SOURCE = "the source is empty; a table with at least 2 rows is required"
_BY_NAME = ContextVar("formats by name", default=False)


@contextmanager
def name_formats() -> Iterator[None]:
    """Within the block no source is opened to see its format: the end of its name tells it."""
    before = _BY_NAME.set(True)
    try:
        yield
    finally:
        _BY_NAME.reset(before)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a table lies and how it is written.

    `path` is a file, or a folder or pattern of Parquet files. `comment` is what the lines of a CSV
    file start with that are no rows; none if it is empty. `credentials` say where the password of a
    database lies. `beside` is a second source that belongs to it, such as a table of demands. `key`
    is the plan's key that names the file. `sheet` is the sheet of a workbook. `optional` are texts
    in `missing` that no cell need have. `form` is that of the reading. Not `whole`: some rows of a
    source that was read before. `points` are columns that are made of others when it is read; such
    rows may have them already.
    """

    path: Place | None = None
    uri: str | None = field(default=None, repr=False)
    query: str | None = field(default=None, repr=False)
    header: bool = True
    separator: str = ","
    comment: str = ""
    missing: tuple[str, ...] = field(default=(), repr=False)
    credentials: str | None = None
    beside: "Source | None" = field(default=None, repr=False)
    key: str = "source.path"
    optional: tuple[str, ...] = field(default=(), repr=False)
    form: int = FORM
    whole: bool = True
    sheet: str | None = None
    points: tuple[Point, ...] = ()

    def at(self, path: Place | None) -> "Source":
        """Some rows of it in another file, or in none; columns and missing values are the same."""
        return replace(
            self, path=path, uri=None, query=None, credentials=None, beside=None, whole=False
        )

    @property
    def dialect(self) -> Dialect:
        """How a file is written, as far as the plan says it."""
        return Dialect(self.header, self.separator, self.comment, self.sheet)

    @property
    def format(self) -> Format | None:
        """The format of a file, by its content, else by its name; None for databases."""
        if self.path is None:
            return None
        # What is not looked at, as in storage: a name without an end is taken for a folder.
        if is_pattern(self.path):
            return PARTED
        if isinstance(self.path, Path) and not _BY_NAME.get():
            return PARTED if self.path.is_dir() else format_of_path(self.path)
        if not self.path.suffix:
            return PARTED
        return format_of_name(self.path.name)

    def list_missing_points(self, header: list[str] | int) -> tuple[Point, ...]:
        """The points that are to be made of rows with this header."""
        if isinstance(header, int):
            return self.points
        taken = [point.name for point in self.points if point.name in header]
        if taken and self.whole:
            raise InputError(
                f"the source has a column {taken[0]!r} already; give the point another name"
            )
        return tuple(point for point in self.points if point.name not in taken)

    def add_points(self, header: list[str] | int) -> list[str] | int:
        """A header with the columns that are made when the source is read."""
        made = [point.name for point in self.list_missing_points(header)]
        return header + len(made) if isinstance(header, int) else [*header, *made]

    def has_option(self, option: str) -> bool:
        """Whether the format takes an option, a field of `Dialect`; a database takes none."""
        return self.format is not None and option in self.format.options

    @property
    def is_typed(self) -> bool:
        """Whether its columns have types of their own: those of a database, Parquet or Arrow."""
        return self.format is None or self.format.typed

    @property
    def is_text(self) -> bool:
        """Whether all its cells are texts: those of a CSV file."""
        return self.has_option("separator")

    @property
    def holds_arrays(self) -> bool:
        """Whether the file holds arrays and no table."""
        return self.format is not None and self.format.holds_arrays


def read_source_header(source: Source) -> list[str] | int | None:
    """Return a file's column names, or their number where it has none.

    Reads the first row only, for a check before a release starts. None for what would be read in
    full: databases, object storage, many files.
    """
    if not isinstance(source.path, Path) or in_parts(source.path):
        return None
    require_file(source.path)
    return source.add_points(file_names(source, source.path))


def open_required_file(path: Path, key: str = "source.path") -> IO[bytes]:
    """Open a file to read its bytes; an empty or absent one is refused by the plan's key for it."""
    require_file(path, key)
    try:
        return path.open("rb", buffering=0)
    except OSError:
        refusal = CLOSED
    raise InputError(refusal)


def file_names(source: Source, file: File | Parts) -> list[str] | int:
    """Return the column names of a file or its content, or their number where it has none."""
    if isinstance(file, Parts):
        return require_distinct_names(part_names(file))
    return _read_names(source, *_recognize_source(source, file))


def file_arrays(source: Source, content: File, needed: Sequence[str]) -> Mapping[str, NDArray[Any]]:
    """Return the needed arrays of a file; refused where its format holds none."""
    found, file = _recognize_source(source, content)
    return found.arrays(file, needed)


def read_leading_rows(source: Source, number: int) -> list[list[str]] | None:
    """The fields of the first rows of a local file; None where its first row is always of names."""
    assert isinstance(source.path, Path)
    found, file = recognize_format(source.path, source.path.name)
    return found.first_rows(file, source.dialect, number)


def file_columns(
    source: Source, content: File | Parts, names: Sequence[str], needed: Sequence[str]
) -> pl.DataFrame:
    """Return the needed columns as the file types them; `names` serve where it has no header."""
    if isinstance(content, Parts):
        require_names(part_names(content), needed)
        return part_columns(content, needed)
    try:
        return _read_columns(source, content, names, needed)
    except InputError as error:
        refusal = error
    if isinstance(content, OpenFile):  # what is wrong with it may be that it changed
        content.require_unchanged()
    raise refusal


def _read_columns(
    source: Source, content: File, names: Sequence[str], needed: Sequence[str]
) -> pl.DataFrame:
    found, file = _recognize_source(source, content)
    present = _read_names(source, found, file)
    names = names if isinstance(present, int) else present
    require_names(names, needed)
    places = [names.index(name) for name in needed]
    frame = found.columns(file, source.dialect, len(names), places)
    # Chosen by place, named here: a file may spell a name with blanks around it.
    frame.columns = list(needed)
    return frame


def _recognize_source(source: Source, file: File) -> tuple[Format, File]:
    assert source.path is not None
    return recognize_format(file, source.path.name)


def _read_names(source: Source, found: Format, file: File) -> list[str] | int:
    if source.sheet is not None and "sheet" not in found.options:
        raise InputError(f"source.sheet belongs to a workbook, the source is {found.name}; drop it")
    names = found.names(file, source.dialect)
    if isinstance(names, int):
        return names
    headed = "header" in found.options
    if headed and not names:
        raise InputError(EMPTY_SOURCE)
    return require_distinct_names(names, shown=not headed)


def require_file(path: Path, key: str = "source.path") -> None:
    """Refuse a path that names no file with content; `key` is the plan's key that named it."""
    if path.is_dir():
        raise InputError(f"a folder is no source; {key} must name one file")
    if not path.is_file():
        raise InputError(
            f"the source file {path.name} was not found; correct {key} "
            "(a plan's paths start at its folder)"
        )
    if path.stat().st_size == 0:
        raise InputError(EMPTY_SOURCE)
