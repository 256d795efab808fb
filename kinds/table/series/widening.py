"""Which rows of standing batches are withdrawn: of those who go, and of others who hide them."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.series.withdrawing import widen_withdrawal
from crowdcover.kinds.table.series.earlier import Earlier
from crowdcover.kinds.table.series.linking import Linking
from crowdcover.kinds.table.version_files import BORN, DEMANDED_K, DIED, PERSON, ROW_KEY


def find_gone_rows(
    earlier: Earlier, going: NDArray[np.bool_], least: int, linking: Linking | None
) -> NDArray[np.bool_]:
    """Whether each member's row is withdrawn, bool (members,).

    `going` members must go. In each batch others go with them, until both parts hide themselves.
    At least `least` others go in all, so that the new batch has room: first from batches that are
    divided anyway, then from the oldest ones.
    """
    gone = going.copy()
    standing = earlier.members.join(
        earlier.rows.select(ROW_KEY, BORN), on=ROW_KEY, how="left", maintain_order="left"
    )[BORN].to_numpy()
    divided = np.unique(standing[going])
    for born in divided:
        _withdraw_rows(earlier, going, gone, standing == born, int(born), 0, linking)
    for born in [*divided, *np.setdiff1d(standing, divided)]:
        others = gone & ~going
        # Once for all batches: room in one batch is enough, however many batches stand.
        missing = least - int(others.sum())
        if missing <= 0:
            break
        here = standing == born
        wanted = int(others[here].sum()) + missing
        _withdraw_rows(earlier, going, gone, here, int(born), wanted, linking)
    return gone


def _withdraw_rows(
    earlier: Earlier,
    going: NDArray[np.bool_],
    gone: NDArray[np.bool_],
    of_batch: NDArray[np.bool_],
    born: int,
    least: int,
    linking: Linking | None,
) -> None:
    """Set `gone` for the members of one batch; `least` others go there at least."""
    everyone = earlier.rows[earlier.batch(born)]
    here = everyone[DIED].is_null().to_numpy()
    place = {key: at for at, key in enumerate(everyone[ROW_KEY].filter(pl.Series(here)).to_list())}
    keys = earlier.members[ROW_KEY].filter(pl.Series(of_batch)).to_list()
    at = np.array([place[key] for key in keys])
    must = np.zeros(len(at), dtype=np.bool_)  # bool (standing rows of the batch,)
    must[at] = going[of_batch]
    k, person = (everyone[name].to_numpy()[here] for name in (DEMANDED_K, PERSON))
    ways = None if linking is None else linking.ways(born)
    fits = earlier.fits(born).among(here)
    gone[of_batch] = widen_withdrawal(fits, k, must, person, ways=ways, least=least)[at]
