"""Nothing that is published tells into which parts a table was cut."""

import json

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from anon_core.anonymizers.in_parts.cut import Cut
from tests.flows.orders import Order, people
from tests.support.releases import manifest

ROWS, PART = 600, 60


@pytest.fixture(scope="module")
def cut_release(tmp_path_factory):
    """A release, the part of each of its rows in published order, and the sizes of the parts."""
    cuts, make_cut = [], Cut.of

    def remember(*arguments):
        cuts.append(make_cut(*arguments))
        return cuts[-1]

    order = Order(
        tmp_path_factory.mktemp("cut"),
        people(ROWS),
        privacy={"k": 3},
        anonymizer={"name": "local-search", "effort": 0, "part": PART},
        publish={"formats": ["parquet", "csv"]},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cut, "of", remember)
        order.release()
    places = max((cut.places for cut in cuts), key=len)
    assert len(places) >= 4
    part_of = np.empty(ROWS, dtype=np.int64)
    for part, records in enumerate(places):
        part_of[records] = part
    keys = order.keys_of_records().sort(pl.first())
    by_key = dict(zip(keys["key"].to_list(), part_of.tolist(), strict=True))
    return order, np.array([by_key[key] for key in order.rows()["key"]]), [*map(len, places)]


@pytest.mark.long
def test_neighbouring_rows_are_of_any_parts(cut_release):
    _, part, sizes = cut_release
    share = sum((size / ROWS) ** 2 for size in sizes)
    same, expected = int((part[1:] == part[:-1]).sum()), (ROWS - 1) * share
    assert abs(same - expected) < 5 * np.sqrt(expected * (1 - share))


def test_files_have_no_piece_for_a_part(cut_release):
    order, _, sizes = cut_release
    file = pq.ParquetFile(order.folder_of_v1 / "data.parquet")
    groups = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
    assert groups == [ROWS]
    assert ROWS not in sizes


def test_the_manifest_states_the_plan_and_no_figure_of_a_part(cut_release):
    order, _, sizes = cut_release
    stated = manifest(order.folder_of_v1)
    assert stated["anonymizer"]["part"] == PART
    steps = json.dumps(stated["iterations"])
    assert len(stated["iterations"]) < len(sizes)
    assert not any(f": {size}," in steps for size in {*sizes, len(sizes)})
