"""Tables that every suite lets pass; each test spoils one thing."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_core.specs.columns import ColumnSpec
from anon_core.tables.records import Attribute, Codebook

Columns = dict[str, NDArray[Any]]


@pytest.fixture
def specs() -> list[ColumnSpec]:
    """One specification of each kind."""
    return [
        ColumnSpec(name="age", kind="numeric"),
        ColumnSpec(name="born", kind="date", missing="refuse"),
        ColumnSpec(name="smokes", kind="binary"),
        ColumnSpec(name="city", kind="categorical", missing="refuse"),
    ]


@pytest.fixture
def codebook() -> Codebook:
    """Two attributes; one is called "k", as the demands are."""
    return Codebook(
        (
            Attribute(name="k", kind="categorical", encoding="one-hot", labels=("p", "q", "r")),
            Attribute(name="age", kind="numeric", encoding="ordinal", labels=("1", "2", "3", "4")),
        )
    )


@pytest.fixture
def source() -> Columns:
    """What was ingested, with one carried column, `diagnosis`."""
    return {
        "age": np.array([31.0, np.nan, 45.5, 31.0, 62.0, 18.0]),
        "born": np.array([-800.0, 12.0, 13.0, 14.0, 9000.0, 12.0]),
        "smokes": np.array(["yes", "no", None, "no", "yes", "yes"], dtype=object),
        "city": np.array(["ulm", "bonn", "ulm", "kiel", "bonn", "ulm"], dtype=object),
        "diagnosis": np.array(["flu", None, "flu", "cold", "cold", "flu"], dtype=object),
    }


@pytest.fixture
def packed() -> Columns:
    """Levels and demands of six records."""
    return {
        "level:k": np.array([0, 1, 2, 0, 1, 2], dtype=np.int32),
        "level:age": np.array([3, 1, 2, 0, 1, 2], dtype=np.int32),
        "k": np.array([1, 6, 2, 2, 2, 3], dtype=np.int32),
    }


@pytest.fixture
def release() -> Columns:
    """A release of six rows."""
    return {
        "key": np.array([f"{number:016x}" for number in range(10, 16)], dtype=object),
        "cell:k": np.array([1, 2, 3, 1, 1, 3]),
        "cell:age": np.array([4, 2, 3, 1, 1, 3]),
        "demanded": np.array([2, 2, 3, 3, 2, 2]),
        "compatible": np.array([2, 4, 3, 5, 2, 6]),
        "matchable": np.array([2, 2, 3, 3, 2, 4]),
        "truthful": np.ones(6, dtype=np.bool_),
    }
