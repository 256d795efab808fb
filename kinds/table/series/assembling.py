"""A version's files: the rows that stay, byte for byte, and the batch."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.errors import GuaranteeError
from crowdcover.kinds.plan.series import Following
from crowdcover.kinds.rows import write_csv, write_parquet
from crowdcover.kinds.table.forms import OF_VERSIONS, is_typed
from crowdcover.kinds.table.layout import CELLS, CODEBOOK, CSV, MATCHING, PARQUET
from crowdcover.kinds.table.layout import KEY as RELEASED_KEY
from crowdcover.kinds.table.pipeline.encode import load_encoded
from crowdcover.kinds.table.pipeline.kept_rows import text_rows
from crowdcover.kinds.table.pipeline.nodes import write_nodes
from crowdcover.kinds.table.pipeline.seals import constants_of, seals_of
from crowdcover.kinds.table.series.appending import IDENTITY, load_waiting_records
from crowdcover.kinds.table.version_files import (
    BATCH,
    BATCHES,
    BORN,
    CHAIN,
    CONSTANT,
    DEMANDED_K,
    DIED,
    HELD,
    JOINED,
    MEMBERS,
    OWNER,
    PERSON,
    RECORD_DIGEST,
    ROW_KEY,
    ROW_SEAL,
    ROWS,
    SINCE,
    VALUES,
)
from crowdcover.kinds.versions import Before
from crowdcover.storage.vault.run import Stored


def assemble_version(
    following: Following,
    stages: tuple[Stored, Stored, Stored],
    before: Before | None,
    number: int,
    key: bytes,
    folder: Path,
) -> Mapping[str, Any]:
    """See `Versions.assemble`."""
    split, encoded, anonymized = stages
    typed = _is_typed(before, anonymized)
    member_keys = None
    if before is not None:
        member_keys = pl.read_parquet(split.file(MEMBERS), glob=False, columns=[ROW_KEY])
    batch = text_rows(anonymized)
    born = _add_since_column(batch, number)
    # Text and typed rows are joined apart, by the same keys, so both files hold the same rows.
    rows, frozen = _join_rows(
        born, None if before is None else text_rows(before.assembled), member_keys
    )
    rows.write_parquet(folder / CELLS)
    write_csv(rows, folder / CSV)
    if typed:
        last = None if before is None else _read_typed_rows(before.assembled)
        native, _ = _join_rows(
            _add_since_column(_read_typed_rows(anonymized), number), last, member_keys
        )
        write_parquet(native, folder / PARQUET)
    else:
        write_parquet(rows, folder / PARQUET)
    stage = anonymized if typed else encoded  # the codebook of encoded records is of text cells
    book = _join_codebooks(
        before, json.loads(stage.file(CODEBOOK).read_text("utf-8")), number, rows
    )
    (folder / CODEBOOK).write_text(json.dumps(book, ensure_ascii=False), encoding="utf-8")
    write_nodes(book, folder)
    _store_rows_and_members(following, (split, encoded, anonymized), born, number, key, folder)
    notes = [f"assembled {rows.height} rows: {frozen} as before, {batch.height} new"]
    facts = anonymized.facts
    return {
        "shape": [rows.height, rows.width],
        "iterations": facts["iterations"],
        "notes": notes,
    }


def _is_typed(before: Before | None, anonymized: Stored) -> bool:
    """Whether data.parquet has typed cells: as in the versions before, whose rows stay."""
    stage = anonymized if before is None else before.assembled
    return is_typed(json.loads(stage.file(CODEBOOK).read_text(encoding="utf-8")))


def _add_since_column(batch: pl.DataFrame, number: int) -> pl.DataFrame:
    return batch.with_columns(pl.lit(number, dtype=pl.Int32).alias(SINCE))


def _read_typed_rows(stored: Stored) -> pl.DataFrame:
    return pl.read_parquet(stored.file(PARQUET), glob=False)


def _join_rows(
    born: pl.DataFrame, last: pl.DataFrame | None, members: pl.DataFrame | None
) -> tuple[pl.DataFrame, int]:
    """The rows of the version in the order of their keys, and how many are from before."""
    if last is None or members is None:
        return born.sort(RELEASED_KEY), 0
    # Rows are taken from the last version's own files, so they stay byte for byte.
    frozen = last.join(members, left_on=RELEASED_KEY, right_on=ROW_KEY, how="semi")
    if frozen.schema != born.schema:
        raise GuaranteeError(
            "publication refused; the released columns have other names or types than in the "
            "versions before, so rows could not stay as they are; begin another series"
        )
    # Keys follow from the seed of a run: another try of the run draws this key again.
    if frozen.join(born, on=RELEASED_KEY, how="semi").height:
        raise GuaranteeError(
            "publication refused; a new row has the key of an earlier one, and a run keeps its "
            "keys; remove the run of this batch from the vault, then run again"
        )
    return pl.concat([frozen, born]).sort(RELEASED_KEY), frozen.height


def _join_codebooks(
    before: Before | None, book: dict[str, Any], number: int, rows: pl.DataFrame
) -> dict[str, Any]:
    """The codebooks of all batches that have rows here, and the columns that they share."""
    codebooks = {}
    if before is not None:
        text = before.assembled.file(CODEBOOK).read_text(encoding="utf-8")
        codebooks = dict(json.loads(text)[BATCHES])
    codebooks[str(number)] = book
    # A codebook goes with the last row of its batch: it would name values that no row shows.
    since = {str(each) for each in rows[SINCE].unique().to_list()}
    whole: dict[str, Any] = {}
    if is_typed(book):
        whole = {"format": book["format"], "columns": [*book["columns"], OF_VERSIONS]}
    return whole | {BATCHES: {name: each for name, each in codebooks.items() if name in since}}


def _store_rows_and_members(
    following: Following,
    stages: tuple[Stored, Stored, Stored],
    born: pl.DataFrame,
    number: int,
    key: bytes,
    folder: Path,
) -> None:
    """Keep what the next version needs: every row ever published, and who has which row."""
    split, encoded, anonymized = stages
    joined = pl.read_parquet(split.file(JOINED), glob=False)
    raw = pl.read_parquet(split.file(BATCH), glob=False)
    matching = pl.read_parquet(anonymized.file(MATCHING), glob=False)
    table, stays = load_encoded(encoded)
    # Keys are laid beside records by place, so both must be in the order of source rows.
    assert matching["record"].to_list() == stays.tolist()
    sealed = pl.DataFrame(
        {
            ROW_KEY: born[RELEASED_KEY],
            # Of the rows as text: the audit seals what the published files show in the same form.
            ROW_SEAL: seals_of(born, key),
            CONSTANT: constants_of(born, following.constant, key),
        }
    )
    seated = joined[stays].with_columns(matching[RELEASED_KEY].alias(ROW_KEY))
    rows = seated.select(
        CHAIN,
        PERSON,
        pl.lit(number, dtype=pl.Int32).alias(BORN),
        pl.lit(None, dtype=pl.Int32).alias(DIED),
        pl.Series(DEMANDED_K, np.asarray(table.k), dtype=pl.Int32),
        ROW_KEY,
    ).join(sealed, on=ROW_KEY, how="left", maintain_order="left")
    members = pl.concat(
        [seated.select(CHAIN, PERSON, RECORD_DIGEST, OWNER, VALUES, ROW_KEY), raw[stays]],
        how="horizontal",
    )
    kept = [pl.read_parquet(split.file(name), glob=False) for name in (ROWS, MEMBERS)]
    for name, earlier, now in zip((ROWS, MEMBERS), kept, (rows, members), strict=True):
        # Before the first version the frame has fewer columns, and concat would refuse it.
        whole = pl.concat([earlier, now]) if earlier.height else now
        whole.write_parquet(folder / name)
    out = ~pl.Series(np.isin(np.arange(joined.height), stays))
    if following.record is None:
        # Encoding left these records out, and no later source has them: keep their values.
        left = pl.concat([joined.filter(out).select(IDENTITY), raw.filter(out)], how="horizontal")
        held = load_waiting_records(split)
        pl.concat([held, left]).write_parquet(folder / HELD)
