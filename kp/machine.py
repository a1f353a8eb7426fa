"""Numbers side by side, as processors have them and Numba does not: LANES reals, or PANEL, that stay in registers.

They are added and multiplied by + and *, each result rounded, never fused: the bits are the same on every processor, for
vectors of any width. Sums of products of bytes go by words of 32 bits, for which many processors have one instruction: two
numbers of 16 bits, or four bytes, those of one side as they are and those of the other less 128. They are exact modulo
2^32."""

import operator

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 8
_INDEX = ir.IntType(32)
_BYTE = ir.IntType(8).as_pointer()
_HOST = binding.get_host_cpu_features()
_IS_WIDE = bool(_HOST.get("avx512vnni") and _HOST.get("avx512bw"))
HAS_PAIRS = bool(_HOST.get("avx2"))
"""Whether two products of numbers of 16 bits and their sum are one instruction here."""
HAS_QUADS = _IS_WIDE or bool(_HOST.get("avxvnni"))
"""Whether four products of bytes and their sum are one instruction here. (Matrix instructions, AMX, are not used.)"""
SUMS = 16 if _IS_WIDE else 8
"""Sums of a vector."""
PANEL = 4 * SUMS
"""Columns whose sums, or whose scores, stay in registers."""
_SUMS_VECTOR = ir.VectorType(_INDEX, SUMS)


class _Sums(types.Type):
    """SUMS sums int32."""


register_model(_Sums)(lambda manager, kind: models.PrimitiveModel(manager, kind, _SUMS_VECTOR))
_SUMS = _Sums("sums")


class _Lanes(types.Type):
    """Numbers float64 side by side."""

    def __init__(self, count):
        super().__init__(f"lanes({count})")
        self.vector = ir.VectorType(ir.DoubleType(), count)


register_model(_Lanes)(lambda manager, kind: models.PrimitiveModel(manager, kind, kind.vector))


def _everywhere(builder, number, vector):
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, _INDEX(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_INDEX, vector.count), [0] * vector.count))


def _operator(symbol, name):
    """Make + or * an operator of lanes, and of lanes and a number."""

    def of_lanes(context):
        def typer(a, b):
            lanes = [kind for kind in (a, b) if isinstance(kind, _Lanes)]
            if lanes and all(kind in (lanes[0], types.float64) for kind in (a, b)):
                return lanes[0]

        return typer

    def emit(context, builder, signature, values):
        vector = signature.return_type.vector
        pairs = zip(signature.args, values, strict=True)
        return getattr(builder, name)(*(v if isinstance(k, _Lanes) else _everywhere(builder, v, vector) for k, v in pairs))

    type_callable(symbol)(of_lanes)
    for kinds in ((_Lanes, _Lanes), (types.Float, _Lanes), (_Lanes, types.Float)):
        lower_builtin(symbol, *kinds)(emit)


_operator(operator.add, "fadd")
_operator(operator.mul, "fmul")


def _address(context, builder, kind, array, place, vector):
    pointer = builder.gep(context.make_array(kind)(context, builder, array).data, [place])
    return builder.bitcast(pointer, vector.as_pointer())


def _loading(count):
    lanes = _Lanes(count)

    @intrinsic
    def load(typing, array, place):
        size = array.dtype.bitwidth // 8
        vector = lanes.vector if array.dtype == types.float64 else ir.VectorType(_INDEX, count)

        def emit(context, builder, signature, values):
            loaded = builder.load(_address(context, builder, signature.args[0], *values, vector), align=size)
            return loaded if vector is lanes.vector else builder.sitofp(loaded, lanes.vector)

        return lanes(array, types.intp), emit

    return load


load_lanes = _loading(LANES)
"""LANES numbers of a flat contiguous array, from place on."""
load_panel = _loading(PANEL)
"""PANEL numbers of such an array of float64 or int32."""


@intrinsic
def store_lanes(typing, array, place, lanes):
    """Put lanes into a flat contiguous array, from place on."""

    def emit(context, builder, signature, values):
        builder.store(values[2], _address(context, builder, signature.args[0], *values[:2], lanes.vector), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), emit


@intrinsic
def equal_panel(typing, number):
    """PANEL numbers that are the same one."""
    lanes = _Lanes(PANEL)
    return lanes(types.float64), lambda context, builder, signature, values: _everywhere(builder, values[0], lanes.vector)


@intrinsic
def add_signs(typing, votes, steps, lanes):
    """votes + steps * sgn(lanes)."""

    def emit(context, builder, signature, values):
        votes, steps, f = values
        zero = ir.Constant(lanes.vector, [0.0] * lanes.vector.count)
        steps = _everywhere(builder, steps, lanes.vector)
        votes = builder.select(builder.fcmp_ordered(">", f, zero), builder.fadd(votes, steps), votes)
        return builder.select(builder.fcmp_ordered("<", f, zero), builder.fsub(votes, steps), votes)

    return lanes(lanes, types.float64, lanes), emit


@intrinsic
def count_up_to_0(typing, lanes):
    """How many numbers are 0 or below."""
    bits = ir.IntType(lanes.vector.count)

    def emit(context, builder, signature, values):
        zero = ir.Constant(lanes.vector, [0.0] * lanes.vector.count)
        found = builder.bitcast(builder.fcmp_ordered("<=", values[0], zero), bits)
        count = builder.call(builder.module.declare_intrinsic("llvm.ctpop", [bits]), [found])
        return count if bits.width == 64 else builder.zext(count, ir.IntType(64))

    return types.int64(lanes), emit


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
        return _everywhere(builder, values[0], _SUMS_VECTOR)

    return _SUMS(types.int32), emit


@intrinsic
def add_words(typing, sums, word, array, place):
    """sums[i] + x . y of SUMS words y in a flat contiguous array, from its number `place` on, and one word x.

    A word is two numbers of an array int16 and two of 16 bits, or four of an array int8 and four bytes without a sign.
    """
    group = 4 // (array.dtype.bitwidth // 8)
    kind = ir.VectorType(ir.IntType(32 // group), group * SUMS)

    def emit(context, builder, signature, values):
        sums, word, array, place = values
        x = _everywhere(builder, word, _SUMS_VECTOR)
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
        return array[place : place + LANES].astype(np.float64)

    def load_panel(array, place):
        return array[place : place + PANEL].astype(np.float64)

    def store_lanes(array, place, lanes):
        array[place : place + len(lanes)] = lanes

    def equal_panel(number):
        return np.full(PANEL, number)

    def add_signs(votes, steps, lanes):
        return votes + steps * np.sign(lanes)

    def count_up_to_0(lanes):
        return np.count_nonzero(lanes <= 0)

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
