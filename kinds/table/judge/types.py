"""The types of the columns of typed rows."""

from collections.abc import Mapping

import polars as pl

from crowdcover.kinds.judge.audit import Finding

_TYPES = "types of the columns"


def judge_types(found: Mapping[str, pl.DataType], typed: Mapping[str, pl.DataType]) -> Finding:
    """Whether the columns that were found have these types."""
    wrong = sum(found.get(name) != dtype for name, dtype in typed.items())
    return Finding(_TYPES, wrong == 0, f"{wrong} of {len(typed)} columns have another type")
