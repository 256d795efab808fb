"""The numbers that an audit measures, as the manifest states them: aggregates only."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.attackers.law import Law
from anon_core.measures.table.attackers.membership import Membership
from anon_core.measures.table.attackers.refinement import Refinement
from anon_core.measures.table.classes import Classes
from anon_core.measures.table.codebook.levels import ColumnLevels
from anon_core.measures.table.crowds import Crowds, records_per_row
from anon_core.measures.table.diversity import Diversity
from anon_core.measures.table.least_loss import LeastLoss
from anon_core.measures.table.utility import Shares, Utility
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.layout import CARRIED, RANKED


@dataclass(frozen=True)
class Measured:
    """All numbers of a release.

    Attributes
    ----------
    levels : tuple of ColumnLevels
    crowds : Crowds
    utility : Utility
    sizes : int (attributes, rows)
        Levels that each cell allows.
    truthful : bool (records,)
        Whether the row of each record is true of it.
    matched : bool
        Whether the vault's matching pairs all records with rows that they fit.
    source_rows : int
        Rows of the source, with those that the plan's rules leave out.
    left_out : int
        Rows that are left out by choice.
    classes : Classes
    sensitive : dict of Diversity
        By sensitive column, in crowds.
    attacks : dict
        The manifest's section; empty unless `matched`.
    rare_levels : dict of int
        By quasi-identifier: levels that fewer people hold than any record demands.
    one_value : float64 (attributes,)
        Share of cells that show one value.
    widths : float64 (attributes,)
        What all cells of a column lose by width: `widths_lost`.
    by_level : dict of dict
        By column with a tree: what its cells show, see `shares_by_level`.
    unique_values : dict of int
        By sensitive or kept column: rows whose value no other row has.
    direct : dict of dict of int
        By column and kind of direct identifier: rows with a cell or a label that looks like it.
    people : int or None
        People who own the records, where the plan says which records are of one person.
    constant_values : dict or None
        Where people own several records, by sensitive or kept column: people with several records,
        and those of them whose value is the same in all.
    law : Law or None
        What the vault states of the seats' chances; None where nothing promises even seats.
    classes_below_k : int or None
        Records whose row is identical to fewer than k rows; None where nothing promises that.
    in_classes : dict of Diversity
        By sensitive column, in equivalence classes; empty where nothing promises these.
    reidentification : dict
        See `measure_reidentification`; empty unless `matched`.
    least_loss : LeastLoss or None
        What any release with the promise loses; None where no bound follows or is looked for.
    refinement : Refinement or None
        What is left of masked cells; by the law where there is one. None unless `matched`.
    membership : Membership or None
        What rows tell of who is in the table. None unless `matched`.
    """

    levels: tuple[ColumnLevels, ...]
    crowds: Crowds
    utility: Utility
    sizes: NDArray[np.signedinteger[Any]]
    truthful: NDArray[np.bool_]
    matched: bool
    source_rows: int
    left_out: int
    classes: Classes
    sensitive: dict[str, Diversity]
    attacks: dict[str, Any]
    rare_levels: dict[str, int]
    one_value: NDArray[np.float64]
    widths: NDArray[np.float64]
    by_level: dict[str, Shares]
    unique_values: dict[str, int]
    direct: dict[str, dict[str, int]]
    people: int | None = None
    constant_values: dict[str, dict[str, int]] | None = None
    law: Law | None = None
    classes_below_k: int | None = None
    in_classes: Mapping[str, Diversity] = field(default_factory=dict)
    reidentification: Mapping[str, Any] = field(default_factory=dict)
    least_loss: LeastLoss | None = None
    refinement: Refinement | None = None
    membership: Membership | None = None

    def sections(self) -> dict[str, dict[str, Any]]:
        """Return all numbers by section of the manifest."""
        return {
            "privacy": self.privacy(),
            "utility": self.kept(),
            "protection": self.protection(),
            "attacks": self.attacks,
        }

    def list_affected_levels(self) -> list[dict[str, Any]]:
        """Levels whose records sit in crowds that show one value of a sensitive column; private.

        Only levels with at least k such records, k being the greatest demand. The rest is counted
        by column: `fewer` levels have some, but less than k.
        """
        k, found = int(self.crowds.demanded.max()), []
        of, records_in = self.classes.record_class, self.classes.records_in
        for sensitive, crowds in self.sensitive.items():
            alone = crowds.distinct == 1
            alone_in = np.bincount(of[alone], minlength=len(records_in))
            for levels, code in zip(self.levels, self.classes.level, strict=True):
                records, affected = (
                    np.bincount(code, held, len(levels.labels)).astype(np.int64)
                    for held in (records_in, alone_in)
                )
                shown = np.flatnonzero(affected >= k)
                found.append(
                    {
                        "sensitive": sensitive,
                        "column": levels.name,
                        "affected": int(alone.sum()),
                        "levels": [
                            {
                                "level": levels.labels[at],
                                "affected": int(affected[at]),
                                "records": int(records[at]),
                            }
                            for at in shown[np.argsort(-affected[shown], kind="stable")].tolist()
                        ],
                        "fewer": int(((affected > 0) & (affected < k)).sum()),
                    }
                )
        return found

    def privacy(self) -> dict[str, int]:
        """Return the manifest's privacy section."""
        privacy = {
            "records": len(self.crowds.demanded),
            "k_min": int(self.crowds.demanded.min()),
            "k_max": int(self.crowds.demanded.max()),
            "unprotected": int((self.crowds.demanded < 2).sum()),
            "below_k": self.crowds.below_k,
            "compatible_min_margin": self.crowds.margin,
            "matchable_below_k": self.crowds.matchable_below_k,
            "untruthful_rows": int((~self.truthful).sum()),
        }
        if self.people is not None:
            privacy["people"] = self.people
        if self.law is not None:
            privacy["likelier_than_k"] = self.law.above
        if self.classes_below_k is not None:
            privacy["classes_below_k"] = self.classes_below_k
        return privacy

    def kept(self) -> dict[str, Any]:
        """Return the manifest's utility section."""
        least = {} if self.least_loss is None else {"least_gcp": asdict(self.least_loss)}
        return {
            **least,
            "suppression": self.utility.suppression,
            "features": sum(levels.features for levels in self.levels),
            "cells_exact": self.utility.cells_exact,
            "cells_of_one_value": float(self.one_value.mean()),
            "gcp": self.utility.gcp,
            "gcp_by_width": math.fsum(self.widths.tolist()),
            "per_column": {
                levels.name: {
                    "exact": float(exact),
                    "one_value": float(one),
                    "ncp": float(ncp),
                    **({"carry": levels.carry} if levels.grouped else {}),
                    **({"shown": shown} if (shown := self.by_level.get(levels.name)) else {}),
                }
                for levels, exact, one, ncp in zip(
                    self.levels, self.utility.exact, self.one_value, self.utility.ncp, strict=True
                )
            },
        }

    def protection(self) -> dict[str, Any]:
        """Return the manifest's protection section: numbers that no promise is about."""
        rows_in, records_in = self.classes.rows_in, self.classes.records_in
        of_people = (
            {} if self.constant_values is None else {"constant_values": self.constant_values}
        )
        return {
            **of_people,
            "rows_left_out": self.source_rows - len(self.crowds.demanded),
            **({"left_out_by_choice": self.left_out} if self.left_out else {}),
            "unique_records": int((records_in == 1).sum()),
            "over_protection": _compute_spread(self.crowds.surplus),
            "records_per_row": _compute_spread(records_per_row(self.classes)),
            "compatible_pairs": int(self.crowds.compatible.sum()),
            "matchable_pairs": int(self.crowds.matchable.sum()),
            "equivalence_classes": {"number": len(rows_in), "k": int(rows_in.min())},
            "sensitive": {
                name: {
                    # [checks] limits classes where these are promised, else crowds.
                    **_find_worst_crowd(self.in_classes.get(name, crowds)),
                    "uniform": _count_uniform_people(crowds),
                }
                for name, crowds in self.sensitive.items()
            },
            "rare_levels": self.rare_levels,
            "unique_values": self.unique_values,
            "direct_identifiers": self.direct,
            "reidentification": dict(self.reidentification),
            "refinement": self._state_refinement(),
            "membership": {} if self.membership is None else asdict(self.membership),
        }

    def _state_refinement(self) -> dict[str, Any]:
        """Masked cells that somebody concludes, and by what; empty unless everybody has a row."""
        if self.refinement is None:
            return {}
        known = "matchings" if self.law is None else "chances"
        return {"by": known, **asdict(self.refinement)}


