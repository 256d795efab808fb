"""Secret streams: who is first in a tie, who sits in which row, which key a row carries.

One seed of 32 bytes from the operating system is drawn per run and kept in the vault. SHAKE-256 expands it, one stream a
label, so that a run that was killed draws the same secrets again and no published value tells anything about another.
"""

import hashlib
import secrets
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

SEED_BYTES = 32
DIGEST_BYTES = 16


def new_seed() -> bytes:
    """A seed from the operating system's entropy."""
    return secrets.token_bytes(SEED_BYTES)


def stream(seed: bytes, label: str) -> Callable[[int], NDArray[np.uint32]]:
    """A function that gives the next `count` 32-bit words of the stream with this label."""
    block = 0

    def draw(count: int) -> NDArray[np.uint32]:
        nonlocal block
        digest = hashlib.shake_256(seed + f"crowdcover/{label}/{block}".encode()).digest(4 * count)
        block += 1
        return np.frombuffer(digest, dtype="<u4")

    return draw


def permutation(seed: bytes, label: str, size: int) -> NDArray[np.int64]:
    """A random order of `size` items."""
    words = stream(seed, label)(2 * size).view("<u8")
    return np.argsort(words, kind="stable")


def distinct_keys(seed: bytes, label: str, size: int) -> NDArray[np.str_]:
    """`size` distinct keys of 16 hexadecimal digits, in random order."""
    draw = stream(seed, label)
    while True:
        words = draw(2 * size).view("<u8")
        if len(np.unique(words)) == size:
            return np.array([f"{word:016x}" for word in words.tolist()])


def digest(key: bytes, content: bytes) -> bytes:
    """16 bytes that are the same for the same content, and tell nothing of it to who lacks the key."""
    return hashlib.blake2b(content, key=key, digest_size=DIGEST_BYTES).digest()
