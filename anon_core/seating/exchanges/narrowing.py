"""Narrow rows that are held in shares: who needs a feature hidden there takes shares elsewhere."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import spread_work
from anon_core.seating.exchanges.counting_kernels import (
    CountedRows,
    Features,
    compute_rows_loss,
    count_features,
)
from anon_core.seating.exchanges.efforts import EFFORTS, SWEEPS, Sweep
from anon_core.seating.exchanges.narrowing_kernels import (
    Scope,
    list_fitting_rows_of_part,
    narrow_part,
)
from anon_core.seating.exchanges.swapping import parties_of, rows_of_near_classes
from anon_core.seating.exchanges.swapping_kernels import ListedRows, Parties
from anon_core.seating.record_classes import RecordClasses
from anon_core.tables.encoding import features_of
from anon_core.tables.loss import LossTable
from anon_core.tables.records import BinaryTable

PART = 8192  # rows that exchange shares with each other
LISTED_PER_SHARE = 8  # fitting rows that a class lists for each share of a row
_LOOKS = 128  # of them are looked at for a share, at least
MOST_COUNTED = 2**15  # shares of a row, at most
_BLANK = MOST_COUNTED  # more than any count: what a row hides in any case
_ROUNDS_AT_MOST_EFFORT = 4  # in which the sweeps are made again, within other parts


def narrow_rows(
    table: BinaryTable,
    classes: RecordClasses,
    near: NDArray[np.int32],
    holders: NDArray[np.int32],
    loss: LossTable,
    effort: int,
) -> int:
    """Let holders exchange shares so that rows lose less; return what all rows then lose.

    Parameters
    ----------
    table : BinaryTable
        In the order that decides ties.
    classes : RecordClasses
    near : int32 (classes, m)
        The nearest classes of each.
    holders : int32 (n, D)
        By row and share the class that holds it, first that of the own record; changed. At most
        `MOST_COUNTED` shares.
    loss : LossTable
    effort : {0, 1, 2, 3}
        Each does what the one below does, then more.

    Notes
    -----
    A feature of a row is dropped if each holder that needs it hidden there can exchange its share
    for one of another row, and all these exchanges lose less than the feature. A row is looked for
    that hides enough already; where that is not found, and the sweep pays, the cheapest of the
    nearest. What saves most for each holder comes first: a sweep takes what saves more than its
    limit, and the next one has a lower limit. Rows exchange shares within parts of up to `PART`
    rows, neighbours in an order that is another one in each round. Where people own several records
    one part comes after the other: what a person holds counts over all rows.

    Time of a sweep is O(n D^2 looks) for each feature at most, far less where few holders need it;
    all rows together never lose more. All numbers are whole, and the result depends on no number of
    threads.
    """
    features, spans = build_features(table, classes, loss)
    dearest = _find_dearest(table, features, spans)
    counted = _allot_counts(features, holders)
    _count_rows(table, features, spans, counted)
    nearest, parties = rows_of_near_classes(classes, near), parties_of(classes, holders)
    sweeps = [sweep for added in SWEEPS[: effort + 1] for sweep in added]
    lost = compute_rows_loss(features, counted)
    for turn in range(_ROUNDS_AT_MOST_EFFORT if effort == EFFORTS - 1 else 1):
        parts = _cut_parts(table, turn)
        narrow_range = _prepare_sweeps(parts, sweeps, dearest, features, counted, parties, nearest)
        if len(parties.home):
            narrow_range(0, len(parts))
        else:
            # Parts have no row in common and exchange within themselves, so threads never meet.
            spread_work(narrow_range, len(parts))
        before, lost = lost, compute_rows_loss(features, counted)
        if lost == before:
            break
    return int(lost)


def _prepare_sweeps(
    parts: list[NDArray[np.int64]],
    sweeps: list[Sweep],
    dearest: int,
    features: Features,
    counted: CountedRows,
    parties: Parties,
    near: ListedRows,
) -> Callable[[int, int], None]:
    """Return what sweeps the parts begin .. end - 1; rows of a part exchange shares."""
    label = np.empty(len(features.rows), dtype=np.int32)
    for number, rows in enumerate(parts):
        label[rows] = number
    looks = np.int64(max(_LOOKS, counted.holders.shape[1]))

    def narrow_range(begin: int, end: int) -> None:
        for rows in parts[begin:end]:
            listed = _list_fitting_rows(rows, features, counted)
            for halvings, paid in sweeps:
                scope = Scope(label, listed, near, looks, np.int64(paid))
                least = np.int64(dearest >> halvings)
                narrow_part(rows, least, features, counted, parties, scope)

    return narrow_range


def build_features(
    table: BinaryTable, classes: RecordClasses, loss: LossTable
) -> tuple[Features, NDArray[np.int64]]:
    """Return features whose prices add up to what a row loses, and where those of a column begin.

    A category has a feature for each level, an ordered attribute one between each two neighbouring
    levels. A cell of several levels of a category hides its own level, too: that costs what a
    cell loses in addition. Where that is something, an ordered attribute has its levels, too. An
    interval that allows missing and given values loses all and what it is wide: more than it does.
    In a tree only features of the own path cost: what the node above each loses more.
    """
    book, codes = table.codebook, table.codes
    columns: list[NDArray[np.bool_]] = []
    price, own, category, spans = [], [], [], [0]
    for a, (first, end) in enumerate(
        zip(book.level_offsets[:-1], book.level_offsets[1:], strict=True)
    ):
        levels = np.arange(end - first)
        if book.ordinal[a]:
            steps = np.abs(np.diff(loss.position[first:end]))
            columns.append(codes[a][:, None] > levels[:-1])
            price.append(np.minimum(loss.whole[a], np.maximum(1, steps)))
            own.append(price[-1])
            category.append(np.zeros(len(levels) - 1, dtype=np.bool_))
        if (attribute := book.attributes[a]).tree is not None:
            columns.append(features_of(book, a, table.bits))
            node = loss.node[book.bit_offsets[a] + a :][: attribute.bits + 1]
            own.append(node[attribute.parents] - node[:-1])
            own[-1][: len(levels)] += loss.first[a]
            price.append(np.zeros(attribute.bits, dtype=np.int64))
            category.append(np.ones(attribute.bits, dtype=np.bool_))
        elif not book.ordinal[a] or loss.first[a]:
            columns.append(codes[a][:, None] == levels)
            step = 0 if book.ordinal[a] else max(1, int(loss.step[a]))
            price.append(np.full(len(levels), step))
            own.append(np.full(len(levels), loss.first[a]))
            category.append(np.ones(len(levels), dtype=np.bool_))
        spans.append(sum(map(len, price)))
    rows = _pack_flags(np.concatenate(columns, axis=1))
    features = Features(
        rows,
        rows[classes.first],
        _fill_words(np.concatenate(price)),
        _fill_words(np.concatenate(own)),
        _pack_flags(np.concatenate(category)[None])[0],
    )
    return features, np.array(spans)


def _find_dearest(table: BinaryTable, features: Features, spans: NDArray[np.int64]) -> int:
    """What a row loses at most by one feature."""
    trees = [place for place, a in enumerate(table.codebook.attributes) if a.tree is not None]
    own = [int(features.own[spans[place] : spans[place + 1]].max()) for place in trees]
    return max([int(features.price.max(initial=1)), *own])


def _pack_flags(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Flags (n, f) as words, uint64 (n, -(-f // 64))."""
    filled = np.zeros((len(flags), -(-flags.shape[1] // 64) * 64), dtype=np.bool_)
    filled[:, : flags.shape[1]] = flags
    packed = np.packbits(filled, axis=1, bitorder="little")
    # "<u8": on a machine of the other byte order, bit b of a word is still feature b.
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)


def _fill_words(prices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Prices of features, with zeros up to whole words."""
    return np.pad(prices.astype(np.int64), (0, -len(prices) % 64))


def _allot_counts(features: Features, holders: NDArray[np.int32]) -> CountedRows:
    n, words = features.rows.shape
    counts = np.empty((n, 64 * words), dtype=np.uint16)
    return CountedRows(holders, counts, np.empty((n, words), dtype=np.uint64))


def _count_rows(
    table: BinaryTable, features: Features, spans: NDArray[np.int64], counted: CountedRows
) -> None:
    """Count who needs each feature hidden in each row; `spans`: where those of a column begin."""
    counted.counts[:] = 0
    for blank, first, end in zip(table.blank, spans[:-1], spans[1:], strict=True):
        counted.counts[blank, first:end] = _BLANK
    for place, attribute in enumerate(table.codebook.attributes):
        if attribute.tree is not None:
            of_tree = counted.counts[:, spans[place] : spans[place + 1]]
            of_tree[~features_of(table.codebook, place, table.bits)] = _BLANK
    count_features(features, counted)


def _cut_parts(table: BinaryTable, turn: int) -> list[NDArray[np.int64]]:
    """Rows by parts of neighbours in a lexicographic order, each ascending."""
    order = np.lexsort(table.codes[_turn_attributes(len(table.codes), turn)])
    parts = -(-table.records // PART)
    return [np.sort(part) for part in np.array_split(order, parts)]


def _list_fitting_rows(
    rows: NDArray[np.int64], features: Features, counted: CountedRows
) -> ListedRows:
    """Rows of a part that each class fits which holds a share there."""
    start = np.full(len(features.classes) + 1, -1, dtype=np.int64)
    start[np.unique(counted.holders[rows])] = 0
    wanted = int((start == 0).sum())
    most = LISTED_PER_SHARE * counted.holders.shape[1] * len(rows) // max(wanted, len(rows))
    most = min(len(rows), max(1, most))
    listed = np.empty(wanted * most, dtype=np.int32)
    found = list_fitting_rows_of_part(rows, most, features, counted.hides, start, listed)
    return ListedRows(start, listed[:found].copy())


def _turn_attributes(attributes: int, turn: int) -> NDArray[np.int64]:
    """An order of the attributes: each turn begins elsewhere and takes another stride."""
    # A stride without a common factor visits every attribute once.
    strides = [s for s in range(1, attributes + 1) if math.gcd(s, attributes) == 1]
    return (turn + strides[turn % len(strides)] * np.arange(attributes)) % attributes
