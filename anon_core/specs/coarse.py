"""Coarser numbers and dates of carried columns: what a plan states, before the data is read."""

from dataclasses import dataclass
from typing import Any, Literal

from anon_core.errors import InputError

OpenEnd = float | Literal["k"]


@dataclass(frozen=True, kw_only=True)
class Coarse:
    """How the numbers or dates of a column are made coarser.

    Attributes
    ----------
    step : float or str, optional
        Numbers are rounded to multiples of it; half way, to the even multiple. Dates, by a name out
        of `CALENDAR`, become the first day of their month or other step.
    top, bottom : float or "k", optional
        A greater, or smaller, number is shown as this one. "k": as one that fewer people than the
        greatest demand pass.
    """

    step: float | str | None = None
    top: OpenEnd | None = None
    bottom: OpenEnd | None = None

    def __post_init__(self) -> None:
        if self.is_of_dates and (self.top is not None or self.bottom is not None):
            raise InputError("top and bottom are about numbers; leave them out")
        if isinstance(self.step, float) and self.step <= 0:
            raise InputError("step must be greater than 0")
        stated = [end for end in (self.bottom, self.top) if isinstance(end, float)]
        if len(stated) > 1 and stated[0] >= stated[1]:
            raise InputError("bottom must be less than top")

    @property
    def is_of_dates(self) -> bool:
        """Whether dates are made coarser, not numbers."""
        return isinstance(self.step, str)

    @property
    def is_whole(self) -> bool:
        """Whether whole numbers stay whole."""
        stated = (self.step, self.top, self.bottom)
        return all(end.is_integer() for end in stated if isinstance(end, float))

    def state(self) -> dict[str, Any]:
        """What the plan states, as a manifest says it."""
        stated = {"step": self.step, "top": self.top, "bottom": self.bottom}
        return {key: value for key, value in stated.items() if value is not None}

    def describe(self, ends: "Ends") -> dict[str, Any]:
        """What the codebook states of the column."""
        stated = {"step": self.step, "top": ends.top, "bottom": ends.bottom}
        return {
            key: int(each) if isinstance(each, float) and each.is_integer() else each
            for key, each in stated.items()
            if each is not None
        }


@dataclass(frozen=True)
class Ends:
    """The numbers that also stand for smaller ones, and for greater ones; None: there are none."""

    bottom: float | None = None
    top: float | None = None
