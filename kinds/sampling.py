"""Random rows of a source, to try settings on."""

import numpy as np
import polars as pl

from anon_core.errors import InputError


def sample_rows(
    frame: pl.DataFrame, number: int, seed: int, owner: str | None = None
) -> pl.DataFrame:
    """`number` rows in the order of the source; the same for the same rows and seed.

    `owner` names the column of owners: all rows of an owner are in the sample or none, and owners
    are drawn until they have `number` rows. Rows without an owner count as rows of one owner each.
    """
    if number > frame.height:
        raise InputError(
            f"--sample asks for {number} rows and the source has {frame.height}; ask for fewer, or "
            "leave it out"
        )
    if owner is None:
        group = np.arange(frame.height)
    else:
        named = frame[owner].rank("dense").fill_null(0).to_numpy().astype(np.int64)
        # Owners have the numbers from 1 on. Rows without one get numbers of their own behind them.
        alone = np.flatnonzero(named == 0)
        named[alone] = named.max() + 1 + np.arange(len(alone))
        # From 0 on without a gap, so that no empty group can be drawn.
        group = np.unique(named, return_inverse=True)[1]
    drawn = np.random.default_rng(seed).permutation(int(group.max()) + 1)
    # Rows that are in the sample once the i-th drawn group is; the last group may pass `number`.
    held = np.bincount(group)[drawn].cumsum()
    taken = np.zeros(len(drawn), dtype=np.bool_)
    taken[drawn[: int(np.searchsorted(held, number)) + 1]] = True
    return frame.filter(pl.Series(taken[group]))
