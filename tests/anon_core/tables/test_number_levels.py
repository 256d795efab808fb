"""Levels of numbers that enough people share, by hand and by definition; rare categories."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_core.measures.table.codebook.shared import SharedCounts, count_shared_levels
from anon_core.specs.columns import ColumnSpec
from anon_core.tables.cells import write_cells
from anon_core.tables.codebook import codebook_to_json
from anon_core.tables.cuts import readable_cut
from anon_core.tables.encoding import encode, fit, fit_codebook
from tests.support.encoding import numbers, ones, packed, refused, texts

DAY = np.datetime64("1970-01-01")


def days(*dates):
    return (np.array(dates, dtype="datetime64[D]") - DAY).astype(np.float64)


def one(values, least=1, persons=None, **how):
    """The attribute of a column, and how many of its levels joined."""
    spec = ColumnSpec(name="a", **{"kind": "numeric", **how})
    sure = ColumnSpec(name="sure", kind="categorical")  # there must be a feature
    columns = {"a": values, "sure": texts(*map(str, range(len(values))))}
    found = fit_codebook([spec, sure], columns, least, persons)
    return found.codebook.attributes[0], found.joined.get("a", 0)


def labels(values, *args, **how):
    return one(values, *args, **how)[0].labels


# ---------------------------------------------------------------- readable cuts


def free(number):
    return True


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (22, 23, 22),
        (21.5, 29, 25),
        (12.2, 12.7, 12.5),
        (12.41, 12.47, 12.45),
        (0.07, 0.21, 0.2),  # the nearer one of 0.1 and 0.2
        (-3, 5, 0),
        (0, 114, 0),
        (-130, -99, -100),
        (1e300, 3e300, 2e300),
        (99_999, 1_000_000, 500_000),
        (5e-324, 1e-323, 5e-324),
        (0.1, np.nextafter(0.1, 1), 0.1),
    ],
)
def test_the_roundest_number_is_chosen(low, high, cut):
    assert readable_cut("numeric", low, high, (low + high) / 2, free) == cut


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        ("2013-10-17", "2013-10-20", "2013-10-17"),
        ("2013-09-12", "2013-11-02", "2013-09-30"),
        ("2013-10-12", "2013-12-02", "2013-10-31"),
        ("2013-02-12", "2014-02-02", "2013-12-31"),
        ("1969-02-12", "1970-02-02", "1969-12-31"),
        ("1970-01-30", "1970-03-30", "1970-01-31"),
    ],
)
def test_the_roundest_date_is_chosen(low, high, cut):
    start, end = days(low, high)
    assert readable_cut("date", start, end, start, free) == days(cut)[0]


def test_a_number_that_is_not_allowed_is_passed_over():
    taken = {20, 25, 21, 22, 23, 24}
    assert readable_cut("numeric", 20, 26, 22, lambda c: c not in taken) == 22.5
    assert readable_cut("numeric", 1, np.nextafter(1, 2), 1, lambda c: c != 1) is None
    (day,) = days("2013-10-17")
    assert readable_cut("date", day, day + 1, day, lambda c: c != day) == day + 0.5
    assert readable_cut("date", day, day + 1, day, lambda c: False) is None


# ---------------------------------------------------------------- groups


def test_a_group_is_written_as_its_interval():
    """On main these labels were the medians 1.5, 3.5, 5.5 and 43.5."""
    found = labels(numbers(1, 2, 3, 4, 5, 6, 7, 80), bins=4)
    assert found == ("..2", "2..4", "4..6", "6..")


def test_bounds_are_rounded():
    incomes = numbers(*(1013.77 * n for n in range(1, 101)))
    found = labels(incomes, bins=4, least=5)
    assert found == ("..25000", "25000..50000", "50000..75000", "75000..")


def test_a_bound_is_nobodys_value_or_that_of_many():
    """22 is the value of one person, so the cut lies beside it."""
    ages = numbers(*[20] * 9, 22, *[23] * 8, *[24] * 9)
    assert labels(ages, least=1, bins=3) == ("..20", "20..23", "23..")
    single = numbers(*range(20, 40))
    found = labels(single, least=3, bins=4)
    assert found == ("..24.5", "24.5..29.5", "29.5..34.5", "34.5..")
    assert labels(np.repeat(single, 3), least=3, bins=4) == ("..24", "24..29", "29..34", "34..")


def test_dates_of_single_persons_part_at_noon():
    dates = days(*(f"2020-03-{day:02}" for day in range(1, 21)))
    assert labels(dates, least=2, kind="date", bins=2) == (
        "..2020-03-10T12:00",
        "2020-03-10T12:00..",
    )
    assert labels(np.repeat(dates, 2), least=2, kind="date", bins=2) == (
        "..2020-03-10",
        "2020-03-10..",
    )


def test_groups_of_few_people_join_their_neighbours():
    """On main the first group held one person, whose value was its median."""
    ages = numbers(3, *[20] * 6, *[30] * 6, *[70] * 2)
    edges = (10.0, 25.0, 50.0)
    attribute, joined = one(ages, least=5, bins=edges)
    assert attribute.labels == ("..25", "25..")
    assert joined == 2
    medians, joined = one(ages, least=5, bins=edges, carry="median")
    assert (medians.labels, medians.edges, joined) == (("20", "30"), (25.0,), 2)
    assert one(ages, least=1, bins=edges, carry="median")[0].labels == ("3", "20", "30", "70")
    assert one(ages, least=8, bins=edges)[0].labels == ("..",)


def test_as_before_groups_of_any_size_were_published():
    ages = numbers(3, *[20] * 6, *[30] * 6, *[70] * 2)
    before = {"bins": (10.0, 25.0, 50.0), "carry": "median", "shared": False}
    assert labels(ages, least=5, **before) == ("3", "20", "30", "70")
    assert labels(ages, least=5, shared=False) == ("3", "20", "30", "70")


def test_people_are_counted_not_records():
    """Six records of one person are one person."""
    ages = numbers(*[20] * 6, *[30] * 6)
    persons = np.array([1] * 6 + [1, 2, 3, 4, 5, 6])
    assert labels(ages, least=2, bins=(25.0,)) == ("..25", "25..")
    assert labels(ages, least=2, bins=(25.0,), persons=persons) == ("..",)


def test_a_bound_that_records_of_one_person_hold_is_one_persons_value():
    """22 stands in six records: of six people, or of one."""
    ages = numbers(*[20] * 4, *[21] * 3, *[22] * 6, *[24] * 5)
    several = np.arange(18)
    alone = np.where(ages == 22, 7, several)
    assert labels(ages, least=3, bins=2, persons=several) == ("..22", "22..")
    assert labels(ages, least=3, bins=2, persons=alone) == ("..23", "23..")


# ---------------------------------------------------------------- numbers without groups


def test_outermost_numbers_are_shown_if_enough_people_hold_them():
    """On main the codebook told the least and the greatest value of anybody."""
    ages = numbers(17, *[18] * 4, *[19] * 4, *[20] * 4, 88, 90, 93)
    attribute, joined = one(ages, least=3, encoding="ordinal")
    assert attribute.labels == ("..18.5", "19", "20", "50..")
    assert attribute.values == ((-np.inf, 18.5), 19.0, 20.0, (50.0, np.inf))
    assert joined == 5
    published = json.dumps(codebook_to_json(fit_alone(ages, least=3, encoding="ordinal")))
    assert not any(f"{age}" in published for age in (17, 88, 90, 93))


def fit_alone(values, least, **how):
    spec = ColumnSpec(name="a", kind="numeric", **how)
    return fit([spec], {"a": values}, least)


def test_rare_numbers_may_join_their_neighbours():
    """A level of one number is that number. The others part where nobody's value lies."""
    ages = numbers(*[18] * 4, 19, 20, *[21] * 4, *[25] * 4, 30, 31)
    how = {"encoding": "ordinal", "rare": "pool"}
    assert labels(ages, least=3, **how) == ("18", "18.5..22", "22..")
    assert labels(ages, least=3, encoding="ordinal") == ("18", "19", "20", "21", "22..")


