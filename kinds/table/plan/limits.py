"""The numbers of a released table that the limits of [checks] apply to."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from crowdcover.kinds.judge.limits import (
    LimitMeasure,
    LimitNumber,
    MeasuredSections,
    build_number,
    build_share,
    read_attacks,
)
from crowdcover.kinds.section import Section, Share
from crowdcover.reports.quantities import percent

BY_DEMAND = "demand"  # an attack that names no row, but k
WITNESS = "insider who knows"  # beyond every promise: shown, neither limited nor warned of
OF_COLUMN = "column {about!r}: "
DISTINCT_VALUES = LimitMeasure(
    name="distinct values",
    sense="at least",
    expectation="crowd distinct values",
    expected="Every crowd has at least {required} distinct values.",
    subject=OF_COLUMN,
    shortfall="a crowd has {finding}, at least l = {required} are required",
    figure="Fewest distinct values of {name} in a crowd",
)
ENTROPY = LimitMeasure(
    name="values by entropy",
    sense="at least",
    expectation="crowd entropy",
    expected="Every crowd's values are worth at least {required} equally frequent ones, by "
    "entropy.",
    subject=OF_COLUMN,
    shortfall="a crowd has {shown} values by entropy, at least l = {required} are required",
    figure="Fewest values of {name} in a crowd, by entropy",
)
ODDS = LimitMeasure(
    name="odds",
    sense="below",
    expectation="crowd odds",
    expected="In every crowd the commonest value leads those from rank {l} on by less than "
    "{required} to 1.",
    subject=OF_COLUMN,
    shortfall="the most common value of a crowd leads {shown}, less than c = {required} is "
    "required with l = {l}",
    figure="Greatest lead of the commonest value of {name} in a crowd",
)


class DiversitySection(Section):
    """An entry of [checks] l_diversity.

    Attributes
    ----------
    column : a sensitive column.
    l : how many values each crowd must show, at least.
    kind : distinct: count values; entropy: count them by how even they are; recursive: (c, l).
    c : with kind = 'recursive': the most common value may be less than c times the rest.
    """

    column: str
    l: Annotated[int, Field(ge=2)]
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


class ClosenessSection(Section):
    """An entry of [checks] t_closeness.

    Attributes
    ----------
    column : a sensitive column.
    t : how far the values of a crowd may be from those of all rows.
    """

    column: str
    t: Share


def read_information(
    measured: MeasuredSections, stated: Mapping[str, float]
) -> Iterator[LimitNumber]:
    """The information that each of the columns keeps."""
    for name, least in stated.items():
        kept = 1 - measured["utility"]["per_column"][name]["ncp"]
        yield build_number(kept, about=name, required=least)


def read_diversity(
    measured: MeasuredSections, stated: Sequence[DiversitySection]
) -> Iterator[LimitNumber]:
    """The number of the least diverse crowd, for each entry."""
    for entry in stated:
        crowd = _list_sensitive(measured).get(entry.column, {})
        about: dict[str, Any] = {"about": entry.column, "required": entry.l}
        if entry.kind == "distinct":
            values = crowd.get("distinct")
            finding = f"{values} distinct value{'s' * (values != 1)}"
            yield build_number(values, "", finding=finding, measure=DISTINCT_VALUES, **about)
        elif entry.kind == "entropy":
            yield build_number(crowd.get("effective"), ".2f", measure=ENTROPY, **about)
        else:
            # The list begins with l = 2. null stands for infinity, which JSON lacks.
            odds = crowd["odds"][entry.l - 2] if crowd else None
            lead = "without limit" if odds is None else f"{odds:.2f} to 1"
            about |= {"required": entry.c, "l": entry.l, "shown": lead if crowd else ""}
            yield LimitNumber(found=odds, measure=ODDS, **about)


def read_closeness(
    measured: MeasuredSections, stated: Sequence[ClosenessSection]
) -> Iterator[LimitNumber]:
    """The distance of the farthest crowd, for each entry."""
    for entry in stated:
        crowd = _list_sensitive(measured).get(entry.column, {})
        yield build_number(crowd.get("distance"), about=entry.column, required=entry.t)


def read_uniform(measured: MeasuredSections, _: float) -> Iterator[LimitNumber]:
    """The people in crowds of one value, for each sensitive column; a plan may have none."""
    sensitive, records = _list_sensitive(measured), measured["privacy"]["records"]
    if not sensitive:
        yield LimitNumber(found=None)
    for name, crowd in sensitive.items():
        known = crowd.get("uniform")
        share = "" if known is None else f" ({percent(known / records)})"
        finding = f"{known or 0:,} of {records:,} people{share}"
        yield build_share(known, records, finding=finding, about=name)


def read_row_loss(measured: MeasuredSections, _: float) -> Iterator[LimitNumber]:
    """The share of the source rows that are left out."""
    left_out = measured.get("protection", {}).get("rows_left_out")
    yield build_share(left_out, (left_out or 0) + measured["privacy"]["records"])


def read_row_attacks(measured: MeasuredSections, stated: float) -> Iterator[LimitNumber]:
    """The success of each attacker who names rows; manifests of 0.1.0 state "order", too."""
    if not measured.get("attacks"):
        yield LimitNumber(found=None)
    for number in read_attacks(measured, stated):
        if number.about not in ("order", BY_DEMAND) and not str(number.about).startswith(WITNESS):
            yield number


def _list_sensitive(measured: MeasuredSections) -> Mapping[str, Any]:
    """What was measured of each sensitive column."""
    sensitive: Mapping[str, Any] = measured.get("protection", {}).get("sensitive", {})
    return sensitive
