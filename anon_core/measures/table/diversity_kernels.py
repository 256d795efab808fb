"""What the rows that a record fits tell about one sensitive attribute. Auditors only."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.measures.table.bitmap_kernels import list_words, lowest_bit, make_room


@parallel_kernel(lambda odds: len(odds))
def weigh_crowds(
    begin,
    end,
    level,
    bitmap,
    start,
    value,
    number,
    below,
    ordered,
    distinct,
    effective,
    distance,
    odds,
):
    # level, bitmap: `level_index`, `bitmap` of Classes
    # start (row classes + 1,) into value, number: how often a class of rows holds each value
    # below (values + 1,): rows with a lesser value; odds (parts, longest l - 1): zeros, filled
    """Measure the crowd of each record class: distinct values, their effective number, distance.

    odds[:, l - 2] is the greatest quotient, over crowds, of the commonest value's count by the
    counts of all from the l-th commonest value on.
    """
    parts = odds.shape[0]
    for part in range(begin, end):
        place, word = make_room(bitmap)
        count = np.zeros(len(below) - 1, dtype=np.int64)
        seen = np.empty(len(below) - 1, dtype=np.int64)
        for record in range(part, len(level), parts):
            found = 0
            for each in range(list_words(level[record], bitmap, place, word)):
                while word[each]:
                    row = 64 * place[each] + lowest_bit(word[each])
                    word[each] &= word[each] - np.uint64(1)
                    for held in range(start[row], start[row + 1]):
                        if count[value[held]] == 0:
                            seen[found] = value[held]
                            found += 1
                        count[value[held]] += number[held]
            values = np.sort(seen[:found])
            counts = count[values]
            # Only what this record touched: clearing all values would take longer.
            count[values] = 0
            distance[record] = (
                compute_ordered_distance(values, counts, below)
                if ordered
                else compute_equal_distance(values, counts, below)
            )
            counts = np.sort(counts)
            distinct[record] = found
            effective[record] = effective_number(counts)
            weigh_odds(counts, odds[part])


@kernel
def effective_number(counts):
    """exp of the entropy of values with these counts; 0 without values."""
    size, surprise = counts.sum(), 0.0
    for count in counts:
        surprise += count * np.log(count)
    return np.exp(np.log(size) - surprise / size) if size else 0.0


@kernel
def weigh_odds(counts, odds):
    # counts: ascending
    """Raise odds[l - 2] to r_1 / (r_l + ... + r_m) where that is greater."""
    if len(counts) == 0:
        odds[:] = np.inf
        return
    rest = counts.sum()
    for place in range(len(odds)):  # l = place + 2
        if place < len(counts):
            rest -= counts[-1 - place]
        quotient = counts[-1] / rest if rest else np.inf
        odds[place] = max(odds[place], quotient)


@kernel
def compute_equal_distance(values, counts, below):
    """Earth mover's distance from the whole table, 0 .. 1; all values are equally far apart."""
    size, rows = counts.sum(), below[-1]
    excess = 0
    for place in range(len(values)):
        v = values[place]
        excess += max(0, counts[place] * rows - (below[v + 1] - below[v]) * size)
    return excess / (size * rows) if size else 1.0


@kernel
def compute_ordered_distance(values, counts, below):
    """Earth mover's distance from the whole table, 0 .. 1; values are as far apart as their ranks.

    It is the sum over ranks of |share of the crowd up to the rank - share of the table|.
    """
    size, rows = counts.sum(), below[-1]
    if size == 0 or len(below) <= 2:
        return 0.0 if size else 1.0
    carried, up_to_here = 0, 0
    for place in range(-1, len(values)):
        first = 0 if place < 0 else values[place]
        last = values[place + 1] if place + 1 < len(values) else len(below) - 1
        if place >= 0:
            up_to_here += counts[place]
        for v in range(first, last):
            carried += abs(up_to_here * rows - below[v + 1] * size)
    return carried / (size * rows * (len(below) - 2))
