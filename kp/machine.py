"""Numbers side by side, as processors have them and Numba does not: LANES sums at a time that stay in registers.

Products and sums of reals are rounded one by one, never fused: the bits are the same on every processor, for vectors of any
width. Sums of whole numbers go two products at a time, x_1 y_1 + x_2 y_2 of numbers of 16 bits, for which some processors
have one instruction; they are exact while they stay below 2^31."""

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.extending import intrinsic, models, register_model

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INDEX = ir.IntType(32)
_BYTE = ir.IntType(8).as_pointer()


class _Lanes(types.Type):
    """LANES numbers float64."""


register_model(_Lanes)(lambda manager, kind: models.PrimitiveModel(manager, kind, _VECTOR))
_LANES = _Lanes("lanes")

HAS_PAIRS = bool(binding.get_host_cpu_features().get("avx2"))
"""Whether two products and their sum are one instruction here."""
_SUMS_VECTOR = ir.VectorType(_INDEX, LANES)
_PAIRS_VECTOR = ir.VectorType(ir.IntType(16), 2 * LANES)


class _Sums(types.Type):
    """LANES sums int32."""


register_model(_Sums)(lambda manager, kind: models.PrimitiveModel(manager, kind, _SUMS_VECTOR))
_SUMS = _Sums("sums")


def _address(context, builder, kind, array, place, vector=_VECTOR):
    pointer = builder.gep(context.make_array(kind)(context, builder, array).data, [place])
    return builder.bitcast(pointer, vector.as_pointer())


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


@intrinsic
def prefetch(typing, array, place):
    """Ask for what stands at a place of a flat array, before it is needed; nothing changes."""

    def emit(context, builder, signature, values):
        address = builder.gep(context.make_array(signature.args[0])(context, builder, values[0]).data, [values[1]])
        address = builder.bitcast(address, _BYTE)
        kind = ir.FunctionType(ir.VoidType(), [_BYTE, _INDEX, _INDEX, _INDEX])
        builder.call(
            builder.module.declare_intrinsic("llvm.prefetch", [_BYTE], kind), [address, _INDEX(0), _INDEX(3), _INDEX(1)]
        )
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


@intrinsic
def zero_sums(typing):
    """LANES sums of whole numbers, all 0."""

    def emit(context, builder, signature, values):
        return ir.Constant(_SUMS_VECTOR, [0] * LANES)

    return _SUMS(), emit


@intrinsic
def add_pairs(typing, sums, pair, array, place):
    """sums[i] + x_1 y_1 + x_2 y_2, with pair = x_1 + 2^16 x_2 and y_1, y_2 = array[place + 2 i], array[place + 2 i + 1] of a
    flat contiguous array int16; all numbers at least 0."""

    def emit(context, builder, signature, values):
        sums, pair, array, place = values
        pairs = builder.load(_address(context, builder, signature.args[2], array, place, _PAIRS_VECTOR), align=2)
        nothing = ir.Constant(_SUMS_VECTOR, ir.Undefined)
        first = builder.insert_element(nothing, pair, _INDEX(0))
        everywhere = builder.shuffle_vector(first, nothing, ir.Constant(_SUMS_VECTOR, [0] * LANES))
        factors = builder.bitcast(everywhere, _PAIRS_VECTOR)
        if HAS_PAIRS:
            kind = ir.FunctionType(_SUMS_VECTOR, [_PAIRS_VECTOR] * 2)
            made = builder.call(builder.module.declare_intrinsic("llvm.x86.avx2.pmadd.wd", (), kind), [pairs, factors])
        else:
            wide = ir.VectorType(_INDEX, 2 * LANES)
            products = builder.mul(builder.sext(pairs, wide), builder.sext(factors, wide))
            halves = [ir.Constant(_SUMS_VECTOR, list(range(half, 2 * LANES, 2))) for half in (0, 1)]
            made = builder.add(*(builder.shuffle_vector(products, ir.Constant(wide, ir.Undefined), each) for each in halves))
        return builder.add(sums, made)

    return _SUMS(_SUMS, types.int32, array, types.intp), emit


@intrinsic
def store_sums(typing, array, place, sums):
    """Put LANES sums into a flat contiguous array int32, from place on."""

    def emit(context, builder, signature, values):
        builder.store(values[2], _address(context, builder, signature.args[0], *values[:2], _SUMS_VECTOR), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, _SUMS), emit


if config.DISABLE_JIT:  # the same in NumPy

    def load_lanes(array, place):
        return array[place : place + LANES].copy()

    def store_lanes(array, place, lanes):
        array[place : place + LANES] = lanes

    def add_product(sums, factor, lanes):
        return sums + factor * lanes

    def prefetch(array, place):
        pass

    def zero_sums():
        return np.zeros(LANES, dtype=np.int32)

    def add_pairs(sums, pair, array, place):
        y = array[place : place + 2 * LANES].astype(np.int32)
        return sums + (pair & 0xFFFF) * y[::2] + (pair >> 16) * y[1::2]

    def store_sums(array, place, sums):
        array[place : place + LANES] = sums
