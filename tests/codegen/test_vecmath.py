"""Every function of vecmath against C's, over its whole range, for every element type and vector width."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from llvmlite import binding, ir

from mycelia.codegen import vecmath
from mycelia.codegen.processor import host, machine
from mycelia.codegen.vecmath.trigonometry import nearly_whole_turns

binding.initialize_native_target()
binding.initialize_native_asmprinter()

Array = np.ndarray[Any, Any]
WIDTHS = (1, 4, 8, 16)
LLVM = {"f32": ir.FloatType(), "f64": ir.DoubleType()}
NUMPY: dict[str, type[np.floating[Any]]] = {"f32": np.float32, "f64": np.float64}
WIDER: dict[str, type[np.floating[Any]]] = {"f32": np.float64, "f64": np.longdouble}
OF_TWO = ("pow", "atan2")

every_function = pytest.mark.many("name", sorted(vecmath.ACCURACY), pack=10)
every_dtype = pytest.mark.parametrize("dtype", ["f32", "f64"])
every_width = pytest.mark.parametrize("width", WIDTHS)


# ------------------------------------------------------------------------------------------------ what is compiled


def written(name: str, dtype: str, width: int) -> ir.Function:
    """A loop over arrays, `out, in, ... , length`, whose body is `name` of one vector."""
    vector = LLVM[dtype] if width == 1 else ir.VectorType(LLVM[dtype], width)
    index, arrays = ir.IntType(64), [ir.PointerType()] * (3 if name in OF_TWO else 2)
    loop = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [*arrays, index]), "loop")
    entry, body, after = (loop.append_basic_block(label) for label in ("entry", "body", "after"))
    ir.IRBuilder(entry).branch(body)
    builder = ir.IRBuilder(body)
    i = builder.phi(index)
    out, *places = (builder.gep(array, [i], source_etype=LLVM[dtype]) for array in loop.args[:-1])
    align = np.dtype(dtype.replace("f", "float")).itemsize
    loaded = [builder.load(place, align=align, typ=vector) for place in places]
    builder.store(vecmath.emit(builder, name, *loaded), out, align=align)
    following = builder.add(i, index(width))
    i.add_incoming(index(0), entry)
    i.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_unsigned("<", following, loop.args[-1]), body, after)
    ir.IRBuilder(after).ret_void()
    return loop


def compiled(name: str, dtype: str, width: int) -> Callable[..., Array]:
    """`name` as a function of arrays."""
    module = binding.parse_assembly(str(written(name, dtype, width).module))
    engine = binding.create_mcjit_compiler(module, machine(host()))
    engine.finalize_object()

    def run(*inputs: Array) -> Array:
        size = len(inputs[0])
        padded = [np.resize(x, -(-size // width) * width) for x in inputs]
        out = np.empty_like(padded[0])
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (1 + len(inputs)), ctypes.c_int64)
        loop = prototype(engine.get_function_address("loop"))  # the code lives as long as its engine
        loop(out.ctypes.data, *(x.ctypes.data for x in padded), len(out))
        return out[:size]

    return run


# ------------------------------------------------------------------------------------------------ what it should be


ORACLES: dict[str, Callable[..., Array]] = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "atan2")},
    **{name: getattr(np, name) for name in ("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan")},
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": lambda x: np.vectorize(math.erf, [x.dtype])(x.astype(float)),
    "erfc": lambda x: np.vectorize(math.erfc, [x.dtype])(x.astype(float)),
}


def truth(name: str, dtype: str, *arguments: Array) -> Array:
    """`name` computed in a wider format, where vecmath promises it."""
    with np.errstate(all="ignore"):
        wide = [x.astype(WIDER[dtype]) for x in arguments]
        values = ORACLES[name](*wide).astype(WIDER[dtype])
    return values


SPECIAL = [x for size in (0.0, 1.0, 2.0, 3.0, 0.5, 2.5, 1e30, math.inf) for x in (size, -size)] + [math.nan]
EDGES = np.concatenate(
    [
        (np.arange(-1100, 1100) + 0.5) * math.log(2),  # where exp changes its power of two
        np.arange(-200, 200) * math.pi / 4,  # where sin changes its quarter
        np.arange(1, 60) * 2.0 ** np.arange(-11, 48) * math.pi / 2,
        np.sqrt(2.0) ** np.arange(-120, 120),  # where log changes its power of two
        [0.3, 0.5, 0.85, math.sqrt(2) - 1, math.sqrt(2) + 1, 3.95, 6.0, 10.0, 20.0, 2.0**24, 2.0**53, 2.0**54],
        [88.72284, 88.37, 89.4159, -87.33655, -86.99, -103.97, 709.7827, 710.4758, -708.3964, -745.13],
    ]
)


@cache
def points(dtype: str) -> Array:
    """Some 10**5 numbers: any bit pattern, dense grids, all magnitudes, neighbours of the edges, special values."""
    kind, random = NUMPY[dtype], np.random.default_rng(0)
    integers = np.dtype(f"u{np.dtype(kind).itemsize}")
    edges = np.concatenate([EDGES, -EDGES]).astype(kind)
    near = (edges.view(integers)[:, None] + np.arange(-3, 4).astype(integers)).view(kind)
    magnitudes = np.exp(random.uniform(-60, 40, 10_000))
    parts = [
        random.integers(0, np.iinfo(integers).max, 20_000, integers).view(kind),
        *(np.linspace(-bound, bound, 10_001) for bound in (1, 12, 110, 760)),
        *(magnitudes, -magnitudes, 1 + magnitudes[magnitudes < 10], 1 - magnitudes[magnitudes < 10]),
        random.uniform(-1e5, 1e5, 10_000),
        near.ravel(),
        np.array(SPECIAL),
    ]
    with np.errstate(over="ignore"):
        return random.permutation(np.concatenate([np.asarray(part, kind) for part in parts]))


@cache
def judged(name: str, dtype: str) -> tuple[tuple[Array, ...], Array]:
    """Arguments for `name`, and its true values in a wider format."""
    arguments = [points(dtype)]
    if name in OF_TWO:
        random = np.random.default_rng(1)
        moderate = np.exp(random.normal(size=50_000)), random.normal(size=50_000) * 20
        pairs = np.array(list(product(SPECIAL, repeat=2))).T
        arguments = [
            np.concatenate([random.permutation(points(dtype)), m.astype(NUMPY[dtype]), pair.astype(NUMPY[dtype])])
            for m, pair in zip(moderate, pairs, strict=True)
        ]
    return tuple(arguments), truth(name, dtype, *arguments)


def ulps(got: Array, true: Array) -> Array:
    """How far `got` is from `true`, in units of the last place; a result flushed to 0 is right where it may be."""
    limits = np.finfo(got.dtype)
    beyond = np.longdouble(2) ** limits.maxexp  # what infinity stands for
    with np.errstate(all="ignore"):
        size = np.minimum(np.abs(true), limits.max).astype(got.dtype)
        unit = np.spacing(size).astype(np.longdouble)
        distance = np.abs(got.astype(np.longdouble).clip(-beyond, beyond) - true.clip(-beyond, beyond)) / unit
    distance[(np.abs(true) < limits.tiny) & (got == 0)] = 0
    distance[np.isnan(got) & np.isnan(true)] = 0
    distance[np.isnan(got) != np.isnan(true)] = np.inf
    return distance


# ------------------------------------------------------------------------------------------------ the laws


def test_every_function_states_its_accuracy() -> None:
    assert vecmath.ACCURACY.keys() == ORACLES.keys()


@every_width
@every_dtype
@every_function
def test_errors_stay_within_the_stated_bound(name: str, dtype: str, width: int) -> None:
    arguments, true = judged(name, dtype)
    got = compiled(name, dtype, width)(*arguments)
    error = ulps(got, true)
    worst = int(np.argmax(error))
    seen = f"{name}{tuple(x[worst] for x in arguments)} gave {got[worst]}, not {true[worst]}"
    assert error[worst] <= getattr(vecmath.ACCURACY[name], dtype), seen


@every_dtype
@every_function
def test_zeros_infinities_and_nans_are_those_of_c(name: str, dtype: str) -> None:
    pairs = np.array(list(product(SPECIAL, repeat=2 if name in OF_TWO else 1)), NUMPY[dtype])
    arguments = [np.ascontiguousarray(column) for column in pairs.T]
    with np.errstate(over="ignore"):
        true = truth(name, dtype, *arguments).astype(NUMPY[dtype])
    got = compiled(name, dtype, 8)(*arguments)
    for special in (np.isnan, np.isinf, lambda x: x == 0, lambda x: np.signbit(x) & ~np.isnan(x)):
        wrong = special(got) != special(true)
        assert not wrong.any(), (pairs[wrong], got[wrong], true[wrong])


@every_dtype
@every_function
def test_code_is_straight_and_calls_no_library(name: str, dtype: str) -> None:
    function = written(name, dtype, 8)
    huge = ["huge", "reduced"] if dtype == "f64" and name in ("sin", "cos", "tan") else []  # angles: one branch
    assert [block.name for block in function.blocks] == ["entry", "body", "after", *huge]
    others = {name for name in function.module.globals if name != "loop" and not name.startswith("vecmath.huge_angle")}
    assert {name.split(".")[1] for name in others} <= {"fma", "fabs", "sqrt", "rint", "ctlz"}
    assert all(name.startswith("llvm.") for name in others)


@every_dtype
@every_function
def test_the_result_has_the_type_of_the_argument(name: str, dtype: str) -> None:
    vector = ir.VectorType(LLVM[dtype], 4)
    function = ir.Function(ir.Module(), ir.FunctionType(vector, [vector] * (1 + (name in OF_TWO))), "f")
    builder = ir.IRBuilder(function.append_basic_block())
    assert vecmath.emit(builder, name, *function.args).type == vector


def test_an_unknown_function_is_refused_with_the_known_ones() -> None:
    builder = ir.IRBuilder(ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), []), "f").append_basic_block())
    with pytest.raises(AssertionError, match="vecmath has no gamma; it has acos"):
        vecmath.emit(builder, "gamma", ir.Constant(ir.FloatType(), 1.0))


# ------------------------------------------------------------------------------------------------ whole turns


def arctangent(over: int, unit: int) -> int:
    """`unit` times the angle whose tangent is 1 / over, by its series."""
    total, power, n = 0, unit // over, 1
    while power:
        total += power // n if n % 4 == 1 else -(power // n)
        power, n = power // over**2, n + 2
    return total


def test_nearly_whole_turns_and_their_rests_are_whole_turns():
    one = 1 << 600
    turn = Fraction(8 * (4 * arctangent(5, one) - arctangent(239, one)), one)  # 2 pi, as Machin has found it
    for unit in (-40, -21, -5, -2, -1, 0, 1, 2, 5, 40, 60):
        found = nearly_whole_turns(unit)
        length, scale = Fraction(found.length), Fraction(2) ** unit
        assert (length / scale).denominator == 1
        assert 0 < length < scale * 2**52
        away = turn * round(length / turn) - length
        assert found.rest == pytest.approx(float(away), rel=1e-12)
        assert abs(away) < scale
