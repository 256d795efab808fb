"""Run by another Python, for benchmarks.lighthouse: FOLDER/source.csv, ours by name in NAME.csv.

Anonymizes the source with k = 5 by project-lighthouse-anonymize, without generalization trees, and
computes the package's own metrics of its rows and of ours, and which of its minimums they miss.
"""

import json
import logging
import sys
import time
from pathlib import Path

ID = "row_id"


def main(folder, names):
    import pandas as pd
    from project_lighthouse_anonymize import k_anonymize

    source = read(pd, folder / "source.csv")
    quasi = list(source.columns.drop(ID))
    for name in names:
        rows = read(pd, folder / f"{name}.csv")
        tell(name, quality(source, rows, quasi), rows=len(rows))
    start = time.perf_counter()
    rows, metrics, _ = k_anonymize(logging.getLogger(), source, quasi, 5, {}, ID, parallelism=None)
    tell("lighthouse", metrics, rows=len(rows), seconds=time.perf_counter() - start)


def read(pd, path):
    frame = pd.read_csv(path)
    words = frame.select_dtypes(exclude="number").columns
    frame[words] = frame[words].astype(object)
    frame[ID] = range(len(frame))
    return frame


def quality(source, rows, quasi):
    """The metrics of released rows; trees are flat, so a cell is exact or `*`."""
    from project_lighthouse_anonymize.wrappers.k_anonymize import (
        compute_anonymization_data_quality_metrics as metrics,
    )
    from project_lighthouse_anonymize.wrappers.shared import prepare_gtrees

    log = logging.getLogger()
    trees = prepare_gtrees(log, source, quasi, {})
    return metrics(log, source, rows, quasi, trees, ID, [], None)[0]


def tell(name, metrics, **others):
    from project_lighthouse_anonymize.wrappers.shared import check_dq_meets_minimum_thresholds

    met, failed = check_dq_meets_minimum_thresholds(metrics)
    numbers = {key: float(value) for key, value in metrics.items()}
    found = {"name": name, "met": bool(met), "failed": [each[0] for each in failed]}
    print(json.dumps(found | {"metrics": numbers} | others), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
