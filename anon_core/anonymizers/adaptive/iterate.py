"""The iterations of the adaptive method, on whatever the work of an iteration is spread."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.anonymizers.adaptive.halves import Half
from anon_core.anonymizers.adaptive.resume import BEST, LATEST, check_steps, rename_vertices
from anon_core.anonymizers.adaptive.schedule import (
    WARM_START_HALVINGS,
    best_of,
    has_warm_start,
    next_epsilon,
    warm_start_epsilon,
)
from anon_core.anonymizers.adaptive.settings import Settings
from anon_core.seating.even import build_even_rows
from anon_core.steps import Observer, State, Step
from anon_core.tables.closing import close_trees
from anon_core.tables.orders import invert_order
from anon_core.tables.records import BinaryTable, MaskedTable

_MakeGrouping = Callable[[BinaryTable, Settings], Grouping]


def run_iterations(
    settings: Settings,
    table: BinaryTable,
    make: _MakeGrouping,
    *,
    tie_order: NDArray[np.int64] | None,
    observer: Observer | None,
    resume: State | None,
) -> MaskedTable:
    """Hide features until every record fits k(v) rows; see `Anonymizer.anonymize`.

    `make` makes what does the work of an iteration.

    Notes
    -----
    The best iteration by weighted utility is kept, not the last. Line 9 of Algorithm 1 is taken as
    the formula stands: a weight falls with the number of differing neighbours. The prose beside it
    says the opposite.
    """
    tie_order = np.arange(table.records) if tie_order is None else tie_order
    observer = observer or Observer()
    observer.expects(settings.max_iterations)
    rank = invert_order(tie_order)
    grouping = make(table.at(tie_order), settings)  # ties: the smallest index is the first in order
    steps: list[Step] = []
    epsilon: float | None = settings.epsilon
    foreseen: float | None = None
    best: NDArray[np.int32] | None = None
    hidden: NDArray[np.uint64] | None = None
    if resume is not None:
        epsilon = _restore_counts(settings, grouping, table, rank, resume)
        steps, best = list(resume.steps), resume.arrays[BEST]
        foreseen = steps[0].figures.get("foreseen")
    elif has_warm_start(settings, table.records):
        epsilon = warm_start_epsilon(settings)
        foreseen = _run_warm_start(settings, grouping, make, observer)
    while epsilon is not None:
        cover = grouping.cover(epsilon, observer.report_records)
        grouping.hide(cover.u, cover.v)
        steps.append(grouping.summarize_step(len(steps) + 1, grouping.edges(cover), foreseen))
        latest = grouping.collect_edges(cover, tie_order)
        if best is None or best_of(steps) is steps[-1]:
            best, hidden = latest, grouping.collect_hidden()
        observer.on_step(State({LATEST: latest, BEST: best}, tuple(steps)))
        del cover, latest  # the next search needs their counts only
        epsilon = next_epsilon(settings, steps)
    assert best is not None
    if hidden is None:
        grouping.hide(*rename_vertices(best[0], best[1], rank))
        hidden = grouping.collect_hidden()
    done = tuple(steps), best_of(steps).number
    if settings.seats == "matchable":
        return MaskedTable(table, close_trees(table, hidden[rank]), *done)
    ordered, weights = grouping.table, (grouping.weights, grouping.cell_weights)
    del grouping, best
    rows = build_even_rows(ordered, hidden, weights)
    holders = tie_order.astype(np.int32)[rows.holders[rank]]
    return MaskedTable(table, rows.hidden[rank], *done, holders)


def _restore_counts(
    settings: Settings,
    grouping: Grouping,
    table: BinaryTable,
    rank: NDArray[np.int64],
    state: State,
) -> float | None:
    """Check a state and make its counts; return the epsilon of the next iteration, if any."""
    check_steps(settings, state.steps)
    grouping.check(state, table)
    epsilon = next_epsilon(settings, state.steps)
    if epsilon is not None:
        u, v = state.arrays[LATEST]
        grouping.hide(*rename_vertices(u, v, rank))
    return epsilon


def _run_warm_start(
    settings: Settings, grouping: Grouping, make: _MakeGrouping, observer: Observer, share: int = 2
) -> float:
    """Warm start: solve a half of the records (1 / share of all) and leave its counts.

    Returns the weighted utility that it reached. Counts and crowds of a part are smaller by its
    share, and so is epsilon.
    """
    half = Half.of(grouping.table, grouping.graph, grouping.tree, more=share > 2)
    work = make(half.table, settings)
    epsilon = settings.epsilon
    if share < 2**WARM_START_HALVINGS:
        # It leaves its counts in `work`, so the search below starts from them.
        _run_warm_start(settings, work, make, observer, 2 * share)
        epsilon = warm_start_epsilon(settings)
    # The least float halved is 0.
    cover = work.cover(epsilon / share or epsilon, lambda _: observer.report_records(0))
    work.hide(cover.u, cover.v)
    half.leave(work.counts, work.graph, grouping.table, grouping.graph, grouping.counts)
    return work.summarize_step(0, work.edges(cover)).figures["weighted_utility"]