def test_numbers_without_a_number_between_them_share_a_level():
    close = np.nextafter(1, 2)
    values = numbers(1, 1, *[close] * 2, *[2] * 3, *[3] * 3)
    assert labels(values, least=2, rare="pool") == ("..1.5", "2", "3")
    assert labels(values, least=1, rare="pool") == ("1", "1.0000000000000002", "2", "3")


# ---------------------------------------------------------------- rare categories


def test_rare_categories_become_one_level():
    """On main each of them was a level that names a person."""
    cities = texts(*["ulm"] * 5, *["bonn"] * 4, "kiel", "kiel", "rome", None)
    attribute, joined = one(cities, least=3, kind="categorical", rare="pool")
    assert attribute.labels == ("(missing)", "bonn", "ulm", "(other)")
    assert (attribute.has_other, joined) == (True, 2)
    assert one(cities, least=3, kind="categorical")[0].labels[1:] == ("bonn", "kiel", "rome", "ulm")


def test_a_pool_of_few_people_takes_the_next_rare_category():
    cities = texts(*["ulm"] * 5, *["bonn"] * 4, "rome")
    assert one(cities, least=3, kind="categorical", rare="pool")[0].labels == ("ulm", "(other)")


def test_without_rare_categories_nothing_is_pooled():
    cities = texts(*["ulm"] * 5, *["bonn"] * 4)
    attribute, joined = one(cities, least=3, kind="categorical", rare="pool")
    assert (attribute.labels, attribute.has_other, joined) == (("bonn", "ulm"), False, 0)


