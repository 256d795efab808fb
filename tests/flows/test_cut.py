"""What a release of a table in parts tells of its cut: nothing, in rows, layout and other files."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from anon_core.anonymizers.in_parts.cut import Cut
from crowdcover.kinds.table.pipeline.encode import load_encoded
from crowdcover.storage.vault import secret_streams
from tests.flows.orders import FILES, Order, people

RECORDS, PART, PARTS = 900, 100, 8
BEYOND_CHANCE = 5.0  # standard deviations
CLOCKED = ("seconds", "timings", "peak_memory_bytes", "created")


@pytest.fixture(scope="module")
def orders(tmp_path_factory):
    """The same table with the same secrets: in one part, and in eight."""
    made = []
    for part in (0, PART):
        settings = {"name": "local-search", "part": part}
        order = Order(tmp_path_factory.mktemp("cut"), people(RECORDS), anonymizer=settings)
        order.fix_seed().release()
        made.append(order)
    return made


@pytest.fixture(scope="module")
def part_of_row(orders):
    """The part of the record that sits in each released row, rows in their order."""
    order = orders[1]
    table, source_rows = load_encoded(order.run.whole("binarize"))
    tie_order = secret_streams.draw_permutation(order.run.seed, "order", table.records)
    cut = Cut.of(table, tie_order, PART)
    assert len(cut.places) == PARTS
    number = np.empty(RECORDS, dtype=np.int64)
    for part, places in enumerate(cut.places):
        number[source_rows[places]] = part
    record = dict(order.keys_of_records().select("key", "record").iter_rows())
    return np.array([number[record[key]] for key in order.rows()["key"]])


def correlate(part, rows):
    """How far some patterns of parts in an order of rows are from chance, in deviations."""
    n, sizes = len(part), np.bincount(part)
    rank, place = np.argsort(np.argsort(part, kind="stable")), np.arange(n)
    together = (sizes * (sizes - 1)).sum() / (n * (n - 1))
    near = {step: (part[step:] == part[:-step]) for step in (1, 2, PARTS)}
    found = {
        f"{step} apart": (same.mean() - together) / np.sqrt(together * (1 - together) / len(same))
        for step, same in near.items()
    }
    found["by place"] = np.corrcoef(rank, place)[0, 1] * np.sqrt(n - 1)
    for name, block in (("block", place * PARTS // n), ("turn", place % PARTS), *rows.items()):
        counts = np.zeros((block.max() + 1, PARTS))
        np.add.at(counts, (block, part), 1)
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
        free = (len(counts) - 1) * (PARTS - 1)
        found[name] = (((counts - expected) ** 2 / expected).sum() - free) / np.sqrt(2 * free)
    return {name: float(abs(value)) for name, value in found.items()}


@pytest.mark.long
def test_the_order_of_rows_and_their_keys_tell_no_part(orders, part_of_row):
    """Random keys decide the order; a key's first and last digits are as random as the rest."""
    keys = orders[1].rows()["key"].to_list()
    digits = {f"digit {at}": np.array([int(key[at], 16) for key in keys]) for at in (0, -1)}
    told = correlate(part_of_row, digits)
    assert max(told.values()) < BEYOND_CHANCE, told
    from_parquet = pq.read_table(orders[1].folder_of_v1 / "data.parquet")["key"].to_pylist()
    assert from_parquet == keys == sorted(keys)


@pytest.mark.parametrize(
    "leak",
    [
        lambda part: np.sort(part),
        lambda part: np.sort(part)[::-1],
        lambda part: np.sort(part).reshape(PARTS, -1).T.ravel(),  # one of each part in turn
        lambda part: np.concatenate([np.sort(part[:450]), part[450:]]),
    ],
)
def test_an_order_by_parts_would_be_found(part_of_row, leak):
    part = leak(part_of_row[: RECORDS // PARTS * PARTS])
    assert max(correlate(part, {}).values()) > BEYOND_CHANCE


def lay_out(path):
    """The layout of a Parquet file: rows of each group, and its columns."""
    told = pq.ParquetFile(path).metadata
    groups = [told.row_group(at) for at in range(told.num_row_groups)]
    return [
        (group.num_rows, [group.column(at).path_in_schema for at in range(group.num_columns)])
        for group in groups
    ]


def test_layouts_are_those_of_a_table_in_one_part(orders):
    whole, cut = (lay_out(order.folder_of_v1 / "data.parquet") for order in orders)
    assert whole == cut


def list_paths(document, path=""):
    """Where a document states something, but what clocks decide."""
    inner = document.items() if isinstance(document, dict) else enumerate(document)
    for name, value in inner:
        if name not in CLOCKED:
            yield f"{path}/{name}"
            if isinstance(value, (dict, list)):
                yield from list_paths(value, f"{path}/{name}")


def test_other_files_state_no_more_than_those_of_one_part(orders):
    """Nor does the number of steps tell that of parts."""
    stated = [
        {
            name: sorted(list_paths(json.loads((order.folder_of_v1 / name).read_text())))
            for name in FILES
            if name.startswith(("manifest", "croissant", "datapackage", "dcat", "method"))
        }
        for order in orders
    ]
    manifests = [json.loads((each.folder_of_v1 / "manifest.json").read_text()) for each in orders]
    assert len(manifests[1]["iterations"]) == 1
    for names in stated:
        names["manifest.json"] = [n for n in names["manifest.json"] if "/iterations" not in n]
    assert stated[0] == stated[1]
    assert [sorted(p.name for p in each.folder_of_v1.iterdir()) for each in orders] == [FILES] * 2
