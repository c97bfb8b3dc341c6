"""Products of operands with different element types: what they mean, how they are differentiated, how they run."""

from dataclasses import replace

import numpy as np
import pytest

from mycelia import passes
from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.ir import Function, interpret
from mycelia.loops import Invoke, Matmul, Tiles
from mycelia.lowering import lower
from mycelia.primitives.product_types import MIXED
from mycelia.runtime import warm
from mycelia.runtime.recipes import prepared
from mycelia.testing import compile, optimise
from mycelia.transforms import jvp, vjp
from mycelia.types import bfloat16, dtype_of, float16, float32, float64, int32, type_of

RNG = np.random.default_rng(0)
ROUGH = {float16: 4e-3, bfloat16: 3e-2, float32: 1e-5, float64: 1e-12}


def drawn(shape, dtype):
    numbers = RNG.normal(size=shape) if dtype.is_float else RNG.integers(0, 20, shape)
    return numbers.astype(dtype.numpy)


def wide(x):
    return np.asarray(x, np.float64)


CASES = {
    "contract": (lambda dtype: p.Contract("mk", "kn", "mn", dtype), (5, 7), (7, 3)),
    "conv": (lambda dtype: p.Conv((2, 1), ((1, 0), (1, 1)), (1, 1), 1, dtype=dtype), (2, 3, 6, 5), (4, 3, 3, 2)),
}


@pytest.mark.parametrize("types", MIXED, ids=lambda t: "-".join(d.short for d in t))
@pytest.mark.parametrize("case", CASES)
def test_gradients_of_mixed_types_are_those_of_float64_in_the_types_of_their_operands(case, types):
    make, *shapes = CASES[case]
    *operands, result = types
    if not result.is_float:
        pytest.skip("integers have no gradient")
    inputs = [drawn(s, d) for s, d in zip(shapes, operands, strict=True)]
    fn = Function.build(make(result), *map(type_of, inputs))
    exact = Function.build(make(None), *(type_of(wide(x)) for x in inputs))
    ct = drawn(fn.result_types[0].shape, result)
    smooth = [d.is_float for d in operands]
    got = interpret(vjp(fn), *inputs, ct)
    want = interpret(vjp(exact), *map(wide, inputs), wide(ct))
    flows = [want[0], *(w for w, s in zip(want[1:], smooth, strict=True) if s)]
    kinds = [result, *(d for d in operands if d.is_float)]
    worst = max(ROUGH[d] for d in (*kinds, result))
    assert [dtype_of(g) for g in got] == kinds
    for g, w in zip(got, flows, strict=True):
        np.testing.assert_allclose(wide(g), w, rtol=worst, atol=worst * np.abs(w).max())


@pytest.mark.parametrize("types", MIXED, ids=lambda t: "-".join(d.short for d in t))
@pytest.mark.parametrize("case", CASES)
def test_forward_mode_of_mixed_types_agrees_with_reverse_mode(case, types):
    make, *shapes = CASES[case]
    *operands, result = types
    if not result.is_float:
        pytest.skip("integers have no gradient")
    inputs = [drawn(s, d) for s, d in zip(shapes, operands, strict=True)]
    fn = Function.build(make(result), *map(type_of, inputs))
    ct = drawn(fn.result_types[0].shape, result)
    tangents = [drawn(s, d) for s, d in zip(shapes, operands, strict=True) if d.is_float]
    pushed = interpret(jvp(fn), *inputs, *tangents)[-1]
    pulled = interpret(vjp(fn), *inputs, ct)[1:]
    worst = max(ROUGH[d] for d in types if d.is_float)
    left = np.sum(wide(ct) * wide(pushed))
    right = sum(np.sum(wide(a) * wide(b)) for a, b in zip(pulled, tangents, strict=True))
    assert abs(left - right) <= worst * np.sum(np.abs(wide(ct) * wide(pushed)))


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_sixteen_bits_are_summed_in_thirty_two(dtype):
    """4096 ones: a sum in float16 would stop at 2048, in bfloat16 at 256."""
    ones = np.ones((64, 4096), dtype.numpy), np.ones((4096, 64), dtype.numpy)
    fn = Function.build(p.matmul, *map(type_of, ones))
    for run in (interpret, lambda fn, *xs: compile(fn)(*xs)):
        (out,) = run(fn, *ones)
        assert dtype_of(out) is dtype
        assert np.all(wide(out) == 4096)


def test_int8_is_summed_in_int32():
    x, y = np.full((64, 300), -128, np.int8), np.full((300, 64), 127, np.int8)
    fn = Function.build(lambda a, b: p.matmul(a, b, dtype=int32), *map(type_of, (x, y)))
    for run in (interpret, lambda fn, *xs: compile(fn)(*xs)):
        (out,) = run(fn, x, y)
        assert np.all(out == -128 * 127 * 300)


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_sixteen_bit_products_go_to_the_library(dtype):
    """Forward and both gradients, of a matrix product and of a convolution."""
    for op, *shapes in ((p.matmul, (64, 96), (96, 32)), (CASES["conv"][0](None), (2, 8, 9, 9), (16, 8, 3, 3))):
        fn = Function.build(op, *(type_of(drawn(s, dtype)) for s in shapes))
        assert len(compile(vjp(fn)).binding.recipes) == 3


