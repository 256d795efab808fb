"""What tables say of a plan before a source is read."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from anon_core.anonymizers.stated import StatedOfTables
from crowdcover.kinds.columns import type_source_column
from crowdcover.kinds.plan.rules import FindType, PlanRules
from crowdcover.kinds.section import BINS, PlanError, refuse_together
from crowdcover.kinds.table.layout import list_released_columns
from crowdcover.kinds.table.plan.columns import RANGE
from crowdcover.kinds.table.plan.earlier_columns import EarlierColumnSection
from crowdcover.kinds.table.plan.hierarchies import FLOOR
from crowdcover.kinds.table.plan.k_forms import K_RULE
from crowdcover.kinds.table.plan.sections import SECTIONS, TablePlan
from crowdcover.kinds.table.report.findings import CLASSES, EVEN, OF_EVERY_METHOD
from crowdcover.kinds.table.series_rules import TableSeriesRules

# Keys of columns that 0.1.0 did not know, and those that only allow a release.
_LATER = {
    *("public", "range", "carry", "rare", "timezone", "century", "round", "optional"),
    *("decimal", "thousands", "strip", "allow", "note", "hierarchy", "step", "top", "bottom"),
    *("floor", "point", "cells"),
}
DIVERSE_METHOD = "k-member"


class TableRules(PlanRules):
    """See `kinds.plan.rules.PlanRules`."""

    name = "table"
    anonymizer = "local-search"
    earlier_anonymizers = ("adaptive",)
    sections = SECTIONS
    series = TableSeriesRules()

    def plan(self, sections: Any) -> TablePlan:
        """[source], [columns], [privacy] and [checks] together."""
        return TablePlan.of(sections)

    def read_as(self, plan: TablePlan, form: int) -> TablePlan:
        """With its columns."""
        return plan.read_as(form)

    def explain(self, location: Sequence[str]) -> str | None:
        """The forms of k, bins, range and floor, which pydantic would list one by one."""
        if list(location[:2]) == ["privacy", "k"]:
            return f"privacy.k {K_RULE}"
        forms = {"bins": BINS, "range": RANGE, "floor": FLOOR}
        if location[0] == "columns" and (form := forms.get("".join(location[2:3]))):
            return f"{'.'.join(location[:3])} {form}"
        return None

    def replaces(self, place: tuple[str, ...]) -> bool:
        """The forms of bins exclude each other."""
        return len(place) == 3 and place[0] == "columns" and place[2] == "bins"

    def check_method(self, plan: TablePlan, anonymizer: StatedOfTables) -> None:
        """Refuse methods that promise no crowds, and demands that the method cannot meet."""
        promised = anonymizer.promise.findings
        if unsaid := [name for name in OF_EVERY_METHOD if name not in promised]:
            raise PlanError(f"the method does not promise {', '.join(unsaid)}; choose another")
        anonymizer.admit_demands(plan.demanded)
        if plan.mix is not None and EVEN not in promised:
            raise PlanError(
                "privacy.mix exchanges seats that keep the chances even; set anonymizer.seats = "
                "'even', choose a method with even seats, or leave privacy.mix out"
            )
        # Even seats place people outside their own class, which carries a value out of it.
        if plan.diverse is not None and (CLASSES not in promised or EVEN in promised):
            raise PlanError(
                "privacy.diverse needs classes in which all rows are equally likely; set "
                f"anonymizer.name = {DIVERSE_METHOD!r}, or leave privacy.diverse out"
            )

    def check_types(self, plan: TablePlan, find_type: FindType) -> None:
        """Refuse columns of a type that is not read, or that is none of their kind."""
        found = ((each, find_type(each.name)) for each in list_released_columns(plan.columns))
        refuse_together(
            # Without rows: what is refused then, is refused whatever the cells are.
            partial(
                type_source_column,
                pl.DataFrame(schema={column.name: dtype}),
                column,
                plan.source.missing,
            )
            for column, dtype in found
            if dtype is not None
        )

    def find_needed_method(self, plan: TablePlan) -> str | None:
        """Diverse classes are made by one method."""
        return None if plan.diverse is None else DIVERSE_METHOD

    def sections_for_hash(self, sections: Any) -> Mapping[str, Any]:
        """Columns with their order, and k, without what only allows a release.

        So the hashes of older plans stay as they were.
        """
        columns = {
            name: {**section.model_dump(exclude=_LATER), **section.levels()}
            for name, section in sections.columns.items()
        }
        privacy = sections.privacy.model_dump(exclude={"rows_are_people", "allow_unprotected"})
        if isinstance(privacy["k"], dict):
            privacy["k"] = {key: of for key, of in privacy["k"].items() if key != "optional"}
        for key in ("person", "mix", "leave_out", "diverse"):
            if not privacy[key]:
                del privacy[key]
        purpose = sections.purpose and {
            **sections.purpose.model_dump(),
            # Where the file lies decides nothing: its content is in the source's fingerprint.
            "path": sections.purpose.path is not None,
        }
        used = {} if purpose is None else {"purpose": purpose}
        return {"columns": columns, "order": list(columns), "privacy": privacy, **used}

    def earlier(self, sections: Any) -> Mapping[str, Any]:
        """[columns] as 0.1.0 understood them: groups of any size, written as medians."""
        columns = {
            name: EarlierColumnSection.of(section) for name, section in sections.columns.items()
        }
        return {"columns": columns}

    def states_levels(self, plan: TablePlan) -> bool:
        """k is one number, or one for each group."""
        return plan.demand.constant is not None or plan.demand.by is not None


RULES = TableRules()
