"""Columns with hostile values, and the texts and numbers of encoded ones."""

import numpy as np
import pytest
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.tables.encoding import MISSING_CATEGORY

MARK = "zq7"


# Labels that look like the marks of cells, or like parts of them.
HOSTILE = st.one_of(
    st.text(st.sampled_from("a.|*\\_()\n \u00e9"), max_size=6),
    st.sampled_from(
        [
            "",
            "*",
            "..",
            "...",
            ".",
            "|",
            "\\",
            "\\_",
            "_",
            MISSING_CATEGORY,
            "\\" + MISSING_CATEGORY,
            "(missing",
            "a..b",
            "a|b",
            "..a",
            "a..",
        ]
    ),
    st.sampled_from(
        [
            "1..2",
            "-1.5",
            "None",
            "nan",
            "\u2028",
            "\U0001f600",
            "\t",
            "a\n",
            "\r",
            "a\r\n",
            '"',
            ",",
            "Z\u0301",
        ]
    ),
    st.text(max_size=4).filter(lambda text: "\0" not in text),
)


NUMBERS = st.one_of(
    st.sampled_from(
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            1.5,
            2.5,
            1e-300,
            1e300,
            0.1,
            0.30000000000000004,
            2.0**53,
            -(2.0**53),
            1e22,
        ]
    ),
    st.floats(-1e300, 1e300),
    st.integers(-5, 5).map(float),
)


def quiet(error, *marks):
    while error is not None:
        for mark in (MARK, *marks):
            assert mark not in str(error) + repr(error)
        error = error.__cause__ or error.__context__


def refused(words, work, *marks):
    with pytest.raises(InputError, match=words) as caught:
        work()
    quiet(caught.value, *marks)


def texts(*values):
    return np.array(values, dtype=object)


def numbers(*values):
    return np.array(values, dtype=np.float64)


def ones(n):
    return np.ones(n, dtype=np.int64)


@st.composite
def columns_of(draw, n, name):
    """(ColumnSpec, values) of any kind, with ties and missing values."""
    missing = draw(st.sampled_from(["category", "all-hidden", "drop"]))
    weight = draw(st.sampled_from([1.0, 0.25, 7.0]))
    kind = draw(st.sampled_from(["numeric", "date", "categorical", "binary"]))
    if kind in ("numeric", "date"):
        one = NUMBERS if kind == "numeric" else st.integers(-800_000, 3_000_000).map(float)
        pool = draw(st.lists(one, min_size=1, max_size=n))
        values = draw(
            st.lists(st.one_of(st.sampled_from(pool), st.just(np.nan)), min_size=n, max_size=n)
        )
        edges = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4, unique=True).map(
            lambda found: tuple(sorted(found))
        )
        bins = draw(st.one_of(st.none(), st.integers(2, 12), edges))
        coding = draw(st.sampled_from(["one-hot", "ordinal"]))
        spec = ColumnSpec(
            name=name,
            kind=kind,
            bins=bins,
            encoding=coding,
            missing=missing,
            weight=weight,
            carry=draw(st.sampled_from(["bounds", "median"])),
            rare=draw(st.sampled_from(["publish", "pool"])),
        )
        return spec, np.array(values)
    pool = draw(st.lists(HOSTILE, min_size=1, max_size=2 if kind == "binary" else 5, unique=True))
    values = draw(st.lists(st.one_of(st.sampled_from(pool), st.none()), min_size=n, max_size=n))
    order = (
        tuple(draw(st.permutations(pool))) if kind == "categorical" and draw(st.booleans()) else ()
    )
    coding = "ordinal" if order and draw(st.booleans()) else "one-hot"
    rare = draw(st.sampled_from(["publish", "pool"])) if coding == "one-hot" else "publish"
    return ColumnSpec(
        name=name,
        kind=kind,
        encoding=coding,
        order=order,
        missing=missing,
        weight=weight,
        rare="publish" if kind == "binary" else rare,
    ), texts(*values)


@st.composite
def tables(draw, most_records=12, most_columns=3):
    """(specs, columns) with at least one feature."""
    n = draw(st.integers(1, most_records))
    made = [draw(columns_of(n, f"c{index}")) for index in range(draw(st.integers(1, most_columns)))]
    specs = [spec for spec, _ in made]
    columns = {spec.name: values for spec, values in made}
    specs.append(ColumnSpec(name="sure", kind="categorical"))
    columns["sure"] = texts(*(str(index % 3) for index in range(n)))
    return specs, columns


def packed(flags):
    words = np.zeros((len(flags), 8 * (-(-flags.shape[1] // 64))), dtype=np.uint8)
    words[:, : -(-flags.shape[1] // 8)] = np.packbits(flags, axis=1, bitorder="little")
    return words.view(np.uint64)