@pytest.mark.parametrize(("equation", "x", "y"), [
    ("mk,kn->mn", (6, 1), (1, 5)), ("bmk,bkn->nmb", (3, 4, 1), (3, 1, 5)), ("i,j->ji", (4,), (3,)),
    ("ij,j->ij", (4, 3), (3,)), ("abc,dbc->da", (4, 1, 1), (3, 1, 1)), ("ij,ij->", (1, 1), (1, 1)),
])  # fmt: skip
def test_sums_of_one_term_are_multiplications(equation, x, y):
    operands, out = equation.split("->")
    inputs = [RNG.normal(size=s).astype("f") for s in (x, y)]
    fn = Function.build(p.Contract(*operands.split(","), out), *map(type_of, inputs))
    assert not any(isinstance(v.op, p.Contract) for v in optimise(fn).values())
    np.testing.assert_array_equal(compile(fn)(*inputs)[0], np.einsum(equation, *inputs))


def test_matrices_with_one_row_or_column_do_not_fall_into_the_reference_code_of_the_library():
    for rows, summed, columns in ((300, 200, 1), (1, 200, 300)):
        x, y = (RNG.normal(size=s).astype("f") for s in ((rows, summed), (summed, columns)))
        for product, inputs in (
            (p.matmul, (x, y)),
            (lambda a, b: p.matmul(p.transpose(a, (1, 0)), b), (x.T.copy(), y)),
        ):
            run = compile(Function.build(product, *map(type_of, inputs)))
            (call,) = run.binding.calls
            assert not any(primitive.reference for primitive, _ in prepared([call], 1)[0].primitives)
            np.testing.assert_allclose(run(*inputs)[0], x @ y, rtol=1e-4, atol=1e-4)


def with_units(*names):
    """The options of a processor with units for these element types."""
    return replace(options(), target=replace(options().target, short_units=frozenset(names)))


def called(program):
    return [s.call for s in program.block.walk() if isinstance(s, Invoke)]


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_a_processor_with_units_for_sixteen_bits_is_given_them_as_they_are(dtype, case):
    """And one that claims them while its library refuses is given 32 bits: slower, and as right."""
    shapes = {"contract": ((64, 96), (96, 32)), "conv": ((2, 8, 9, 9), (16, 8, 3, 2))}[case]
    inputs = [drawn(s, dtype) for s in shapes]
    fn = Function.build(CASES[case][0](None), *map(type_of, inputs))
    chosen = with_units(dtype.name)
    (call,) = called(lower(passes.optimise(fn, chosen), {}, chosen))
    layouts = (call.lhs, call.rhs, call.out) if case == "contract" else (call.x, call.w, call.out)
    assert {layout.dtype for layout in layouts} == {dtype}
    (got,), (want,) = warm.compile(fn, {}, chosen)(*inputs), interpret(fn, *inputs)
    np.testing.assert_allclose(wide(got), wide(want), rtol=ROUGH[dtype], atol=ROUGH[dtype] * np.abs(wide(want)).max())


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_a_transposed_operand_of_sixteen_bits_is_dense_because_the_library_refuses_gaps(dtype):
    """With a gap after each column, all products of the program went by 32 bits."""
    x = drawn((256, 256), dtype)
    fn = Function.build(lambda a, b: p.matmul(p.transpose(a, (1, 0)), b), type_of(x), type_of(x))
    chosen = with_units(dtype.name)
    (call,) = called(lower(passes.optimise(fn, chosen), {}, chosen))
    assert call.lhs.strides == (1, 256)
    assert {layout.dtype for layout in (call.lhs, call.rhs, call.out)} == {dtype}


def test_int8_goes_to_the_library_only_where_it_does_not_saturate():
    types = [type_of(np.zeros(s, np.int8)) for s in ((64, 300), (300, 64))]
    fn = Function.build(lambda a, b: p.matmul(a, b, dtype=int32), *types)
    for units, kind in (((), Tiles), (("int8",), Matmul)):
        chosen = with_units(*units)
        (call,) = called(lower(passes.optimise(fn, chosen), {}, chosen))
        assert isinstance(call, kind)


def test_what_plain_loops_compute_is_noted():
    x = np.ones((128, 128), np.float16)
    fn = Function.build(p.matmul, *map(type_of, (x, x)))
    chosen = replace(with_units(), without=frozenset({"shape_products"}))
    run = warm.compile(fn, {}, chosen)
    (note,) = run.notes
    assert note.text.startswith("plain loops compute f16[128, 128], a product of f16[128, 128] and f16[128, 128]")
    assert np.all(run(x, x)[0] == 128)
    assert not compile(fn).notes
