"""[checks] of the plan: limits that a release must meet; they never shape the release."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from anon_core.specs.demands import MOST_L
from crowdcover.kinds.accepting import AcceptedSection, limits_of, refuse_unknown
from crowdcover.kinds.checks import (
    declare_attack_limit,
    declare_limit,
    declare_unchanged_limit,
)
from crowdcover.kinds.judge.drift import DriftLimits
from crowdcover.kinds.judge.limits import StarterLine, read_number
from crowdcover.kinds.judge.plugins import load_checks
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import Section, Share, declare_or_off, refuse_all
from crowdcover.kinds.table.plan import limits
from crowdcover.kinds.table.plan.limits import ClosenessSection, DiversitySection
from crowdcover.kinds.table.plan.reidentification import ReidentificationLimits

COMPARED = ("quasi", "sensitive", "keep")  # roles of the columns that drift is about


class DriftSection(Section):
    """[checks] drift: allowed changes since the last release, as shares; 1 allows everything.

    Attributes
    ----------
    rows : difference of the two row counts, as a share of the larger.
    replaced : of a series: people who left while as many new ones came.
    new_categories : per column: rows with a category that no earlier release knew.
    gone_categories : per column: rows of the last table whose category is gone.
    shift : per quasi-identifier: how far the distribution moved.
    utility : fall of the utility, under the same plan only.
    types : another stored type of a carried column: refuse it, or let it pass.
    ignore : quasi-identifiers whose categories and shares are not compared.
    """

    rows: Share = DriftLimits.rows
    replaced: Share = DriftLimits.replaced
    new_categories: Share = DriftLimits.new_categories
    gone_categories: Share = DriftLimits.gone_categories
    shift: Share = DriftLimits.shift
    utility: Share = DriftLimits.utility
    types: Literal["refuse", "allow"] = DriftLimits.types
    ignore: list[str] = []
    accepted: dict[str, AcceptedSection] = {}


def _wrap_in_list(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


Diversities = DiversitySection | list[DiversitySection]
Closenesses = ClosenessSection | list[ClosenessSection]


class ChecksSection(ReidentificationLimits):
    """[checks]; l_diversity and t_closeness take one table or a list of tables.

    Attributes
    ----------
    drift : how much the data may change since the last release; 'off' compares nothing.
    plugins : checks of other installed packages that released rows must pass.
    """

    min_utility: Share = declare_limit(
        0.0,
        name="utility",
        sense="at least",
        expected="At least {required} of all bits stay visible.",
        shortfall="utility {shown} is below checks.{key} = {required}",
        numbers=read_number("utility", "suppression"),
        description="the share of bits that must stay visible.",
        example="0.85",
        documented="with a smaller share of visible bits",
        remedy="lower k or the floor",
        starter=StarterLine(
            3,
            "0.5",
            "at least half of the bits must stay visible. Refused? Lower k, or drop\n"
            "quasi-identifiers",
        ),
    )
    columns: dict[str, Share] = declare_limit(
        {},
        name="information",
        sense="at least",
        expectation="column information",
        expected="The column keeps at least {required} of its information, 1 - NCP.",
        shortfall="column {about!r} keeps {shown} of its information, below checks.{key} = "
        "{required}",
        numbers=limits.read_information,
        description="for quasi-identifiers: the information that each must keep, 1 - NCP.",
        example="{age = 0.5}",
        documented="in which a column keeps less information, 1 - NCP",
        remedy="give it more weight, lower k or the floor",
        starter=StarterLine(
            7, "{{{quasi} = 0.5}}", "a share of its information", offered=True, needs="quasi"
        ),
    )
    l_diversity: Annotated[
        list[DiversitySection], BeforeValidator(_wrap_in_list, json_schema_input_type=Diversities)
    ] = declare_limit(
        [],
        **vars(limits.DISTINCT_VALUES),
        variants=(limits.ENTROPY, limits.ODDS),
        numbers=limits.read_diversity,
        description="how many values of a sensitive column each crowd must show.",
        example='{column = "income", l = 2}',
        documented="in which a crowd has fewer than l values",
        remedy="raise k or lower l",
        starter=StarterLine(
            8,
            "{{column = {sensitive}, l = 2}}",
            "each crowd shows 2 values at least",
            offered=True,
            needs="sensitive",
        ),
    )
    t_closeness: Annotated[
        list[ClosenessSection], BeforeValidator(_wrap_in_list, json_schema_input_type=Closenesses)
    ] = declare_limit(
        [],
        name="distance",
        sense="at most",
        expectation="crowd distance",
        expected="No crowd's values are farther than {required} from those of the whole table.",
        subject=limits.OF_COLUMN,
        shortfall="a crowd has distance {shown} from the whole table, above t = {required}",
        figure="Greatest distance of a crowd's values of {name} from those of all rows",
        numbers=limits.read_closeness,
        description="how close the sensitive values of each crowd must be to those of all rows.",
        example='{column = "income", t = 0.4}',
        documented="with a crowd farther than t from all rows",
        remedy="raise k or t",
        starter=StarterLine(
            9,
            "{{column = {sensitive}, t = 0.5}}",
            "0: each crowd is as mixed as the table",
            offered=True,
            needs="sensitive",
        ),
    )
    max_uniform: Share | None = declare_limit(
        name="uniform crowds",
        sense="at most",
        expected="At most a share of {required} of the people fits only rows that show one value.",
        subject=limits.OF_COLUMN,
        shortfall="{finding} fit only rows that show one value, more than checks.{key} = "
        "{required} allows",
        numbers=limits.read_uniform,
        description="the share of the people who may fit only rows that show one value.",
        example="0.1",
        documented="in which a larger share of the people fits only rows that show one value",
        remedy="raise k, set privacy.mix to the column, coarsen groups, drop the column or raise "
        "the limit",
        starter=StarterLine(
            1,
            "0.05",
            "at most 5 % of the people may fit only rows that show one value of\n"
            "a sensitive column: who knows their quasi-identifiers learns it.\n"
            "Refused? Raise k, or let mix (above) name the column",
            needs="sensitive",
            otherwise="with a sensitive column: at most 5 % of the people may fit only rows\n"
            "that show one value of it",
        ),
    )
    equivalence_k: Annotated[int, Field(ge=2)] | None = declare_limit(
        name="identical rows",
        sense="at least",
        expected="The smallest group of identical rows holds at least {required}.",
        shortfall="the smallest group of identical rows holds {shown}, fewer than checks.{key} = "
        "{required}",
        numbers=read_number("protection", "equivalence_classes", "k", form=""),
        description="how many identical rows there must be of each row, itself counted.",
        example="5",
        documented="in which a row is identical to fewer rows, itself counted",
        remedy="let anonymizer.name be 'optimal' or 'k-member' with k at least as great, or lower "
        "the limit",
        starter=StarterLine(
            5,
            "{k}",
            'each row equals k - 1 others, as [anonymizer] "optimal" makes them',
            offered=True,
        ),
    )
    max_row_loss: Share | None = declare_limit(
        name="row loss",
        sense="at most",
        expected="At most a share of {required} of the source rows is left out.",
        shortfall="{shown} source rows are left out, more than checks.{key} = {required} allows",
        numbers=limits.read_row_loss,
        description="the share of the source rows that may be left out.",
        example="0.02",
        documented="that leaves out a larger share of the source rows",
        remedy="keep records with missing values, lower k or raise the limit",
        starter=StarterLine(
            4, "0.02", 'rules such as missing = "drop" may leave out 2 % of the rows'
        ),
    )
    drift: Annotated[DriftSection | None, declare_or_off(DriftSection)] = DriftSection()
    max_attack_success: Share | None = declare_attack_limit(
        "a chance of",
        numbers=limits.read_row_attacks,
        description="how often an attacker may name the right row, on average.",
        example="0.1",
        documented="in which an attacker names the right row more often, on average",
        remedy="raise k, coarsen groups or raise the limit",
        starter=StarterLine(
            2,
            "{chance}",
            "how often somebody may name the right row, on average: 1/k. Change\nit with k",
        ),
    )
    max_unchanged: Share | None = declare_unchanged_limit(
        "the quasi-identifier cells",
        "as in the source",
        share="cells_exact",
        documented="in which a larger share of the cells is as in the source, see below",
        remedy="raise k or the limit",
        starter=StarterLine(
            6, "0.99", "refuses a release in which all cells are as in the source", offered=True
        ),
    )

    plugins: list[str] = []

    def check(self, roles: Mapping[str, str]) -> None:
        """Refuse keys that do not fit each other or the columns; `roles` by column name."""
        refuse_all(self._find_refusals(roles))
        if self.drift is not None:
            compared = [name for name, role in roles.items() if role in COMPARED]
            refuse_unknown(self.drift, compared)

    def _find_refusals(self, roles: Mapping[str, str]) -> Iterator[str]:
        if absent := [name for name in self.plugins if name not in load_checks()]:
            yield (
                f"checks.plugins names {absent[0]!r}, a check that no installed package has; "
                f"installed: {', '.join(load_checks()) or 'none'}"
            )
        for name in self.columns:
            yield from _find_wrong_role("checks.columns", name, "quasi", roles)
        yield from self.find_unknowable([*roles.values()].count("quasi"))
        if self.max_uniform is not None and "sensitive" not in roles.values():
            yield (
                "checks.max_uniform limits crowds that show one value of a sensitive column, and "
                "no column has role = 'sensitive'; give a column that role, or leave max_uniform "
                "out"
            )
        for close in self.t_closeness:
            yield from _find_wrong_role("checks.t_closeness", close.column, "sensitive", roles)
        for asked in self.l_diversity:
            yield from _find_wrong_role("checks.l_diversity", asked.column, "sensitive", roles)
            if (asked.kind == "recursive") != (asked.c is not None):
                yield (
                    "checks.l_diversity: c belongs to kind = 'recursive', which needs one, "
                    "e.g. c = 2.0"
                )
            if asked.kind == "recursive" and asked.l > MOST_L:
                yield (
                    "checks.l_diversity: kind = 'recursive' is measured "
                    f"up to l = {MOST_L}; lower l"
                )
        for name in self.drift.ignore if self.drift else ():
            yield from _find_wrong_role("checks.drift.ignore", name, "quasi", roles)

    @property
    def drift_limits(self) -> DriftLimits | None:
        """Limits on changes between releases; None if the comparison is off."""
        return None if self.drift is None else limits_of(self.drift, DriftLimits)


def _find_wrong_role(key: str, name: str, role: str, roles: Mapping[str, str]) -> Iterator[str]:
    allowed = ", ".join(column for column, own in roles.items() if own == role) or "none"
    if name not in roles:
        near = did_you_mean(name, roles)
        yield f"{key} names a column that [columns] does not; allowed: {allowed}{near}"
    elif roles[name] != role:
        lacking = "no quasi-identifier" if role == "quasi" else "not sensitive"
        yield (
            f"{key}: column {name!r} is {lacking}, it has role = {roles[name]!r}; "
            f"allowed: {allowed}"
        )
