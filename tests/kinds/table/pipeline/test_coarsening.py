"""Coarser numbers and dates against their naive definition, and the maker against the auditor."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_core.errors import InfeasibleError, InputError
from anon_core.specs.coarse import Coarse, Ends
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.judge import coarse as judged
from crowdcover.kinds.table.pipeline import coarsening
from tests import naive

WHOLE = st.integers(-40, 40)
BROKEN = st.decimals(-9, 9, places=2).map(float)


def made(numbers, k=2, owners=None, **stated):
    stated = {key: each if each == "k" else float(each) for key, each in stated.items()}
    column = Column(name="pay", role="keep", kind="numeric", coarse=Coarse(**stated))
    series = pl.Series("pay", numbers)
    person = None if owners is None else np.array(owners)
    shown, ends = coarsening.coarsen_values(series, column, k, person)
    of_auditor, ends_of_auditor = judged.coarsen_columns(series.to_frame(), [column], k, person)
    assert shown.equals(of_auditor["pay"], check_dtypes=True)
    assert ends == ends_of_auditor["pay"]
    return shown, ends


def made_of_dates(series, step):
    column = Column(name="pay", role="keep", kind="date", coarse=Coarse(step=step))
    shown, ends = coarsening.coarsen_values(series, column, 2)
    of_auditor, ends_of_auditor = judged.coarsen_columns(series.to_frame(), [column], 2, None)
    assert shown.equals(of_auditor["pay"], check_dtypes=True)
    assert ends == ends_of_auditor["pay"]
    return shown, ends


def drawn(data, numbers):
    values = data.draw(st.lists(numbers, min_size=1, max_size=12))
    owners = data.draw(st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values)))
    return values, owners, data.draw(st.integers(1, 4))


@given(st.lists(WHOLE | BROKEN, min_size=1), st.sampled_from([0.05, 0.3, 1, 2.5, 7, 10]))
def test_numbers_become_the_nearest_multiple(numbers, step):
    numbers = [float(number) for number in numbers]
    shown, _ = made(numbers, step=step)
    assert shown.to_list() == [naive.multiple(number, float(step)) for number in numbers]


@given(st.data(), st.sampled_from([WHOLE, BROKEN]), st.booleans())
def test_the_greatest_numbers_become_one_open_group(data, numbers, rounded):
    values, owners, k = drawn(data, numbers)
    stated = {"step": 3} if rounded else {}
    try:
        shown, ends = made(values, k, owners, top="k", **stated)
    except InfeasibleError:
        return
    values = [naive.multiple(each, 3.0) if rounded else each for each in values]
    greatest = {who for who, each in zip(owners, values, strict=True) if each == max(values)}
    assert (ends.top is None) == (len(greatest) >= k)
    top = np.inf if ends.top is None else ends.top
    assert shown.to_list() == [min(each, top) for each in values]
    if ends.top is not None:
        assert naive.starts_open_top(ends.top, values, owners, k, rounded)


@given(st.data(), st.sampled_from([WHOLE, BROKEN]))
def test_the_smallest_numbers_are_the_mirror_of_the_greatest(data, numbers):
    values, owners, k = drawn(data, numbers)
    try:
        shown, _ = made(values, k, owners, top="k")
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            made([-each for each in values], k, owners, bottom="k")
        return
    mirrored, _ = made([-each for each in values], k, owners, bottom="k")
    assert mirrored.to_list() == [-each for each in shown]


def test_rare_extremes_begin_at_a_number_that_is_nobodys():
    pay = [30_120, 41_310, 52_477, 250_000, 1_204_331]
    shown, ends = made(pay, top="k")
    assert ends == Ends(top=200_000)
    assert shown.to_list() == [30_120, 41_310, 52_477, 200_000, 200_000]
    assert shown.dtype == pl.Int64


def test_a_greatest_number_of_enough_people_stays():
    shown, ends = made([0, 7, 99_999, 99_999], top="k")
    assert (shown.to_list(), ends.top) == ([0, 7, 99_999, 99_999], None)


def test_several_rows_of_a_person_are_one_person():
    pay, owners = [1, 10, 20, 90, 91, 92], [0, 1, 2, 3, 3, 3]
    shown, ends = made(pay, k=2, owners=owners, top="k")
    assert 10 < ends.top < 20
    assert len(set(shown.to_list()[2:])) == 1


def test_types_follow_from_the_source_and_the_stated_numbers():
    assert made([1, 2, 3], step=2)[0].dtype == pl.Int64
    assert made([1, 2, 3], step=0.5)[0].dtype == pl.Float64
    assert made([1.25, None], step=1)[0].to_list() == [1.0, None]
    assert made(pl.Series([1, 300], dtype=pl.UInt16), top=70_000)[0].to_list() == [1, 300]
    assert made(pl.Series([0.1, 0.25], dtype=pl.Float32), top=9)[0].to_list() == [0.1, 0.25]
    assert made(pl.Series(["0.15"]).cast(pl.Decimal(9, 2)), step=0.1)[0].to_list() == [0.2]


def test_stated_ends_take_others_in():
    shown, ends = made([-5, 0, 5, None], bottom=-1, top=2)
    assert (shown.to_list(), ends) == ([-1, 0, 2, None], Ends(-1.0, 2.0))


@given(
    st.lists(st.dates(dt.date(1, 1, 1)) | st.none(), min_size=1),
    st.sampled_from(["day", "week", "month", "quarter", "year", "decade"]),
)
@example([dt.date(9, 1, 1)], "decade")
def test_dates_become_the_first_day_of_their_step(dates, step):
    shown, ends = made_of_dates(pl.Series("pay", dates, dtype=pl.Date), step)
    assert ends == Ends()
    for date, first in zip(dates, shown.to_list(), strict=True):
        if date is None:
            assert first is None
            continue
        assert naive.shares_step(first, date, step)
        before = first - dt.timedelta(1) if first > dt.date.min else None
        assert first <= date
        assert before is None or not naive.shares_step(before, date, step)


def test_a_moment_belongs_to_its_day_where_it_is_told():
    moment = dt.datetime(2024, 3, 1, 0, 30)
    naive_one = pl.Series("pay", [moment, None])
    berlin = naive_one.dt.replace_time_zone("Europe/Berlin")
    for series in (naive_one, berlin):
        assert made_of_dates(series, "month")[0].to_list() == [dt.date(2024, 3, 1), None]


def test_dates_have_no_open_groups():
    with pytest.raises(InputError, match="top and bottom are about numbers"):
        Coarse(step="month", top="k")


def test_what_cannot_be_done_is_refused():
    with pytest.raises(InfeasibleError, match="'pay': no number that may be shown has 3 people"):
        made([1, 2], k=3, top="k")
    with pytest.raises(InfeasibleError, match="groups of its greatest and of its smallest"):
        made([0, 10, 20], k=2, top="k", bottom="k")
    with pytest.raises(InputError, match="reach 2\\*\\*53"):
        made([2**53, 1], top="k")
    with pytest.raises(InputError, match="bottom must be less than top"):
        Coarse(bottom=3.0, top=3.0)
