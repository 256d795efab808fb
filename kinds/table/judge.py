"""Judge released bytes against the source: every guarantee recomputed, nothing taken from the maker's notes.

The vault's canonical matching is used as a claim, not as a proof: if it pairs all records with all rows and every row is
truthful for its record, then the guarantees hold, whoever made the release.
"""

import gzip
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.table.attacks import BEYOND_CHANCE, order_hits
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import components_of, crowds, fits_own_row
from anon_core.measures.table.utility import utility
from anon_core.specs.demands import Demand
from anon_core.tables.encoding import codebook_from_json, read_cells
from anon_core.tables.records import BinaryTable
from kinds.table.attacks import attacks
from kinds.table.columns import Column
from kinds.table.layout import CODEBOOK, FILES, KEY, MANIFEST, released_columns
from kinds.table.measured import Measured, sensitive_values
from kinds.table.records import encoded, read_order
from tasks.judging.floors import Floors
from tasks.judging.traces import traces
from tasks.source.csv_rows import FOREIGN_ERRORS, first_rows, read_csv
from tasks.source.sources import Source
from tasks.vault.storage import holds_files, read_json

KEY_FORM = r"^[0-9a-f]{16}\z"


@dataclass(frozen=True)
class Finding:
    """One guarantee, whether it holds, and the counts that say so."""

    guarantee: str
    holds: bool
    words: str


@dataclass(frozen=True)
class Audit:
    """All findings about one release and the rows as read; nothing was measured where whole columns are missing."""

    findings: tuple[Finding, ...]
    measured: Measured | None = None
    rows: pl.DataFrame | None = field(default=None, repr=False, compare=False)

    def also(self, *findings: Finding) -> "Audit":
        """The same audit with more findings."""
        return replace(self, findings=(*self.findings, *findings))

    @property
    def holds(self) -> bool:
        """Whether every guarantee holds."""
        return all(finding.holds for finding in self.findings)

    def sentence(self) -> str:
        """The broken guarantees in one line."""
        broken = [
            f"{finding.guarantee} ({finding.words})"
            for finding in self.findings
            if not finding.holds
        ]
        return (
            "broken: " + "; ".join(broken)
            if broken
            else f"all {len(self.findings)} guarantees hold"
        )


def audit_rows(
    folder: Path,
    formats: Sequence[str],
    source: Source,
    columns: tuple[Column, ...],
    demand: Demand,
    matching: Path,
) -> Audit:
    """Judge the data files and the codebook in a folder."""
    frame, k_values = read_order(source, columns, demand)
    table, kept = encoded(frame, k_values, columns, demand)
    rows, findings = _read_rows(folder, formats)
    if rows is None:
        return Audit(tuple(findings))
    expected = [KEY, *(column.name for column in released_columns(columns))]
    extra, absent = set(rows.columns) - set(expected), set(expected) - set(rows.columns)
    findings += [
        _codebook(folder, table),
        Finding(
            "no other column",
            rows.columns == expected,
            f"{len(extra)} columns too many, {len(absent)} missing, {len(expected)} expected in the plan's order",
        ),
    ]
    if absent or rows.is_empty():
        words = (
            "not judged: there are no rows, or quasi-identifiers, kept columns or keys are missing"
        )
        return Audit((*findings, Finding("crowds", holds=False, words=words)), rows=rows)
    seat, more = _seats(rows, np.flatnonzero(kept), _matching(matching))
    return _judge_rows(table, frame, kept, rows, seat, columns, (*findings, *more))


