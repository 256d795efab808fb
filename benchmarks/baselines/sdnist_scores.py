"""Run by another Python, for benchmarks.nist: scores FOLDER/TABLE.csv beside FOLDER/source.csv.

SDNist's own scores, and its own coding of the tables, on the columns that the tables have: as its
report does it, which downloads the tables of 2019 and takes no others.
"""

import json
import sys
from pathlib import Path

NUMBERS = ["AGEP"]
INTEGERS = ["AGEP", "SEX", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "DEYE"]


def main(folder, names):
    import pandas as pd

    def read(name):
        frame = pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)
        frame = frame.reindex(sorted(frame.columns), axis=1)
        return frame.astype(dict.fromkeys(INTEGERS, int))

    source = read("source")
    for name in names:
        print(json.dumps({"table": name, **scores(source, read(name), folder)}), flush=True)


def scores(source, table, folder):
    """k-marginal, pMSE, unique exact matches in per cent, rows that SDNist calls inconsistent."""
    import sdnist.report  # before its metrics, which import each other in a circle

    assert sdnist.report
    from sdnist.metrics.inconsistency import Inconsistencies
    from sdnist.metrics.kmarginal import KMarginal
    from sdnist.metrics.propensity import PropensityMSE
    from sdnist.metrics.unique_exact_matches import unique_exact_matches
    from sdnist.report import dataset

    schema = {
        name: {"values": sorted(source[name].unique()), "has_null": 1, "null_value": "N"}
        for name in source.columns
    }
    schema |= {name: {"min": 0} for name in NUMBERS}
    coded, coded_table = dataset.transform(source, schema), dataset.transform(table, schema)
    binned = dataset.percentile_rank_target(source, NUMBERS)
    binned_table = dataset.percentile_rank_synthetic(table, source, binned, NUMBERS)
    others = [name for name in source.columns if name not in NUMBERS]
    binned[others], binned_table[others] = coded[others], coded_table[others]
    group = ["PUMA"] if "PUMA" in source.columns else []
    (folder / "inconsistent").mkdir(exist_ok=True)  # it writes examples
    odd = Inconsistencies(table, folder / "inconsistent")
    odd.compute()
    found = {
        row
        for part in ("age", "work", "housing")
        for each in odd.report_data[part]["inconsistencies"]
        for row in each["inconsistent_data_indexes"]
    }
    return {
        "k_marginal": float(KMarginal(binned, binned_table, group).compute_score()),
        "pmse": float(PropensityMSE(coded, coded_table, folder).compute_score()),
        "unique": float(unique_exact_matches(source, table)[1]),
        "sdnist_inconsistent": len(found),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
