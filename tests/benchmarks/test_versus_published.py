import dataclasses

import numpy as np

from anon_core.anonymizers import Adaptive
from benchmarks.versus_published import published
from tests.benchmarks.baselines.drawn import drawn


def test_rows_that_hide_nothing_are_the_records_and_others_hide_sets_as_stars():
    table = drawn(12, 1)
    labels = [np.array(a.labels) for a in table.codebook.attributes]
    exact = published(table, Adaptive(seats="even").anonymize(table))
    for a, codes in zip(table.codebook.attributes, table.codes, strict=True):
        there = labels[table.codebook.attributes.index(a)][codes]
        shown = exact[a.name].to_list()
        assert [float(v) for v in there] == [float(v) for v in shown]
    everyone = dataclasses.replace(table, k=np.full(12, 12, dtype=np.int32))
    hidden = published(everyone, Adaptive(seats="even").anonymize(everyone))
    assert set(hidden["city"]) == {"*"}
    ages = [
        float(label) for label in labels[[a.name for a in table.codebook.attributes].index("age")]
    ]
    assert set(hidden["age"]) == {(min(ages) + max(ages)) / 2}
