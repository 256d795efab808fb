"""Where private data lies, and its files: CSV, Parquet, Arrow, .npz."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import polars as pl
import polars.selectors as cs

from anon_core.errors import InputError
from tasks.places.place import Place
from tasks.source.arrays import array_names
from tasks.source.csv_rows import CLOSED, Content, first_rows, is_packed, read_csv
from tasks.source.parts import Parts, in_parts, is_pattern, part_columns, part_names
from tasks.source.values import FORM, attempt

SQLITE = "sqlite:///"
DUCKDB = "duckdb:///"
POSTGRES = ("postgresql://", "postgres://")
MSSQL = "mssql://"
SNOWFLAKE = "snowflake://"
BIGQUERY = "bigquery://"
DATABASES = (SQLITE, DUCKDB, *POSTGRES, MSSQL, SNOWFLAKE, BIGQUERY)
EMPTY = "the source is empty; a table with at least 2 rows is required"
MOST_DIGITS = 38  # of a decimal
DAMAGED = "the source breaks off or is damaged: not every row could be read; write it anew"


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a table lies and how it is written.

    `path` is a file, or a folder or pattern of Parquet files. `comment` is what the lines of a CSV
    file start with that are no rows; none if it is empty. `credentials` say where the password of a
    database lies. `beside` is a second source that belongs to it, such as a table of demands. `key`
    is the plan's key that names the file. `optional` are texts in `missing` that no cell need have.
    `form` is that of the reading. Not `whole`: some rows of a source that was read before.
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

    def at(self, path: Place | None) -> "Source":
        """Some rows of it in another file, or in none; columns and missing values are the same."""
        return replace(
            self, path=path, uri=None, query=None, credentials=None, beside=None, whole=False
        )

    @property
    def file_kind(self) -> str:
        """csv, parquet, arrow, npz or sql."""
        if self.path is None:
            return "sql"
        remote = not isinstance(self.path, Path)
        if is_pattern(self.path) or (not self.path.suffix if remote else self.path.is_dir()):
            return "parquet"
        return {
            ".parquet": "parquet",
            ".pq": "parquet",
            ".arrow": "arrow",
            ".ipc": "arrow",
            ".feather": "arrow",
            ".npz": "npz",
        }.get(self.path.suffix.lower(), "csv")


def header(source: Source) -> list[str] | int | None:
    """Return a file's column names, or their number where it has none.

    Reads the first row only, for a check before a release starts. None for what would be read in
    full: databases, object storage, many files.
    """
    if not isinstance(source.path, Path) or in_parts(source.path):
        return None
    require_file(source.path)
    return file_names(source, source.path)


def opened(path: Path, key: str = "source.path") -> IO[bytes]:
    """Open a file to read its bytes; an empty or absent one is refused by the plan's key for it."""
    require_file(path, key)
    try:
        return path.open("rb", buffering=0)
    except OSError:
        refusal = CLOSED
    raise InputError(refusal)


def content_of(file: IO[bytes], path: Place) -> Content:
    """Read an open file whole; `path` says by its name whether it is packed."""
    try:
        file.seek(0)
        return Content(file.read(), is_packed(path))
    except OSError:
        refusal = CLOSED
    raise InputError(refusal)


def file_content(path: Path) -> Content:
    """Read a file once; an empty or absent one is refused."""
    with opened(path) as file:
        return content_of(file, path)


def file_names(source: Source, file: Path | Content | Parts) -> list[str] | int:
    """Return the column names of a file or its content, or their number where it has none."""
    if isinstance(file, Parts):
        return distinct(part_names(file))
    if source.file_kind == "npz":
        return array_names(file_content(file) if isinstance(file, Path) else file)
    if source.file_kind != "csv":
        return scan(source, file).collect_schema().names()
    first = first_rows(file, source.separator, 1, source.comment)
    if not first:
        raise InputError(EMPTY)
    return distinct(first[0]) if source.header else len(first[0])


def file_columns(
    source: Source, content: Content | Parts, names: Sequence[str], needed: Sequence[str]
) -> pl.DataFrame:
    """Return the needed columns as the file types them; `names` serve where it has no header."""
    if isinstance(content, Parts):
        require_names(part_names(content), needed)
        return part_columns(content, needed)
    if source.file_kind == "npz":
        raise InputError("the source holds arrays and no columns; give a table")
    if source.file_kind == "csv":
        present = file_names(source, content)
        names = names if isinstance(present, int) else present
        require_names(names, needed)
        return read_csv(content, source.separator, source.header, names, needed, source.comment)
    held = scan(source, content)
    schema = held.collect_schema()
    require_names(schema.names(), needed)
    for name in needed:
        of = schema[name]
        if isinstance(of, pl.Decimal) and of.precision > MOST_DIGITS:
            raise InputError(
                f"column {name!r} holds decimals of {of.precision} digits, and {MOST_DIGITS} are "
                "read; convert it or give it role = 'drop'"
            )
    return attempt(lambda: held.select(cs.by_name(*needed)).collect(engine="streaming"), DAMAGED)


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
        raise InputError(EMPTY)


def distinct(names: Sequence[str]) -> list[str]:
    """Return column names without the blanks around them; a name that occurs twice is refused."""
    stripped = [name.strip() for name in names]
    doubled = len(stripped) - len(set(stripped))
    if doubled:
        raise InputError(
            f"{doubled} of {len(names)} column names of the source occur more than once; "
            "rename them"
        )
    return stripped


def require_names(present: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a source that lacks a needed column."""
    if lost := [name for name in needed if name not in present]:
        raise InputError(f"the source has no column {', '.join(lost)}; correct [columns]")


def scan(source: Source, file: Path | Content) -> pl.LazyFrame:
    """Return the columns of a Parquet or Arrow file, not yet read."""
    parquet = source.file_kind == "parquet"
    opened = pl.scan_parquet if parquet else pl.scan_ipc
    form = "Parquet" if parquet else "Arrow (IPC, not a stream)"
    refusal = (
        f"the source is not a readable {form} file, or a column has a type that is not read, such "
        "as an interval, or moments with an offset (+05:30) in place of a zone; write it anew, and "
        "convert such a column"
    )
    at = file if isinstance(file, Path) else io.BytesIO(file.data)
    frame = attempt(lambda: opened(at, glob=False, hive_partitioning=False), refusal)
    names = attempt(lambda: frame.collect_schema().names(), refusal)
    return frame.rename(dict(zip(names, distinct(names), strict=True)))
