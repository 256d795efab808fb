"""How a plan wants one quasi-identifier encoded."""

from dataclasses import dataclass, field
from typing import Literal

from anon_core.errors import InputError

Kind = Literal["numeric", "date", "categorical", "binary"]
Encoding = Literal["one-hot", "ordinal"]
MissingRule = Literal["category", "refuse", "all-hidden", "drop"]

MOST_QUANTILES = 2**16  # every quantile is computed, however few values a column has


@dataclass(frozen=True, kw_only=True)
class ColumnSpec:
    """How one quasi-identifier is to be encoded, before its data is read.

    Attributes
    ----------
    name : str
    kind : {"numeric", "date", "categorical", "binary"}
        A date reaches the core as its number of days since 1970-01-01.
    encoding : {"one-hot", "ordinal"}
        "one-hot": one bit per level; a masked cell is a value set. "ordinal": thermometer bits
        "value >= level t"; a masked cell is an interval.
    bins : int, tuple of float or None
        Number of quantile groups, or the inner edges of the groups. None: each distinct number is a
        level.
    order : tuple of str
        The levels of an ordinal categorical column, lowest first.
    missing : {"category", "refuse", "all-hidden", "drop"}
        "category": missing is a level. "all-hidden": missing is a level, and the cell of a record
        without a value is fully masked. "refuse": no value may be missing. "drop": records without
        a value are left out.
    weight : float
        A greater weight means less masking of this column.
    """

    name: str
    kind: Kind
    encoding: Encoding = "one-hot"
    bins: int | tuple[float, ...] | None = field(default=None, repr=False)
    order: tuple[str, ...] = field(default=(), repr=False)
    missing: MissingRule = "category"
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.weight < float("inf"):
            raise InputError(f"column {self.name!r}: weight must be a positive finite number")
        if self.kind == "categorical" and self.encoding == "ordinal" and not self.order:
            raise InputError(
                f"column {self.name!r} is categorical and ordinal: "
                "give its levels in 'order', lowest first"
            )
        if len(set(self.order)) != len(self.order):
            raise InputError(f"column {self.name!r}: 'order' names a level more than once")
        if isinstance(self.bins, int) and not 2 <= self.bins <= MOST_QUANTILES:
            raise InputError(
                f"column {self.name!r}: quantiles must be at least 2 and at most {MOST_QUANTILES}"
            )
        if isinstance(self.bins, tuple) and (
            not self.bins or list(self.bins) != sorted(set(self.bins))
        ):
            raise InputError(
                f"column {self.name!r}: edges must be given in increasing order, at least one"
            )
