"""Reading private tables: CSV, Parquet, Arrow, SQL. No Prefect here, so that `plan` and `audit` start at once.

polars names cells in its own errors; here they become counts and column names.
"""

import csv
import gzip
import hashlib
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.records import ColumnSpec
from tasks.storage import file_sha256

Role = Literal["identifier", "quasi", "sensitive", "keep", "drop"]
MOST_FIELD_BYTES = 2**24


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the source as the plan names it; `spec` for quasi-identifiers only."""

    name: str
    role: Role
    kind: str | None = None
    date_format: str = "%Y-%m-%d"
    spec: ColumnSpec | None = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a table lies and how it is written."""

    path: Path | None = None
    uri: str | None = field(default=None, repr=False)
    query: str | None = field(default=None, repr=False)
    header: bool = True
    separator: str = ","
    missing: tuple[str, ...] = field(default=(), repr=False)

    @property
    def file_kind(self) -> str:
        """csv, parquet, arrow or sql."""
        if self.path is None:
            return "sql"
        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        last = suffixes[-1] if suffixes else ""
        return {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".ipc": "arrow", ".feather": "arrow"}.get(
            last, "csv"
        )


def fingerprint(source: Source) -> str:
    """Hash of the source's content: of the file's bytes, or of the query's rows in any order."""
    if source.path is not None:
        _require_file(source.path)
        return file_sha256(source.path)
    frame = _read_sql(source)
    hashed = frame.select(sorted(frame.columns)).cast(pl.String).sort(pl.all())
    return hashlib.sha256(hashed.write_csv(null_value="\\N").encode()).hexdigest()


def header(source: Source) -> list[str] | int:
    """The source's column names, or their number where the file has none."""
    if source.file_kind == "sql":
        return _distinct(_read_sql(source).columns)
    assert source.path is not None
    _require_file(source.path)
    if source.file_kind == "csv":
        with _open_text(source.path) as handle:
            first = next(_rows(handle, source), None)
        if first is None:
            raise InputError("the source is empty; a table with at least 2 rows is required")
        return _distinct(first) if source.header else len(first)
    return _distinct(_scan_file(source).collect_schema().names())


def read(source: Source, names: Sequence[str], wanted: Sequence[Column]) -> pl.DataFrame:
    """Read the wanted columns, typed as their kinds say, rows in source order.

    Identifier and dropped columns are never loaded unless they are wanted (a column that holds k). `names` are all
    columns in order, needed where the file has no header.
    """
    if source.file_kind == "csv":
        frame = _read_csv(source, names, [column.name for column in wanted])
    elif source.file_kind == "sql":
        frame = _read_sql(source).select([column.name for column in wanted])
    else:
        frame = _collect(_scan_file(source).select([column.name for column in wanted]))
    if frame.height < 2:
        raise InputError(f"the source has {frame.height} rows; at least 2 are required to hide anyone")
    return frame.select([_typed(frame[column.name], column, source.missing) for column in wanted])


def arrays(frame: pl.DataFrame) -> dict[str, NDArray[Any]]:
    """The core's view of typed columns: float64 with nan, or objects of str with None."""
    return {series.name: _array(series) for series in frame}


def _array(series: pl.Series) -> NDArray[Any]:
    if series.dtype == pl.Date:
        series = series.cast(pl.Int32)
    if series.dtype.is_numeric():
        return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return np.array(series.to_list(), dtype=object)


# ---------------------------------------------------------------- files and databases


def _require_file(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"the source file {path.name} was not found; mend source.path (a plan's paths start at its folder)")
    if path.stat().st_size == 0:
        raise InputError("the source is empty; a table with at least 2 rows is required")


def _distinct(names: Sequence[str]) -> list[str]:
    doubled = len(names) - len(set(names))
    if doubled:
        raise InputError(f"{doubled} of {len(names)} column names of the source occur more than once; rename them")
    return [name.strip() for name in names]


def _scan_file(source: Source) -> pl.LazyFrame:
    try:
        frame = pl.scan_parquet(source.path) if source.file_kind == "parquet" else pl.scan_ipc(source.path)
        frame.collect_schema()
    except Exception:
        raise InputError(f"the source is not a readable {source.file_kind} file; write it anew") from None
    return frame


def _collect(frame: pl.LazyFrame) -> pl.DataFrame:
    try:
        return frame.collect(engine="streaming")
    except Exception:
        raise InputError("the source breaks off or is damaged: not every row could be read; write it anew") from None


