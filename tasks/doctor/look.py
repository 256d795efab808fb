"""One thing that was looked at, and what to do about it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

_State = Literal["ok", "warning", "wrong"]


@dataclass(frozen=True)
class Look:
    """One line of `crowdcover doctor`.

    Attributes
    ----------
    what : str
        What was looked at.
    state : {"ok", "warning", "wrong"}
        "wrong": a run would fail, or secrets are open. "warning": a run may fail, or a part that
        no run needs is missing.
    found : str
        What there is, without a value of the data.
    means : str
        What that means for a run; empty if it is fine.
    do : str
        What to do; empty if nothing.
    """

    what: str
    state: _State
    found: str
    means: str = ""
    do: str = ""

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        return asdict(self)


def rate_missing(needed: bool) -> _State:
    """How bad it is that something is missing, by whether the plan needs it."""
    return "wrong" if needed else "warning"


def count_wrong_looks(looks: Sequence[Look]) -> int:
    """How many are wrong."""
    return sum(look.state == "wrong" for look in looks)