def sensitive_values(
    rows: pl.DataFrame,
    columns: tuple[Column, ...],
    classes: Classes,
    measure: Callable[..., Diversity],
) -> dict[str, Diversity]:
    """Measure every sensitive column; distances are those of ranks if the plan gives it ranks.

    `measure`: `diversity`, or `diversity_in_classes`.
    """
    return {
        column.name: measure(
            classes, _rank_values(rows[column.name], column.kind), ordered=column.kind in RANKED
        )
        for column in columns
        if column.role == "sensitive"
    }


def unique_values(rows: pl.DataFrame, columns: tuple[Column, ...]) -> dict[str, int]:
    """Count, for each carried column, the rows whose value no other row has."""
    carried = (column.name for column in columns if column.role in CARRIED)
    # The alias: polars takes a name such as ^a$ for a pattern.
    return {name: int(rows[name].alias("").drop_nulls().is_unique().sum()) for name in carried}


def constant_values(
    frame: pl.DataFrame, columns: tuple[Column, ...], person: NDArray[np.int64]
) -> dict[str, dict[str, int]]:
    """Count people with several records, and those whose carried value is the same in all."""
    several = np.bincount(person) > 1  # bool (people,)
    found = {}
    for column in columns:
        if column.role in CARRIED:
            # Ranks, not texts: these would be Python objects, gigabytes for ten million records.
            values = frame[column.name].alias("").cast(pl.String).fill_null("")
            value = values.rank("dense").cast(pl.Int64).to_numpy()
            span = int(value.max()) + 1
            # One number for each (person, value): a person with one number has one value.
            owner = np.unique(person.astype(np.int64) * span + value) // span
            same = (np.bincount(owner) == 1) & several
            found[column.name] = {"people": int(several.sum()), "constant": int(same.sum())}
    return found


