"""[series] of the plan: versions of one release, over time."""

from typing import Any

from pydantic import NonNegativeInt

from crowdcover.kinds.plan.series import Following, SeriesRules
from crowdcover.kinds.section import PlanError, Section


class SeriesSection(Section):
    """[series].

    Attributes
    ----------
    record : the identifier column that names a record in every version; without it each
        partition of the source holds new records only.
    constant : carried columns whose value never changes for a person, so that attackers who know
        it can link the person's rows.
    allow_short_histories : people whose published rows leave fewer than k histories, where an older
        build let that happen; every report then says so.
    """

    record: str | None = None
    constant: list[str] = []
    allow_short_histories: NonNegativeInt = 0

    def following(self, person: str | None) -> Following:
        """[series] as a kind of data takes it; `person` is [privacy] person."""
        return Following(
            record=self.record,
            constant=tuple(self.constant),
            person=person,
            short_histories=self.allow_short_histories,
        )


def refuse_with_series(plan: Any) -> SeriesRules:
    """Refuse what no version of a series can keep; returns what the plan's kind says of series."""
    rules: SeriesRules | None = plan.rules.series
    if rules is None:
        raise PlanError(
            f"[series] needs kind = 'table'; releases of kind {plan.rules.name!r} have no versions"
        )
    if plan.publish.allow_second_release:
        raise PlanError(
            "publish.allow_second_release does not belong to [series]: versions of one series are "
            "checked together; leave it out"
        )
    follows = plan.series.record is not None
    # Rows that are withdrawn later would end the equal chances of their batch.
    if follows and getattr(plan.method_settings, "seats", "matchable") == "even":
        raise PlanError(
            "series.record keeps k matchable rows in every version and no even chances; "
            "set anonymizer.seats = 'matchable'"
        )
    return rules
