"""Stop at a border unless what crosses it looks as it must: Great Expectations on stored stages."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import polars as pl

from anon_core.errors import GuaranteeError, InputError
from anon_core.tables.encoding import decode
from kinds.table.columns import Column, arrays
from kinds.table.layout import CARRIED, TABLE
from kinds.table.records import load
from tasks.orchestration.gates import judged, where
from tasks.orchestration.stage import log, stage
from tasks.vault.storage import Run, Stored
from validations.verdicts import Verdict

Border = Literal["ingested", "binarized"]
MEND = "mend the source, or the column's kind or missing rule in the plan"


@stage("validate {border}")
def validate(run: Run, stored: Stored, border: Border, columns: tuple[Column, ...]) -> Stored:
    """Judge a stored stage by the suite of its border; refuse with the expectations that failed, without values."""

    def judge() -> Verdict:
        # Great Expectations takes seconds to import: only where a border is really crossed.
        from validations.run import run as checkpoint

        return checkpoint(
            *(_ingested(stored, columns) if border == "ingested" else _binarized(stored))
        )

    found, (verdict,) = judged(run, f"validate-{border}", [stored], lambda _: ({}, [judge()]))
    if not verdict.success:
        if border == "ingested":
            raise InputError(f"{verdict.sentence()}; {MEND}; {where(run)}")
        raise GuaranteeError(f"{verdict.sentence()}; {where(run)}")
    log(verdict.sentence())
    return found


def _ingested(stored: Stored, columns: tuple[Column, ...]) -> tuple[Any, Mapping[str, Any]]:
    from kinds.table.suites import ingested

    table = pl.read_parquet(stored.file(TABLE))
    specs = [column.spec for column in columns if column.spec is not None]
    carried = [column.name for column in columns if column.role in CARRIED]
    return ingested.suite(specs, carried), arrays(table)


def _binarized(stored: Stored) -> tuple[Any, Mapping[str, Any]]:
    from kinds.table.suites import binarized

    table, _ = load(stored)
    levels = decode(table.codebook, table.bits)
    frame = {
        f"level:{a.name}": level for a, level in zip(table.codebook.attributes, levels, strict=True)
    }
    return binarized.suite(table.codebook, table.records), {**frame, "k": table.k.astype(np.int64)}