def _rank_values(values: pl.Series, kind: str | None) -> NDArray[np.int64]:
    """Rank values from 0, a missing one lowest. A CSV file holds numbers as text."""
    values = values.alias("")  # polars takes a name such as ^a$ for a pattern
    if kind != "numeric" or not values.dtype.is_numeric():
        values = values.cast(pl.String)  # ISO dates sort as text
    if kind == "numeric" and values.dtype == pl.String:
        # Whole numbers first: from 2^53 on float64 would give neighbours one rank.
        whole = values.cast(pl.Int64, strict=False)
        values = (
            whole
            if whole.null_count() == values.null_count()
            else values.cast(pl.Float64, strict=False)
        )
    ranks = values.rank("dense").fill_null(0).to_numpy()
    # From 0 without a gap: where nothing is missing, dense ranks begin at 1.
    return np.unique(ranks, return_inverse=True)[1].astype(np.int64)


def _compute_spread(numbers: NDArray[np.int64]) -> dict[str, int]:
    """Least, median and greatest; each occurs among the numbers."""
    return dict(
        zip(
            ("min", "median", "max"),
            np.quantile(numbers, (0, 0.5, 1), method="lower").tolist(),
            strict=True,
        )
    )


def _count_uniform_people(column: Diversity) -> int:
    """People whose crowd has one value."""
    return int((column.distinct == 1).sum())


def _find_worst_crowd(column: Diversity) -> dict[str, Any]:
    """The worst crowd by each measure; odds are null if a crowd has too few values."""
    return {
        "distinct": int(column.distinct.min()),
        "effective": float(column.effective.min()),
        "odds": [odds if math.isfinite(odds) else None for odds in column.odds.tolist()],
        "distance": float(column.distance.max()),
    }
