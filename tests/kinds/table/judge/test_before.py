"""Manifests of older builds are compared in what these measured in the same way."""

from crowdcover.kinds.table.judge.before import select_comparable_numbers

MEASURED = {"rows": 26, "records_ever": 27, "histories_below_k": 1, "linked_below_k": 1}


def test_older_versions_of_a_series_counted_who_came_back_twice():
    older = {"series": {"rows": 26, "records_ever": 28}}
    assert select_comparable_numbers(older, {"series": MEASURED}) == {"series": {"rows": 26}}
    newer = {"series": {**MEASURED, "reissued": 0}}
    assert select_comparable_numbers(newer, {"series": MEASURED}) == {"series": MEASURED}
