"""What columns weigh by what they tell: makers and auditor agree to the last bit."""

from math import log, sqrt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.measures.table.weights import compute_weights
from crowdcover.kinds.table.judge.purpose import list_values
from crowdcover.kinds.table.pipeline.weighing import find_learning_rows, learn_weights
from crowdcover.kinds.table.plan.purpose import Purpose

ROWS = 120
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", None]), min_size=ROWS, max_size=ROWS)
NUMBERS = st.lists(
    st.one_of(st.none(), st.sampled_from([-0.0, 0.0, 1.5, -7.0, 1e300]), st.integers(-40, 40)),
    min_size=ROWS,
    max_size=ROWS,
)


def learnt(frame, predict):
    """By the makers, or None where they refuse."""
    try:
        return learn_weights(frame, predict, [name for name in frame.columns if name != predict])
    except InputError:
        return None


def computed(frame, predict):
    """By the auditor, or None where it refuses."""
    try:
        columns = {name: list_values(frame[name]) for name in frame.columns if name != predict}
        return compute_weights(columns, list_values(frame[predict]))
    except InputError:
        return None


@pytest.mark.long
@given(TEXTS, NUMBERS, TEXTS)
@settings(deadline=None)
def test_makers_and_auditor_agree(city, age, target):
    frame = pl.DataFrame(
        {
            "city": pl.Series(city, dtype=pl.String),
            "age": pl.Series(age, dtype=pl.Float64, strict=False),
            "^a$": pl.Series(target, dtype=pl.String),
        }
    )
    assert learnt(frame, "^a$") == computed(frame, "^a$")
    assert learnt(frame, "age") == computed(frame, "age")


def test_dates_and_missing_numbers_agree():
    chance = np.random.default_rng(3)
    days = pl.Series(chance.integers(0, 9000, 500)).cast(pl.Int32).cast(pl.Date)
    amount = pl.Series(np.where(chance.random(500) < 0.2, np.nan, days.to_physical() // 300))
    frame = pl.DataFrame({"born": days, "amount": amount.fill_nan(None)})
    assert learnt(frame, "amount") == computed(frame, "amount") == {"born": 1.0}


def test_moments_and_times_agree():
    """Two instants of one clock time, and times below a microsecond."""
    zone = "America/Chicago"
    moments = pl.datetime_range(
        pl.datetime(2024, 11, 3, 5), pl.datetime(2024, 11, 3, 9), "30m", eager=True, time_zone="UTC"
    ).dt.convert_time_zone(zone)
    chance = np.random.default_rng(2)
    drawn = moments.gather(chance.integers(0, len(moments), 400))
    times = pl.Series(chance.integers(0, 900, 400)).cast(pl.Time)
    late = pl.Series(drawn.to_physical() > moments.to_physical()[4]).cast(pl.String)
    frame = pl.DataFrame({"late": late, "drawn": drawn, "times": times})
    for predict in frame.columns:
        assert learnt(frame, predict) == computed(frame, predict)


def test_two_coins_weigh_what_their_correlation_says():
    """Of two signs that agree in 3 of 4 cases, I = ln 2 - H(1/4)."""
    same = ["x", "y"] * 3000
    partly = [*same[:4500], *({"x": "y", "y": "x"}[sign] for sign in same[4500:])]
    frame = pl.DataFrame({"same": same, "partly": partly, "target": same})
    entropy = -(log(0.25) / 4 + 3 * log(0.75) / 4)
    told, all_told = log(2) - entropy - 1 / 12000, log(2) - 1 / 12000
    expected = sqrt((1 - np.exp(-2 * told)) / (1 - np.exp(-2 * all_told)))
    assert learnt(frame, "target") == {"same": 1.0, "partly": round(expected, 2)}


def test_many_levels_tell_nothing_by_chance():
    chance = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "name": [f"n{number}" for number in range(1000)],
            "sex": chance.choice(["f", "m"], 1000),
            "target": chance.choice(["poor", "rich"], 1000),
        }
    ).with_columns(half=pl.when(pl.int_range(1000) < 500).then("target").otherwise(pl.lit("?")))
    weights = learnt(frame, "target")
    assert weights["half"] == 1.0
    assert weights["name"] == 0.0
    assert weights["sex"] < 0.1


@pytest.mark.parametrize(
    ("rows", "words"), [(99, "99 rows, at least 100"), (100, "no quasi-identifier tells anything")]
)
def test_refused(rows, words):
    frame = pl.DataFrame(
        {"age": [1.0] * rows, "target": ["a", "b"] * (rows // 2) + ["a"] * (rows % 2)}
    )
    with pytest.raises(InputError, match=words):
        learn_weights(frame, "target", ["age"])


def test_all_rows_of_a_person_are_learnt_from_or_none():
    purpose = Purpose(predict="x", learnt="share", share=0.25)
    person = np.array([5, 1, 1, 2, 0, 2, 3, 4, 4], dtype=np.int32)
    rows = find_learning_rows(purpose, len(person), person)
    assert rows.tolist() == [person_of in (2, 4) for person_of in person]
    assert find_learning_rows(purpose, 8, None).nonzero()[0].tolist() == [3, 7]
    for share in (0.49, 0.3333, 0.001, 0.5):
        rows = find_learning_rows(Purpose(predict="x", learnt="share", share=share), 10_000, None)
        assert rows.sum() == int(share * 10_000)
    assert find_learning_rows(Purpose(predict="x", learnt="released"), 8, None) is None
