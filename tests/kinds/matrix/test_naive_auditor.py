"""The auditor against plain Python on drawn matrices, whether the promise is kept or not."""

import json
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdcover.kinds.matrix.kind import KIND
from crowdcover.kinds.matrix.layout import READING
from crowdcover.kinds.matrix.pipeline.rows import flatten_rows
from crowdcover.kinds.rows import write_csv
from crowdcover.storage.source.reading import Reading
from tests import naive
from tests.contract.runs import Runs
from tests.kinds.matrix.orders import MatrixOrder

ITEMS = [f"item {number}" for number in range(5)]
SETS = st.frozensets(st.sampled_from(ITEMS))


@st.composite
def releases(draw):
    """Items of each user, released items of each user, and k of each."""
    source = draw(st.lists(SETS, min_size=2, max_size=10).filter(any))
    kinds = draw(st.lists(SETS, min_size=1, max_size=3))
    rows = [draw(st.sampled_from(kinds)) for _ in source]
    return source, rows, [draw(st.integers(2, len(source))) for _ in source]


def publish(folder, source, rows, k):
    """Write what a release of these rows would be, and its source and plan."""
    users = [f"user {number}" for number in range(len(source))]
    pairs = [(user, item) for user, items in zip(users, source, strict=True) for item in items]
    alone = [(user, "") for user, items in zip(users, source, strict=True) if not items]
    order = MatrixOrder(folder, pairs + alone, privacy={"k": {"path": "k.csv"}})
    pl.DataFrame({"user": users, "k": k}).write_csv(folder / "k.csv")
    labels = sorted({item for row in rows for item in row})
    named = list(dict.fromkeys(user for user, _ in pairs + alone))
    keys = [f"{(number * 0x9E3779B97F4A7C15) % 2**64:016x}" for number in range(len(source))]
    frame = pl.DataFrame(
        {"key": keys, "items": [sorted(map(labels.index, row)) for row in rows]},
        schema={"key": pl.String, "items": pl.List(pl.Int32)},
    ).sort("key")
    frame.write_parquet(folder / "rows.parquet")
    write_csv(flatten_rows(frame), folder / "rows.csv.gz")
    codebook = {"reading": READING, "keyed": False, "items": labels}
    (folder / "codebook.json").write_text(json.dumps(codebook))
    seats = pl.DataFrame(
        {
            "record": range(len(named)),
            "key": [keys[users.index(user)] for user in named],
        },
        schema={"record": pl.Int64, "key": pl.String},
    )
    seats.write_parquet(folder / "matching.parquet")
    return order.data


@pytest.mark.long
@given(releases())
def test_the_auditor_counts_what_the_definitions_count(drawn):
    source, rows, k = drawn
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = publish(folder, source, rows, k)
        audit = KIND.judge(
            data, Runs.promise, ["parquet", "csv"], Reading(data.source), folder, folder
        )
    below, minorities = naive.smooth_failures(source, rows, k)
    expected = {"equivalence classes"} if below else set()
    expected |= {"smooth majority"} if minorities else set()
    invented = frozenset().union(*rows) - frozenset().union(*source)
    expected |= {"codebook of the source"} if invented else set()
    assert {finding.guarantee for finding in audit.broken} == expected
    stated = audit.measured.sections()
    assert stated["privacy"]["classes_below_k"] == below
    assert stated["privacy"]["minorities"] == minorities
    released = sum(map(len, rows))
    assert stated["utility"]["entries_released"] == released
    share = naive.unanimous(source, rows) / max(1, released)
    assert 0 <= stated["protection"]["unanimous_entries"] - share < 0.001 + 1e-9