def _judge_rows(
    table: BinaryTable,
    frame: pl.DataFrame,
    kept: NDArray[np.bool_],
    rows: pl.DataFrame,
    seat: NDArray[np.int64],
    columns: tuple[Column, ...],
    findings: tuple[Finding, ...],
) -> Audit:
    """Readable, truthful, compatible, matchable; a record without a row has seat -1."""
    book, people = table.codebook, frame.filter(pl.Series(kept))
    released = ReleasedCells.of([read_cells(a, _texts(rows[a.name])) for a in book.attributes])
    sizes = released.sizes()
    seated = np.flatnonzero(seat >= 0)
    fits = np.zeros(table.records, dtype=np.bool_)
    fits[seated] = fits_own_row(table.codes[:, seated], released, seat[seated])
    truthful = fits.copy()
    for column in released_columns(columns):
        if column.role != "quasi":
            truthful[seated] &= _equal(people[column.name][seated], rows[column.name][seat[seated]])
    paired = bool(findings[-1].holds and findings[-2].holds and fits.all())
    classes = Classes.of(book, table.codes, released)
    components = components_of(book, released, classes, seat if paired else None)
    found = crowds(book, table.codes, table.k, released, seat, classes, components)
    unreadable = int((sizes == 0).sum())
    return Audit(
        findings=(
            *findings,
            Finding(
                "readable cells",
                unreadable == 0,
                f"{unreadable} of {sizes.size} cells cannot be read",
            ),
            Finding(
                "truthful rows",
                bool(truthful.all()),
                f"{int((~truthful).sum())} of {table.records} records have no row that is true of them",
            ),
            Finding(
                "compatible crowds",
                found.below_k == 0,
                f"{found.below_k} of {table.records} records fit fewer than k rows",
            ),
            Finding(
                "matchable crowds",
                found.matchable_below_k == 0,
                f"{found.matchable_below_k} of {table.records} records are matchable with fewer than k rows"
                + ("" if paired else "; none is matchable without a true row for everyone"),
            ),
        ),
        measured=Measured(
            codebook=book,
            crowds=found,
            utility=utility(book, released),
            sizes=sizes,
            truthful=truthful,
            source_rows=frame.height,
            classes=classes,
            sensitive=sensitive_values(rows, columns, classes),
            attacks=attacks(book, released, classes, components, found, seat) if paired else {},
        ),
        rows=rows,
    )


