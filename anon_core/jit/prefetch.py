"""Ask the memory for a value before it is read, so that kernels wait less for scattered reads."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_READ, _NEAREST, _DATA = (
    0,
    3,
    1,
)  # arguments of llvm.prefetch: no write, all caches, no instructions


@intrinsic
def prefetch_entry(_typing, array, index):
    """Ask for array[index]; changes nothing, and an index that is out of bounds does no harm.

    array is one-dimensional, index int64 and not negative.
    """

    def generate(context, builder, signature, arguments):
        values, place = arguments
        data = context.make_array(signature.args[0])(context, builder, values).data
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        address = builder.bitcast(builder.gep(data, [place]), pointer)
        builder.call(function, [address, number(_READ), number(_NEAREST), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
