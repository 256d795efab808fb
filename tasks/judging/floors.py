"""[checks]: what else a release must reach to be published, and the words for one that does not. No Prefect here.

Whether a number reaches its limit is decided by `Requirement.holds` alone, for the gate, the audit and a standing release.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from anon_core.errors import GuaranteeError
from anon_core.measures.requirements import Measure, Requirement

Manifest = Mapping[str, Any]

UNMEASURED = "was not measured when it was published"


@dataclass(frozen=True, kw_only=True)
class Diverse:
    """l-diversity of a sensitive column in every crowd; `c` for the recursive kind."""

    column: str
    l: int
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: float | None = None


@dataclass(frozen=True, kw_only=True)
class Close:
    """t-closeness of a sensitive column in every crowd."""

    column: str
    t: float


@dataclass(frozen=True, kw_only=True)
class Asked(Requirement):
    """A requirement of the plan: what was found, what a refusal says of it, and what may be done then."""

    told: str
    short: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class Floors:
    """What a release must reach beside the promise that it keeps; never shapes its rows."""

    min_utility: float = 0.0
    columns: Mapping[str, float] = field(default_factory=dict)
    l_diversity: tuple[Diverse, ...] = ()
    t_closeness: tuple[Close, ...] = ()
    max_row_loss: float | None = None
    max_attack_success: float | None = None

    @property
    def stated(self) -> bool:
        """Whether anything is asked for at all."""
        return self != Floors()

    def require(self, measured: Manifest, found: str, remedy: str = "") -> None:
        """Refuse what falls short; `measured` holds the manifest's sections."""
        if short := self.shortfalls(measured):
            raise GuaranteeError(sentence(short, found, remedy))

    def shortfalls(self, measured: Manifest) -> list[Asked]:
        """What is not reached."""
        return [asked for asked in self.requirements(measured) if not asked.holds]

    def requirements(self, measured: Manifest) -> Iterator[Asked]:
        """Everything that is asked, each with the number that was measured."""
        if self.min_utility > 0:
            yield _utility(self.min_utility, measured)
        for name, floor in self.columns.items():
            yield _information(name, floor, measured)
        sensitive = measured.get("protection", {}).get("sensitive", {})
        for diverse in self.l_diversity:
            yield _diversity(diverse, sensitive.get(diverse.column, {}))
        for close in self.t_closeness:
            yield _closeness(close, sensitive.get(close.column, {}))
        if self.max_row_loss is not None:
            yield _row_loss(self.max_row_loss, measured)
        if self.max_attack_success is not None:
            yield from _attacks(self.max_attack_success, measured.get("attacks", {}))


def sentence(short: Sequence[Asked], found: str, remedy: str = "") -> str:
    """Everything that falls short in one line, and what may be done."""
    words = "; ".join(asked.short for asked in short)
    return (
        f"{found}; {words}; {remedy or ', '.join(dict.fromkeys(asked.remedy for asked in short))}"
    )


# ---------------------------------------------------------------- each requirement


def _utility(floor: float, measured: Manifest) -> Asked:
    found = measured["utility"]["suppression"]
    return Asked(
        measure="utility",
        found=found,
        required=floor,
        told=f"{found:.4f}",
        short=f"utility {found:.4f} is below checks.min_utility = {floor}",
        remedy="lower k or the floor",
    )


def _information(name: str, floor: float, measured: Manifest) -> Asked:
    found = 1 - measured["utility"]["per_column"][name]["ncp"]
    return Asked(
        measure="information",
        about=name,
        found=found,
        required=floor,
        told=f"{found:.4f}",
        short=f"column {name!r} keeps {found:.4f} of its information, below checks.columns = {floor}",
        remedy="give it more weight, lower k or the floor",
    )


def _diversity(asked: Diverse, told: Mapping[str, Any]) -> Asked:
    measures: dict[str, Measure] = {
        "distinct": "distinct values",
        "entropy": "values by entropy",
        "recursive": "odds",
    }
    found: float | None
    if not told:
        found, said, words = None, "", UNMEASURED
    elif asked.kind == "distinct":
        found = told["distinct"]
        said = f"{found}"
        words = (
            f"a crowd has {found} distinct value{'s' * (found != 1)}, l = {asked.l} are required"
        )
    elif asked.kind == "entropy":
        found = told["effective"]
        said = f"{found:.2f}"
        words = f"a crowd has {found:.2f} values by entropy, l = {asked.l} are required"
    else:
        found = told["odds"][asked.l - 2]
        said = "without limit" if found is None else f"{found:.2f} to 1"
        words = f"a crowd's commonest value leads {said}, below c = {asked.c} is required with l = {asked.l}"
    recursive = asked.kind == "recursive"
    return Asked(
        measure=measures[asked.kind],
        about=asked.column,
        found=found,
        required=asked.l if asked.c is None else asked.c,
        l=asked.l if recursive else None,
        told=said,
        short=f"column {asked.column!r}: {words}",
        remedy="raise k or lower l",
    )


def _closeness(asked: Close, told: Mapping[str, Any]) -> Asked:
    found = told.get("distance")
    words = (
        UNMEASURED
        if found is None
        else f"a crowd is {found:.4f} away from the whole table, above t = {asked.t}"
    )
    return Asked(
        measure="distance",
        about=asked.column,
        found=found,
        required=asked.t,
        told="" if found is None else f"{found:.4f}",
        short=f"column {asked.column!r}: {words}",
        remedy="raise k or t",
    )


def _row_loss(limit: float, measured: Manifest) -> Asked:
    left_out = measured.get("protection", {}).get("rows_left_out")
    if left_out is None:
        return _unmeasured("row loss", limit, "max_row_loss")
    rows = left_out + measured["privacy"]["records"]
    return Asked(
        measure="row loss",
        found=left_out / rows,
        required=limit,
        told=f"{left_out} of {rows}",
        short=f"{left_out} of {rows} source rows are left out, more than checks.max_row_loss = {limit} allows",
        remedy="keep records with missing values, lower k or raise the limit",
    )


def _attacks(limit: float, attacks: Manifest) -> Iterator[Asked]:
    """Of each attacker; a guess by order is a finding of the audit, or chance."""
    if not attacks:
        yield _unmeasured("attack success", limit, "max_attack_success")
    for name, told in attacks.items():
        found = told["success"]
        if name != "order":
            yield Asked(
                measure="attack success",
                about=name,
                found=found,
                required=limit,
                told=f"{found:.4f}",
                short=f"the attack {name!r} names the right row with a chance of {found:.4f} on average, "
                f"above checks.max_attack_success = {limit}",
                remedy="raise k, coarsen groups, set reclaim = false or raise the limit",
            )


def _unmeasured(measure: Measure, limit: float, key: str) -> Asked:
    return Asked(
        measure=measure,
        found=None,
        required=limit,
        told="",
        short=f"what checks.{key} asks for {UNMEASURED}",
        remedy=f"leave checks.{key} out",
    )
