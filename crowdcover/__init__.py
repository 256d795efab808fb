"""Release a frame, read a release.

`crowdcover.anonymize(df, quasi=["age", "zip"], sensitive=["income"], k=10)` gives a checked release
in memory: see `crowdcover.releasing`. `crowdcover.read("releases/adult/v1")` reads one.

A masked cell of a release allows several values. Read as text it misleads: cells that stay exact
are not typical. This package reads each cell as the set that it is, and answers counts,
frequencies, means and crosstabs with what is certain, what is possible and what is expected.

Reading needs polars and numpy, and nothing of the vault. A public name is loaded when it is first
used: the import itself loads neither.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for type checkers, which do not run `__getattr__`
    from crowdcover.assessing.assessment import Assessment, assess
    from crowdcover.errors import ReleaseError, RulesWarning
    from crowdcover.reader.answers.conditions import (
        Between,
        Under,
        above,
        at_least,
        at_most,
        below,
        between,
        under,
    )
    from crowdcover.reader.answers.estimates import Count
    from crowdcover.reader.answers.means import Mean, Quantile
    from crowdcover.reader.coded.columns import Column
    from crowdcover.reader.completed.rubin import Pooled, pooled
    from crowdcover.reader.release import Release, read
    from crowdcover.releasing.anonymizing import anonymize, plan
    from crowdcover.releasing.estimator import KAnonymizer
    from crowdcover.releasing.plans import Plan
    from crowdcover.releasing.released import FrameRelease

__all__ = [
    "Assessment", "Between", "Column", "Count", "FrameRelease", "KAnonymizer", "Mean", "Plan",
    "Pooled", "Quantile", "Release", "ReleaseError", "RulesWarning", "Under", "above",
    "anonymize", "assess", "at_least", "at_most", "below", "between", "plan", "pooled", "read",
    "under",
]  # fmt: skip
_HOMES = {
    "assessing.assessment": ("Assessment", "assess"),
    "errors": ("ReleaseError", "RulesWarning"),
    "reader.answers.estimates": ("Count",),
    "reader.answers.means": ("Mean", "Quantile"),
    "reader.coded.columns": ("Column",),
    "reader.answers.conditions": (
        "Between", "Under", "above", "at_least", "at_most", "below", "between", "under",
    ),
    "reader.release": ("Release", "read"),
    "reader.completed.rubin": ("Pooled", "pooled"),
    "releasing.anonymizing": ("anonymize", "plan"),
    "releasing.estimator": ("KAnonymizer",),
    "releasing.plans": ("Plan",),
    "releasing.released": ("FrameRelease",),
}  # fmt: skip


# Python calls this only for names that the module does not hold (PEP 562).
def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"crowdcover.{home}"), name)
    raise AttributeError(f"module 'crowdcover' has no attribute {name!r}")


# Without this, `dir` and completion would show submodules, and only the names used so far.
def __dir__() -> list[str]:
    return sorted(__all__)
