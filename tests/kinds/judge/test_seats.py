"""Which row is that of each record, beside the keys looked up one by one."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from crowdcover.kinds.judge.seats import find_row_seats

KEYS = st.sampled_from(["00", "0a", "0A", "a", "ff", "zz", None])


@given(st.lists(KEYS, max_size=6), st.lists(KEYS, min_size=1, max_size=6), st.booleans())
def test_a_record_has_the_first_row_with_its_key(shown, claimed, paired):
    if paired:
        shown = sorted({key for key in shown if key is not None})
        claimed = shown[::-1]
    records = np.arange(len(claimed)) * 2
    rows = pl.DataFrame({"key": shown}, schema={"key": pl.String})
    matching = pl.DataFrame(
        {"record": records, "key": claimed}, schema={"record": pl.Int64, "key": pl.String}
    )
    seat, _ = find_row_seats(rows, records, matching[::-1])
    first = {key: row for row, key in reversed(list(enumerate(shown))) if key is not None}
    assert seat.tolist() == [first.get(key, -1) for key in claimed]
    assert find_row_seats(rows, records + 1, matching)[0].tolist() == [-1] * len(claimed)
