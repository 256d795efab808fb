"""Every vector intrinsic against its definition in numpy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from anon_core.jit import lanes
from anon_core.jit.bits import count_set_bits
from anon_core.jit.lanes import CHUNK_WORDS, LANES
from anon_core.search.costs_kernels import pick_levels

ROWS, LEVELS, ATTRIBUTES = 40, 12, 5


@pytest.fixture
def draw():
    return np.random.default_rng(7)


def bits_of(mask):
    return np.array([int(mask) >> lane & 1 for lane in range(LANES)], dtype=bool)


def test_sums_over_levels(draw):
    @njit
    def call(out, base, table, levels, row):
        lanes.add_levels(out, 0, base, 0, table, 0, levels, row * ATTRIBUTES, ATTRIBUTES)
        return pick_levels(table.reshape((1, LEVELS, LANES)), 0, 3, levels, row)

    table = draw.integers(0, 2**12, (LEVELS, LANES)).astype(np.uint16)
    levels = draw.integers(0, LEVELS, (ROWS, ATTRIBUTES)).astype(np.int32)
    base, out = draw.integers(0, 99, LANES).astype(np.uint16), np.empty(LANES, dtype=np.uint16)
    for row in range(ROWS):
        assert call(out, base, table, levels, row) == table[levels[row], 3].sum()
        assert (out == base + table[levels[row]].sum(axis=0)).all()


def test_comparisons_give_a_bit_a_lane(draw):
    @njit
    def within(out, more, limits):
        return lanes.add_within(out, 0, more, LANES, limits)

    @njit
    def step(bounds, table, own, limits):
        return lanes.add_step(bounds, 0, table, LANES, own, LANES, 3, 50, limits)

    out, limits = (draw.integers(0, 300, LANES).astype(np.uint16) for _ in range(2))
    more = draw.integers(0, 300, 2 * LANES).astype(np.uint16)
    expected = out + more[LANES:]
    assert (bits_of(within(out, more, limits)) == (expected <= limits)).all()
    assert (out == expected).all()
    bounds, own = np.zeros(2 * LANES, dtype=np.uint16), draw.integers(2, 5, 2 * LANES)
    expected = more[LANES:] + np.where(own[LANES:] == 3, 0, 50)
    mask = step(bounds, more, own.astype(np.uint16), limits)
    assert (bits_of(mask) == (expected <= limits)).all()
    assert (bounds[LANES:] == expected).all()


def test_transposes(draw):
    square = draw.integers(0, 2**16, LANES * LANES).astype(np.uint16)
    expected = square.reshape(LANES, LANES).T.ravel().copy()
    njit(lambda flat: lanes.transpose_square(flat))(square)
    assert (square == expected).all()


def test_maps_meet(draw):
    @njit
    def call(out, base, maps, levels, count):
        return lanes.meet_maps(out, base, maps, CHUNK_WORDS, 2 * CHUNK_WORDS, levels, 1, count)

    maps = draw.integers(0, 2**64, (LEVELS, 2 * CHUNK_WORDS), dtype=np.uint64)
    base, out = np.full(CHUNK_WORDS, ~np.uint64(0)), np.empty(CHUNK_WORDS, dtype=np.uint64)
    levels = draw.integers(0, LEVELS, 40).astype(np.int32)
    for count in (0, 1, 4, 39):
        expected = np.bitwise_and.reduce([base, *maps[levels[1 : 1 + count], CHUNK_WORDS:]])
        assert bool(call(out, base, maps, levels, count)) == bool(expected.any())
        assert (out == expected).all()


@pytest.mark.parametrize("size", [0, 1, 255, 256, 1000])
def test_tallies_bits(draw, size):
    call = njit(lambda counts, words, size: lanes.tally_bits(counts, LANES, words, 3, size))
    words = draw.integers(0, 2**64, size + 5, dtype=np.uint64)
    counts = np.ones(2 * LANES, dtype=np.int32)
    union = call(counts, words, size)
    used = words[3 : 3 + size]
    assert int(union) == int(np.bitwise_or.reduce(used, initial=0))
    flags = used[:, None] >> np.arange(LANES, dtype=np.uint64) & np.uint64(1)
    assert (counts[LANES:] == 1 + flags.sum(axis=0)).all()
    assert (counts[:LANES] == 1).all()


def test_counts_bits():
    low = njit(lambda m: lanes.lowest_lane(m))
    for word in (1, 2**63, 0b101000):
        assert low(np.uint64(word)) == (word & -word).bit_length() - 1
        assert count_set_bits(np.uint64(word)) == word.bit_count()


@pytest.mark.slow
def test_pointers_need_no_type():
    environment = {**os.environ, "LLVMLITE_ENABLE_IR_LAYER_TYPED_POINTERS": "0"}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", __file__]
    root = Path(__file__).parents[3]
    run = subprocess.run(
        command, env=environment, cwd=root, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
