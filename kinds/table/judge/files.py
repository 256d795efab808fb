"""The data files and the codebook of a release, read for the audit."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from anon_core.errors import InputError
from anon_core.measures.table.codebook import says
from anon_core.measures.table.shared import Shared, shared
from kinds.table.judge.records import Records, values_of
from kinds.table.layout import CODEBOOK, FILES, KEY
from tasks.judging.audit import Finding
from tasks.judging.traces import traces
from tasks.source.csv_rows import first_rows, read_csv
from tasks.source.panics import silenced_panics
from tasks.source.values import FOREIGN_ERRORS

SHARED = "levels of enough people"


def read_rows(folder: Path, formats: Sequence[str]) -> tuple[pl.DataFrame | None, list[Finding]]:
    """Read the released rows, None if that fails; all formats must hold the same table."""
    tables = [table for kind in formats if (table := _read(folder / FILES[kind], kind)) is not None]
    readable = Finding(
        "readable files",
        len(tables) == len(formats),
        f"{len(tables)} of {len(formats)} formats are there and can be read",
    )
    if not readable.passed:
        return None, [readable]
    same = len({text for _, text, _ in tables}) == 1
    traced = [trace for _, _, more in tables for trace in more]
    return tables[0][0], [
        readable,
        Finding("same table in every format", same, f"{len(formats)} formats compared"),
        Finding(
            "no traces in the files",
            not traced,
            "; ".join(traced) or "headers and footers tell nothing but the rows",
        ),
    ]


def _read(path: Path, kind: str) -> tuple[pl.DataFrame, str, list[str]] | None:
    """The rows of one file, their text to compare formats by, and what else the file tells."""
    try:
        with silenced_panics():
            if kind == "parquet":
                rows = pl.read_parquet(path, glob=False)
                return rows, rows.write_csv(), traces(path, kind, rows)
            (names,) = first_rows(path, ",", 1)
            rows = read_csv(path, ",", header=True, names=names, needed=names)
            text = gzip.decompress(path.read_bytes()).decode()
            return rows.with_columns(pl.all().replace("", None)), text, traces(path, kind, rows)
    except FOREIGN_ERRORS:
        return None


def read_matching(path: Path) -> pl.DataFrame:
    """Read the vault's record -> key."""
    try:
        with silenced_panics():
            return pl.read_parquet(path, glob=False, schema={"record": pl.Int64, KEY: pl.String})
    except FOREIGN_ERRORS:
        raise InputError(
            f"the vault's {path.name} cannot be read; "
            "restore the vault that the release was made with"
        ) from None


def codebook_findings(folder: Path, records: Records) -> list[Finding]:
    """Compare the published codebook with the levels of the source, and with who shares them."""
    try:
        document = json.loads((folder / CODEBOOK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = None
    same = says(document, records.levels)
    compared = f"{len(records.levels)} quasi-identifiers compared"
    return [Finding("codebook of the source", same, compared), *_shared(document, records)]


def _shared(document: Any, records: Records) -> list[Finding]:
    """Whether enough people share what the codebook tells; nothing where it need not be."""
    least = int(records.k.max())
    judged = [spec for spec in records.specs if spec.counted or spec.rare == "pool"]
    if any(not spec.shared for spec in judged):
        return [Finding.of_later(SHARED)]
    if not judged:
        return []
    try:
        entries = {entry["name"]: entry for entry in document["attributes"]}
        found = sum(
            (
                shared(
                    spec,
                    entries[spec.name],
                    values_of(records.frame[spec.name]),
                    least,
                    records.person,
                )
                for spec in judged
            ),
            Shared(),
        )
    except (InputError, KeyError, TypeError):
        return [Finding(SHARED, passed=False, detail="the codebook cannot be read")]
    detail = (
        f"fewer than {least} people hold {found.few} of {found.levels} groups, outermost numbers "
        f"and pooled levels, and {found.own} of {found.bounds} bounds are the value of so few"
    )
    return [Finding(SHARED, found.few + found.own == 0, detail)]
