"""A tensor that is put together of parts is computed part by part: the same numbers, and nothing twice."""

from math import prod

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api import options
from mycelia.ir import Function, interpret
from mycelia.loops import Buffer, Kernel, Store, Sweep, Variable, const, index, position
from mycelia.loops.expr import binary, select
from mycelia.loops.interpret import run
from mycelia.lowering import lower
from mycelia.lowering.borders import at_borders
from mycelia.lowering.kernels import _block
from mycelia.lowering.plain import offset_of
from mycelia.passes import optimise
from mycelia.runtime.warm import compile
from mycelia.types import TensorType, float32, int32

MATRIX, WIDE = TensorType(float32, (6, 40)), TensorType(float32, (6, 120))


def joined(x, y, z):
    return p.concat((p.exp(x), y * z, p.tanh(z)), 1) * 2.0


def padded(x, y, z):
    return p.pad(x, (0, 3), (0, 0)) + p.pad(y, (0, 0), (0, 3)) * 2.0


def sliced(x, y, z):
    """What the gradient of slices is: each in its place, and zero elsewhere."""
    parts = [p.pad(a * b, (0, 40 * i), (0, 80 - 40 * i)) for i, (a, b) in enumerate(((x, y), (y, z), (z, x)))]
    return parts[0] + parts[1] + parts[2]


def rolled(x, y, z):
    return p.concat((p.take(x, 1, 7, 40), p.take(x, 1, 0, 7)), 1)


def chosen(x, y, z):
    """Borders that depend on the row are none."""
    rows, columns = (p.iota(z.dtype, z.shape, axis) for axis in (0, 1))
    return p.select(p.less(columns, rows), x, y)


def counted(x, y, z):
    """Questions in which the number stands first."""
    columns = p.iota(int32, z.shape, 1)
    return p.select(p.less(p.full(7, int32, z.shape), columns), x, y) * p.select(p.greater(30, columns), z, y)


PROGRAMS = [joined, padded, sliced, rolled, chosen, counted]


@pytest.mark.parametrize("python", PROGRAMS)
def test_parts_are_what_the_whole_is(python):
    fn = Function.build(python, MATRIX, MATRIX, MATRIX)
    inputs = [np.random.default_rng(i).normal(size=MATRIX.shape).astype("f") for i in range(3)]
    expected, got = interpret(fn, *inputs)[0], compile(fn, {}, options())(*inputs)[0]
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("python", [joined, padded, sliced, rolled, counted])
def test_no_element_asks_where_it_is(python):
    program = str(lower(optimise(Function.build(python, MATRIX, MATRIX, MATRIX), options()), {}, options()))
    assert "select" not in program
    assert "datum" not in program


def test_large_results_in_parts_lie_anywhere():
    """Stores past the cache are aligned ones: a part that begins in the middle of a vector has none."""
    x = np.arange(900 * 10007, dtype="f").reshape(900, 10007)
    whole = TensorType(float32, x.shape)
    fn = Function.build(lambda x: p.concat((p.take(x, 1, 3, 10007), p.take(x, 1, 0, 12)), 1), whole)
    (out,) = compile(fn, {}, options())(x)
    np.testing.assert_array_equal(out, np.concatenate((x[:, 3:], x[:, :12]), 1))


def test_a_loop_that_may_be_cut_short_is_not_parted():
    """A part of it would run to its end, beyond the tensor."""
    out = Buffer.dense("out", TensorType(float32, (20,)))
    block = Variable(3)
    for column, parts in ((Variable(8), 2), (Variable(8, (block, 20)), 1)):
        asks = binary("lt", position(index(column), int32), const(3, int32))
        value = select(asks, const(1.0, float32), const(2.0, float32))
        sweep = Sweep((column,), (), (Store(out, index(block) * 8 + index(column), value),))
        assert len(at_borders(Kernel((block,), (sweep,))).sweeps) == parts


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_parts_of_a_sweep_write_each_element_once(rank):
    shape = (2, *(3, 4, 20)[-rank:])
    out = Buffer.dense("out", TensorType(float32, shape))
    row, *columns = map(Variable, shape)
    at = offset_of(tuple(map(index, (row, *columns))), out.strides)
    near = binary("lt", position(index(columns[-1]), int32), const(13, int32))
    store = Store(out, at, select(near, const(1.0, float32), const(2.0, float32)))
    parts = at_borders(Kernel((row,), (Sweep(tuple(columns), (), (store,)),)))
    turns = [prod(v.extent for v in sweep.columns) for sweep in parts.sweeps]
    assert turns == [n * prod(shape[1:-1]) for n in (13, 7)]
    memory = {out: np.zeros(prod(shape), "f")}
    run(parts, memory)
    wanted = np.where(np.arange(20) < 13, np.float32(1), np.float32(2))
    np.testing.assert_array_equal(memory[out].reshape(shape), np.broadcast_to(wanted, shape))


def test_blocks_of_columns_leave_no_column_out():
    for columns in (*range(1, 300), 4097, 4100, 5003, 8191, 9000, 10007, 12289, 65537):
        for widest in (128, 1024):
            assert columns % _block(columns, widest) == 0
