"""What each row of a version keeps of its quasi-identifiers: rows of all batches together.

Each batch has groups and categories of its own, so a row is measured once, beside the codebook of
its batch. The file is in the vault only.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdcover.kinds.table.judge.measuring import Laid
from crowdcover.kinds.table.layout import KEY
from crowdcover.kinds.table.version_files import ROW_KEY, is_in_version

KEPT_ROWS = "kept.parquet"  # versions: one line for each row ever published
_EXACT, _LOST = "exact", "lost"


def of_rows(laid: Laid) -> pl.DataFrame:
    """By key: the share of cells that show one level, and the mean NCP."""
    sizes, levels = laid.cells.sizes(), laid.cells.level_counts[:, None]
    sizes = np.where(sizes == 0, levels, sizes)  # a cell that cannot be read shows nothing
    # NCP of a cell: 0 for one level, 1 for all. The mean over columns is float64 (rows,).
    lost = ((sizes - 1) / np.maximum(1, levels - 1)).mean(axis=0)
    return pl.DataFrame(
        {ROW_KEY: laid.rows[KEY], _EXACT: (sizes == 1).mean(axis=0), _LOST: lost},
        schema={ROW_KEY: pl.String, _EXACT: pl.Float64, _LOST: pl.Float64},
    )


def of_all(born: pl.DataFrame, folder: Path | None) -> pl.DataFrame:
    """By key, what every row ever published keeps: `born` and what `folder` has of earlier rows."""
    return (
        born
        if folder is None
        else pl.concat([pl.read_parquet(folder / KEPT_ROWS, glob=False), born])
    )


def summarize_version_utility(
    kept: pl.DataFrame, history: pl.DataFrame, number: int
) -> dict[str, Any]:
    """What the manifest states of all rows of a version."""
    # Sorted, so that the means add in one order and an audit gets the same last digit.
    rows = kept.join(history.filter(is_in_version(number)), on=ROW_KEY, how="semi").sort(ROW_KEY)
    exact, lost = (float(rows[name].to_numpy().mean()) for name in (_EXACT, _LOST))
    return {"cells_exact": exact, "gcp": lost, "kept": 1 - lost}
