"""What reducers do: intersect the list of each pivot message with those of core messages.

A kernel stops where the rows that it may write are full, and goes on from its cursor.
"""

from typing import NamedTuple

import numpy as np

from anon_core.jit.kernel import kernel
from anon_core.measures.graph.triangles.mapping_kernels import bucket_of

CURSOR_PAIR, CURSOR_PLACE, CURSOR_ROWS, _KEY, _LENGTH, CURSOR_TOP = (
    0,
    1,
    2,
    3,
    4,
    5,
)  # of a cursor, int64 (6,)
HEADER_WORDS = 3  # words of a buffered message before its list: sender, uses left, length
_DONE, _ROWS_FULL, BUFFER_FULL = 0, 1, 2


class PairBlock(NamedTuple):
    """Pairs that were read."""

    channel: np.ndarray  # uint8 (count,): 0 core, 1 pivot
    key: np.ndarray  # int32 (count,)
    start: np.ndarray  # int64 (count + 1,)
    word: np.ndarray  # int32 (words,)


class BucketSchedule(NamedTuple):
    """The keys of a reducer, u modulo reducers, and the buckets in which they come."""

    reducer: int
    reducers: int
    bounds: np.ndarray  # int64 (buckets + 1,)


class Buffer(NamedTuple):
    """Messages in the order in which they came, and a hash table of their senders."""

    word: np.ndarray  # int32 (words,); cursor[CURSOR_TOP] are used
    table: np.ndarray  # int32 (power of 2,): place of a message + 1; 0: none


@kernel
def intersect_lists(ours, theirs, v, u, cursor, rows):  # ours, theirs: ascending
    """Write (v, u, w) for each w in both lists."""
    i = j = 0
    at = cursor[CURSOR_ROWS]
    while i < len(ours) and j < len(theirs):
        a, b = ours[i], theirs[j]
        if a == b:
            rows[at, 0], rows[at, 1], rows[at, 2] = v, u, a
            at += 1
        i += a <= b
        j += b <= a
    cursor[CURSOR_ROWS] = at


@kernel
def close_each(block, core, cursor, rows):  # core int32 (longest,)
    """MR-Baseline: intersect each pivot message with the core message before it."""
    for pair in range(cursor[CURSOR_PAIR], len(block.key)):
        values = block.word[block.start[pair] : block.start[pair + 1]]
        cursor[CURSOR_PAIR] = pair
        if block.channel[pair] == 0:
            core[: len(values)] = values
            cursor[_KEY], cursor[_LENGTH] = block.key[pair], len(values)
        elif cursor[_KEY] == block.key[pair]:
            if len(rows) - cursor[CURSOR_ROWS] < len(values):
                return _ROWS_FULL
            own = core[: cursor[_LENGTH]]
            intersect_lists(values[1:], own, values[0], block.key[pair], cursor, rows)
    cursor[CURSOR_PAIR] = len(block.key)
    return _DONE


@kernel
def close_cores(block, key, start, word, cores, reducer, reducers, cursor, rows):
    """Bermuda-EC: intersect each pivot message with every core message in memory that it reaches.

    key int32, start int64, word int32: of the core messages, ascending by key; `cores` of them.
    """
    for pair in range(cursor[CURSOR_PAIR], len(block.key)):
        values = block.word[block.start[pair] : block.start[pair + 1]]
        cursor[CURSOR_PAIR] = pair
        for i in range(max(1, cursor[CURSOR_PLACE]), len(values)):
            if values[i] % reducers == reducer:
                at = np.searchsorted(key[:cores], values[i])
                if at < cores and key[at] == values[i]:
                    if len(rows) - cursor[CURSOR_ROWS] < len(values):
                        cursor[CURSOR_PLACE] = i
                        return _ROWS_FULL
                    own = word[start[at] : start[at + 1]]
                    intersect_lists(values[1:], own, values[0], values[i], cursor, rows)
        cursor[CURSOR_PLACE] = 0
    cursor[CURSOR_PAIR] = len(block.key)
    return _DONE


@kernel
def close_buffered(block, bucket, evict, schedule, core, buffer, cursor, rows):
    """Bermuda-VC: a core message fetches messages from the buffer; a pivot message enters it.

    A core message holds ranks in ascending order: higher neighbours come before its own rank.
    """
    for pair in range(cursor[CURSOR_PAIR], len(block.key)):
        values, u = block.word[block.start[pair] : block.start[pair + 1]], block.key[pair]
        cursor[CURSOR_PAIR] = pair
        if block.channel[pair] == 0:
            lower = np.searchsorted(values, u)
            own = values[:lower]
            # A copy: messages that meet it may come in later blocks, when this block is gone.
            core[: len(own)] = own
            cursor[_KEY], cursor[_LENGTH] = u, len(own)
            for i in range(max(lower, cursor[CURSOR_PLACE]), len(values)):
                if len(rows) - cursor[CURSOR_ROWS] < len(own):
                    cursor[CURSOR_PLACE] = i
                    return _ROWS_FULL
                intersect_message(values[i], u, own, evict, buffer, cursor, rows)
            cursor[CURSOR_PLACE] = 0
            continue
        listed = values[1:]
        if len(rows) - cursor[CURSOR_ROWS] < len(listed):
            return _ROWS_FULL
        # The key of a pivot message is the first of its uses, and that is now.
        left = uses_in(listed, bucket, schedule) - 1
        if left > 0 and not put_message(values[0], left, listed, buffer, cursor):
            return BUFFER_FULL
        intersect_lists(listed, core[: cursor[_LENGTH]], values[0], u, cursor, rows)
    cursor[CURSOR_PAIR] = len(block.key)
    return _DONE


