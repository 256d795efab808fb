"""Run by another Python, for benchmarks.versus_published: anonymize source.csv, judge ours.csv."""

import json
import logging
import sys
import time
from pathlib import Path

QUASI = ["age", "hours-per-week", "workclass", "native-country", "income"]


def main(folder):
    import pandas as pd
    from project_lighthouse_anonymize import k_anonymize

    source = pd.read_csv(folder / "source.csv")
    source["row_id"] = range(len(source))
    start = time.perf_counter()
    rows, _, _ = k_anonymize(logging.getLogger(), source, QUASI, 5, {}, "row_id", parallelism=None)
    seconds = time.perf_counter() - start
    found = {"theirs.seconds": seconds, "theirs.rows_left_out": len(source) - len(rows)}
    rows = source.merge(rows, on="row_id", suffixes=("_orig", "_anon"))
    ours = source.add_suffix("_orig").join(pd.read_csv(folder / "ours.csv").add_suffix("_anon"))
    for name, joined in (("theirs", rows), ("ours", ours)):
        found |= {f"{name}.{column}": share for column, share in judged(joined).items()}
    print(json.dumps(found))


def judged(joined):
    """Normalized mutual information of numbers and share of unchanged cells of all columns."""
    from project_lighthouse_anonymize.data_quality_metrics.nmi import (
        compute_normalized_mutual_information_sampled_scaled as information,
    )

    shares = {f"nmi.{q}": v for q, v in information(joined, QUASI[:2], "_orig", "_anon")[0].items()}
    for column in QUASI:
        before, after = joined[f"{column}_orig"], joined[f"{column}_anon"]
        same = (before == after) | (before.isna() & after.isna())
        shares[f"exact.{column}"] = float(same.mean())
    return shares


if __name__ == "__main__":
    main(Path(sys.argv[1]))
