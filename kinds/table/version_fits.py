"""Which rows fit whom, of every batch of a series: kept for good, since crowds are counted anew."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdcover.storage.vault.run import Stored

FITS = "fits.npz"  # versions: of all batches, by records numbered over all of them


class BatchFits(NamedTuple):
    """The rows that fit each record that ever had a row; row i is the one of record i.

    Attributes
    ----------
    first : int64 (batches + 1,)
        Number of the first record of each batch; the last one is how many records there are.
    start, row : int64 (records + 1,), int32 (pairs,)
        Rows of record v: row[start[v] : start[v + 1]], ascending. All are of its batch.
    """

    first: NDArray[np.int64]
    start: NDArray[np.int64]
    row: NDArray[np.int32]

    def of(self, born: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Start and row of one batch, its records and rows numbered from 0 on."""
        begin, end = self.first[born - 1 : born + 1]
        start = self.start[begin : end + 1]
        return start - start[0], self.row[start[0] : start[-1]] - np.int32(begin)

    def until(self, number: int) -> "BatchFits":
        """Of the first batches only."""
        first = self.first[: number + 1]
        start = self.start[: first[-1] + 1]
        return BatchFits(first, start, self.row[: start[-1]])

    def also(self, start: NDArray[np.int64], row: NDArray[np.int32]) -> "BatchFits":
        """These, and then those of another batch, numbered from 0 on."""
        records = self.first[-1]
        return BatchFits(
            np.append(self.first, records + len(start) - 1),
            np.concatenate([self.start, self.start[-1] + start[1:]]),
            np.concatenate([self.row, row + np.int32(records)]),
        )

    def write(self, folder: Path) -> None:
        """Store them."""
        np.savez(folder / FITS, first=self.first, start=self.start, row=self.row)


NO_FITS = BatchFits(
    np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
)


def load_fits(audited: Stored | None, number: int) -> BatchFits:
    """Those of the first `number` batches, as the audit of a version kept them."""
    if audited is None:
        return NO_FITS
    if (path := audited.file(FITS)).exists():
        with np.load(path) as kept:
            return BatchFits(kept["first"], kept["start"], kept["row"]).until(number)
    # Older builds kept a file for each batch.
    fits = NO_FITS
    for born in range(1, number + 1):
        with np.load(audited.file(f"fits-{born}.npz")) as kept:
            fits = fits.also(kept["start"], kept["row"])
    return fits
