"""Sizes that come out of data: masks, nonzero and unique run inside one native call, as eagerly, for any data."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia import primitives as p
from mycelia.ir import Function, interpret
from mycelia.runtime.executable import Calls
from mycelia.testing import compile
from mycelia.types import TensorType, bool_, float32, float64, int32

ROW = lambda rng, n: rng.integers(-3, 4, n).astype("f")  # noqa: E731
TABLE = lambda rng, n: rng.integers(-2, 3, (n, 3)).astype("f")  # noqa: E731

PROGRAMS = {
    "nonzero": (lambda x: ops.nonzero(x), TABLE),
    "nonzero of each axis": (lambda x: ops.nonzero(x > 0, as_tuple=True), TABLE),
    "mask": (lambda x: x[x > 0], ROW),
    "mask of two axes": (lambda x: x[x > 0] * 2.0, TABLE),
    "computed from a mask": (lambda x: (ops.exp(x[x > 0]) + 1).sum(), ROW),
    "rows by a mask": (lambda x: x[x[:, 0] > 0], TABLE),
    "product of chosen rows": (lambda x: x[x[:, 0] > 0] @ x.T, TABLE),
    "masked_select": (lambda x: ops.masked_select(x, x != 1), TABLE),
    "mean of the chosen": (lambda x: x[x > 0].mean(), ROW),
    "how many": (lambda x: x[x > 0].shape[0] * x, ROW),
    "made of how many": (lambda x: ops.arange(x[x > 0].shape[0]), ROW),
    "running sum": (lambda x: ops.cumsum(x[x > 0], 0), ROW),
    "joined": (lambda x: ops.cat((x[x > 0], x[x < 0]), 0), ROW),
    "mask of a mask": (lambda x: (lambda y: y[y > 1])(x[x > 0]), ROW),
    "unique": (lambda x: ops.unique(x), ROW),
    "unique whole numbers": (lambda x: ops.unique(x.astype(ms.int64)), TABLE),
    "sort": (lambda x: ops.sort(x, 0), TABLE),
    "topk": (lambda x: ops.topk(x, 2, 1), TABLE),
    "topk of the smallest": (lambda x: ops.topk(x, 2, 0, largest=False, sorted=False), TABLE),
    "median": (lambda x: ops.median(x, 0), TABLE),
    "nonzero and mask": (lambda x: (ops.nonzero(x > 0), x[x > 0].sum()), TABLE),
    "gradient of a mask": (lambda x: ms.grad(lambda x: (x[x > 0] ** 2).sum())(x), ROW),
    "gradient of sort": (lambda x: ms.grad(lambda x: (ops.sort(x)[0] * ops.arange(x.shape[0])).sum())(x), ROW),
}

ORDERED = ("topk", "topk of the smallest", "median")  # of nothing there is none


def listed(out):
    return out if isinstance(out, tuple) else (out,)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_with_sizes_from_data_is_one_native_call_equal_to_eager(name):
    program, draw = PROGRAMS[name]
    compiled = ms.jit(program)
    for n, seed in [(5, 0), (8, 1), (11, 2), (11, 3), (2, 4), (30, 5)]:
        x = Tensor(draw(np.random.default_rng(seed), n))
        wanted = listed(program(x))
        before = Calls.count
        got = listed(compiled(x))
        assert Calls.count == before + 1, compiled.explain()
        for g, w in zip(got, wanted, strict=True):
            assert (g.shape, g.dtype) == (w.shape, w.dtype)
            np.testing.assert_allclose(g.asnumpy(), w.asnumpy(), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ORDERED])
@pytest.mark.parametrize("value", [-1.0, 1.0])
def test_nothing_and_everything_may_be_chosen(name, value):
    program, draw = PROGRAMS[name]
    compiled = ms.jit(program)
    for n in (4, 7, 0, 1, 9):
        x = Tensor(np.full_like(draw(np.random.default_rng(0), n), value))
        for g, w in zip(listed(compiled(x)), listed(program(x)), strict=True):
            assert g.shape == w.shape
            np.testing.assert_allclose(g.asnumpy(), w.asnumpy(), rtol=1e-6)


def test_what_needs_the_number_runs_in_python_and_agrees():
    def program(x):
        chosen = x[x > 0]
        return chosen.max() if chosen.shape[0] > 2 else chosen.sum()

    compiled = ms.jit(program)
    for seed in range(4):
        x = Tensor(ROW(np.random.default_rng(seed), 6))
        assert compiled(x).item() == program(x).item()


@pytest.mark.parametrize("dtype", [float32, float64, int32, bool_])
@pytest.mark.parametrize("descending", [False, True])
def test_order_is_that_of_a_stable_sort(dtype, descending):
    for n in (1, 2, 3, 7, 8, 33):
        order = compile(Function.build(lambda x: p.order_of(x, 1, descending), TensorType(dtype, (3, n))))
        x = np.random.default_rng(n).integers(0, 5, (3, n)).astype(dtype.numpy)
        if dtype.is_float and n > 3:
            x[0, 2] = x[1, 1] = x[1, 3] = np.nan
        wanted = np.argsort(x, 1, kind="stable")
        if descending:
            wanted = n - 1 - np.flip(np.argsort(np.flip(x, 1), 1, kind="stable"), 1)
        np.testing.assert_array_equal(order(x)[0], wanted)


def test_the_interpreter_learns_sizes_from_data():
    def chosen(x):
        at = p.positions(p.greater(x, p.zeros(float32, ())))
        return p.gather(x, at, 0) * 2.0, p.reduce_sum(p.gather(x, at, 0), (0,))

    fn = Function.build(chosen, TensorType(float32, (6,)))
    native = compile(fn)
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=6).astype("f")
        for a, b in zip(interpret(fn, x), native(x), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
