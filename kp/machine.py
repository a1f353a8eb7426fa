"""Numbers side by side, as processors have them and Numba does not: LANES sums at a time that stay in registers.

Products and sums are rounded one by one, never fused: the bits are the same on every processor, for vectors of any width."""

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic, models, register_model

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INDEX = ir.IntType(32)


class _Lanes(types.Type):
    """LANES numbers float64."""


register_model(_Lanes)(lambda manager, kind: models.PrimitiveModel(manager, kind, _VECTOR))
_LANES = _Lanes("lanes")


def _address(context, builder, kind, array, place):
    pointer = builder.gep(context.make_array(kind)(context, builder, array).data, [place])
    return builder.bitcast(pointer, _VECTOR.as_pointer())


@intrinsic
def load_lanes(typing, array, place):
    """LANES numbers of a flat contiguous array, from place on."""

    def emit(context, builder, signature, values):
        return builder.load(_address(context, builder, signature.args[0], *values), align=8)

    return _LANES(array, types.intp), emit


@intrinsic
def store_lanes(typing, array, place, lanes):
    """Put LANES numbers into a flat contiguous array, from place on."""

    def emit(context, builder, signature, values):
        builder.store(values[2], _address(context, builder, signature.args[0], *values[:2]), align=8)
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


if config.DISABLE_JIT:  # the same in NumPy

    def load_lanes(array, place):
        return array[place : place + LANES].copy()

    def store_lanes(array, place, lanes):
        array[place : place + LANES] = lanes

    def add_product(sums, factor, lanes):
        return sums + factor * lanes
