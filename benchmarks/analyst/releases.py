"""Releases of real tables as folders, each with the plain table behind it."""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from anon_core.engines import local
from anon_core.seating.matching import random_matching
from anon_core.tables.cells import write_cells
from anon_core.tables.codebook import codebook_to_json
from benchmarks import data_file
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.rows import write_csv
from crowdcover.kinds.table.layout import CODEBOOK, CSV, KEY, PARQUET, list_released_columns
from crowdcover.kinds.table.pipeline.encode import encode_records
from crowdcover.kinds.table.pipeline.read import read_table
from crowdcover.storage.source.reading import Reading


class Made(NamedTuple):
    """A release folder, and the table behind it: the true row of each released row."""

    folder: Path
    truth: pl.DataFrame


def made(plan_text: str, source: str, folder: Path, *, seed: int = 1) -> Made:
    """Release a table as its plan says, without checks, and write the folder to `folder`.

    Rows count as people.
    """
    folder.mkdir(parents=True)
    path = folder / "plan.toml"
    path.write_text(plan_text, encoding="utf-8")
    plan = ReleasePlan.load(path, [f"source.path={data_file(source)}"])
    read = read_table(Reading(plan.data.source), plan.data.columns, plan.data.demand, ())
    coded = encode_records(read.table, read.k_values, plan.data.columns, plan.data.demand)
    table, generator = coded.table, np.random.default_rng(seed)
    masked = local.run(
        plan.build_anonymizer(), table, tie_order=generator.permutation(table.records)
    )
    seat = random_matching(
        masked, lambda count: generator.integers(0, 2**32, count, dtype=np.uint32)
    )
    shown = list_released_columns(plan.data.columns)
    truth = read.table.filter(coded.kept)[np.argsort(seat)].select(column.name for column in shown)
    cells = write_cells(table, masked.hidden)
    keys = pl.Series(KEY, [f"{row:016x}" for row in range(table.records)])
    rows = truth.with_columns(pl.Series(name, cells[name].tolist()) for name in cells)
    rows.insert_column(0, keys).write_parquet(folder / PARQUET)
    write_csv(rows, folder / CSV)
    book = codebook_to_json(table.codebook)
    (folder / CODEBOOK).write_text(json.dumps(book), encoding="utf-8")
    files = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in (PARQUET, CSV, CODEBOOK)
    }
    columns = {column.name: {"role": column.role} for column in plan.data.columns}
    privacy = {"k_min": int(table.k.min()), "k_max": int(table.k.max())}
    manifest = {
        "name": plan.name,
        "version": "v1",
        "columns": columns,
        "privacy": privacy,
        "files": files,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return Made(folder, truth)
