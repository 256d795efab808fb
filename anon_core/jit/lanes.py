"""64 lanes as one vector of LLVM: what numba would not vectorise by itself.

Arrays are C-contiguous, uint16 unless said otherwise, and addressed by flat index; machine code for vectors narrower
than 64 lanes is LLVM's business, so the same bytes come out of every processor.
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
LINE = 64  # bytes
CHUNK = 32  # words of a bitmap joined at a time
SHORT = 4  # words of a packed row that are compared without a loop

_LANE = ir.IntType(16)
_MASK = ir.IntType(64)
_VECTOR = ir.VectorType(_LANE, LANES)
_FLAGS = ir.VectorType(ir.IntType(1), LANES)
_WORDS = ir.VectorType(_MASK, CHUNK)
_SELECTION = ir.VectorType(ir.IntType(32), LANES)


def zero_lanes(*shape: int) -> NDArray[np.uint16]:
    """Zeros that begin with a line of the cache, which np.zeros seldom does: no vector touches one line more than it fills."""
    size = 2 * math.prod(shape)
    memory = np.zeros(size + LINE, dtype=np.uint8)
    begin = -memory.ctypes.data % LINE
    return memory[begin : begin + size].view(np.uint16).reshape(shape)


def _pointer(context, builder, kind, array, index):
    data = cgutils.create_struct_proxy(kind)(context, builder, value=array).data
    return builder.gep(data, [index])


def _load(context, builder, kind, array, index):
    place = builder.bitcast(_pointer(context, builder, kind, array, index), _VECTOR.as_pointer())
    return builder.load(place, align=2)


def _store(context, builder, vector, kind, array, index):
    place = builder.bitcast(_pointer(context, builder, kind, array, index), _VECTOR.as_pointer())
    builder.store(vector, place, align=2)


def _splat(builder, value):
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(
        nothing, builder.trunc(value, _LANE), ir.Constant(ir.IntType(32), 0)
    )
    return builder.shuffle_vector(first, nothing, ir.Constant(_SELECTION, [0] * LANES))


def _mask(builder, left, right):
    return builder.bitcast(builder.icmp_unsigned("<=", left, right), _MASK)


@intrinsic
def add_levels(_typing, out, o, base, i, table, t, levels, r, count):
    """out[o:] = base[i:] + the sum of table[t + LANES * q:] over q in levels[r : r + count] (int32)."""
    index = types.intp
    signature = types.void(out, index, base, index, table, index, levels, index, index)

    def generate(context, builder, signature, arguments):
        out, o, base, i, table, t, levels, r, count = arguments
        kinds = signature.args
        total = cgutils.alloca_once(builder, _VECTOR)
        builder.store(_load(context, builder, kinds[2], base, i), total)
        with cgutils.for_range(builder, count) as loop:
            place = _pointer(context, builder, kinds[6], levels, builder.add(r, loop.index))
            level = builder.zext(builder.load(place), t.type)
            start = builder.add(t, builder.mul(level, ir.Constant(t.type, LANES)))
            builder.store(
                builder.add(builder.load(total), _load(context, builder, kinds[4], table, start)),
                total,
            )
        _store(context, builder, builder.load(total), kinds[0], out, o)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def pick_levels(_typing, table, t, levels, r, count):
    """The sum of table[t + LANES * q] (uint8 or uint16) over q in levels[r : r + count] (int32), int64: one lane's share."""
    index = types.intp
    signature = types.int64(table, index, levels, index, index)

    def generate(context, builder, signature, arguments):
        table, t, levels, r, count = arguments
        kinds = signature.args
        total = cgutils.alloca_once_value(builder, ir.Constant(t.type, 0))
        with cgutils.for_range(builder, count) as loop:
            level = builder.load(
                _pointer(context, builder, kinds[2], levels, builder.add(r, loop.index))
            )
            place = builder.add(
                t, builder.mul(builder.zext(level, t.type), ir.Constant(t.type, LANES))
            )
            cost = builder.load(_pointer(context, builder, kinds[0], table, place))
            builder.store(builder.add(builder.load(total), builder.zext(cost, t.type)), total)
        return builder.load(total)

    return signature, generate


