"""Numbers side by side, as processors have them and Numba does not: LANES sums at a time that stay in registers.

Products and sums of reals are rounded one by one, never fused: the bits are the same on every processor, for vectors of any
width. Sums of products of bytes go by words of 32 bits, for which many processors have one instruction: two numbers of 16
bits, or four bytes, those of one side as they are and those of the other less 128. They are exact modulo 2^32."""

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

_HOST = binding.get_host_cpu_features()
_IS_WIDE = bool(_HOST.get("avx512vnni") and _HOST.get("avx512bw"))
HAS_PAIRS = bool(_HOST.get("avx2"))
"""Whether two products of numbers of 16 bits and their sum are one instruction here."""
HAS_QUADS = _IS_WIDE or bool(_HOST.get("avxvnni"))
"""Whether four products of bytes and their sum are one instruction here. (Matrix instructions, AMX, are not used.)"""
SUMS = 16 if _IS_WIDE else 8
"""Sums of a vector."""
_SUMS_VECTOR = ir.VectorType(_INDEX, SUMS)


class _Sums(types.Type):
    """SUMS sums int32."""


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
def equal_sums(typing, start):
    """SUMS sums of whole numbers that begin with the same one."""

    def emit(context, builder, signature, values):
        return _everywhere(builder, values[0])

    return _SUMS(types.int32), emit


def _everywhere(builder, word):
    nothing = ir.Constant(_SUMS_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, word, _INDEX(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(_SUMS_VECTOR, [0] * SUMS))


@intrinsic
def add_words(typing, sums, word, array, place):
    """sums[i] + x . y of SUMS words y in a flat contiguous array, from its number `place` on, and one word x.

    A word is two numbers of an array int16 and two of 16 bits, or four of an array int8 and four bytes without a sign.
    """
    group = 4 // (array.dtype.bitwidth // 8)
    kind = ir.VectorType(ir.IntType(32 // group), group * SUMS)

    def emit(context, builder, signature, values):
        sums, word, array, place = values
        x = _everywhere(builder, word)
        y = builder.load(_address(context, builder, signature.args[2], array, place, kind), align=1)
        if group == 4 and HAS_QUADS:
            name = f"llvm.x86.avx512.vpdpbusd.{32 * SUMS}"
            function = builder.module.declare_intrinsic(name, (), ir.FunctionType(_SUMS_VECTOR, [_SUMS_VECTOR] * 3))
            return builder.call(function, [sums, x, builder.bitcast(y, _SUMS_VECTOR)])
        x = builder.bitcast(x, kind)
        if group == 2 and HAS_PAIRS:
            name = "llvm.x86.avx512.pmaddw.d.512" if _IS_WIDE else "llvm.x86.avx2.pmadd.wd"
            function = builder.module.declare_intrinsic(name, (), ir.FunctionType(_SUMS_VECTOR, [kind] * 2))
            return builder.add(sums, builder.call(function, [y, x]))
        wide = ir.VectorType(_INDEX, group * SUMS)
        products = builder.mul((builder.zext if group == 4 else builder.sext)(x, wide), builder.sext(y, wide))
        for k in range(group):
            own = ir.Constant(_SUMS_VECTOR, list(range(k, group * SUMS, group)))
            sums = builder.add(sums, builder.shuffle_vector(products, ir.Constant(wide, ir.Undefined), own))
        return sums

    return _SUMS(_SUMS, types.int32, array, types.intp), emit


@intrinsic
def store_sums(typing, array, place, sums):
    """Put SUMS sums into a flat contiguous array int32, from place on."""

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

    def equal_sums(start):
        return np.full(SUMS, start, dtype=np.int32)

    def add_words(sums, word, array, place):
        group = 4 // array.itemsize
        x = np.array([word], dtype=np.int32).view(np.uint8 if group == 4 else np.int16).astype(np.int32)
        y = array[place : place + group * SUMS].reshape(SUMS, group).astype(np.int32)
        return sums + y @ x

    def store_sums(array, place, sums):
        array[place : place + SUMS] = sums
