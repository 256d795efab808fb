"""[checks] of a plan: what a release must reach beside its promise.

`Requirement.holds` alone compares a number with its limit: for the check, the audit and a standing
release. A kind says which numbers a plan may set limits for.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anon_core.errors import GuaranteeError
from anon_core.measures.requirements import Requirement

Sections = Mapping[str, Any]  # the measured sections of a manifest

UNMEASURED = "was not measured when it was published"


@dataclass(frozen=True, kw_only=True)
class Asked(Requirement):
    """A requirement of the plan.

    Attributes
    ----------
    shown : str
        The measured number as people read it.
    shortfall : str
        What a refusal says of it.
    remedy : str
        What may be done then.
    """

    shown: str
    shortfall: str
    remedy: str


def attack_success(
    name: str, success: float | None, limit: float, chance: str, remedy: str, what: str = "row"
) -> Asked:
    """The limit for an attacker who names rows; `chance` says what its success is.

    `what` is what the attacker names, where it is no row.
    """
    found = (
        UNMEASURED
        if success is None
        else f"names the right {what} with {chance} {success:.4f} on average, above "
        f"checks.max_attack_success = {limit}"
    )
    return Asked(
        measure="attack success",
        about=name,
        found=success,
        required=limit,
        shown="" if success is None else f"{success:.4f}",
        shortfall=f"the attack {name!r} {found}",
        remedy=remedy,
    )


def build_unchanged_limit(found: float | None, limit: float, what: str, remedy: str) -> Asked:
    """The limit for what is published as it was, a share of `what`; 1: nothing was hidden."""
    known = found is not None
    told = (
        f"a share of {found:.4f} of {what} is as in the source, above checks.max_unchanged = "
        f"{limit}"
        if known
        else f"the number that checks.max_unchanged limits {UNMEASURED}"
    )
    return Asked(
        measure="unchanged",
        found=found,
        required=limit,
        shown=f"{found:.4f}" if known else "",
        shortfall=f"nothing was hidden: {told}" if found == 1 else told,
        remedy=remedy if known else "leave checks.max_unchanged out",
    )


class Floors(ABC):
    """What a release must reach beside its promise; never shapes the release."""

    @property
    def stated(self) -> bool:
        """Whether the plan asks for anything: any limit differs from its default."""
        return self != type(self)()

    @abstractmethod
    def requirements(self, measured: Sections) -> Iterator[Asked]:
        """Everything that is asked, each with the number that was measured."""

    def require(self, measured: Sections, finding: str, remedy: str = "") -> None:
        """Refuse a release that falls short."""
        if short := self.shortfalls(measured):
            raise GuaranteeError(describe_shortfalls(short, finding, remedy))

    def claims(self, measured: Sections) -> list[dict[str, Any]]:
        """The limits as the manifest states them, each with the number that was held against it."""
        return [
            {
                "measure": asked.measure,
                "about": asked.about,
                "required": asked.required,
                "found": asked.found,
                **({} if asked.l is None else {"l": asked.l}),
            }
            for asked in self.requirements(measured)
        ]

    def shortfalls(self, measured: Sections) -> list[Asked]:
        """The requirements that are not reached."""
        return [asked for asked in self.requirements(measured) if not asked.holds]


def describe_shortfalls(short: Sequence[Asked], finding: str, remedy: str = "") -> str:
    """Every shortfall in one line, and what may be done."""
    shortfalls = "; ".join(asked.shortfall for asked in short)
    remedies = ", ".join(dict.fromkeys(asked.remedy for asked in short))
    return f"{finding}; {shortfalls}; {remedy or remedies}"
