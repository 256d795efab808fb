"""Keyed BLAKE2b of many texts at once, and how often each digest stands before.

hashlib makes the same digests, one object of Python at a time and four times as slowly. Source:
RFC 7693, whose letters are used here.
"""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel

_BLOCK = 128  # bytes that one compression takes
_START = np.array(
    [
        *(0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1),
        *(0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179),
    ],
    dtype=np.uint64,
)
# uint8 (10, 16): the words of a block in the order in which each of ten rounds takes them.
_ORDER = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ],
    dtype=np.uint8,
)


@kernel
def _turn(word, bits):
    return (word >> np.uint64(bits)) | (word << np.uint64(64 - bits))


@kernel
def _mix(a, b, c, d, x, y):
    a = a + b + x
    d = _turn(d ^ a, 32)
    c = c + d
    b = _turn(b ^ c, 24)
    a = a + b + y
    d = _turn(d ^ a, 16)
    c = c + d
    b = _turn(b ^ c, 63)
    return a, b, c, d


@kernel
def _compress(h, m, taken, last):
    # h uint64 (8,): the state; m uint64 (16,): a block; taken: bytes up to the end of the block
    a, b, c, d, e, f, g, i = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
    p, q, r, s = _START[0], _START[1], _START[2], _START[3]
    t, u, v, w = _START[4] ^ np.uint64(taken), _START[5], _START[6], _START[7]
    if last:
        v = ~v
    for turn in range(12):
        o = _ORDER[turn % len(_ORDER)]
        a, e, p, t = _mix(a, e, p, t, m[o[0]], m[o[1]])
        b, f, q, u = _mix(b, f, q, u, m[o[2]], m[o[3]])
        c, g, r, v = _mix(c, g, r, v, m[o[4]], m[o[5]])
        d, i, s, w = _mix(d, i, s, w, m[o[6]], m[o[7]])
        a, f, r, w = _mix(a, f, r, w, m[o[8]], m[o[9]])
        b, g, s, t = _mix(b, g, s, t, m[o[10]], m[o[11]])
        c, i, p, u = _mix(c, i, p, u, m[o[12]], m[o[13]])
        d, e, q, v = _mix(d, e, q, v, m[o[14]], m[o[15]])
    h[0] ^= a ^ p
    h[1] ^= b ^ q
    h[2] ^= c ^ r
    h[3] ^= d ^ s
    h[4] ^= e ^ t
    h[5] ^= f ^ u
    h[6] ^= g ^ v
    h[7] ^= i ^ w


@kernel
def take_key(key):  # uint8 (1 .. 64 bytes,)
    """Return the state behind the key, uint64 (8,), for digests of 16 bytes."""
    h = _START.copy()
    h[0] ^= np.uint64(0x01010000 ^ (len(key) << 8) ^ 16)
    block = np.zeros(_BLOCK, dtype=np.uint8)
    block[: len(key)] = key
    _compress(h, block.view(np.uint64), _BLOCK, False)
    return h


@parallel_kernel(lambda ends: len(ends))
def digest_texts(begin, end, state, label, texts, begins, ends, digests):
    # state uint64 (8,); label, texts uint8; begins, ends int64 (n,); digests uint64 (n, 2)
    """Digest the label with each text, of which one is not empty."""
    block = np.empty(_BLOCK, dtype=np.uint8)
    words, h = block.view(np.uint64), np.empty(8, dtype=np.uint64)
    for at in range(begin, end):
        h[:] = state
        first = begins[at] - len(label)
        size = ends[at] - first
        done = 0
        while done < size:
            room = min(_BLOCK, size - done)
            for place in range(done, done + room):
                byte = label[place] if place < len(label) else texts[first + place]
                block[place - done] = byte
            block[room:] = 0
            done += room
            _compress(h, words, _BLOCK + done, done == size)
        digests[at, 0] = h[0]
        digests[at, 1] = h[1]


@kernel
def count_before(digests, latest, before):
    # digests uint64 (n, 2); latest int32 (a power of two above n,) of -1; before int32 (n,)
    """Count the equal digests that stand before each; none before zeros, which are nobody's."""
    mask = np.uint64(len(latest) - 1)
    for at in range(len(digests)):
        a, b = digests[at, 0], digests[at, 1]
        before[at] = 0
        if a == 0 and b == 0:
            continue
        # Digests are random, so a bit of them is a place; a place that is taken leads to the next.
        place = a & mask
        while latest[place] >= 0:
            other = latest[place]
            if digests[other, 0] == a and digests[other, 1] == b:
                before[at] = before[other] + 1
                break
            place = (place + np.uint64(1)) & mask
        latest[place] = at
