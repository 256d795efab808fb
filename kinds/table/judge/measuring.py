"""From released rows, laid beside the records that they show, to all numbers of an audit."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.jit.kernel import call_both
from anon_core.measures.table.attackers.attacks import tightest_rows
from anon_core.measures.table.attackers.law import Law
from anon_core.measures.table.attackers.membership import attack_membership
from anon_core.measures.table.attackers.refinement import Refinement, refine_by_matchings
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.codebook.shared import rare_levels
from anon_core.measures.table.crowds import (
    Crowds,
    components_of,
    crowds,
    fits_own_row,
    identical_rows,
)
from anon_core.measures.table.diversity import diversity_in_classes, measure_diversity
from anon_core.measures.table.least_loss import bound_least_loss
from anon_core.measures.table.utility import (
    of_one_value,
    shares_by_level,
    utility,
    widths_lost,
)
from crowdcover.kinds.columns import Column
from crowdcover.kinds.judge.direct import (
    ShownTexts,
    build_shown_cells,
    build_shown_labels,
    count_direct,
)
from crowdcover.kinds.section import toml_key
from crowdcover.kinds.table.judge import law
from crowdcover.kinds.table.judge.attacks import build_attack_section
from crowdcover.kinds.table.judge.carried import find_equal_values
from crowdcover.kinds.table.judge.measured import (
    Measured,
    constant_values,
    sensitive_values,
    unique_values,
)
from crowdcover.kinds.table.judge.records import Records
from crowdcover.kinds.table.judge.reidentification import measure_reidentification
from crowdcover.kinds.table.layout import CARRIED, KEY, list_released_columns
from crowdcover.kinds.table.plan.reidentification import NONE_ASKED, AskedRisks


@dataclass(frozen=True)
class Laid:
    """Released rows beside the records.

    Attributes
    ----------
    records : Records
    rows : DataFrame
    cells : ReleasedCells
        The quasi-identifiers of the rows.
    seat : int64 (n,)
        Row of each record, -1 where it has none.
    paired : bool
        Whether rows and records pair up.
    columns : tuple of Column
        As the plan types them.
    """

    records: Records
    rows: pl.DataFrame
    cells: ReleasedCells
    seat: NDArray[np.int64]
    paired: bool
    columns: tuple[Column, ...]

    @property
    def seated_records(self) -> slice | NDArray[np.int64]:
        """The records that have a row."""
        has_row = self.seat >= 0
        return slice(None) if has_row.all() else np.flatnonzero(has_row)

    def fits(self) -> NDArray[np.bool_]:
        """Whether each record fits its row, bool (n,)."""
        seated = self.seated_records
        fits = np.zeros(self.records.number, dtype=np.bool_)
        codes = self.records.codes[:, seated]
        fits[seated] = fits_own_row(codes, self.cells, self.seat[seated])
        return fits

    def carries(self) -> NDArray[np.bool_]:
        """Whether each record's row carries the record's own values, bool (n,)."""
        seated, true = self.seated_records, self.seat >= 0
        for column in list_released_columns(self.columns):
            if column.role != "quasi":
                people = self.records.frame[column.name][seated]
                true[seated] &= find_equal_values(people, self.rows[column.name][self.seat[seated]])
        return true


def measure_release(
    laid: Laid,
    stated_law: Path | pl.DataFrame | None,
    *,
    in_classes: bool,
    private_demand: bool,
    asked: AskedRisks = NONE_ASKED,
) -> Measured:
    """Measure a release.

    `stated_law` is what the vault states of chances, or where, if they were promised; `in_classes`,
    whether equivalence classes were.
    """
    records, cells = laid.records, laid.cells
    fits = laid.fits()
    # Only now is the vault's claim a perfect matching, from which matchable rows follow.
    matched = bool(laid.paired and fits.all())
    classes = Classes.of(records.codes, cells)
    counts, stated, tried, refined = _measure_attacks(
        laid, classes, stated_law, matched, private_demand
    )
    names = tuple(levels.name for levels in records.levels)
    # Only who fits a row can be named.
    found = measure_reidentification(cells, classes, counts, names, asked) if matched else {}
    measured = Measured(
        levels=records.levels,
        crowds=counts,
        utility=utility(records.ordinal, cells),
        sizes=cells.sizes(),
        truthful=fits & laid.carries(),
        matched=matched,
        source_rows=records.source_height,
        left_out=records.left_out,
        classes=classes,
        sensitive=sensitive_values(laid.rows, laid.columns, classes, measure_diversity),
        attacks=tried,
        rare_levels=rare_levels(
            records.levels, records.codes, int(records.k.max()), records.person
        ),
        one_value=of_one_value(records.levels, cells),
        widths=widths_lost(records.levels, cells),
        by_level={
            levels.name: shares_by_level(levels, cell, allowed)
            for levels, cell, allowed in zip(records.levels, cells.cell, cells.levels, strict=True)
            if levels.tree
        },
        unique_values=unique_values(laid.rows, laid.columns),
        direct=count_direct(list_shown_texts(laid)),
        law=stated,
        reidentification=found,
        refinement=refined,
        membership=attack_membership(cells, classes, counts.compatible) if matched else None,
    )
    if in_classes:
        measured = _with_classes(measured, laid)
    if (in_classes or stated_law is not None) and not private_demand:  # it depends on each k
        measured = _with_least_loss(measured, laid)
    return measured if records.person is None else _of_people(measured, laid, records.person)


def list_shown_texts(laid: Laid) -> list[ShownTexts]:
    """All texts that a release shows: carried cells, and the labels of the codebook.

    A label counts the records that have it, in whatever cell they sit. Intervals are no labels of
    anybody's.
    """
    shown, place = [], {levels.name: at for at, levels in enumerate(laid.records.levels)}
    for column in laid.columns:
        key = f"columns.{toml_key(column.name)}.allow"
        if column.role in CARRIED:
            cells = build_shown_cells(column.name, laid.rows[column.name], key, column.allow)
            shown += [] if cells is None else [cells]
        elif column.role == "quasi" and column.kind != "date":
            levels = laid.records.levels[place[column.name]]
            counts = np.bincount(
                laid.records.codes[place[column.name]], minlength=len(levels.labels)
            )
            named = [
                at
                # Without (missing) and (other), which are words of the codebook, not of the source.
                for at in range(levels.has_missing, len(levels.labels) - levels.has_other)
                if levels.kind != "numeric" or ".." not in levels.labels[at]
            ]
            labels = [levels.labels[at] for at in named]
            shown.append(build_shown_labels(column.name, labels, counts[named], key, column.allow))
    return shown


def _with_classes(measured: Measured, laid: Laid) -> Measured:
    """Measure equivalence classes, too."""
    below = identical_rows(measured.classes, laid.seat) < measured.crowds.demanded
    in_classes = sensitive_values(laid.rows, laid.columns, measured.classes, diversity_in_classes)
    return replace(measured, classes_below_k=int(below.sum()), in_classes=in_classes)


def _with_least_loss(measured: Measured, laid: Laid) -> Measured:
    """Measure what any release loses that promises even seats or classes of the same records."""
    records = laid.records
    levels = laid.cells.level_counts.tolist()
    least = bound_least_loss(measured.classes, records.k, records.ordinal, levels)
    return replace(measured, least_loss=least)


def _measure_attacks(
    laid: Laid,
    classes: Classes,
    stated_law: Path | pl.DataFrame | None,
    matched: bool,
    private_demand: bool,
) -> tuple[Crowds, Law | None, dict[str, object], Refinement | None]:
    """Count crowds and judge the law that the vault states; attack where everybody has a row.

    Masked cells are refined by the law, or else by what is possible at all.
    """
    records, cells, seat = laid.records, laid.cells, laid.seat
    tightest = tightest_rows(cells, classes)

    def judge_law() -> Law | None:
        # The law has its own finding: it is judged even where some rows do not fit.
        if stated_law is None or not laid.paired:
            return None
        keys = laid.rows[KEY]
        return law.judge_stated_law(stated_law, keys, records, cells, classes, tightest, seat)

    # Without a perfect matching no row is matchable, whatever the vault claims.
    home = seat if matched else None
    find = partial(components_of, cells, classes, home)
    components, stated = call_both(find, judge_law, records.number)
    counts = crowds(
        records.codes, records.k, cells, home, classes, components, records.person
    )  # fmt: skip
    if not matched:
        return counts, stated, {}, None
    refined = (
        refine_by_matchings(cells, classes, components) if stated is None else stated.refinement
    )
    against = cells, classes, components, counts, tightest, stated
    tried = build_attack_section(*against, private_demand=private_demand)
    return counts, stated, tried, refined


def _of_people(measured: Measured, laid: Laid, person: NDArray[np.int64]) -> Measured:
    """Add what concerns the owners of several records."""
    constant = constant_values(laid.records.frame, laid.columns, person)
    return replace(measured, people=int(person.max()) + 1, constant_values=constant)
