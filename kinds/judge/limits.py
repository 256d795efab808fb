"""[checks] of a plan: what a release must reach beside its promise.

A limit is declared once, as a `Limit` at its key in the section of its kind. The schema, the docs,
the starter plan, the check, the audit and the manifest follow from that. `is_limit_reached` alone
compares a number with its limit: for the check, the audit and a release that stands.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anon_core.errors import GuaranteeError
from anon_core.measures.requirements import Requirement, Sense

MeasuredSections = Mapping[str, Any]  # the measured sections of a manifest

UNMEASURED = "was not measured when it was published"


@dataclass(frozen=True, kw_only=True)
class LimitMeasure:
    """What is measured, and how people read of it. Terms such as {required} are filled in.

    Attributes
    ----------
    name : as the manifest states it.
    sense : on which side of the limit the number must lie.
    expected : the sentence of the page of checks; {required} and {l} are the limit's.
    shortfall : what a refusal says: {shown} or {finding} of the number, {key}, {required}, {l}.
    subject : what stands before that and names the column or the attack, {about}.
    expectation : what the number is called in names of expectations; by default its name.
    figure : what the report calls it among its risks, of {name}; empty: it is not shown there.
    """

    name: str
    sense: Sense
    expected: str
    shortfall: str
    subject: str = ""
    expectation: str = ""
    figure: str = ""


@dataclass(frozen=True, kw_only=True)
class LimitNumber:
    """A measured number that a limit applies to.

    Attributes
    ----------
    found : None if it was not measured or has no bound.
    shown : as people read it; empty if it was not measured.
    finding : as a part of a sentence; by default as `shown`.
    about : the column or the attack; None for the whole release.
    required : by default what the plan states at the key.
    measure : by default that of the limit.
    l : for odds: the values from the l-th commonest on are counted together.
    """

    found: float | None
    shown: str = ""
    finding: str = ""
    about: str | None = None
    required: float | None = None
    measure: LimitMeasure | None = None
    l: int | None = None


_Numbers = Callable[
    [MeasuredSections, Any], Iterable[LimitNumber]
]  # of what a plan states at the key


@dataclass(frozen=True)
class StarterLine:
    """What a starter plan says of a limit.

    `place` is its rank among the limits; what is `offered` stands below the others, as a comment.
    `value` and `comment` may name terms such as {k}. Without the term that the line `needs`, it is
    left out, or offered with the comment `otherwise`. A line break ends a line of the comment.
    """

    place: int
    value: str
    comment: str
    offered: bool = False
    needs: str = ""
    otherwise: str = ""


@dataclass(frozen=True, kw_only=True)
class LimitCheck(Requirement):
    """A number of a release beside its limit; `shortfall` and `remedy` are parts of a refusal."""

    measure: str
    l: int | None
    shown: str
    shortfall: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class Limit(LimitMeasure):
    """A key of [checks], with what is measured for it.

    Attributes
    ----------
    numbers : the numbers that it applies to, of the measured sections and what the plan states.
    description : what the schema says of the key.
    example : a value for the docs.
    documented : what the docs say of that.
    remedy : what may be done about a refusal.
    starter : what a starter plan says of it.
    variants : what else is measured, where a plan says so.
    """

    numbers: _Numbers
    description: str
    example: str
    documented: str
    remedy: str
    starter: StarterLine | None = None
    variants: tuple[LimitMeasure, ...] = ()

    def compare(self, key: str, stated: Any, measured: MeasuredSections) -> Iterator[LimitCheck]:
        """Each number beside its limit, of a plan that states this at the key."""
        for number in self.numbers(measured, stated):
            yield self._build_check(key, stated, number)

    def _build_check(self, key: str, stated: Any, number: LimitNumber) -> LimitCheck:
        measure = number.measure or self
        required = stated if number.required is None else number.required
        terms = {**vars(number), "key": key, "required": required}
        terms["finding"] = number.finding or number.shown
        shortfall, remedy = measure.subject + measure.shortfall, self.remedy
        if number.found is None and not number.shown:
            shortfall = measure.subject + UNMEASURED
            if number.about is None:
                shortfall = f"the number that checks.{key} limits {UNMEASURED}"
                remedy = f"leave checks.{key} out"
        called = f"expect {measure.expectation or measure.name} to be {measure.sense}"
        return LimitCheck(
            measure=measure.name,
            sense=measure.sense,
            expectation=called.replace(" ", "_"),
            expected=measure.expected.format(required=f"{required:g}", l=number.l),
            about=number.about,
            found=number.found,
            required=required,
            l=number.l,
            shown=number.shown,
            shortfall=shortfall.format_map(terms),
            remedy=remedy,
        )


@dataclass(frozen=True)
class ReleaseLimits:
    """What a release must reach beside its promise; never shapes the release.

    `stated` has the limits that differ from their defaults, by key, each with what the plan states.
    """

    stated: Mapping[str, tuple[Limit, Any]] = field(default_factory=dict)

    def compare(self, measured: MeasuredSections) -> list[LimitCheck]:
        """Every limit beside the number that was measured."""
        return [
            check
            for key, (limit, stated) in self.stated.items()
            for check in limit.compare(key, stated, measured)
        ]

    def require(self, measured: MeasuredSections, finding: str, remedy: str = "") -> None:
        """Refuse a release that falls short."""
        if short := self.list_shortfalls(measured):
            raise GuaranteeError(describe_shortfalls(short, finding, remedy))

    def list_claims(self, measured: MeasuredSections) -> list[dict[str, Any]]:
        """The limits as the manifest states them, each with the number that was held against it."""
        return [
            {
                "measure": check.measure,
                "about": check.about,
                "required": check.required,
                "found": check.found,
                **({} if check.l is None else {"l": check.l}),
            }
            for check in self.compare(measured)
        ]

    def list_shortfalls(self, measured: MeasuredSections) -> list[LimitCheck]:
        """The limits that are not reached."""
        return [check for check in self.compare(measured) if not check.holds]


def describe_shortfalls(short: Sequence[LimitCheck], finding: str, remedy: str = "") -> str:
    """Every shortfall in one line, and what may be done."""
    shortfalls = "; ".join(check.shortfall for check in short)
    remedies = ", ".join(dict.fromkeys(check.remedy for check in short))
    return f"{finding}; {shortfalls}; {remedy or remedies}"


# ---------------------------------------------------------------- numbers


def build_number(found: float | None, form: str = ".4f", **more: Any) -> LimitNumber:
    """A number that is shown in a form; `more` are further attributes."""
    return LimitNumber(found=found, shown="" if found is None else f"{found:{form}}", **more)


def build_share(part: int | None, whole: int, **more: Any) -> LimitNumber:
    """The share of a part that is shown as both numbers; None: it was not measured."""
    if part is None:
        return LimitNumber(found=None, **more)
    return LimitNumber(found=part / whole, shown=f"{part} of {whole}", **more)


def read_number(*keys: str, form: str = ".4f") -> _Numbers:
    """Of a limit that applies to the one number at these keys of the measured sections."""

    def numbers(measured: MeasuredSections, _: Any) -> Iterator[LimitNumber]:
        for key in keys[:-1]:
            # An older manifest may lack the section: its number then reads as not measured.
            measured = measured.get(key, {})
        yield build_number(measured.get(keys[-1]), form)

    return numbers


def read_unchanged(key: str) -> _Numbers:
    """Of a limit that applies to the share that is published as it was; 1: nothing was hidden."""

    def numbers(measured: MeasuredSections, _: Any) -> Iterator[LimitNumber]:
        number = build_number(measured["utility"].get(key))
        nothing = "nothing was hidden: " if number.found == 1 else ""
        yield replace(number, finding=f"{nothing}a share of {number.shown}")

    return numbers


def read_attacks(measured: MeasuredSections, _: Any) -> Iterator[LimitNumber]:
    """The success of each attacker."""
    for name, attack in measured.get("attacks", {}).items():
        yield build_number(attack.get("success"), about=name)
