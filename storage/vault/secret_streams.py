"""Secret random streams: the order of ties, the row of each record, the key of each row.

Each run draws one seed of 32 bytes from the operating system and keeps it in the vault. SHAKE-256
expands the seed into one stream for each label. A killed run therefore draws the same secrets
again, and no published value reveals another one.
"""

import hashlib
import secrets
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

SEED_BYTES = 32
DIGEST_BYTES = 16


def new_seed() -> bytes:
    """Draw a seed from the operating system."""
    return secrets.token_bytes(SEED_BYTES)


def seed_random_stream(seed: bytes, label: str) -> Callable[[int], NDArray[np.uint32]]:
    """Return a function that draws the next `count` 32-bit integers of the stream."""
    block = 0

    def draw(count: int) -> NDArray[np.uint32]:
        nonlocal block
        # Each call hashes its own block number, so draw(2) twice gives other numbers than draw(4).
        digest = hashlib.shake_256(seed + f"crowdcover/{label}/{block}".encode()).digest(4 * count)
        block += 1
        return np.frombuffer(digest, dtype="<u4")

    return draw


def draw_permutation(seed: bytes, label: str, size: int) -> NDArray[np.int64]:
    """Draw a random order of `size` items."""
    # 64 bits an item: among 2**20 items two are equal with a probability below 2**-24.
    draws = seed_random_stream(seed, label)(2 * size).view("<u8")
    return np.argsort(draws, kind="stable")


def distinct_keys(seed: bytes, label: str, size: int) -> NDArray[np.bytes_]:
    """Draw `size` distinct keys of 16 hexadecimal digits, in random order."""
    return spell_keys(draw_key_numbers(seed, label, size))


def draw_key_numbers(seed: bytes, label: str, size: int) -> NDArray[np.uint64]:
    """Draw the numbers of `size` distinct keys, in random order; keys ascend as they do."""
    draw = seed_random_stream(seed, label)
    while True:
        numbers = draw(2 * size).view("<u8")
        ordered = np.sort(numbers)  # `np.unique` takes ten times as long
        if (ordered[1:] != ordered[:-1]).all():
            return numbers


def spell_keys(numbers: NDArray[np.uint64]) -> NDArray[np.bytes_]:
    """Keys as 16 hexadecimal digits."""
    return np.frombuffer(numbers.astype(">u8").tobytes().hex().encode(), dtype="S16")


def digest_with_key(key: bytes, content: bytes) -> bytes:
    """Keyed hash of 16 bytes; it reveals nothing about the content without the key."""
    return hashlib.blake2b(content, key=key, digest_size=DIGEST_BYTES).digest()
