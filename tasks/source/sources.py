"""Reading private tables: CSV, Parquet, Arrow, SQL. No Prefect here, so that `plan` and `audit` start at once.

polars and drivers name cells in their own errors; here they become counts and column names. Refusals are raised
after the foreign error was let go, so that it does not travel along as their context.
"""

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import polars.selectors as cs

from anon_core.errors import InputError
from kinds.table.columns import Column, as_text, attempt, stored, typed
from tasks.source.csv_rows import first_rows, read_csv
from tasks.vault.storage import file_sha256

SQLITE = "sqlite:///"
EMPTY = "the source is empty; a table with at least 2 rows is required"


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
        return {
            ".parquet": "parquet",
            ".pq": "parquet",
            ".arrow": "arrow",
            ".ipc": "arrow",
            ".feather": "arrow",
        }.get(self.path.suffix.lower(), "csv")


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


def read_together(
    source: Source, names: Sequence[str], groups: Sequence[Sequence[Column]]
) -> list[pl.DataFrame]:
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
        frame = attempt(
            lambda: scan.select(cs.by_name(*needed)).collect(engine="streaming"), damaged
        )
    if frame.height < 2:
        rows = "1 row" if frame.height else "no rows"
        raise InputError(f"the source has {rows}; at least 2 are required to hide anyone")
    return [
        pl.DataFrame({column.name: typed(frame, column, source.missing) for column in group})
        for group in groups
    ]


# ---------------------------------------------------------------- files and databases


def _require_file(path: Path, key: str = "source.path") -> None:
    if path.is_dir():
        raise InputError(f"a folder is no source; {key} must name one file")
    if not path.is_file():
        raise InputError(
            f"the source file {path.name} was not found; mend {key} (a plan's paths start at its folder)"
        )
    if path.stat().st_size == 0:
        raise InputError(EMPTY)


def _distinct(names: Sequence[str]) -> list[str]:
    """Column names without the blanks around them."""
    stripped = [name.strip() for name in names]
    doubled = len(stripped) - len(set(stripped))
    if doubled:
        raise InputError(
            f"{doubled} of {len(names)} column names of the source occur more than once; rename them"
        )
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
    frame = attempt(lambda: scan(path, glob=False, hive_partitioning=False), refusal)
    names = attempt(lambda: frame.collect_schema().names(), refusal)
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
        frame = pl.DataFrame(
            {name: stored(series) for name, series in zip(names, frame, strict=True)}
        )
        return attempt(
            lambda: _sorted(frame),
            "source.query selects values that cannot be read, such as infinite dates; cast them",
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
