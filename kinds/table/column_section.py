"""[columns] of the plan: role of each column, coding of quasi-identifiers."""

import math
from typing import Annotated, Any, Literal

from pydantic import Field

from anon_core.specs.columns import ColumnSpec
from kinds.section import MarkedSection, PlanError, Unshown
from kinds.table.columns import ISO_DATE, Column, Role

QUASI_ONLY = ("bins", "encoding", "order", "missing", "weight")
BINS = "must be 'deciles', 'none', {quantiles = number} or {edges = [numbers]}"


class ColumnSection(MarkedSection):
    """[columns.<name>]."""

    questions = {
        "role": "may others know the value (quasi), must nobody learn whose it is (sensitive), "
        "does it name someone (identifier), or is it not needed (drop)?",
        "kind": "are the numbers amounts (numeric), codes (categorical) or numbers of people "
        "(identifier)?",
        "format": "does the day or the month stand first (format)?",
    }

    role: Role
    kind: Literal["numeric", "date", "categorical", "binary"] | None = None
    bins: Unshown[
        Literal["deciles", "none"] | dict[Literal["quantiles", "edges"], int | list[float]] | None
    ] = None
    encoding: Literal["one-hot", "ordinal"] | None = None
    order: Unshown[list[str] | None] = None
    missing: Literal["category", "refuse", "all-hidden", "drop"] | None = None
    weight: Annotated[float, Field(gt=0)] | None = None
    format: str | None = None
    public: bool = False

    def column(self, name: str) -> Column:
        """The checked section as the reader uses it."""
        where = f"columns.{name}"
        stated = self.model_fields_set
        if self.format is not None and self.kind != "date":
            raise PlanError(f"{where}.format belongs to kind = 'date'")
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
                date_format=self.format or ISO_DATE,
                public=self.public,
            )
        if self.kind is None:
            raise PlanError(
                f"{where}: role = 'quasi' needs a kind: numeric, date, categorical or binary"
            )
        counted = self.kind in ("numeric", "date")
        if self.bins is not None and not counted:
            raise PlanError(f"{where}.bins belongs to kind = 'numeric' or 'date'")
        if self.encoding is not None and self.kind == "binary":
            raise PlanError(f"{where}.encoding: a binary column is one bit; leave it out")
        if self.order is not None and self.kind != "categorical":
            raise PlanError(f"{where}.order belongs to kind = 'categorical'")
        spec = ColumnSpec(
            name=name,
            kind=self.kind,
            encoding=self.encoding or ("ordinal" if counted else "one-hot"),
            bins=_bins(where, self.bins) if counted else None,
            order=tuple(self.order or ()),
            missing=self.missing or "category",
            weight=self.weight or 1.0,
        )
        return Column(
            name=name, role="quasi", kind=self.kind, date_format=self.format or ISO_DATE, spec=spec
        )


def _bins(where: str, bins: Any) -> int | tuple[float, ...] | None:
    if bins in (None, "deciles"):
        return 10
    if bins == "none":
        return None
    if len(bins) == 1:
        if isinstance(bins.get("quantiles"), int):
            return int(bins["quantiles"])
        if isinstance(bins.get("edges"), list) and all(
            math.isfinite(edge) for edge in bins["edges"]
        ):
            return tuple(float(edge) for edge in bins["edges"])
    raise PlanError(f"{where}.bins {BINS}")