@intrinsic
def add_within(_typing, out, o, more, x, limits):
    """out[o:] += more[x:]; returns as bits of a uint64 in which lanes it is at most limits[:LANES]."""
    signature = types.uint64(out, types.intp, more, types.intp, limits)

    def generate(context, builder, signature, arguments):
        out, o, more, x, limits = arguments
        kinds = signature.args
        total = builder.add(
            _load(context, builder, kinds[0], out, o), _load(context, builder, kinds[2], more, x)
        )
        _store(context, builder, total, kinds[0], out, o)
        return _mask(
            builder, total, _load(context, builder, kinds[4], limits, ir.Constant(o.type, 0))
        )

    return signature, generate


@intrinsic
def add_step(_typing, bounds, d, table, t, own, w, level, step, limits):
    """bounds[d + 1] = bounds[d] + table[t:], plus `step` in lanes where own[w:] is not `level`; the mask as above."""
    index = types.intp
    signature = types.uint64(bounds, index, table, index, own, index, index, index, limits)

    def generate(context, builder, signature, arguments):
        bounds, d, table, t, own, w, level, step, limits = arguments
        kinds = signature.args
        here = builder.mul(d, ir.Constant(d.type, LANES))
        below = builder.add(here, ir.Constant(d.type, LANES))
        total = builder.add(
            _load(context, builder, kinds[0], bounds, here),
            _load(context, builder, kinds[2], table, t),
        )
        other = builder.icmp_unsigned(
            "!=", _load(context, builder, kinds[4], own, w), _splat(builder, level)
        )
        total = builder.add(
            total, builder.select(other, _splat(builder, step), ir.Constant(_VECTOR, [0] * LANES))
        )
        _store(context, builder, total, kinds[0], bounds, below)
        return _mask(
            builder, total, _load(context, builder, kinds[8], limits, ir.Constant(d.type, 0))
        )

    return signature, generate


