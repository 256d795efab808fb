"""No published number depends on which row of a class is whose."""

import json

import polars as pl
import pytest

from crowdcover.kinds.matrix.judge.measured import round_step
from crowdcover.kinds.matrix.kind import KIND
from crowdcover.storage.source.reading import Reading
from tests.contract.runs import Runs
from tests.kinds.matrix.orders import MatrixOrder, manifest
from tests.support.corruptions import Copy


def sections(copy):
    data = copy.order.data
    audit = KIND.judge(
        data, Runs.promise, ["parquet"], Reading(data.source), copy.folder, copy.folder
    )
    assert audit.passed
    return audit.measured.sections()


def test_rows_of_a_class_exchanged_change_no_number(likes, tmp_path):
    copy = Copy(likes, tmp_path)
    before = sections(copy)
    joined = copy.seats.join(copy.rows, on="key", how="left", maintain_order="left")
    text = pl.col("items").cast(pl.List(pl.String)).list.join(" ")
    turned = joined.with_columns(key=pl.col("key").reverse().over(text))
    assert (turned["key"] != joined["key"]).sum() > 40
    copy.move(turned["key"].to_list())
    assert sections(copy) == before


def test_shares_of_true_entries_are_published_in_steps_of_a_thousandth(likes, tmp_path):
    found = sections(Copy(likes, tmp_path))
    shares = [found["utility"][key] for key in ("jaccard", "suppressed", "created", "false")]
    shares += [found["protection"][f"unanimous_{of}"] for of in ("entries", "rows")]
    assert all(round(1000 * share) / 1000 == share for share in shares)


def test_steps_state_rounded_shares_and_no_counts_of_groups():
    step = {"number": 2, "jaccard": 0.74869, "groups": 91, "moves": 7, "seconds": 0.25}
    step |= {"suppressed": 0.1241, "created": 0.122}
    assert round_step({**step, "published": True}) == {
        "number": 2, "jaccard": 0.748, "suppressed": 0.125, "created": 0.122, "seconds": 0.25,
        "published": True,
    }  # fmt: skip


@pytest.mark.long
def test_keys_of_people_as_items_change_no_number(tmp_path):
    """Two draws of the secrets; the classes are the same."""
    drawn = []
    for draw in (1, 2):
        order = MatrixOrder(tmp_path / str(draw), columns={"keyed": True})
        folder = order.fix_seed(bytes([draw] * 32)).release()
        stated = manifest(folder)
        drawn.append(
            [stated[each] for each in ("privacy", "utility", "protection", "attacks")]
            + [json.loads((folder / "codebook.json").read_text())["items"]]
        )
    assert drawn[0][:-1] == drawn[1][:-1]
    assert drawn[0][-1] != drawn[1][-1]
