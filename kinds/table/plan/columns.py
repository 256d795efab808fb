"""[columns] of the plan: role of each column, coding of quasi-identifiers."""

from collections.abc import Sequence
from datetime import date
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal
from zoneinfo import available_timezones

from pydantic import Field, model_validator

from anon_core.errors import InputError
from anon_core.specs.columns import Carry, Cells, ColumnSpec, Rare
from anon_core.specs.hierarchies import Floor, Hierarchy
from crowdcover.kinds.accepting import Note, read_allowed_kinds
from crowdcover.kinds.columns import Column, Role
from crowdcover.kinds.dates import ISO_DATE, has_short_year
from crowdcover.kinds.section import Bins, MarkedSection, PlanError, Unshown, groups_of, optional_of
from crowdcover.kinds.table.plan.coarse import COARSE, coarse_of
from crowdcover.kinds.table.plan.hierarchies import (
    CalendarStep,
    FloorSection,
    HierarchySection,
    describe_floor_for_hash,
    describe_for_hash,
    floor_of,
    hierarchy_of,
)
from crowdcover.kinds.table.plan.numerals import NUMERAL_KEYS, read_numerals
from crowdcover.kinds.table.plan.points import complete_point
from crowdcover.validations.recognition.kinds import Kind

QUASI_ONLY = (
    *("point", "bins", "encoding", "order", "optional", "missing", "weight", "range", "carry"),
    *("rare", "hierarchy", "cells", "floor"),
)
KIND_OF = {"format": "date", "timezone": "date", "century": "date", "round": "numeric"}
MOST_DIGITS = 15  # behind the point that a float64 keeps
RANGE = "must be [least, greatest], two numbers, or two dates for kind = 'date'"
EPOCH = date(1970, 1, 1).toordinal()  # day 0 of dates as numbers


