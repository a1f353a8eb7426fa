"""Instructions that Numba does not offer: numbers side by side, and memory fetched ahead.

Sums of `Lanes` stay in registers, of whatever width the processor has; those of plain loops over arrays do not. Products and
sums are rounded one by one, never fused, so the bits are the same everywhere."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from kp.compiled import compiled

LANES = 8
LINE = 64  # bytes that come together
_VECTOR, _INDEX = ir.VectorType(ir.DoubleType(), LANES), ir.IntType(32)


class _Lanes(types.Type):
    """LANES numbers float64."""


@register_model(_Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


_LANES = _Lanes("Lanes")


def _address(context, builder, kind, array, place, item):
    pointer = builder.gep(context.make_array(kind)(context, builder, array).data, [place])
    return builder.bitcast(pointer, item.as_pointer())


@intrinsic
def load_lanes(typing, array, place):
    """LANES numbers of a flat contiguous array, from place on."""

    def emit(context, builder, signature, values):
        return builder.load(_address(context, builder, signature.args[0], *values, _VECTOR), align=8)

    return _LANES(array, types.intp), emit


@intrinsic
def store_lanes(typing, array, place, lanes):
    """Put LANES numbers into a flat contiguous array, from place on."""

    def emit(context, builder, signature, values):
        builder.store(values[2], _address(context, builder, signature.args[0], *values[:2], _VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, _LANES), emit


@intrinsic
def add_product(typing, sums, factor, lanes):
    """sums + factor * lanes, rounded twice."""

    def emit(context, builder, signature, values):
        sums, factor, lanes = values
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(nothing, factor, _INDEX(0))
        everywhere = builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))
        return builder.fadd(sums, builder.fmul(everywhere, lanes))

    return _LANES(_LANES, types.float64, _LANES), emit


@intrinsic
def _fetch_line(typing, array, place):
    def emit(context, builder, signature, values):
        byte = ir.IntType(8)
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), _INDEX, _INDEX, _INDEX])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte.as_pointer()], kind)
        address = _address(context, builder, signature.args[0], *values, byte)
        builder.call(prefetch, [address, _INDEX(0), _INDEX(3), _INDEX(1)])  # to be read, kept in all caches, data
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


@compiled
def fetch_ahead(row):
    """Have the numbers of a contiguous row on their way from memory; nothing waits for them."""
    for j in range(0, row.shape[0], LINE // row.itemsize):
        _fetch_line(row, j)