def audit_folder(folder: Path, audit: Audit, floors: Floors) -> Audit:
    """Add what the manifest of a published folder claims, its files and the numbers measured again, and what [checks] ask."""
    try:
        manifest = read_json(folder / MANIFEST)
        claimed = dict(manifest["files"])
        claims = (
            manifest["privacy"],
            manifest["utility"],
            manifest.get("protection", {}),
            manifest.get("attacks", {}),
        )
        numbers = {name: number for section in claims for name, number in section.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return audit.also(Finding("manifest", holds=False, words=f"{MANIFEST} cannot be read"))
    names = {path.name for path in folder.iterdir()} - {MANIFEST}
    changed = sum(
        not holds_files(folder, {name: sha}) for name, sha in claimed.items() if name in names
    )
    strays, lost = len(names - set(claimed)), len(set(claimed) - names)
    audit = audit.also(
        Finding(
            "files as published",
            changed + strays + lost == 0,
            f"{changed} files changed, {lost} missing, {strays} too many of {len(claimed)}",
        )
    )
    if audit.measured is None:
        return audit
    sections = audit.measured.sections()
    measured = {name: number for section in sections.values() for name, number in section.items()}
    differ = sum(not _agree(numbers.get(name), value) for name, value in measured.items())
    audit = audit.also(
        Finding("numbers as measured", differ == 0, f"{differ} of {len(measured)} numbers differ")
    )
    if not floors.stated:
        return audit
    short = [asked.short for asked in floors.shortfalls(sections)]
    return audit.also(
        Finding("checks of the plan", not short, "; ".join(short) or "all are reached")
    )


# ---------------------------------------------------------------- parts


def _agree(claimed: Any, measured: Any) -> bool:
    """Equal numbers; shares up to the rounding of another machine's sums."""
    if isinstance(measured, dict):
        same = isinstance(claimed, dict) and claimed.keys() == measured.keys()
        return same and all(_agree(claimed[name], value) for name, value in measured.items())
    if isinstance(measured, list):
        same = isinstance(claimed, list) and len(claimed) == len(measured)
        return same and all(
            _agree(one, value) for one, value in zip(claimed, measured, strict=True)
        )
    if isinstance(measured, float) and isinstance(claimed, (int, float)):
        return math.isclose(claimed, measured, abs_tol=1e-9)
    return bool(claimed == measured)


def _read_rows(folder: Path, formats: Sequence[str]) -> tuple[pl.DataFrame | None, list[Finding]]:
    """The released rows, None if they cannot be read; both formats must hold the same table."""
    tables = [table for kind in formats if (table := _read(folder / FILES[kind], kind)) is not None]
    words = f"{len(tables)} of {len(formats)} formats are there and can be read"
    readable = Finding("readable files", len(tables) == len(formats), words)
    if not readable.holds:
        return None, [readable]
    same = len({text for _, text, _ in tables}) == 1
    found = [words for _, _, more in tables for words in more]
    return tables[0][0], [
        readable,
        Finding("same table in every format", same, f"{len(formats)} formats compared"),
        Finding(
            "no traces in the files",
            not found,
            "; ".join(found) or "headers and footers tell nothing but the rows",
        ),
    ]


def _read(path: Path, kind: str) -> tuple[pl.DataFrame, str, list[str]] | None:
    """The rows of one file, their text, by which formats are compared, and what the file carries beside them."""
    try:
        if kind == "parquet":
            rows = pl.read_parquet(path)
            return rows, rows.write_csv(), traces(path, kind, rows)
        (names,) = first_rows(path, ",", 1)
        rows = read_csv(path, ",", header=True, names=names, needed=names)
        text = gzip.decompress(path.read_bytes()).decode()
        return rows.with_columns(pl.all().replace("", None)), text, traces(path, kind, rows)
    except FOREIGN_ERRORS:
        return None


def _matching(path: Path) -> pl.DataFrame:
    """The vault's record -> key."""
    try:
        return pl.read_parquet(path, schema={"record": pl.Int64, KEY: pl.String})
    except FOREIGN_ERRORS:
        raise InputError(
            f"the vault's {path.name} cannot be read; restore the vault that the release was made with"
        ) from None


def _codebook(folder: Path, table: BinaryTable) -> Finding:
    try:
        same = (
            codebook_from_json(json.loads((folder / CODEBOOK).read_text(encoding="utf-8")))
            == table.codebook
        )
    except (OSError, ValueError):
        same = False
    return Finding(
        "codebook of the source",
        same,
        f"{len(table.codebook.attributes)} quasi-identifiers compared",
    )


def _seats(
    rows: pl.DataFrame, source_rows: NDArray[np.int64], matching: pl.DataFrame
) -> tuple[NDArray[np.int64], list[Finding]]:
    """Row of each record (-1: none), and whether rows and records pair up."""
    keys = rows[KEY]
    records = len(source_rows)
    distinct = keys.drop_nulls().n_unique()
    claim = matching.sort("record")
    at = pl.DataFrame({KEY: keys, "row": np.arange(rows.height)}).unique(KEY, keep="first")
    joined = claim.join(at, on=KEY, how="left", maintain_order="left")
    whole = claim["record"].to_list() == source_rows.tolist()
    seat = (
        joined["row"].fill_null(-1).to_numpy().astype(np.int64)
        if whole
        else np.full(records, -1, dtype=np.int64)
    )
    homeless = int((seat < 0).sum())
    odd = int((~keys.cast(pl.String).fill_null("").str.contains(KEY_FORM)).sum())
    hits = max(int(right.sum()) for right in order_hits(seat).values())
    return seat, [
        Finding(
            "rows ordered by key", keys.is_sorted(), "row order tells nothing but the random keys"
        ),
        Finding(
            "keys of 16 hexadecimal digits",
            odd == 0,
            f"{odd} of {rows.height} keys have another form",
        ),
        Finding(
            "order tells nothing",
            hits < BEYOND_CHANCE,
            f"a guess by the source's order is right for {hits} of {records} records; {BEYOND_CHANCE} are beyond chance",
        ),
        Finding(
            "one row a record",
            rows.height == records == distinct,
            f"{rows.height} rows with {distinct} distinct keys for {records} records",
        ),
        Finding(
            "known keys",
            homeless == 0,
            f"{homeless} of {records} records have no row under their key",
        ),
    ]


def _texts(series: pl.Series) -> list[str | None]:
    return list(series.cast(pl.String).to_list())


def _equal(people: pl.Series, rows: pl.Series) -> NDArray[np.bool_]:
    """Equal values, missing equals missing; as a CSV file writes them where one is text and the other is not."""
    if people.dtype != rows.dtype:
        people, rows = _written(people), _written(rows)
    people = people.alias("")  # polars takes a name such as ^a$ for a pattern
    return np.asarray(people.eq_missing(rows).to_numpy(), dtype=np.bool_)


def _written(series: pl.Series) -> pl.Series:
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        return series.cast(pl.String)
    # A second column keeps rows that hold nothing apart from blank lines.
    text = series.alias("value").to_frame().with_columns(row=pl.lit(0)).write_csv()
    return pl.read_csv(text.encode(), infer_schema=False).to_series()
