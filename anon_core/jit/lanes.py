"""64 lanes as one LLVM vector: code that numba does not vectorise by itself.

Arrays are C-contiguous, uint16 unless stated otherwise, and addressed by flat index. LLVM splits
the vectors for the processor at hand, so every processor computes the same bytes. Every load and
address states its type: LLVM pointers carry none. A plain numba loop takes 2.5 (`transpose_square`)
to 30 times as long (`add_within`, `add_levels`); what pays less than twice is plain numba
(docs/decisions/016).
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

LANE_BITS = 6
LANES = 1 << LANE_BITS
_LINE = 64  # bytes of a cache line
CHUNK_WORDS = 32  # words of a bitmap joined at a time

_LANE = ir.IntType(16)
_MASK = ir.IntType(64)
_VECTOR = ir.VectorType(_LANE, LANES)
_FLAGS = ir.VectorType(ir.IntType(1), LANES)
_WORDS = ir.VectorType(_MASK, CHUNK_WORDS)
_BYTES = ir.VectorType(ir.IntType(8), LANES)
_COUNTS = ir.VectorType(ir.IntType(32), LANES)


def zero_lanes(*shape: int) -> NDArray[np.uint16]:
    """Zeros, uint16, that start at a cache line; `np.zeros` starts anywhere.

    No vector of an aligned array then touches one line more than it fills.
    """
    size = 2 * math.prod(shape)
    memory = np.zeros(size + _LINE, dtype=np.uint8)
    begin = -memory.ctypes.data % _LINE
    return memory[begin : begin + size].view(np.uint16).reshape(shape)


class _Arrays:
    """Typed access to the arrays of one call by flat index."""

    def __init__(self, context, builder):
        self._context, self._builder = context, builder

    def _address(self, typ, kind, array, index):
        proxy = cgutils.create_struct_proxy(kind)(self._context, self._builder, value=array)
        element = self._context.get_data_type(kind.dtype)
        place = self._builder.gep(proxy.data, [index], source_etype=element)
        return self._builder.bitcast(place, typ.as_pointer())  # nothing where pointers are opaque

    def element(self, kind, array, index):
        typ = self._context.get_data_type(kind.dtype)
        return self._builder.load(self._address(typ, kind, array, index), typ=typ)

    def vector(self, kind, array, index, typ=_VECTOR):
        place = self._address(typ, kind, array, index)
        return self._builder.load(place, align=typ.element.width // 8, typ=typ)

    def put(self, value, kind, array, index):
        typ = value.type.element if isinstance(value.type, ir.VectorType) else value.type
        place = self._address(value.type, kind, array, index)
        self._builder.store(value, place, align=typ.width // 8)


class _Variable:
    """A value on the stack, which LLVM turns into a register."""

    def __init__(self, builder, value):
        self._builder, self._type = builder, value.type
        self._place = cgutils.alloca_once_value(builder, value)

    def get(self):
        return self._builder.load(self._place, typ=self._type)

    def set(self, value):
        self._builder.store(value, self._place)


def _build_selection(lanes):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)


def _build_zeros(typ):
    return ir.Constant(typ, [0] * typ.count)


def _splat_value(builder, value):
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    lane = ir.Constant(ir.IntType(32), 0)
    first = builder.insert_element(nothing, builder.trunc(value, _LANE), lane)
    return builder.shuffle_vector(first, nothing, _build_selection([0] * LANES))


def _build_mask(builder, left, right):
    return builder.bitcast(builder.icmp_unsigned("<=", left, right), _MASK)


@intrinsic
def add_levels(_typing, out, o, base, i, table, t, levels, r, count):
    """out[o:] = base[i:] + sum of table[t + LANES * q:] over q in levels[r : r + count] (int32)."""
    index = types.intp
    signature = types.void(out, index, base, index, table, index, levels, index, index)

    def generate(context, builder, signature, arguments):
        out, o, base, i, table, t, levels, r, count = arguments
        kinds, arrays = signature.args, _Arrays(context, builder)
        total = _Variable(builder, arrays.vector(kinds[2], base, i))
        with cgutils.for_range(builder, count) as loop:
            level = arrays.element(kinds[6], levels, builder.add(r, loop.index))
            row = builder.mul(builder.zext(level, t.type), ir.Constant(t.type, LANES))
            more = arrays.vector(kinds[4], table, builder.add(t, row))
            total.set(builder.add(total.get(), more))
        arrays.put(total.get(), kinds[0], out, o)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_within(_typing, out, o, more, x, limits):
    """out[o:] += more[x:]; returns a uint64 whose bit l says that lane l is at most limits[l]."""
    signature = types.uint64(out, types.intp, more, types.intp, limits)

    def generate(context, builder, signature, arguments):
        out, o, more, x, limits = arguments
        kinds, arrays = signature.args, _Arrays(context, builder)
        total = builder.add(arrays.vector(kinds[0], out, o), arrays.vector(kinds[2], more, x))
        arrays.put(total, kinds[0], out, o)
        return _build_mask(builder, total, arrays.vector(kinds[4], limits, ir.Constant(o.type, 0)))

    return signature, generate


@intrinsic
def add_step(_typing, bounds, d, table, t, own, w, level, step, limits):
    """bounds[d + 1] = bounds[d] + table[t:], plus `step` in lanes where own[w:] is not `level`.

    bounds counts in units of LANES. Returns the mask of `add_within`.
    """
    index = types.intp
    signature = types.uint64(bounds, index, table, index, own, index, index, index, limits)

    def generate(context, builder, signature, arguments):
        bounds, d, table, t, own, w, level, step, limits = arguments
        kinds, arrays = signature.args, _Arrays(context, builder)
        here = builder.mul(d, ir.Constant(d.type, LANES))
        below = builder.add(here, ir.Constant(d.type, LANES))
        reached = arrays.vector(kinds[0], bounds, here)
        total = builder.add(reached, arrays.vector(kinds[2], table, t))
        levels = arrays.vector(kinds[4], own, w)
        other = builder.icmp_unsigned("!=", levels, _splat_value(builder, level))
        more = builder.select(other, _splat_value(builder, step), _build_zeros(_VECTOR))
        total = builder.add(total, more)
        arrays.put(total, kinds[0], bounds, below)
        return _build_mask(builder, total, arrays.vector(kinds[8], limits, ir.Constant(d.type, 0)))

    return signature, generate


@intrinsic
def transpose_square(_typing, square):
    """Transpose a square (LANES * LANES,) in place: six rounds exchange halves (Eklundh)."""
    signature = types.void(square)

    def generate(context, builder, signature, arguments):
        kind, index = signature.args[0], context.get_value_type(types.intp)
        arrays, square = _Arrays(context, builder), arguments[0]
        for bit in range(LANE_BITS):
            size = 1 << bit
            to_upper = [LANES + lane - size if lane & size else lane for lane in range(LANES)]
            to_lower = [LANES + lane if lane & size else lane + size for lane in range(LANES)]
            with cgutils.for_range(builder, ir.Constant(index, LANES // 2)) as loop:
                # Row r lacks the bit: it and row r + size swap columns with and without the bit.
                low = builder.and_(loop.index, ir.Constant(index, size - 1))
                high = builder.mul(builder.sub(loop.index, low), ir.Constant(index, 2))
                upper = builder.mul(builder.add(high, low), ir.Constant(index, LANES))
                lower = builder.add(upper, ir.Constant(index, size * LANES))
                one, two = (arrays.vector(kind, square, start) for start in (upper, lower))
                for target, lanes in ((upper, to_upper), (lower, to_lower)):
                    chosen = builder.shuffle_vector(one, two, _build_selection(lanes))
                    arrays.put(chosen, kind, square, target)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def meet_maps(_typing, out, base, maps, m, width, levels, r, count):
    """out[:size] = base[:size] & all maps[m + width * q:] over q in levels[r : r + count].

    size is CHUNK_WORDS; out, base and maps are uint64, levels is int32. Returns zero if no bit is
    left, uint64.
    """
    index = types.intp
    signature = types.uint64(out, base, maps, index, index, levels, index, index)

    def generate(context, builder, signature, arguments):
        out, base, maps, m, width, levels, r, count = arguments
        kinds, arrays = signature.args, _Arrays(context, builder)
        zero = ir.Constant(m.type, 0)
        left = _Variable(builder, arrays.vector(kinds[1], base, zero, _WORDS))
        with cgutils.for_range(builder, count) as loop:
            level = arrays.element(kinds[5], levels, builder.add(r, loop.index))
            start = builder.add(m, builder.mul(width, builder.zext(level, m.type)))
            left.set(builder.and_(left.get(), arrays.vector(kinds[2], maps, start, _WORDS)))
        some = left.get()
        arrays.put(some, kinds[0], out, zero)
        size = CHUNK_WORDS
        while size > 1:  # halves are joined: llvmlite has no reduction
            size //= 2
            nothing = ir.Constant(some.type, ir.Undefined)
            halves = (_build_selection(list(range(begin, begin + size))) for begin in (0, size))
            some = builder.or_(*(builder.shuffle_vector(some, nothing, half) for half in halves))
        return builder.extract_element(some, ir.Constant(ir.IntType(32), 0))

    return signature, generate


@intrinsic
def lowest_lane(_typing, mask):
    """Index of the lowest set bit of a uint64 that is not zero."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.intp(types.uint64), generate


