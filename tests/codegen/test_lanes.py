"""Vectors that read every other element, and pairs of stores that write them: at any length, of any type."""

from dataclasses import replace

import numpy as np
import pytest
from llvmlite import ir

from mycelia import primitives as p
from mycelia.api import options
from mycelia.codegen.driver import emit_program
from mycelia.codegen.lanes import pairs_of
from mycelia.codegen.scalar import lanes_of, splat
from mycelia.ir import Function, interpret
from mycelia.loops import Buffer, Store, Variable, const, index
from mycelia.lowering import lower
from mycelia.passes import optimise
from mycelia.runtime.layout import layout
from mycelia.runtime.warm import compile
from mycelia.types import TensorType, float32, type_of


@pytest.mark.many("width", [1, 2, 3, 7, 16, 17, 33])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_pooling_and_its_gradient_give_what_numpy_gives(width, dtype):
    rng = np.random.default_rng(width)
    x, ct = (rng.normal(size=(2, 3, 4, 2 * width)).astype(dtype) for _ in range(2))
    ct = ct[:, :, ::2, ::2].copy()
    pool, back = (kind((2, 2), (2, 2), ((0, 0), (0, 0))) for kind in (p.MaxPool, p.MaxPoolGrad))
    for op, inputs in ((pool, (x,)), (back, (ct, x))):
        fn = Function.build(op, *map(type_of, inputs))
        np.testing.assert_array_equal(compile(fn, {}, options())(*inputs)[0], interpret(fn, *inputs)[0])


@pytest.mark.many("length", [1, 2, 15, 16, 31, 64, 65])
@pytest.mark.parametrize("first", [0, 1])
def test_every_other_element_is_read(length, first):
    x = np.arange(2 * length + first - 1, dtype="f") if length > 1 or first else np.zeros(1, "f")
    fn = Function.build(lambda x: p.take(x, 0, first, x.shape[0], 2) * 2.0, type_of(x))
    np.testing.assert_array_equal(compile(fn, {}, options())(x)[0], x[first::2] * 2)


def test_the_gradient_of_a_pooling_runs_in_vectors():
    chosen = replace(options(), threads=1)
    types = TensorType(float32, (2, 3, 8, 16)), TensorType(float32, (2, 3, 16, 32))
    fn = optimise(Function.build(p.MaxPoolGrad((2, 2), (2, 2), ((0, 0), (0, 0))), *types), chosen)
    assert "shufflevector" in "".join(emit_program(layout(lower(fn, {}, chosen), chosen), chosen, "run").modules)


def test_stores_that_might_meet_are_no_pairs():
    v, row = Variable(8), Variable(4)
    out = Buffer.dense("out", TensorType(float32, (4, 64)))

    def stores(*offsets):
        return [Store(out, index(row) * 64 + index(v) * 2 + at, const(0, float32)) for at in offsets]

    assert pairs_of(stores(0, 1), v) == [(0, 1)]
    assert pairs_of(stores(0, 1, 16, 17), v) == [(0, 1), (2, 3)]
    assert pairs_of(stores(0, 1, 8, 9), v) == []  # the second pair writes over what the first has written
    assert pairs_of(stores(0, 1, 2), v) == []
    assert pairs_of(stores(0), v) == []


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_number_goes_to_every_lane_and_a_vector_stays(lanes):
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [ir.FloatType()]), "f")
    b = ir.IRBuilder(function.append_basic_block())
    for number in (function.args[0], ir.FloatType()(2.5)):
        wide = splat(b, number, lanes)
        assert lanes_of(wide) == lanes
        assert splat(b, wide, lanes) is wide
