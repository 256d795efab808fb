"""[checks]: what else a release must reach to be published, and the words for one that does not. No Prefect here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from anon_core.errors import GuaranteeError

ROUNDING = 1e-9  # of sums of logarithms


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

    def require(self, measured: Mapping[str, Any], found: str, remedy: str = "") -> None:
        """Refuse what falls short; `measured` holds the manifest's sections."""
        short = list(self.shortfalls(measured))
        if short:
            words = "; ".join(what for what, _ in short)
            raise GuaranteeError(f"{found}; {words}; {remedy or ', '.join(dict.fromkeys(way for _, way in short))}")

    def shortfalls(self, measured: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """What was found and is required, and what may be done, for each check that fails."""
        utility = measured["utility"]
        if utility["suppression"] < self.min_utility:
            yield (
                f"utility {utility['suppression']:.4f} is below checks.min_utility = {self.min_utility}",
                "lower k or the floor",
            )
        for name, floor in self.columns.items():
            kept = 1 - utility["per_column"][name]["ncp"]
            if kept < floor:
                words = f"column {name!r} keeps {kept:.4f} of its information, below checks.columns = {floor}"
                yield words, "give it more weight, lower k or the floor"
        protection = measured.get("protection", {})
        told = protection.get("sensitive", {})
        for asked in self.l_diversity:
            if words := _undiverse(asked, told.get(asked.column)):
                yield f"column {asked.column!r}: {words}", "raise k or lower l"
        for close in self.t_closeness:
            distance = told[close.column]["distance"] if close.column in told else 1.0
            if distance > close.t:
                yield (
                    f"column {close.column!r}: a crowd is {distance:.4f} away from the whole table, above t = {close.t}",
                    "raise k or t",
                )
        if self.max_row_loss is not None:
            yield from _lossy(self.max_row_loss, protection.get("rows_left_out"), measured["privacy"]["records"])
        if self.max_attack_success is not None:
            yield from _open_to_attack(self.max_attack_success, measured.get("attacks", {}))


def _lossy(allowed: float, left_out: int | None, records: int) -> Iterator[tuple[str, str]]:
    """Too many source rows left out."""
    if left_out is None:
        yield "what checks.max_row_loss asks for was not measured when it was published", "leave checks.max_row_loss out"
    elif left_out > allowed * (left_out + records):
        yield (
            f"{left_out} of {left_out + records} source rows are left out, more than checks.max_row_loss = {allowed} allows",
            "keep records with missing values, lower k or raise the limit",
        )


def _open_to_attack(allowed: float, attacks: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each attacker who is right too often; a guess by order is a finding of the audit, or chance."""
    if not attacks:
        yield (
            "what checks.max_attack_success asks for was not measured when it was published",
            "leave checks.max_attack_success out",
        )
    for name, found in attacks.items():
        if name != "order" and found["success"] > allowed + ROUNDING:
            yield (
                f"the attack {name!r} names the right row with a chance of {found['success']:.4f} on average, "
                f"above checks.max_attack_success = {allowed}",
                "raise k, coarsen groups, set reclaim = false or raise the limit",
            )


def _undiverse(asked: Diverse, told: Mapping[str, Any] | None) -> str:
    """Why a column is not as diverse as it is asked to be; nothing if it is."""
    if told is None:
        return "was not measured when it was published"
    if asked.kind == "distinct":
        found = told["distinct"]
        return "" if found >= asked.l else f"a crowd has {found} distinct value{'s' * (found != 1)}, l = {asked.l} are required"
    if asked.kind == "entropy":
        effective = told["effective"]
        short = effective < asked.l * (1 - ROUNDING)
        return f"a crowd has {effective:.2f} values by entropy, l = {asked.l} are required" if short else ""
    odds = told["odds"][asked.l - 2]
    if odds is not None and asked.c is not None and odds < asked.c:
        return ""
    lead = "without limit" if odds is None else f"{odds:.2f} to 1"
    return f"a crowd's commonest value leads {lead}, below c = {asked.c} is required with l = {asked.l}"