def test_a_category_that_reads_like_the_pool_is_another_level():
    cities = texts(*["(other)"] * 5, *["ulm"] * 4, "kiel", "kiel", "rome")
    spec = ColumnSpec(name="a", kind="categorical", rare="pool")
    table = encode(fit([spec], {"a": cities}, 3), {"a": cities}, ones(len(cities)))
    cells = write_cells(table, np.zeros_like(table.bits))["a"].tolist()
    assert cells == ["\\(other)"] * 5 + ["ulm"] * 4 + ["(other)"] * 3


def test_a_pool_has_no_place_in_an_order():
    order = {"encoding": "ordinal", "order": ("a", "b")}
    refused(
        "column 'a': rare = 'pool' makes one level of categories",
        lambda: ColumnSpec(name="a", kind="categorical", rare="pool", **order),
    )


# ---------------------------------------------------------------- cells


def test_masks_over_groups_by_hand():
    """A mask over adjacent groups is one interval, open where the outer group is."""
    specs = [
        ColumnSpec(name="age", kind="numeric", bins=4, encoding="ordinal"),
        ColumnSpec(name="pay", kind="numeric", bins=(10.0, 20.0)),
    ]
    columns = {
        "age": numbers(1, 2, 3, 4, 5, 6, 7, np.nan),
        "pay": numbers(5, 6, 15, 16, 25, 26, 5, 5),
    }
    table = encode(fit(specs, columns), columns, ones(8))
    age, pay = table.codebook.attributes
    assert age.labels == ("(missing)", "..2", "2..4", "4..6", "6..")
    assert pay.labels == ("..10", "10..20", "20..")
    flags = np.array(
        [
            [0, 1, 0, 0, 1, 1, 0],
            [1, 1, 1, 0, 1, 0, 1],
            [0, 1, 1, 0, 0, 0, 0],
            [0, 1, 1, 1, 1, 1, 1],
            [0, 0, 0, 1, 0, 1, 1],
            [1, 1, 1, 1, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 0],
            [1, 1, 0, 0, 0, 0, 0],
        ],
        dtype=bool,
    )
    cells = write_cells(table, packed(flags))
    assert cells["age"].tolist() == [
        "..4",
        "(missing)..6",
        "..6",
        "..",
        "4..",
        "*",
        "6..",
        "(missing)..4",
    ]
    assert cells["pay"].tolist() == [
        "..10|10..20", "..10|20..", "10..20", "*", "10..20|20..", "20..", "..10", "..10"
    ]  # fmt: skip


# ---------------------------------------------------------------- by definition

VALUES = st.one_of(
    st.integers(0, 12).map(float),
    st.sampled_from([0.1, 0.25, 1e6, 99_999.0, -40.0, 12.345, 12.346]),
)