@intrinsic
def transpose(_typing, square):
    """Transpose a square (LANES * LANES,) in place by six rounds of exchanges of halves (Eklundh)."""
    signature = types.void(square)

    def generate(context, builder, signature, arguments):
        kind, index = signature.args[0], context.get_value_type(types.intp)
        for bit in range(LANE_BITS):
            size = 1 << bit
            to_upper = [LANES + lane - size if lane & size else lane for lane in range(LANES)]
            to_lower = [LANES + lane if lane & size else lane + size for lane in range(LANES)]
            with cgutils.for_range(builder, ir.Constant(index, LANES // 2)) as loop:
                # Rows r and r + size, r without the bit: they swap the columns with it for those without.
                low = builder.and_(loop.index, ir.Constant(index, size - 1))
                r = builder.add(
                    builder.mul(builder.sub(loop.index, low), ir.Constant(index, 2)), low
                )
                upper = builder.mul(r, ir.Constant(index, LANES))
                lower = builder.add(upper, ir.Constant(index, size * LANES))
                one, two = (
                    _load(context, builder, kind, arguments[0], start) for start in (upper, lower)
                )
                for target, selection in ((upper, to_upper), (lower, to_lower)):
                    chosen = builder.shuffle_vector(one, two, ir.Constant(_SELECTION, selection))
                    _store(context, builder, chosen, kind, arguments[0], target)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def meet_maps(_typing, out, base, maps, m, width, levels, r, count):
    """out[:CHUNK] = base[:CHUNK] & all maps[m + width * q:] over q in levels[r : r + count] (uint64); zero if that is empty."""
    index = types.intp
    signature = types.uint64(out, base, maps, index, index, levels, index, index)

    def generate(context, builder, signature, arguments):
        out, base, maps, m, width, levels, r, count = arguments
        kinds = signature.args

        def place(kind, array, index):
            return builder.bitcast(
                _pointer(context, builder, kind, array, index), _WORDS.as_pointer()
            )

        zero = ir.Constant(m.type, 0)
        left = cgutils.alloca_once_value(
            builder, builder.load(place(kinds[1], base, zero), align=8)
        )
        with cgutils.for_range(builder, count) as loop:
            level = builder.load(
                _pointer(context, builder, kinds[5], levels, builder.add(r, loop.index))
            )
            start = builder.add(m, builder.mul(width, builder.zext(level, m.type)))
            builder.store(
                builder.and_(
                    builder.load(left), builder.load(place(kinds[2], maps, start), align=8)
                ),
                left,
            )
        some = builder.load(left)
        builder.store(some, place(kinds[0], out, zero), align=8)
        size = CHUNK
        while size > 1:  # halves joined: llvmlite has no reduction
            size //= 2
            parts = [
                ir.Constant(ir.VectorType(ir.IntType(32), size), list(range(b, b + size)))
                for b in (0, size)
            ]
            nothing = ir.Constant(some.type, ir.Undefined)
            some = builder.or_(*(builder.shuffle_vector(some, nothing, part) for part in parts))
        return builder.extract_element(some, ir.Constant(ir.IntType(32), 0))

    return signature, generate


@intrinsic
def lowest_lane(_typing, mask):
    """Index of the lowest set bit of a uint64 that is not zero."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.intp(types.uint64), generate


@intrinsic
def lanes_in(_typing, mask):
    """Number of set bits of a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.intp(types.uint64), generate


@intrinsic
def tally(_typing, counts, start, words, begin, size):
    """Add to counts[start + l] (int32) how many of words[begin : begin + size] (uint64) have bit l; returns their union."""
    index = types.intp
    signature = types.uint64(counts, index, words, index, index)

    def generate(context, builder, signature, arguments):
        counts, start, words, begin, size = arguments
        kinds = signature.args
        narrow, wide = (ir.VectorType(ir.IntType(width), LANES) for width in (8, 32))
        total, some = (
            cgutils.alloca_once(builder, narrow),
            cgutils.alloca_once_value(builder, ir.Constant(_MASK, 0)),
        )
        place = builder.bitcast(
            _pointer(context, builder, kinds[0], counts, start), wide.as_pointer()
        )
        most = ir.Constant(size.type, 255)  # as many as a byte counts
        with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), size, most) as (first, _):
            left = builder.sub(size, first)
            part = builder.select(builder.icmp_signed("<", left, most), left, most)
            builder.store(ir.Constant(narrow, [0] * LANES), total)
            with cgutils.for_range(builder, part) as loop:
                at = builder.add(begin, builder.add(first, loop.index))
                word = builder.load(_pointer(context, builder, kinds[2], words, at))
                builder.store(builder.or_(builder.load(some), word), some)
                chosen = builder.bitcast(word, _FLAGS)
                builder.store(builder.add(builder.load(total), builder.zext(chosen, narrow)), total)
            added = builder.add(
                builder.load(place, align=4), builder.zext(builder.load(total), wide)
            )
            builder.store(added, place, align=4)
        return builder.load(some)

    return signature, generate


def _row_loader(context, builder, kinds, arrays, words):
    """What loads word w of row r of each of two packed arrays."""

    def load(row, w):
        at = builder.add(builder.mul(row, words), w)
        return [
            builder.load(_pointer(context, builder, kind, array, at))
            for kind, array in zip(kinds, arrays, strict=True)
        ]

    return load


def _differences(builder, one, two):
    """What differs between two loaded words, and what of it is not hidden at both."""
    differs = builder.xor(one[0], two[0])
    return differs, builder.and_(differs, builder.not_(builder.and_(one[1], two[1])))


