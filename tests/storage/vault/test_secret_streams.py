import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdcover.storage.vault import secret_streams

SEED = bytes(range(32))
LABELS = ("order", "matching", "keys")


def test_seeds_come_from_the_operating_system_and_never_twice():
    seeds = {secret_streams.new_seed() for _ in range(50)}
    assert len(seeds) == 50
    assert {len(seed) for seed in seeds} == {secret_streams.SEED_BYTES} == {32}


def test_a_stream_is_shake_256_of_seed_label_and_block():
    draw = secret_streams.seed_random_stream(SEED, "keys")
    for block in (b"0", b"1"):
        expected = hashlib.shake_256(SEED + b"crowdcover/keys/" + block).digest(20)
        assert draw(5).astype("<u4").tobytes() == expected


def test_streams_are_reproducible():
    first, second = (secret_streams.seed_random_stream(SEED, "order") for _ in range(2))
    for count in (1, 7, 1000):
        assert np.array_equal(first(count), second(count))


def test_streams_differ_by_label_by_seed_and_by_block():
    draws = [
        secret_streams.seed_random_stream(seed, label)
        for seed in (SEED, SEED[::-1])
        for label in LABELS
    ]
    words = np.concatenate([draw(500) for draw in draws for _ in range(2)])
    # 6000 words of 32 bits have 0.004 equal pairs on average. The seeds are fixed: there are none.
    assert len(np.unique(words)) == len(words)


def test_words_fill_their_range_evenly():
    words = secret_streams.seed_random_stream(SEED, "matching")(40_000)
    assert words.dtype == np.uint32
    counts = np.bincount(words >> 28, minlength=16)
    # Chi-squared, 15 degrees of freedom: 1 in 10,000 seeds exceeds 44. The seed is fixed.
    assert ((counts - 2500) ** 2 / 2500).sum() < 44
    ones = np.unpackbits(words.view(np.uint8)).mean()
    assert abs(ones - 0.5) < 0.005


@given(
    size=st.integers(1, 300),
    label=st.sampled_from(LABELS),
    seed=st.binary(min_size=32, max_size=32),
)
def test_a_permutation_has_every_place_once(size, label, seed):
    order = secret_streams.draw_permutation(seed, label, size)
    assert sorted(order.tolist()) == list(range(size))
    assert np.array_equal(order, secret_streams.draw_permutation(seed, label, size))


def test_every_order_of_three_is_drawn_about_equally_often():
    drawn = [
        tuple(secret_streams.draw_permutation(bytes([i, j] + [0] * 30), "order", 3))
        for i in range(60)
        for j in range(60)
    ]
    counts = np.array([drawn.count(order) for order in sorted(set(drawn))])
    assert len(counts) == 6
    # 3600 draws, 5 degrees of freedom: 1 in 10,000 seeds exceeds 26. The seeds are fixed.
    assert ((counts - 600) ** 2 / 600).sum() < 26


@given(size=st.integers(1, 300))
def test_keys_are_distinct_texts_of_sixteen_hexadecimal_digits(size):
    keys = secret_streams.distinct_keys(SEED, "keys", size).tolist()
    assert len(set(keys)) == size
    assert all(len(key) == 16 and set(key) <= set(b"0123456789abcdef") for key in keys)
    assert keys == secret_streams.distinct_keys(SEED, "keys", size).tolist()


def test_keys_carry_no_order_of_their_own():
    keys = secret_streams.distinct_keys(SEED, "keys", 2000)
    ranks = np.argsort(np.argsort(keys))
    # The correlation of place and rank has a standard deviation of 1 / sqrt(2000) = 0.022.
    assert abs(np.corrcoef(ranks, np.arange(2000))[0, 1]) < 4 * 0.022


def test_equal_keys_are_drawn_again(monkeypatch):
    blocks = [np.array([1, 0, 1, 0], dtype=np.uint32), np.array([1, 0, 2, 0], dtype=np.uint32)]
    monkeypatch.setattr(
        secret_streams,
        "seed_random_stream",
        lambda seed, label: lambda count: blocks.pop(0)[:count],
    )
    assert secret_streams.distinct_keys(SEED, "keys", 2).tolist() == [b"%016x" % 1, b"%016x" % 2]
    assert blocks == []


@pytest.mark.parametrize("label", LABELS)
def test_secrets_tell_nothing_about_the_seed_in_plain(label):
    assert SEED[:8] not in secret_streams.seed_random_stream(SEED, label)(1000).tobytes()