@st.composite
def grouped(draw):
    """(spec, values, least, persons) of a column of numbers or dates."""
    n = draw(st.integers(2, 60))
    kind = draw(st.sampled_from(["numeric", "date"]))
    value = VALUES if kind == "numeric" else st.integers(-400, 18_000).map(float)
    pool = draw(st.lists(value, min_size=1, max_size=20))
    values = draw(
        st.lists(st.one_of(st.sampled_from(pool), st.just(np.nan)), min_size=n, max_size=n)
    )
    edges = st.sets(st.integers(-5, 20).map(float), min_size=1, max_size=5).map(sorted).map(tuple)
    spec = ColumnSpec(
        name="a",
        kind=kind,
        encoding=draw(st.sampled_from(["one-hot", "ordinal"])),
        bins=draw(st.one_of(st.none(), st.integers(2, 12), edges)),
        carry=draw(st.sampled_from(["bounds", "median"])),
        rare=draw(st.sampled_from(["publish", "pool"])),
    )
    persons = draw(
        st.one_of(st.none(), st.lists(st.integers(0, 20), min_size=n, max_size=n).map(np.array))
    )
    present = ~np.isnan(values)
    people = present.sum() if persons is None else len(set(persons[present].tolist()))
    return spec, np.array(values), draw(st.integers(1, max(1, int(people)))), persons


NOTHING_GIVEN = ColumnSpec(name="a", kind="date", bins=2, carry="median")


@given(grouped())
@example((NOTHING_GIVEN, np.array([np.nan, np.nan]), 1, None))
def test_levels_are_shared_as_promised(drawn):
    """What the published entry tells is shared by `least` people, and no bound is that of fewer."""
    spec, values, least, persons = drawn
    sure = ColumnSpec(name="sure", kind="categorical")
    columns = {"a": values, "sure": texts(*map(str, range(len(values))))}
    book = fit([spec, sure], columns, least, persons)
    entry = json.loads(json.dumps(codebook_to_json(book)))["attributes"][0]
    found = count_shared_levels(spec, entry, values, least, persons)
    assert (found.few, found.own) == (0, 0)
    if not np.isnan(values).all():
        assert found.levels > 0
    edges = list(book.attributes[0].edges)
    assert edges == sorted(set(edges))


def test_what_too_few_people_share_is_counted():
    spec = ColumnSpec(name="a", kind="numeric", bins=(25.0,), encoding="ordinal")
    ages = numbers(*[20] * 6, *[25] * 2, *[30] * 2, np.nan)

    def counted(*given, spec=spec, **more):
        entry = {"labels": list(given), "has_missing": False, **more}
        return count_shared_levels(spec, entry, ages, 3)

    assert counted("..25", "25..") == SharedCounts(levels=2, few=1, bounds=1, own=0)
    assert counted("..30", "30..") == SharedCounts(levels=2, few=1, bounds=1, own=1)
    quantiles = ColumnSpec(name="a", kind="numeric", bins=2)
    assert counted("..25", "25..", spec=quantiles) == SharedCounts(levels=2, few=1, bounds=1, own=1)
    plain = ColumnSpec(name="a", kind="numeric")
    assert counted("20", "25", "30", spec=plain) == SharedCounts(levels=2, few=1)
    assert counted("20", "22..", spec=plain) == SharedCounts(levels=2, bounds=1)
    owners = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9])
    entry = {"labels": ["..20", "20.."], "has_missing": False}
    for persons, few in ((None, 0), (owners, 0), (np.minimum(owners, 8), 1)):
        assert count_shared_levels(quantiles, entry, ages, 3, persons).few == few
    assert count_shared_levels(quantiles, entry, ages, 3, np.ones(11, dtype=int)).own == 1
    pool = ColumnSpec(name="a", kind="numeric", rare="pool")
    assert counted("20", "25", "27..", spec=pool) == SharedCounts(levels=3, few=2, bounds=1)
    for broken in (["x..", "5"], [None], 5):
        refused(
            "the codebook's entry of column 'a' cannot be read",
            lambda broken=broken: count_shared_levels(
                spec, {"labels": broken, "has_missing": 0}, ages, 3
            ),
        )
