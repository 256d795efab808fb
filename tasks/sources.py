"""Reading private tables: CSV, Parquet, Arrow, SQL. No Prefect here, so that `plan` and `audit` start at once.

polars and drivers name cells in their own errors; here they become counts and column names. Refusals are raised
after the foreign error was let go, so that it does not travel along as their context.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.records import ColumnSpec
from tasks.csv_rows import FOREIGN_ERRORS, first_rows, read_csv
from tasks.storage import file_sha256

Role = Literal["identifier", "quasi", "sensitive", "keep", "drop"]
Result = TypeVar("Result")
SQLITE = "sqlite:///"
ISO_DATE = "%Y-%m-%d"
EXACT = 2**53  # whole numbers below are told apart as float64
EMPTY = "the source is empty; a table with at least 2 rows is required"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the source as the plan names it; `spec` for quasi-identifiers only."""

    name: str
    role: Role
    kind: str | None = None
    date_format: str = ISO_DATE
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
        return {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".ipc": "arrow", ".feather": "arrow"}.get(
            self.path.suffix.lower(), "csv"
        )


def fingerprint(source: Source) -> str:
    """Hash of the source's content: of the file's bytes, or of the query's rows in any order."""
    if source.path is not None:
        _require_file(source.path)
        return file_sha256(source.path)
    columns = sorted(_read_sql(source).get_columns(), key=lambda series: series.name)
    texts = pl.DataFrame({series.name: as_text(series) for series in columns}).sort(pl.all())
    return hashlib.sha256(texts.write_ndjson().encode()).hexdigest()


def require_unchanged(source: Source, sha256: str) -> None:
    """What was read is what this run is about."""
    if fingerprint(source) != sha256:
        raise InputError("the source changed while it was read; run again when it is at rest")


def header(source: Source) -> list[str] | int:
    """The source's column names, or their number where the file has none."""
    if source.file_kind == "sql":
        return _read_sql(source).columns
    if source.file_kind != "csv":
        return _scan_file(source).collect_schema().names()
    assert source.path is not None
    _require_file(source.path)
    first = first_rows(source.path, source.separator, 1)
    if not first:
        raise InputError(EMPTY)
    return _distinct(first[0]) if source.header else len(first[0])


def read(source: Source, names: Sequence[str], wanted: Sequence[Column]) -> pl.DataFrame:
    """Read the wanted columns, typed as their kinds say; `names` are all columns in order, for files without a header."""
    return read_together(source, names, [wanted])[0]


def read_together(source: Source, names: Sequence[str], groups: Sequence[Sequence[Column]]) -> list[pl.DataFrame]:
    """Read groups of columns, one table each, in one go: a database may give another order of rows at the next.

    Identifier and dropped columns are never loaded unless they are wanted (a column that holds k).
    """
    needed = list(dict.fromkeys(column.name for group in groups for column in group))
    if source.file_kind == "csv":
        assert source.path is not None
        found = header(source)
        names = names if isinstance(found, int) else found
        _require_names(names, needed)
        frame = read_csv(source.path, source.separator, source.header, names, needed)
    elif source.file_kind == "sql":
        frame = _read_sql(source)
        _require_names(frame.columns, needed)
    else:
        scan = _scan_file(source)
        _require_names(scan.collect_schema().names(), needed)
        damaged = "the source breaks off or is damaged: not every row could be read; write it anew"
        frame = _attempt(lambda: scan.select(cs.by_name(*needed)).collect(engine="streaming"), damaged)
    if frame.height < 2:
        rows = "1 row" if frame.height else "no rows"
        raise InputError(f"the source has {rows}; at least 2 are required to hide anyone")
    return [pl.DataFrame({column.name: _column(frame, column, source.missing) for column in group}) for group in groups]


def arrays(frame: pl.DataFrame) -> dict[str, NDArray[Any]]:
    """The core's view of typed columns: float64 with nan, or objects of str with None."""
    return {series.name: _array(series.alias("")) for series in frame}


def _array(series: pl.Series) -> NDArray[Any]:
    if series.dtype == pl.Date:
        series = series.cast(pl.Int32)
    if series.dtype.is_numeric():
        return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return np.array(series.to_list(), dtype=object)


# ---------------------------------------------------------------- files and databases


