"""What tables say of [series] before a source is read."""

from crowdcover.kinds.plan.series import Following, SeriesRules
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.table.layout import CARRIED, list_released_columns
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.version_files import RESERVED, SINCE


class TableSeriesRules(SeriesRules):
    """See `kinds.plan.series.SeriesRules`."""

    anonymizer = "k-member"

    def check(self, plan: TablePlan, following: Following) -> None:
        """Refuse columns that cannot be followed, and k that is drawn anew for each version."""
        roles = {column.name: column.role for column in plan.columns}
        name = following.record
        if name is not None and roles.get(name) != "identifier":
            raise PlanError(
                f"series.record: column {name!r} must have role = 'identifier'; it tells which "
                "rows of two versions are of one record"
            )
        if name is not None and plan.partition is not None:
            raise PlanError(
                "source.partition gives each version new rows only, series.record follows records "
                "of a whole table; leave one of them out"
            )
        if name is not None and plan.person is not None:
            raise PlanError(
                "series.record follows one row a person; leave privacy.person out, or leave "
                "series.record out where each version has new rows only"
            )
        if name is None and plan.person is None and not plan.rows_are_people:
            raise PlanError(
                "[series] needs series.record, the identifier column that names a record in every "
                "version; or privacy.person, if every version has new rows only"
            )
        for each in following.constant:
            if roles.get(each) not in CARRIED:
                raise PlanError(
                    f"series.constant: column {each!r} is not carried; name columns whose role is "
                    "'sensitive' or 'keep'"
                )
        for column in plan.columns:
            if column.coarse is not None and column.name in following.constant:
                raise PlanError(
                    f"series.constant: column {column.name!r} is published coarser than the source "
                    "has it; leave its step, top and bottom out, or take it out of series.constant"
                )
        if plan.leave_out > 0:
            raise PlanError(
                "privacy.leave_out chooses anew for every version, so people would come and go; "
                "leave it out, or leave [series] out"
            )
        if plan.diverse is not None:
            raise PlanError(
                "privacy.diverse joins classes by their values, which tells more with every "
                "version; leave it out, or leave [series] out"
            )
        if plan.purpose is not None and plan.purpose.predict is not None:
            raise PlanError(
                "purpose.predict learns weights anew for every version; state the weights of the "
                "first run's log as columns.<name>.weight, or leave [series] out"
            )
        if plan.demand.uniform is not None:
            raise PlanError(
                "[series] needs a k that a record keeps; privacy.k = {uniform = ...} draws it anew "
                "for every version"
            )
        _refuse_taken_names(plan)


def _refuse_taken_names(plan: TablePlan) -> None:
    """Refuse columns that would stand twice, in released versions or in files of the vault."""
    released = {column.name for column in list_released_columns(plan.columns)}
    for name in plan.needed:
        if name in RESERVED or (name == SINCE and name in released):
            raise PlanError(
                f"columns.{name}: versions of a series have a column of this name already; "
                "rename it in the source or drop it"
            )
