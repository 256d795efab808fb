"""The sections of a plan that only tables have: [columns], [privacy] and [checks]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, WithJsonSchema

from anon_core.specs.demands import Demand, Demanded
from crowdcover.kinds.columns import Column
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import (
    ALLOWED,
    K_FORMS,
    MarkedSection,
    PlanError,
    Unshown,
    optional_of,
    refuse_together,
)
from crowdcover.kinds.table.layout import KEY, list_released_columns
from crowdcover.kinds.table.plan.checks import ChecksSection
from crowdcover.kinds.table.plan.columns import ColumnSection
from crowdcover.kinds.table.plan.diverse import Diverse, DiverseSection
from crowdcover.kinds.table.plan.k_forms import K_RULE, K_SCHEMA, require_k_type
from crowdcover.kinds.table.plan.partitions import Partition, TableSource
from crowdcover.kinds.table.plan.points import list_points
from crowdcover.kinds.table.plan.purpose import Purpose, PurposeSection, weigh_columns
from crowdcover.kinds.table.plan.reidentification import NONE_ASKED, AskedRisks
from crowdcover.storage.source.sources import Source

MOST_LEFT_OUT = 0.1  # of the records: a release of fewer is not one of the table


class PrivacySection(MarkedSection):
    """[privacy].

    Attributes
    ----------
    k : among how many rows each person hides: one number, or one for each record.
    infeasible : what is done with records that demand more rows than there are: refuse the plan,
        or leave the records out (drop).
    leave_out : the share of the records that is left out at most: those whose absence saves most.
    person : the identifier that says which rows are of one person; crowds then count people.
    rows_are_people : release although rows share an identifier; the promise is then about rows.
    allow_unprotected : release although k = 1 for somebody, whom nothing protects then.
    mix : a carried column of which crowds shall show different values, where seats allow it.
    diverse : what each class must show of a sensitive column.
    """

    questions = {
        "k": "among how many rows shall each person hide?",
        "people": "is each row one person? If people have several rows, take one of the lines that "
        "the starter plan gives",
    }

    k: Annotated[Unshown[int | dict[str, Any]], WithJsonSchema(K_SCHEMA)]
    infeasible: Literal["refuse", "drop"] = "refuse"
    leave_out: Annotated[float, Field(ge=0, le=MOST_LEFT_OUT)] = 0.0
    person: str | None = None
    rows_are_people: bool = False
    allow_unprotected: bool = False
    mix: str | None = None
    diverse: DiverseSection | None = None

    def demand(self) -> Demand:
        """The same for the encoder and the auditor, checked."""
        if isinstance(self.k, int):
            return Demand(constant=self.k, infeasible=self.infeasible)
        for key, value in self.k.items():
            require_k_type(key, value)
        forms = [form for form in K_FORMS if form in self.k]
        if len(forms) != 1:
            raise PlanError(f"privacy.k {K_RULE}")
        form = forms[0]
        if idle := [key for key in self.k if key != form and key not in K_FORMS[form]]:
            raise PlanError(
                f"privacy.k.{idle[0]} does not belong to privacy.k.{form}; privacy.k {K_RULE}"
            )
        options: dict[str, Any] = {
            key: tuple(value) if key == "uniform" else value for key, value in self.k.items()
        }
        if "optional" in options:
            levels = list(options.get("levels", {}))
            options["optional"] = optional_of("privacy.k", "levels", levels, options["optional"])
        return Demand(**options, infeasible=self.infeasible)


SECTIONS: dict[str, tuple[Any, Any]] = {
    "source": (TableSource, ...),
    "columns": (Annotated[dict[str, ColumnSection], Field(min_length=1)], ...),
    "privacy": (PrivacySection, ...),
    "checks": (ChecksSection, ChecksSection()),
    "purpose": (PurposeSection | None, None),
}


@dataclass(frozen=True)
class TablePlan:
    """What a plan says of its table: where it lies, its columns in order, and the demanded k."""

    source: Source
    columns: tuple[Column, ...]
    demand: Demand
    person: str | None = None  # the column that says which rows are of one person
    rows_are_people: bool = False  # also where an identifier repeats
    allow_unprotected: bool = False  # k = 1 for anybody
    mix: str | None = None  # the column of which crowds shall show different values
    partition: Partition | None = None  # which rows of the source are in a version
    leave_out: float = 0.0  # the share of the records that may be left out by choice
    diverse: Diverse | None = None  # what each class must show of a sensitive column
    purpose: Purpose | None = None  # what the release is for
    plugins: tuple[str, ...] = ()  # checks of other packages that released rows must pass
    asked: AskedRisks = NONE_ASKED  # what limits ask to be measured

    @classmethod
    def of(cls, sections: Any) -> "TablePlan":
        """From the sections of a plan; refuses what their types do not exclude."""
        privacy, checks = sections.privacy, sections.checks
        reads = [partial(section.column, name) for name, section in sections.columns.items()]
        typed: list[Any] = refuse_together([*reads, privacy.demand, sections.source.source])
        *columns, demand, source = typed
        plan = cls(
            source,
            tuple(columns),
            demand,
            privacy.person,
            privacy.rows_are_people,
            privacy.allow_unprotected,
            privacy.mix,
            leave_out=privacy.leave_out,
            plugins=tuple(checks.plugins),
            asked=checks.asked,
        )
        roles = {column.name: column.role for column in columns}
        parts: list[Callable[[], Any]] = [
            partial(list_points, sections.columns),
            partial(Partition.of, sections.source, plan.columns),
            partial(plan._type_diverse, privacy.diverse),
            partial(plan._type_purpose, sections.purpose),
            partial(checks.check, roles),
            *(plan._check_columns, plan._check_k, plan._check_person, plan._check_mix),
            *(plan._check_leave_out, plan._check_chosen_k),
        ]
        points, partition, diverse, purpose, *_ = refuse_together(parts)
        source = replace(source, points=points)
        plan = replace(plan, source=source, partition=partition, diverse=diverse)
        return plan if purpose is None else plan._weigh(purpose)

    def _type_diverse(self, section: DiverseSection | None) -> Diverse | None:
        if section is None:
            return None
        return section.type_demand(self._column("diverse", section.column))

    def _type_purpose(self, section: PurposeSection | None) -> Purpose | None:
        return None if section is None else section.type_purpose(self.columns)

    def _weigh(self, purpose: Purpose) -> "TablePlan":
        """With what the release is for; margins weigh its columns, a file of others is read."""
        source, columns = self.source, self.columns
        if purpose.margins:
            columns = weigh_columns(columns, purpose.weights_of_margins)
        if purpose.path is not None:
            # Refusals about this file name its own key, and it is no part of a source.
            others = replace(source.at(Path(purpose.path)), key="purpose.path", whole=True)
            source = replace(source, beside=others)
        return replace(self, source=source, columns=columns, purpose=purpose)

    def read_as(self, form: int) -> "TablePlan":
        """The same in a form of reading; see `storage.source.values.FORM`."""
        columns = tuple(replace(column, form=form) for column in self.columns)
        divided = self.partition and replace(
            self.partition, column=replace(self.partition.column, form=form)
        )
        source = replace(self.source, form=form)
        return replace(self, source=source, columns=columns, partition=divided)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """The quasi-identifiers."""
        return tuple(column for column in self.columns if column.role == "quasi")

    @property
    def needed(self) -> list[str]:
        """The columns that the plan uses, in its order."""
        return [
            column.name
            for column in self.columns
            if column.role != "drop" or column.name == self.demand.source_column
        ]

    @property
    def demanded(self) -> Demanded:
        """What the plan alone tells of the demands: levels only where k is one number."""
        # In the other forms the source decides which levels of k occur.
        k = [] if self.demand.constant is None else [self.demand.constant]
        return Demanded(self.person is not None, np.array(k, dtype=np.int64))

    @property
    def audited(self) -> dict[str, Any]:
        """What the audit of released rows must know beside the columns and k."""
        return {
            "person": self.person,
            "rows_are_people": self.rows_are_people,
            "leave_out": self.leave_out,
            "diverse": self.diverse,
            "purpose": self.purpose,
            "plugins": self.plugins,
            "asked": self.asked,
        }

    def list_audit_terms(self) -> list[str]:
        """What is measured for this plan beside what is measured of every release."""
        plugins = [f"plugins {' '.join(self.plugins)}"] if self.plugins else []
        return plugins + ([] if self.asked == NONE_ASKED else [f"asked {tuple(self.asked)}"])

    def _check_columns(self) -> None:
        if not self.quasi:
            raise PlanError("no column has role = 'quasi'; name at least one quasi-identifier")
        released = {column.name for column in list_released_columns(self.columns)}
        if KEY in released:
            raise PlanError(
                f"columns.{KEY}: a release has a column of this name already; "
                "rename it in the source or drop it"
            )
        if "" in released:
            raise PlanError(
                'columns."": a released column needs a name; give it one in the source or drop it'
            )

    def _check_k(self) -> None:
        if self.demand.source_column is not None:
            self._column("k", self.demand.source_column)
        if 1 in self.demand.constant_levels and not self.allow_unprotected:
            raise PlanError(f"privacy.k = 1 protects nobody; demand at least 2, or {ALLOWED}")

    def _check_chosen_k(self) -> None:
        for column in self.columns:
            if column.name == self.demand.by and not column.known:
                raise PlanError(
                    f"privacy.k: k follows from column {column.name!r}, so the size of a crowd "
                    "would tell its value; choose a quasi-identifier, or state "
                    f"columns.{column.name}.public = true if everyone may know it"
                )

    def _column(self, key: str, name: str) -> Column:
        """The column that a key of [privacy] names."""
        for column in self.columns:
            if column.name == name:
                return column
        raise PlanError(
            f"privacy.{key} names a column that [columns] does not; allowed: "
            + ", ".join(column.name for column in self.columns)
            + did_you_mean(name, [column.name for column in self.columns])
        )

    def _check_leave_out(self) -> None:
        name = self.demand.column
        if self.leave_out > 0 and name is not None and not self._column("k", name).known:
            raise PlanError(
                "privacy.leave_out: who demands more is left out sooner, so who is missing would "
                f"tell of column {name!r}; leave it out, or state columns.{name}.public = true if "
                "everyone may know it"
            )

    def _check_person(self) -> None:
        if self.person is None:
            return
        if self.rows_are_people:
            raise PlanError(
                "privacy.person counts people, privacy.rows_are_people counts rows; state one"
            )
        role = self._column("person", self.person).role
        if role != "identifier":
            raise PlanError(
                f"privacy.person: column {self.person!r} has role = {role!r}; "
                "what says which rows are of one person must have role = 'identifier'"
            )

    def _check_mix(self) -> None:
        if self.mix is None:
            return
        role = self._column("mix", self.mix).role
        if role not in ("sensitive", "keep"):
            raise PlanError(
                f"privacy.mix: column {self.mix!r} has role = {role!r}; rows carry the values of "
                "columns whose role is 'sensitive' or 'keep'"
            )
        if self.person is not None:
            raise PlanError(
                "privacy.mix and privacy.person both decide which seats are exchanged; state one"
            )

    def check_header(self, header: Sequence[str] | int) -> None:
        """Compare the plan's columns with the source's (their number where the file names none)."""
        names = [column.name for column in self.columns]
        if isinstance(header, int):
            if header != len(names):
                raise PlanError(
                    f"[columns] names {len(names)} columns, the source has {header}; "
                    "without a header each needs a name, in order"
                )
            return
        if not set(header) & set(names) and self.source.has_option("header"):
            # The first row may hold a person's cells, so the message gives their number only.
            raise PlanError(
                f"the {len(header)} fields of the source's first row are names of none of the "
                f"{len(names)} columns; set source.header = false if the file has no header, "
                "else correct source.separator or [columns]"
            )
        unknown = [name for name in names if name not in header]
        unnamed = [name for name in header if name not in names]
        refusals = []
        if unknown:
            refusals.append(
                f"columns of the plan that the source does not have: {', '.join(unknown)}; "
                "correct the source, or take them out of [columns]"
                + _suggest_columns(unknown, unnamed)
            )
        if unnamed:
            refusals.append(
                f"columns of the source that the plan does not name: {', '.join(unnamed)}; "
                "give each a role: identifier, quasi, sensitive, keep or drop"
            )
        if refusals:
            raise PlanError("; ".join(refusals))


def _suggest_columns(unknown: Sequence[str], unnamed: Sequence[str]) -> str:
    """Which columns of the source the plan may have meant."""
    pairs = [(name, get_close_matches(name, unnamed, n=1)) for name in unknown]
    hints = [f"{near[0]!r} for {name!r}" for name, near in pairs if near]
    return f" (did you mean {', '.join(hints)}?)" if hints else ""
