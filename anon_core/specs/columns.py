"""How a plan wants one quasi-identifier encoded."""

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Literal

from anon_core.errors import InputError
from anon_core.specs.hierarchies import Floor, Hierarchy

ColumnKind = Literal["numeric", "date", "categorical", "binary"]
Encoding = Literal["one-hot", "ordinal"]
_MissingRule = Literal["category", "refuse", "all-hidden", "drop"]
Carry = Literal["bounds", "median"]
Rare = Literal["publish", "pool"]
Cells = Literal["node", "set", "shorter"]

_MOST_QUANTILES = 2**16  # every quantile is computed, however few values a column has


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
    range : (float, float), optional
        Least and greatest permissible number; none of the data may lie outside. Loss by range
        counts widths as parts of it.
    carry : {"bounds", "median"}
        How a group of numbers is written: as its interval, or as its median.
    rare : {"publish", "pool"}
        What becomes of a level that fewer people hold than any record demands: a level like others,
        or one with its neighbours (numbers) or with all others of its kind (categories).
    hierarchy : Hierarchy, optional
        A masked cell shows a node of it. Numbers and dates have levels as wide as its finest step.
    cells : {"node", "set", "shorter"}
        Of a hierarchy of categories: what masked cells show. "node": a node of it. "set": a set of
        values, as without a hierarchy. "shorter": methods price nodes, and a cell shows the values
        that its holders have where these are not all of the node.
    floor : Floor, optional
        Of a hierarchy: how many people a node must have that any cell shows.
    shared : bool
        Whether a group of numbers, and the outermost levels of a column without groups, hold at
        least as many people as any record demands. False: as before this was promised.
    """

    name: str
    kind: ColumnKind
    encoding: Encoding = "one-hot"
    bins: int | tuple[float, ...] | None = field(default=None, repr=False)
    order: tuple[str, ...] = field(default=(), repr=False)
    missing: _MissingRule = "category"
    weight: float = 1.0
    range: tuple[float, float] | None = field(default=None, repr=False)
    carry: Carry = "bounds"
    rare: Rare = "publish"
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    cells: Cells = "node"
    floor: Floor | None = field(default=None, repr=False)
    shared: bool = True

    @property
    def is_counted(self) -> bool:
        """Whether its values are numbers or dates."""
        return self.kind in ("numeric", "date")

    def __post_init__(self) -> None:
        # Stated as what must hold: a comparison with nan is false, so nan is refused, too.
        if not 0 < self.weight < float("inf"):
            raise InputError(f"column {self.name!r}: weight must be a positive finite number")
        # In the order of texts, neighbours have nothing in common, and an interval says nothing.
        if self.kind == "categorical" and self.encoding == "ordinal" and not self.order:
            raise InputError(
                f"column {self.name!r} is categorical and ordinal: "
                "give its levels in 'order', lowest first"
            )
        # Loss by range divides by the width, so both bounds must be finite and apart.
        if self.range is not None and not (
            self.is_counted and -inf < self.range[0] < self.range[1] < inf
        ):
            raise InputError(
                f"column {self.name!r}: range must be two finite numbers, the smaller one first, "
                "for a column of numbers or dates"
            )
        # A text must lead to one level.
        if len(set(self.order)) != len(self.order):
            raise InputError(f"column {self.name!r}: 'order' names a level more than once")
        if self.rare == "pool" and self.kind == "categorical" and self.encoding == "ordinal":
            raise InputError(
                f"column {self.name!r}: rare = 'pool' makes one level of categories that may lie "
                "far apart, which has no place in an order; use encoding = 'one-hot'"
            )
        if self.hierarchy is not None:
            self._check_hierarchy(self.hierarchy)
        if self.cells != "node" and (self.hierarchy is None or self.kind != "categorical"):
            raise InputError(
                f"column {self.name!r}: cells belongs to a hierarchy of categories; a node of "
                "numbers or dates is an interval"
            )
        if self.floor is not None and (
            self.hierarchy is None or self.kind != "categorical" or self.floor.people < 1
        ):
            raise InputError(
                f"column {self.name!r}: floor is a number of people, at least 1, and belongs to a "
                "hierarchy of categories: it says where to stop going down"
            )
        if isinstance(self.bins, int) and not 2 <= self.bins <= _MOST_QUANTILES:
            raise InputError(
                f"column {self.name!r}: quantiles must be at least 2 and at most {_MOST_QUANTILES}"
            )
        # nan is not equal to itself and in no order, so comparisons alone would accept it.
        if isinstance(self.bins, tuple) and (
            not self.bins
            or not all(map(isfinite, self.bins))
            or list(self.bins) != sorted(set(self.bins))
        ):
            raise InputError(
                f"column {self.name!r}: edges must be given in increasing order, at least one, "
                "all of them finite"
            )

    def _check_hierarchy(self, hierarchy: Hierarchy) -> None:
        if self.kind != hierarchy.kind or self.encoding != "one-hot" or self.order:
            raise InputError(
                f"column {self.name!r}: this hierarchy belongs to kind = {hierarchy.kind!r}, "
                "without an order and with encoding = 'one-hot'"
            )
        if self.bins is not None:
            raise InputError(
                f"column {self.name!r}: the finest step of the hierarchy groups the values; leave "
                "bins out"
            )
        if hierarchy.weights and self.cells != "node":
            raise InputError(
                f"column {self.name!r}: weights say what nodes lose, and cells = {self.cells!r} "
                "shows sets; leave one of them out"
            )
        if hierarchy.weights and self.floor is not None:
            raise InputError(
                f"column {self.name!r}: weights say what nodes lose, and floor shows nodes in "
                "place of values, which would then lose nothing; leave one of them out (a point "
                "always has a floor)"
            )
        if self.rare == "pool":
            raise InputError(
                f"column {self.name!r}: rare = 'pool' joins values of any node, and a hierarchy "
                "joins those of one; leave one of them out"
            )
