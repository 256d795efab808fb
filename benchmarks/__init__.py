"""Side-by-side measurements that print `name: value` lines. Real tables come from CROWDCOVER_DATA (or ../shared/data)."""

import os
import sys
from pathlib import Path

from anon_core.records import BinaryTable
from flows.plan import ReleasePlan
from tasks.records import encoded, read_order

ROOT = Path(__file__).parent.parent


def data_file(name: str) -> Path:
    """A file of the data folder; without it the benchmark says what it leaves out."""
    path = Path(os.environ.get("CROWDCOVER_DATA", ROOT.parent / "shared" / "data")) / name
    if not path.exists():
        print(f"left out: {name} is not in CROWDCOVER_DATA")
        sys.exit(0)
    return path


def prepare(example: str, data: str) -> tuple[ReleasePlan, BinaryTable]:
    """The plan of an example and its source, encoded."""
    plan = ReleasePlan.load(ROOT / "examples" / example, [f"source.path={data_file(data)}"])
    frame, k_values = read_order(plan.table_source, plan.table_columns, plan.demand)
    table, _ = encoded(frame, k_values, plan.table_columns, plan.demand)
    return plan, table