@kernel
def close_stream(words, core, cursor, rows):  # words int32: messages as the buffer holds them
    """Intersect each message with the present core message; returns the words of those done."""
    at = np.int64(0)
    own, u = core[: cursor[_LENGTH]], cursor[_KEY]
    while at + HEADER_WORDS <= len(words) and at + HEADER_WORDS + words[at + 2] <= len(words):
        if len(rows) - cursor[CURSOR_ROWS] < len(own):
            break
        size = words[at + 2]
        intersect_lists(
            words[at + HEADER_WORDS : at + HEADER_WORDS + size], own, words[at], u, cursor, rows
        )
        at += HEADER_WORDS + size
    return at


@kernel
def intersect_message(v, u, own, evict, buffer, cursor, rows):
    """Intersect with the message of v if it is here; it may not be needed again."""
    at = find_message(v, buffer)
    if at >= 0:
        length = buffer.word[at + 2]
        intersect_lists(
            buffer.word[at + HEADER_WORDS : at + HEADER_WORDS + length], own, v, u, cursor, rows
        )
        if evict:
            buffer.word[at + 1] -= 1


@kernel
def uses_in(listed, bucket, schedule):
    """Return how often a reducer uses a message in a bucket: once for each of its keys there."""
    uses = np.int32(0)
    low, high = schedule.bounds[bucket], schedule.bounds[bucket + 1]
    for i in range(len(listed)):
        mine = listed[i] % schedule.reducers == schedule.reducer
        uses += np.int32(mine and low <= listed[i] < high)
    return uses


@kernel
def slot_of(v, table):
    """Return where a sender is looked for first."""
    return np.int64((np.uint64(v) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (
        len(table) - 1
    )


@kernel
def find_message(v, buffer):
    """Return where the message of v begins, or -1."""
    slot = slot_of(v, buffer.table)
    while buffer.table[slot] > 0:
        at = buffer.table[slot] - 1
        if buffer.word[at] == v:
            return np.int64(at)
        slot = (slot + 1) & (len(buffer.table) - 1)
    return np.int64(-1)


@kernel
def index_message(at, buffer):
    """Enter the message at a place into the table."""
    slot = slot_of(buffer.word[at], buffer.table)
    while buffer.table[slot] > 0:
        slot = (slot + 1) & (len(buffer.table) - 1)
    buffer.table[slot] = at + 1


@kernel
def put_message(v, uses, listed, buffer, cursor):
    """Add a message; returns False if there is no room even after messages without use left."""
    if cursor[CURSOR_TOP] + HEADER_WORDS + len(listed) > len(buffer.word):
        compact_buffer(buffer, cursor)
        if cursor[CURSOR_TOP] + HEADER_WORDS + len(listed) > len(buffer.word):
            return False
    at = cursor[CURSOR_TOP]
    buffer.word[at], buffer.word[at + 1], buffer.word[at + 2] = v, uses, len(listed)
    buffer.word[at + HEADER_WORDS : at + HEADER_WORDS + len(listed)] = listed
    cursor[CURSOR_TOP] = at + HEADER_WORDS + len(listed)
    index_message(at, buffer)
    return True


@kernel
def compact_buffer(buffer, cursor):
    """Remove the messages that have no use left, and build the table again."""
    buffer.table[:] = 0
    at = to = np.int64(0)
    while at < cursor[CURSOR_TOP]:
        size = HEADER_WORDS + buffer.word[at + 2]
        if buffer.word[at + 1] > 0:
            for i in range(size):
                # In place: `to` never passes `at`.
                buffer.word[to + i] = buffer.word[at + i]
            index_message(to, buffer)
            to += size
        at += size
    cursor[CURSOR_TOP] = to


@kernel
def size_backups(block, bucket, schedule, sizes):  # sizes int64 (buckets,)
    """Sum the words that pivot messages take in the files of later buckets."""
    for pair in range(len(block.key)):
        if block.channel[pair] == 1:
            listed = block.word[block.start[pair] + 1 : block.start[pair + 1]]
            last = bucket
            for i in range(len(listed)):
                if listed[i] % schedule.reducers == schedule.reducer:
                    b = bucket_of(schedule.bounds, listed[i])
                    # Lists ascend, so buckets do, too: `b > last` counts a message once for each
                    # later bucket.
                    if b > last:
                        sizes[b] += HEADER_WORDS + len(listed)
                        last = b


@kernel
def write_backups(block, bucket, schedule, out):
    """Write the messages that are used in one later bucket, as the buffer holds them."""
    at = 0
    for pair in range(len(block.key)):
        if block.channel[pair] == 1:
            values = block.word[block.start[pair] : block.start[pair + 1]]
            uses, size = uses_in(values[1:], bucket, schedule), len(values) - 1
            if uses > 0:
                out[at], out[at + 1], out[at + 2] = values[0], uses, size
                out[at + HEADER_WORDS : at + HEADER_WORDS + size] = values[1:]
                at += HEADER_WORDS + size