def _attempt(work: Callable[[], Result], refusal: str) -> Result:
    """What the work returns; a foreign error becomes a refusal that nothing of it stays attached to."""
    try:
        return work()
    except InputError:
        raise
    except FOREIGN_ERRORS:
        pass
    raise InputError(refusal)


def _require_file(path: Path, key: str = "source.path") -> None:
    if path.is_dir():
        raise InputError(f"a folder is no source; {key} must name one file")
    if not path.is_file():
        raise InputError(f"the source file {path.name} was not found; mend {key} (a plan's paths start at its folder)")
    if path.stat().st_size == 0:
        raise InputError(EMPTY)


def _distinct(names: Sequence[str]) -> list[str]:
    """Column names without the blanks around them."""
    stripped = [name.strip() for name in names]
    doubled = len(stripped) - len(set(stripped))
    if doubled:
        raise InputError(f"{doubled} of {len(names)} column names of the source occur more than once; rename them")
    return stripped


def _require_names(found: Sequence[str], needed: Sequence[str]) -> None:
    if lost := [name for name in needed if name not in found]:
        raise InputError(f"the source has no column {', '.join(lost)}; mend [columns]")


def _scan_file(source: Source) -> pl.LazyFrame:
    assert source.path is not None
    path = source.path
    _require_file(path)
    scan = pl.scan_parquet if source.file_kind == "parquet" else pl.scan_ipc
    kind = "Parquet" if source.file_kind == "parquet" else "Arrow (IPC, not a stream)"
    refusal = f"the source is not a readable {kind} file; write it anew"
    frame = _attempt(lambda: scan(path, glob=False, hive_partitioning=False), refusal)
    names = _attempt(lambda: frame.collect_schema().names(), refusal)
    return frame.rename(dict(zip(names, _distinct(names), strict=True)))


def _read_sql(source: Source) -> pl.DataFrame:
    """All that the query selects. Its rows are sorted, so that an order which no one asked for decides nothing."""
    assert source.uri is not None
    assert source.query is not None
    try:
        frame = _query(source.uri, source.query)
    except InputError:
        raise
    except ImportError:
        refusal = "reading PostgreSQL needs the driver: pip install 'crowdcover[postgres]'"
    except pl.exceptions.PanicException:
        refusal = "source.query selects a column of a type that cannot be read, such as an interval; cast it to text there"
    except Exception as error:
        # Drivers quote the URI, the query and cells; the kind of failure must do.
        refusal = f"the database did not answer source.query ({type(error).__name__}); check source.uri and source.query"
    else:
        names = _distinct(frame.columns)
        frame = pl.DataFrame({name: _stored(series) for name, series in zip(names, frame, strict=True)})
        return _attempt(
            lambda: _sorted(frame), "source.query selects values that cannot be read, such as infinite dates; cast them"
        )
    raise InputError(refusal)


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    """By the columns in the order of their names, as for `fingerprint`: one content is one order of rows."""
    columns = sorted(frame, key=lambda series: series.name)
    texts = pl.DataFrame({str(place): as_text(series) for place, series in enumerate(columns)})
    return frame[texts.with_row_index("row").sort(texts.columns)["row"]] if frame.height else frame


def _query(uri: str, query: str) -> pl.DataFrame:
    if not uri.startswith(SQLITE):
        return pl.read_database_uri(query, uri, engine="adbc")
    path = Path(uri.removeprefix(SQLITE)).absolute()
    _require_file(path, "source.uri")
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return pl.read_database(query, connection, infer_schema_length=None)


# ---------------------------------------------------------------- types


def _stored(series: pl.Series) -> pl.Series:
    """Extension types, such as PostgreSQL's numeric, as what they are stored as."""
    return series.ext.storage() if isinstance(series.dtype, pl.BaseExtension) else series


def printable(dtype: pl.DataType) -> bool:
    """Whether values of this type can stand in a CSV file."""
    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Duration, pl.Object, pl.Unknown)


def as_text(series: pl.Series) -> pl.Series:
    """Every value as text, one that no CSV file can hold as Python writes it."""
    if printable(series.dtype):
        return series.cast(pl.String)
    return pl.Series(series.name, [None if value is None else repr(value) for value in series.to_list()], dtype=pl.String)