def _read_sql(source: Source) -> pl.DataFrame:
    assert source.uri is not None
    assert source.query is not None
    try:
        if source.uri.startswith("sqlite:///"):
            path = Path(source.uri.removeprefix("sqlite:///"))
            _require_file(path)
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
                return pl.read_database(source.query, connection, infer_schema_length=None)
        return pl.read_database_uri(source.query, source.uri, engine="adbc")
    except InputError:
        raise
    except ImportError:
        raise InputError("reading PostgreSQL needs the driver: pip install 'crowdcover[postgres]'") from None
    except Exception as error:
        # Drivers quote the URI, the query and cells; the kind of failure must do.
        raise InputError(f"the database did not answer source.query ({type(error).__name__}); check uri and query") from None


def _open_text(path: Path) -> IO[str]:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


def _rows(handle: IO[str], source: Source) -> Any:
    """Rows of a CSV file that are not blank; unreadable bytes become refusals."""
    csv.field_size_limit(MOST_FIELD_BYTES)
    try:
        for row in csv.reader(handle, delimiter=source.separator):
            if row:
                yield row
    except UnicodeDecodeError:
        raise InputError("the source is not UTF-8 text; convert it (iconv -f LATIN1 -t UTF-8)") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError("the source's gzip stream is damaged or breaks off; write it anew") from None
    except csv.Error:
        raise InputError("the source is not CSV text: NUL bytes or a field without end; check file and separator") from None


def _read_csv(source: Source, names: Sequence[str], wanted: Sequence[str]) -> pl.DataFrame:
    assert source.path is not None
    _require_file(source.path)
    rows = _count_rows(source, len(names))
    try:
        frame = pl.read_csv(
            source.path,
            has_header=source.header,
            new_columns=list(names),
            separator=source.separator,
            infer_schema=False,
            raise_if_empty=False,
        )
    except Exception:
        raise InputError("the source is not CSV text that polars can read; check quotes, separator and encoding") from None
    if frame.height > rows:  # blank lines count as rows of nothing there
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    if frame.height != rows:
        raise InputError(f"{rows} rows were counted but {frame.height} could be read; check the source's quotes")
    return frame.select(wanted)


def _count_rows(source: Source, fields: int) -> int:
    """Number of data rows; polars fills up short rows in silence, so every row is counted through once."""
    assert source.path is not None
    total = ragged = 0
    with _open_text(source.path) as handle:
        for row in _rows(handle, source):
            total += 1
            ragged += len(row) != fields
    if ragged:
        raise InputError(f"{ragged} of {total} rows do not have {fields} fields; mend them or the separator")
    return total - source.header


# ---------------------------------------------------------------- types


def _typed(series: pl.Series, column: Column, missing: Sequence[str]) -> pl.Series:
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        series = text.to_frame().select(pl.when(~pl.first().is_in(["", *missing])).then(pl.first())).to_series()
    if column.kind == "numeric":
        return _numbers(series, column)
    if column.kind == "date":
        return _dates(series, column)
    if column.kind is None and column.role != "quasi":
        return series
    if series.dtype in (pl.Categorical, pl.Enum, pl.Boolean) or series.dtype.is_numeric() or series.dtype.is_temporal():
        return series.cast(pl.String)
    if series.dtype != pl.String:
        raise InputError(f"column {column.name!r} holds {series.dtype.base_type()}, which is no {column.kind}; convert it")
    return series


def _numbers(series: pl.Series, column: Column) -> pl.Series:
    if series.dtype.is_integer():
        return series
    numbers = series.cast(pl.Float64, strict=False)
    wrong = int((numbers.is_null() & series.is_not_null()).sum() + (~numbers.is_finite()).sum())
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no finite numbers; "
            "name their text in source.missing or make the column categorical"
        )
    whole = (numbers == numbers.floor()).all() and bool((numbers.abs() < 2**53).all())
    return numbers.cast(pl.Int64) if whole and series.dtype == pl.String else numbers


def _dates(series: pl.Series, column: Column) -> pl.Series:
    if series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime):
        return series.cast(pl.Date)
    if series.dtype != pl.String:
        raise InputError(f"column {column.name!r} holds {series.dtype.base_type()}, not dates; give it another kind")
    dates = series.str.to_date(column.date_format, strict=False)
    wrong = int((dates.is_null() & series.is_not_null()).sum())
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no dates of the stated format; "
            "set columns.<name>.format, e.g. '%m/%d/%Y'"
        )
    return dates
