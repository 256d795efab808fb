"""Checks of other packages, which the auditor asks beside its own."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import polars as pl

from anon_core.plugins import load_plugins
from crowdcover.kinds.judge.audit import Finding

# Takes the released rows and the role of each column; returns how many rows break the check.
RowCheck = Callable[[pl.DataFrame, Mapping[str, str]], int]


@cache
def load_checks() -> Mapping[str, RowCheck]:
    """The checks that installed packages add, by name."""
    return load_plugins("checks", (), lambda each: "" if callable(each) else "is no function")


def judge_by_plugins(
    names: Sequence[str], rows: pl.DataFrame, roles: Mapping[str, str]
) -> list[Finding]:
    """A finding for each check that the plan names.

    A check answers with a count only, so its words cannot carry a cell anywhere. One that is not
    installed or fails is a guarantee that does not hold.

    Parameters
    ----------
    names : sequence of str
        [checks] plugins of the plan.
    rows : DataFrame
        As data.parquet has them.
    roles : mapping of str to str
        The role of each released column.
    """
    return [_judge_by(name, load_checks().get(name), rows, roles) for name in names]


def _judge_by(
    name: str, check: RowCheck | None, rows: pl.DataFrame, roles: Mapping[str, str]
) -> Finding:
    if check is None:
        why = "not judged: no installed package has this check"
        return Finding(f"check {name}", passed=False, detail=why)
    try:
        count = check(rows.clone(), dict(roles))
    # Whatever the code of another project raises; some of it ends the program.
    except (Exception, SystemExit) as error:
        why = f"not judged: the check ends with {type(error).__name__}"
        return Finding(f"check {name}", passed=False, detail=why)
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        return Finding(f"check {name}", passed=False, detail="not judged: it answers with no count")
    return Finding(f"check {name}", count == 0, f"{count} of {rows.height} rows break it")
