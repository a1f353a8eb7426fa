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
    """Numbers side by side, as many as the LLVM type `vector` has."""

    def __init__(self, name, vector):
        super().__init__(name)
        self.vector = vector


register_model(_Lanes)(lambda manager, kind: models.PrimitiveModel(manager, kind, kind.vector))
_LANES = _Lanes("lanes", _VECTOR)

_HOST = binding.get_host_cpu_features()
_IS_WIDE = bool(_HOST.get("avx512vnni") and _HOST.get("avx512bw"))
HAS_PAIRS = bool(_HOST.get("avx2"))
"""Whether two products of numbers of 16 bits and their sum are one instruction here."""
HAS_QUADS = _IS_WIDE or bool(_HOST.get("avxvnni"))
"""Whether four products of bytes and their sum are one instruction here. (Matrix instructions, AMX, are not used.)"""
SUMS = 16 if _IS_WIDE else 8
"""Sums of a vector."""
_SUMS_VECTOR = ir.VectorType(_INDEX, SUMS)
_SUMS = _Lanes("sums", _SUMS_VECTOR)
COLUMNS = 2 * SUMS
"""Numbers float64 of columns side by side, of which a loop can have half a dozen in registers."""
_COLUMNS = _Lanes("columns", ir.VectorType(ir.DoubleType(), COLUMNS))


def _address(context, builder, kind, array, place, vector=_VECTOR):
    pointer = builder.gep(context.make_array(kind)(context, builder, array).data, [place])
    return builder.bitcast(pointer, vector.as_pointer())


@intrinsic
def load_lanes(typing, array, place):
    """LANES numbers of a flat contiguous array, from place on."""

    def emit(context, builder, signature, values):
        return builder.load(_address(context, builder, array, *values), align=8)

    return _LANES(array, types.intp), emit


@intrinsic
def store_lanes(typing, array, place, lanes):
    """Put such numbers into a flat contiguous array of their type, from place on."""

    def emit(context, builder, signature, values):
        address = _address(context, builder, array, *values[:2], lanes.vector)
        builder.store(values[2], address, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), emit


@intrinsic
def add_product(typing, sums, factor, lanes):
    """sums + factor * lanes, rounded twice."""

    def emit(context, builder, signature, values):
        own, factor, others = values
        return builder.fadd(own, builder.fmul(_everywhere(builder, factor, lanes.vector), others))

    return sums(sums, types.float64, lanes), emit


@intrinsic
def load_columns(typing, array, place):
    """COLUMNS numbers int32 or float64 of a flat contiguous array, from place on."""

    def emit(context, builder, signature, values):
        vector = ir.VectorType(context.get_data_type(array.dtype), COLUMNS)
        found = builder.load(_address(context, builder, array, *values, vector), align=array.dtype.bitwidth // 8)
        return found if array.dtype == types.float64 else builder.sitofp(found, _COLUMNS.vector)

    return _COLUMNS(array, types.intp), emit


@intrinsic
def equal_columns(typing, number):
    """COLUMNS times the same number."""

    def emit(context, builder, signature, values):
        return _everywhere(builder, values[0], _COLUMNS.vector)

    return _COLUMNS(types.float64), emit


@intrinsic
def multiply(typing, x, y):
    """x y of two such vectors, number by number."""

    def emit(context, builder, signature, values):
        return builder.fmul(*values)

    return x(x, y), emit


@intrinsic
def add_signs(typing, sums, factor, f):
    """sums + factor sgn f, number by number; the factor is not negative."""

    def emit(context, builder, signature, values):
        own, factor, others = values
        kind = ir.FunctionType(f.vector, [f.vector] * 2)
        with_sign = builder.module.declare_intrinsic(f"llvm.copysign.v{f.vector.count}f64", (), kind)
        moved = builder.fadd(own, builder.call(with_sign, [_everywhere(builder, factor, f.vector), others]))
        return builder.select(builder.fcmp_ordered("!=", others, ir.Constant(f.vector, None)), moved, own)

    return sums(sums, types.float64, f), emit


@intrinsic
def count_wrong(typing, signs, f):
    """How many of signs f are 0 or less."""

    def emit(context, builder, signature, values):
        wrong = builder.fcmp_ordered("<=", builder.fmul(*values), ir.Constant(f.vector, None))
        count = builder.ctpop(builder.bitcast(wrong, ir.IntType(f.vector.count)))
        return builder.zext(count, ir.IntType(64))

    return types.int64(signs, f), emit


@intrinsic
def prefetch(typing, array, place):
    """Ask for what stands at a place of a flat array, before it is needed; nothing changes."""

    def emit(context, builder, signature, values):
        kind = ir.FunctionType(ir.VoidType(), [_BYTE, _INDEX, _INDEX, _INDEX])
        function = builder.module.declare_intrinsic("llvm.prefetch", [_BYTE], kind)
        address = builder.bitcast(_address(context, builder, array, *values), _BYTE)
        builder.call(function, [address, _INDEX(0), _INDEX(3), _INDEX(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


@intrinsic
def equal_sums(typing, start):
    """SUMS sums of whole numbers that begin with the same one."""

    def emit(context, builder, signature, values):
        return _everywhere(builder, values[0])

    return _SUMS(types.int32), emit


def _everywhere(builder, number, vector=_SUMS_VECTOR):
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, _INDEX(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_INDEX, vector.count), None))


@intrinsic
def add_words(typing, sums, word, array, place):
    """sums[i] + x . y of SUMS words y in a flat contiguous array, from its number `place` on, and one word x."""
    # A word is two numbers of an array int16 and two of 16 bits, or four of an array int8 and four bytes without a sign.
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


if config.DISABLE_JIT:  # the same in NumPy

    def load_lanes(array, place):
        return array[place : place + LANES].copy()

    def store_lanes(array, place, lanes):
        array[place : place + len(lanes)] = lanes

    def add_product(sums, factor, lanes):
        return sums + factor * lanes

    def load_columns(array, place):
        return array[place : place + COLUMNS].astype(np.float64)

    def equal_columns(number):
        return np.full(COLUMNS, number)

    multiply = np.multiply

    def add_signs(sums, factor, f):
        return sums + factor * np.sign(f)

    def count_wrong(signs, f):
        return np.count_nonzero(signs * f <= 0)

    def prefetch(array, place):
        pass

    def equal_sums(start):
        return np.full(SUMS, start, dtype=np.int32)

    def add_words(sums, word, array, place):
        group = 4 // array.itemsize
        x = np.array([word], dtype=np.int32).view(np.uint8 if group == 4 else np.int16).astype(np.int32)
        y = array[place : place + group * SUMS].reshape(SUMS, group).astype(np.int32)
        return sums + y @ x
