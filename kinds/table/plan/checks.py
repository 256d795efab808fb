"""[checks] of the plan: limits that a release must meet; they never shape the release."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from anon_core.measures.table.diversity import MOST_L
from kinds.accepting import AcceptedSection, limits_of, refuse_unknown
from kinds.judge.drift import DriftLimits
from kinds.nearest import did_you_mean
from kinds.section import PlanError, Section, Share, or_off
from kinds.table.floors import Close, Diverse, TableFloors

COMPARED = ("quasi", "sensitive", "keep")  # roles of the columns that drift is about


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


OrOff = BeforeValidator(or_off, json_schema_input_type=DriftSection | Literal["off"])
Diversities = DiversitySection | list[DiversitySection]
Closenesses = ClosenessSection | list[ClosenessSection]


class ChecksSection(Section):
    """[checks]; l_diversity and t_closeness take one table or a list of tables.

    Attributes
    ----------
    min_utility : the share of bits that must stay visible.
    columns : for quasi-identifiers: the information that each must keep, 1 - NCP.
    l_diversity : how many values of a sensitive column each crowd must show.
    t_closeness : how close the sensitive values of each crowd must be to those of all rows.
    max_uniform : the share of the people who may hide in a crowd with one value.
    equivalence_k : how many identical rows there must be of each row, itself counted.
    max_row_loss : the share of the source rows that may be left out.
    drift : how much the data may change since the last release; 'off' compares nothing.
    max_attack_success : how often an attacker may name the right row, on average.
    max_unchanged : the share of the quasi-identifier cells that may be as in the source; less than
        1 refuses a release in which nothing was hidden.
    """

    min_utility: Share = 0.0
    columns: dict[str, Share] = {}
    l_diversity: Annotated[
        list[DiversitySection], BeforeValidator(_wrap_in_list, json_schema_input_type=Diversities)
    ] = []
    t_closeness: Annotated[
        list[ClosenessSection], BeforeValidator(_wrap_in_list, json_schema_input_type=Closenesses)
    ] = []
    max_uniform: Share | None = None
    equivalence_k: Annotated[int, Field(ge=2)] | None = None
    max_row_loss: Share | None = None
    drift: Annotated[DriftSection | None, OrOff] = DriftSection()
    max_attack_success: Share | None = None
    max_unchanged: Share | None = None

    def check(self, roles: Mapping[str, str]) -> None:
        """Refuse keys that do not fit each other or the columns; `roles` by column name."""
        for name in self.columns:
            _require_role("checks.columns", name, "quasi", roles)
        if self.max_uniform is not None and "sensitive" not in roles.values():
            raise PlanError(
                "checks.max_uniform limits crowds that show one value of a sensitive column, and "
                "no column has role = 'sensitive'; give a column that role, or leave max_uniform "
                "out"
            )
        for close in self.t_closeness:
            _require_role("checks.t_closeness", close.column, "sensitive", roles)
        for asked in self.l_diversity:
            _require_role("checks.l_diversity", asked.column, "sensitive", roles)
            if (asked.kind == "recursive") != (asked.c is not None):
                raise PlanError(
                    "checks.l_diversity: c belongs to kind = 'recursive', which needs one, "
                    "e.g. c = 2.0"
                )
            if asked.kind == "recursive" and asked.l > MOST_L:
                raise PlanError(
                    "checks.l_diversity: kind = 'recursive' is measured "
                    f"up to l = {MOST_L}; lower l"
                )
        if self.max_uniform is not None and "sensitive" not in roles.values():
            raise PlanError(
                "checks.max_uniform is about sensitive columns, and no column has role = "
                "'sensitive'; give one that role, or leave the limit out"
            )
        for name in self.drift.ignore if self.drift else ():
            _require_role("checks.drift.ignore", name, "quasi", roles)
        if self.drift is not None:
            compared = [name for name, role in roles.items() if role in COMPARED]
            refuse_unknown(self.drift, compared)

    @property
    def floors(self) -> TableFloors:
        """The limits as the tasks use them."""
        return TableFloors(
            min_utility=self.min_utility,
            columns=self.columns,
            l_diversity=tuple(Diverse(**asked.model_dump()) for asked in self.l_diversity),
            t_closeness=tuple(Close(**asked.model_dump()) for asked in self.t_closeness),
            max_uniform=self.max_uniform,
            equivalence_k=self.equivalence_k,
            max_row_loss=self.max_row_loss,
            max_attack_success=self.max_attack_success,
            max_unchanged=self.max_unchanged,
        )

    @property
    def drift_limits(self) -> DriftLimits | None:
        """Limits on changes between releases; None if the comparison is off."""
        return None if self.drift is None else limits_of(self.drift, DriftLimits)


def _require_role(key: str, name: str, role: str, roles: Mapping[str, str]) -> None:
    allowed = ", ".join(column for column, own in roles.items() if own == role) or "none"
    if name not in roles:
        near = did_you_mean(name, roles)
        raise PlanError(f"{key} names a column that [columns] does not; allowed: {allowed}{near}")
    if roles[name] != role:
        lacking = "no quasi-identifier" if role == "quasi" else "not sensitive"
        raise PlanError(
            f"{key}: column {name!r} is {lacking}, it has role = {roles[name]!r}; "
            f"allowed: {allowed}"
        )
