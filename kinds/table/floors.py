"""Limits of [checks] for a released table, and the numbers that they apply to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from anon_core.measures.requirements import Measure
from kinds.judge.floors import (
    UNMEASURED,
    Asked,
    Floors,
    Sections,
    attack_success,
    build_unchanged_limit,
)
from kinds.table.report.attackers import DEMAND, WITNESS
from reports.quantities import percent


@dataclass(frozen=True, kw_only=True)
class Diverse:
    """l-diversity of a sensitive column in every crowd; `c` belongs to the recursive kind."""

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
class TableFloors(Floors):
    """The limits of a plan for a table."""

    min_utility: float = 0.0
    columns: Mapping[str, float] = field(default_factory=dict)
    l_diversity: tuple[Diverse, ...] = ()
    t_closeness: tuple[Close, ...] = ()
    max_uniform: float | None = None
    equivalence_k: int | None = None
    max_row_loss: float | None = None
    max_attack_success: float | None = None
    max_unchanged: float | None = None

    def requirements(self, measured: Sections) -> Iterator[Asked]:
        """Every limit with its measured number."""
        if self.min_utility > 0:
            yield _require_utility(self.min_utility, measured)
        for name, floor in self.columns.items():
            yield _require_information(name, floor, measured)
        sensitive = measured.get("protection", {}).get("sensitive", {})
        for diverse in self.l_diversity:
            yield _require_diversity(diverse, sensitive.get(diverse.column, {}))
        for close in self.t_closeness:
            yield _require_closeness(close, sensitive.get(close.column, {}))
        if self.max_uniform is not None:
            yield from _require_uniform(self.max_uniform, sensitive, measured["privacy"]["records"])
        if self.equivalence_k is not None:
            yield _require_identical_rows(self.equivalence_k, measured)
        if self.max_row_loss is not None:
            yield _row_loss(self.max_row_loss, measured)
        if self.max_attack_success is not None:
            yield from _require_attacks(self.max_attack_success, measured.get("attacks", {}))
        if self.max_unchanged is not None:
            cells, remedy = "the quasi-identifier cells", "raise k or the limit"
            exact = measured["utility"].get("cells_exact")
            yield build_unchanged_limit(exact, self.max_unchanged, cells, remedy)


# ---------------------------------------------------------------- each requirement


def _require_utility(floor: float, measured: Sections) -> Asked:
    utility = measured["utility"]["suppression"]
    return Asked(
        measure="utility",
        found=utility,
        required=floor,
        shown=f"{utility:.4f}",
        shortfall=f"utility {utility:.4f} is below checks.min_utility = {floor}",
        remedy="lower k or the floor",
    )


def _require_information(name: str, floor: float, measured: Sections) -> Asked:
    kept = 1 - measured["utility"]["per_column"][name]["ncp"]
    return Asked(
        measure="information",
        about=name,
        found=kept,
        required=floor,
        shown=f"{kept:.4f}",
        shortfall=f"column {name!r} keeps {kept:.4f} of its information, "
        f"below checks.columns = {floor}",
        remedy="give it more weight, lower k or the floor",
    )


def _require_diversity(asked: Diverse, crowd: Mapping[str, Any]) -> Asked:
    measures: dict[str, Measure] = {
        "distinct": "distinct values",
        "entropy": "values by entropy",
        "recursive": "odds",
    }
    number, shown, finding = _least_diverse(asked, crowd)
    return Asked(
        measure=measures[asked.kind],
        about=asked.column,
        found=number,
        required=asked.l if asked.c is None else asked.c,
        l=asked.l if asked.kind == "recursive" else None,
        shown=shown,
        shortfall=f"column {asked.column!r}: {finding}",
        remedy="raise k or lower l",
    )


def _least_diverse(asked: Diverse, crowd: Mapping[str, Any]) -> tuple[float | None, str, str]:
    """The number of the least diverse crowd: as a number, as text and as a sentence."""
    if not crowd:
        return None, "", UNMEASURED
    if asked.kind == "distinct":
        distinct = crowd["distinct"]
        values = f"{distinct} distinct value{'s' * (distinct != 1)}"
        return distinct, f"{distinct}", f"a crowd has {values}, at least l = {asked.l} are required"
    if asked.kind == "entropy":
        effective = crowd["effective"]
        sentence = (
            f"a crowd has {effective:.2f} values by entropy, at least l = {asked.l} are required"
        )
        return effective, f"{effective:.2f}", sentence
    odds = crowd["odds"][asked.l - 2]
    shown = "without limit" if odds is None else f"{odds:.2f} to 1"
    return (
        odds,
        shown,
        (
            f"the most common value of a crowd leads {shown}, "
            f"less than c = {asked.c} is required with l = {asked.l}"
        ),
    )


def _require_closeness(asked: Close, crowd: Mapping[str, Any]) -> Asked:
    distance = crowd.get("distance")
    finding = (
        UNMEASURED
        if distance is None
        else f"a crowd has distance {distance:.4f} from the whole table, above t = {asked.t}"
    )
    return Asked(
        measure="distance",
        about=asked.column,
        found=distance,
        required=asked.t,
        shown="" if distance is None else f"{distance:.4f}",
        shortfall=f"column {asked.column!r}: {finding}",
        remedy="raise k or t",
    )


def _require_uniform(limit: float, sensitive: Sections, records: int) -> Iterator[Asked]:
    """The limit for each sensitive column; a plan without any states no limit."""
    if not sensitive:
        yield _build_unmeasured("uniform crowds", limit, "max_uniform")
    for name, crowd in sensitive.items():
        known = crowd.get("uniform")
        found = (
            UNMEASURED
            if known is None
            else f"{known:,} of {records:,} people ({percent(known / records)}) hide in a crowd "
            f"that shows one value, more than checks.max_uniform = {limit} allows"
        )
        yield Asked(
            measure="uniform crowds",
            about=name,
            found=None if known is None else known / records,
            required=limit,
            shown="" if known is None else f"{known} of {records}",
            shortfall=f"column {name!r}: {found}",
            remedy="raise k, set privacy.mix to the column, coarsen groups, drop the column or "
            "raise the limit",
        )


def _require_identical_rows(floor: int, measured: Sections) -> Asked:
    least = measured.get("protection", {}).get("equivalence_classes", {}).get("k")
    if least is None:
        return _build_unmeasured("identical rows", floor, "equivalence_k")
    return Asked(
        measure="identical rows",
        found=least,
        required=floor,
        shown=f"{least}",
        shortfall=f"the smallest group of identical rows holds {least}, "
        f"fewer than checks.equivalence_k = {floor}",
        remedy="let anonymizer.name be 'optimal' or 'k-member' with k at least as great, "
        "or lower the limit",
    )


def _row_loss(limit: float, measured: Sections) -> Asked:
    left_out = measured.get("protection", {}).get("rows_left_out")
    if left_out is None:
        return _build_unmeasured("row loss", limit, "max_row_loss")
    rows = left_out + measured["privacy"]["records"]
    return Asked(
        measure="row loss",
        found=left_out / rows,
        required=limit,
        shown=f"{left_out} of {rows}",
        shortfall=f"{left_out} of {rows} source rows are left out, "
        f"more than checks.max_row_loss = {limit} allows",
        remedy="keep records with missing values, lower k or raise the limit",
    )


def _require_attacks(limit: float, attacks: Sections) -> Iterator[Asked]:
    """The limit for each attacker who names rows; manifests of 0.1.0 state "order", too."""
    if not attacks:
        yield _build_unmeasured("attack success", limit, "max_attack_success")
    for name, attack in attacks.items():
        if name not in ("order", DEMAND) and not name.startswith(WITNESS):
            remedy = "raise k, coarsen groups or raise the limit"
            yield attack_success(name, attack["success"], limit, "a chance of", remedy)


def _build_unmeasured(measure: Measure, limit: float, key: str) -> Asked:
    return Asked(
        measure=measure,
        found=None,
        required=limit,
        shown="",
        shortfall=f"the number that checks.{key} limits {UNMEASURED}",
        remedy=f"leave checks.{key} out",
    )