@intrinsic
def apart(_typing, bits, hidden, u, v):
    """What of two packed rows of `bits` (n, words) differs and is not hidden at both: zero where they agree, uint64."""

    def generate(context, builder, signature, arguments):
        bits, hidden, u, v = arguments
        words = builder.extract_value(
            cgutils.create_struct_proxy(signature.args[0])(context, builder, value=bits).shape, 1
        )
        load = _row_loader(context, builder, signature.args[:2], (bits, hidden), words)
        found = cgutils.alloca_once_value(builder, ir.Constant(_MASK, 0))
        with cgutils.for_range(builder, words) as loop:
            _, visible = _differences(builder, load(u, loop.index), load(v, loop.index))
            builder.store(builder.or_(builder.load(found), visible), found)
        return builder.load(found)

    return types.uint64(bits, hidden, types.intp, types.intp), generate


@intrinsic
def keep_agreeing(_typing, bits, hidden, i, partner, kept, begin, size, differing):
    """Move those of partner[begin : begin + size] that agree with i to partner[kept:]; returns how many.

    differing[w, q] = what differs of word w of the q-th of them. kept <= begin.
    """
    index = types.intp
    signature = types.intp(bits, hidden, index, partner, index, index, index, differing)

    def generate(context, builder, signature, arguments):
        bits, hidden, i, partner, kept, begin, size, differing = arguments
        kinds = signature.args
        words = builder.extract_value(
            cgutils.create_struct_proxy(kinds[0])(context, builder, value=bits).shape, 1
        )
        room = builder.extract_value(
            cgutils.create_struct_proxy(kinds[7])(context, builder, value=differing).shape, 1
        )
        load = _row_loader(context, builder, kinds[:2], (bits, hidden), words)
        found, held = (
            cgutils.alloca_once(builder, _MASK),
            cgutils.alloca_once_value(builder, ir.Constant(size.type, 0)),
        )

        def compare(u, w, own):
            differs, visible = _differences(builder, own, load(u, w))
            place = _pointer(
                context,
                builder,
                kinds[7],
                differing,
                builder.add(builder.mul(w, room), builder.load(held)),
            )
            builder.store(differs, place)
            builder.store(builder.or_(builder.load(found), visible), found)

        def pass_over(number):  # of words of a row, None: any
            places = [ir.Constant(size.type, w) for w in range(number or 0)]
            own = [load(i, w) for w in places]
            with cgutils.for_range(builder, size) as loop:
                other = builder.load(
                    _pointer(context, builder, kinds[3], partner, builder.add(begin, loop.index))
                )
                # Where they do not agree the next one takes its place: no branch to guess.
                builder.store(
                    other,
                    _pointer(
                        context, builder, kinds[3], partner, builder.add(kept, builder.load(held))
                    ),
                )
                u = builder.zext(other, size.type)
                builder.store(ir.Constant(_MASK, 0), found)
                if number is None:
                    with cgutils.for_range(builder, words) as inner:
                        compare(u, inner.index, load(i, inner.index))
                for w, mine in zip(places, own, strict=True):
                    compare(u, w, mine)
                agrees = builder.icmp_unsigned("==", builder.load(found), ir.Constant(_MASK, 0))
                builder.store(
                    builder.add(builder.load(held), builder.zext(agrees, size.type)), held
                )

        # LLVM unrolls a loop over words for many of them: over a handful it takes several times what they do.
        after, long = builder.append_basic_block("after"), builder.append_basic_block("long")
        choice = builder.switch(words, long)
        for number in (*range(1, SHORT + 1), None):
            block = long if number is None else builder.append_basic_block("short")
            if number is not None:
                choice.add_case(ir.Constant(words.type, number), block)
            builder.position_at_end(block)
            pass_over(number)
            builder.branch(after)
        builder.position_at_end(after)
        return builder.load(held)

    return signature, generate