def to_dates(texts: pl.Series, date_format: str) -> pl.Series:
    """Texts as dates, none where one is no date; a year is as long as %Y writes it, so 05-01-20 is no day of the year 5."""
    frame = pl.DataFrame({"text": texts, "date": texts.str.to_date(date_format, strict=False)})
    text, date = pl.col("text"), pl.col("date")
    whole = (date.dt.year() >= 1000) | text.str.contains(date.dt.strftime("%Y"), literal=True)
    return frame.select(pl.when(whole).then(date)).to_series()


def _column(frame: pl.DataFrame, column: Column, missing: Sequence[str]) -> pl.Series:
    """A column as its kind says; it bears no name on the way, since polars takes one such as ^a$ for a pattern."""
    series = _stored(frame[column.name].alias(""))
    refusal = f"column {column.name!r} holds values that cannot be read, such as dates out of range; convert it"
    return _attempt(lambda: _typed(series, column, missing), refusal)


def _typed(series: pl.Series, column: Column, missing: Sequence[str]) -> pl.Series:
    if series.dtype in (pl.Null, pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if not printable(series.dtype):
        if column.role == "drop":  # a starter plan looks at every column
            return series
        raise InputError(f"column {column.name!r} holds {_type(series)}; convert it or give it role = 'drop'")
    series = _given(series, missing)
    if column.kind == "numeric":
        return _numbers(series, column)
    if column.kind == "date":
        return _dates(series, column)
    return series if column.kind is None else series.cast(pl.String)


def _type(series: pl.Series) -> str:
    return series.dtype.base_type().__name__


def _given(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Without the values that mean 'not given': as text, or as numbers where the column is one of numbers."""
    if series.dtype == pl.String:
        series = series.str.strip_chars()
    absent = series.cast(pl.String).is_in(["", *(text.strip() for text in missing)])
    if series.dtype.is_numeric():
        numbers = pl.Series(list(missing), dtype=pl.String).str.strip_chars().cast(pl.Float64, strict=False).drop_nulls()
        if not series.dtype.is_float():
            numbers = numbers.filter(numbers.abs() < EXACT)  # past that a neighbour is the same float64; its text has told
        absent |= series.cast(pl.Float64).is_in(numbers.to_list())
    return series.to_frame().select(pl.when(~absent).then(pl.first())).to_series()


def _numbers(series: pl.Series, column: Column) -> pl.Series:
    if series.dtype.is_temporal():
        raise InputError(f"column {column.name!r} holds {_type(series)}, not numbers; make it a date or categorical")
    if series.dtype == pl.Float32:
        series = series.cast(pl.String).cast(pl.Float64)  # 0.1, which the nearest float32 no longer is as a float64
    numbers = series if series.dtype.is_integer() else series.cast(pl.Float64, strict=False)
    if series.dtype == pl.String:
        whole = series.cast(pl.Int64, strict=False)
        numbers = whole if whole.null_count() == series.null_count() else numbers
    wrong = numbers.null_count() - series.null_count() + int((~numbers.is_finite()).sum())
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no finite numbers; "
            "name their text in source.missing or make the column categorical"
        )
    wide = numbers.cast(pl.Float64).abs() >= EXACT
    if series.dtype == pl.String and not numbers.dtype.is_integer():
        wide &= series.str.contains(r"^[+-]?\d+(\.\d*)?$")  # 1e20 states no more digits than it keeps
    elif series.dtype.is_float() or (numbers.dtype.is_integer() and column.spec is None):
        return numbers
    if wide.any():
        raise InputError(
            f"column {column.name!r}: {int(wide.sum())} of {len(series)} numbers reach 2**53 and would lose digits; "
            "make the column categorical or an identifier"
        )
    return numbers


def _dates(series: pl.Series, column: Column) -> pl.Series:
    if series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime):
        return series.dt.date()
    if series.dtype != pl.String:
        raise InputError(f"column {column.name!r} holds {_type(series)}, not dates; give it another kind")
    unknown = f"columns.{column.name}.format is no format of dates; give one such as '%m/%d/%Y'"
    dates = _attempt(lambda: to_dates(series, column.date_format), unknown)
    wrong = int((dates.is_null() & series.is_not_null()).sum())
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no dates of the stated format; "
            f"set columns.{column.name}.format, e.g. '%m/%d/%Y'"
        )
    return dates