@intrinsic
def tally_bits(_typing, counts, start, words, begin, size):
    """Add to counts[start + l] how many of words[begin : begin + size] have bit l.

    counts is int32, words is uint64. Returns the union of the words, uint64.
    """
    index = types.intp
    signature = types.uint64(counts, index, words, index, index)

    def generate(context, builder, signature, arguments):
        counts, start, words, begin, size = arguments
        kinds, arrays = signature.args, _Arrays(context, builder)
        total = _Variable(builder, _build_zeros(_BYTES))
        union = _Variable(builder, ir.Constant(_MASK, 0))
        most = ir.Constant(size.type, 255)  # a byte counts no further
        with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), size, most) as (first, _):
            left = builder.sub(size, first)
            part = builder.select(builder.icmp_signed("<", left, most), left, most)
            total.set(_build_zeros(_BYTES))
            with cgutils.for_range(builder, part) as loop:
                at = builder.add(begin, builder.add(first, loop.index))
                word = arrays.element(kinds[2], words, at)
                union.set(builder.or_(union.get(), word))
                flags = builder.zext(builder.bitcast(word, _FLAGS), _BYTES)
                total.set(builder.add(total.get(), flags))
            before = arrays.vector(kinds[0], counts, start, _COUNTS)
            sums = builder.add(before, builder.zext(total.get(), _COUNTS))
            arrays.put(sums, kinds[0], counts, start)
        return union.get()

    return signature, generate