class ColumnSection(MarkedSection):
    """[columns.<name>].

    Attributes
    ----------
    role : identifier: never published; quasi: masked, others may know it; sensitive: published,
        must not be linked to anyone; keep: published as it is; drop: left out.
    kind : what the values are; a quasi-identifier needs one.
    bins : how numbers or dates are grouped; deciles unless stated.
    encoding : ordinal: masks are intervals; one-hot: masks are sets of values.
    order : the categories of an ordinal column, lowest first.
    optional : those of them that no row need have; true: all.
    missing : what a missing value is: a level of its own (category), a refused source (refuse), a
        hidden cell (all-hidden), or a row that is left out (drop).
    weight : a greater weight means less masking of this column; 1.0 unless stated.
    range : the least and the greatest permissible value, of numbers or dates.
    format : how dates are written, as in strptime; %Y-%m-%d unless stated.
    timezone : the zone in which moments become days and times, such as America/Chicago.
    century : the first of the hundred years that years of two digits mean.
    round : digits behind the point to which numbers are rounded.
    step : kept or sensitive: numbers are published as multiples of it; dates, by the name of a step
        of the calendar such as month, as the first day of it.
    top, bottom : kind 'numeric', kept or sensitive: greater, or smaller, numbers are published as
        this one; 'k': as one that fewer people pass than the greatest k.
    public : everyone may know this column although it is no quasi-identifier, so k may depend on
        it.
    carry : what a cell of a group of numbers or dates shows: its bounds, or its median.
    rare : what becomes of a value that few people have: published, or pooled with others.
    point : the columns of latitude and longitude, in degrees, with role 'drop': this column is none
        of the source, but made of them. It is shown as boxes in which enough people live.
    hierarchy : which values are near: a file, how many letters of a code nodes keep, or steps of
        numbers, dates or times; a masked cell then shows a node.
    cells : of a hierarchy of categories: masked cells show one node of it (node), the set of their
        values (set), or the set where it has fewer values than the node (shorter).
    floor : of a hierarchy: how many people must live in a node that any cell shows.
    decimal : kind 'numeric', of texts: the sign before a fraction, '.' or ','; '.' unless stated.
    thousands : kind 'numeric', of texts: the sign between groups of digits: '.', ',', a blank or an
        apostrophe; none unless stated.
    strip : kind 'numeric', of texts: signs that are taken off before and after a number, such as
        '$%'. 12 % is then 12.
    allow : kinds of direct identifiers that published cells may look like; each needs the note.
    note : why they may.
    """

    questions = {
        "role": "may others know the value (quasi), must nobody learn whose it is (sensitive), "
        "does it name someone (identifier), or is it not needed (drop)?",
        "kind": "are the numbers amounts (numeric), codes (categorical) or numbers of people "
        "(identifier)?",
        "format": "does the day, the month or the year stand first (format)?",
        "century": "in which hundred years do years of two digits lie (century)?",
        "timezone": "in which zone do moments become days (timezone)?",
        "thousands": "does the sign stand between thousands (thousands), or before a fraction "
        "(decimal)?",
    }
    shared: ClassVar[bool] = True

    role: Role
    kind: Literal["numeric", "date", "categorical", "binary"] | None = None
    bins: Unshown[Bins | None] = None
    encoding: Literal["one-hot", "ordinal"] | None = None
    order: Unshown[list[str] | None] = None
    optional: Unshown[list[str] | bool] = False
    missing: Literal["category", "refuse", "all-hidden", "drop"] | None = None
    weight: Annotated[float, Field(gt=0)] | None = None
    range: Unshown[list[float] | list[date] | None] = None
    format: str | None = None
    timezone: str | None = None
    century: Annotated[int, Field(ge=1000, le=9899)] | None = None  # all years have 4 digits
    round: Annotated[int, Field(ge=0, le=MOST_DIGITS)] | None = None
    step: Annotated[float, Field(gt=0)] | CalendarStep | None = None
    top: Unshown[float | Literal["k"] | None] = None
    bottom: Unshown[float | Literal["k"] | None] = None
    public: bool = False
    carry: Carry | None = None
    rare: Rare | None = None
    point: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    hierarchy: Unshown[str | HierarchySection | None] = None
    cells: Cells | None = None
    floor: Annotated[int, Field(ge=1)] | FloorSection | None = None
    decimal: Literal[".", ","] | None = None
    thousands: Literal[".", ",", "'", " "] | None = None
    strip: str | None = None
    allow: list[Kind] = []
    note: Note = ""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, stated: Any) -> Any:
        return complete_point(stated)

    @property
    def is_counted(self) -> bool:
        """Whether it is a quasi-identifier of numbers or dates."""
        return self.role == "quasi" and self.kind in ("numeric", "date")

    @property
    def is_grouped(self) -> bool:
        """Whether `bins` groups its numbers or dates."""
        return self.is_counted and self.hierarchy is None and self.bins != "none"

    @property
    def written(self) -> bool:
        """Whether the plan says how numbers are written."""
        return any(getattr(self, key) is not None for key in NUMERAL_KEYS)

    @cached_property
    def tree(self) -> Hierarchy | None:
        """The hierarchy, read from its file once."""
        if self.hierarchy is None:
            return None
        return hierarchy_of(self.hierarchy)

    @cached_property
    def least(self) -> Floor | None:
        """The floor of its hierarchy; its file is read once."""
        return None if self.floor is None else floor_of(self.floor)

    def levels(self) -> dict[str, Any]:
        """What 0.1.0 did not know of its levels, for the plan's hash: older vaults stay valid."""
        stated: dict[str, Any] = {
            key: value
            for key in ("timezone", "century", "round", "point", *COARSE)
            if (value := getattr(self, key)) is not None
        }
        if self.tree is not None:
            stated["hierarchy"] = describe_for_hash(self.tree)
        if self.cells not in (None, "node"):
            stated["cells"] = self.cells
        if self.least is not None:
            stated["floor"] = describe_floor_for_hash(self.least)
        if self.range is not None:
            stated["range"] = [str(bound) for bound in self.range]
        if self.written:
            stated["numerals"] = [self.decimal, self.thousands, self.strip]
        if self.is_grouped:
            return {"carry": self.carry or "bounds", **stated}
        if self.is_counted or self.rare == "pool":
            return {"rare": self.rare or "publish", **stated}
        return stated

    def column(self, name: str) -> Column:
        """The checked section as the reader uses it."""
        where = f"columns.{name}"
        stated = self.model_fields_set
        self._check_reading(where)
        signs = {key: getattr(self, key) for key in NUMERAL_KEYS}
        numerals = read_numerals(where, self.role, self.kind, signs)
        coarse = coarse_of(where, self)
        allowed = read_allowed_kinds(where, self.allow, self.note)
        if self.allow and self.role in ("identifier", "drop"):
            raise PlanError(f"{where}.allow belongs to columns that are published; leave it out")
        if self.public and self.role == "quasi":
            raise PlanError(
                f"{where}.public: everyone is taken to know a quasi-identifier; leave it out"
            )
        if self.role != "quasi":
            if idle := [key for key in QUASI_ONLY if key in stated]:
                raise PlanError(
                    f"{where}.{idle[0]} belongs to role = 'quasi', "
                    f"this column has role = {self.role!r}"
                )
            return Column(
                name=name,
                role=self.role,
                kind=self.kind,
                public=self.public,
                numerals=numerals,
                coarse=coarse,
                **allowed,
                **self._rules_of_reading(),
            )
        spec = self._specify_quasi(name, where)
        return Column(
            name=name,
            role="quasi",
            kind=self.kind,
            spec=spec,
            named=spec.order,
            optional=_strip_names(optional_of(where, "order", self.order or (), self.optional)),
            **self._rules_of_reading(),
            numerals=numerals,
            **allowed,
        )

    def _specify_quasi(self, name: str, where: str) -> ColumnSpec:
        """How a quasi-identifier is encoded; keys that do not belong to its kind are refused."""
        if self.kind is None:
            raise PlanError(
                f"{where}: role = 'quasi' needs a kind: numeric, date, categorical or binary"
            )
        counted, grouped = self.is_counted, self.is_grouped
        if self.bins is not None and not counted:
            raise PlanError(f"{where}.bins belongs to kind = 'numeric' or 'date'")
        if self.bins is not None and self.hierarchy is not None:
            raise PlanError(
                f"{where}.bins: the finest step of the hierarchy groups the values; leave bins out"
            )
        if self.encoding is not None and self.kind == "binary":
            raise PlanError(f"{where}.encoding: a binary column is one bit; leave it out")
        if self.order is not None and self.kind != "categorical":
            raise PlanError(f"{where}.order belongs to kind = 'categorical'")
        if self.range is not None and not counted:
            raise PlanError(f"{where}.range belongs to kind = 'numeric' or 'date'")
        if self.carry is not None and not grouped:
            raise PlanError(f"{where}.carry belongs to numbers and dates in groups")
        if self.rare is not None and (grouped or self.kind == "binary"):
            raise PlanError(
                f"{where}.rare belongs to categories, and to numbers and dates with "
                "bins = 'none'; a group holds enough people anyway"
            )
        hierarchy = self._read_hierarchy(where)
        if self.floor is not None and self.hierarchy is None:
            raise PlanError(f"{where}.floor belongs to a hierarchy; state columns.{name}.hierarchy")
        if self.cells is not None and (hierarchy is None or counted):
            raise PlanError(
                f"{where}.cells belongs to a hierarchy of categories; a node of numbers or dates "
                "is an interval"
            )
        return ColumnSpec(
            name=name,
            kind=self.kind,
            encoding=self.encoding or ("ordinal" if counted and not hierarchy else "one-hot"),
            bins=groups_of(f"{where}.bins", self.bins) if grouped else None,
            order=_strip_names(self.order or ()),
            missing=self.missing or "category",
            weight=self.weight or 1.0,
            range=_convert_range(where, self.range, self.kind),
            carry=self.carry or "bounds",
            rare=self.rare or "publish",
            hierarchy=hierarchy,
            cells=self.cells or "node",
            floor=self._read_floor(where),
            shared=self.shared,
        )

    def _read_hierarchy(self, where: str) -> Hierarchy | None:
        """The hierarchy; refused if something is wrong with it, or it is of another kind."""
        try:
            hierarchy = self.tree
        except InputError as error:
            refusal = f": {error}"
        else:
            if hierarchy is None or hierarchy.kind == self.kind:
                return hierarchy
            refusal = f" belongs to kind = {hierarchy.kind!r}"
        raise PlanError(f"{where}.hierarchy{refusal}")

    def _read_floor(self, where: str) -> Floor | None:
        """The floor; refused if something is wrong with it, or values are no categories."""
        try:
            floor = self.least
        except InputError as error:
            refusal = f": {error}"
        else:
            if floor is None or self.kind == "categorical":
                return floor
            refusal = " belongs to kind = 'categorical'"
        raise PlanError(f"{where}.floor{refusal}")

    def _rules_of_reading(self) -> dict[str, Any]:
        """How its texts, moments and numbers are understood."""
        return {
            "date_format": self.format or ISO_DATE,
            "timezone": self.timezone,
            "century": self.century,
            "digits": self.round,
        }

    def _check_reading(self, where: str) -> None:
        """Refuse conversions of another kind, and those that the format does not need."""
        for key, kind in KIND_OF.items():
            if getattr(self, key) is not None and self.kind != kind:
                raise PlanError(f"{where}.{key} belongs to kind = {kind!r}")
        if self.century is not None and not has_short_year(self.format or ISO_DATE):
            raise PlanError(
                f"{where}.century belongs to years of two digits; {where}.format has none, such as "
                "%y"
            )
        if self.timezone is not None and self.timezone not in available_timezones():
            raise PlanError(
                f"{where}.timezone is the name of no zone; give one such as 'America/Chicago' or "
                "'UTC'"
            )


def _strip_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of categories without blanks around them, as cells are read."""
    return tuple(name.strip() for name in names)


def _convert_range(
    where: str, bounds: list[float] | list[date] | None, kind: str
) -> tuple[float, float] | None:
    """The bounds as numbers, those of dates in days since 1970-01-01."""
    if bounds is None:
        return None
    if len(bounds) != 2 or any(isinstance(bound, date) != (kind == "date") for bound in bounds):
        raise PlanError(f"{where}.range {RANGE}")
    low, high = (
        float(bound.toordinal() - EPOCH if isinstance(bound, date) else bound) for bound in bounds
    )
    return low, high
