"""Sizes that come out of data: masks, nonzero and unique run inside one native call, as eagerly, for any data."""

from typing import Any

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
    "made of half of them": (lambda x: ops.arange(x[x > 0].shape[0] // 2), ROW),
    "made of what is less than nothing": (lambda x: ops.arange((x[x > 0].shape[0] - 9) // 4 + 3), ROW),
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


LOOKED_UP = {
    "by a constant": lambda x, i: x[x > 0][ops.zeros(3, ms.int32)],
    "by an argument": lambda x, i: x[x > 0][i],
    "by gather": lambda x, i: ops.gather(x[x > 0], i, 0),
    "on one way": lambda x, i: x[x > 0][i] if x[0] != 0 else x,
    "by what another mask found": lambda x, i: x[x > 0][ops.nonzero(x < 0).reshape(-1)],
}


@pytest.mark.parametrize("name", LOOKED_UP)
def test_positions_that_a_mask_has_not_chosen_are_an_error_as_in_eager_mode(name: str) -> None:
    look = LOOKED_UP[name]
    compiled = ms.jit(look)
    for numbers in ([1.0, 2.0, 3.0], [1.0, -1.0, 2.0], [-1.0, -2.0, -3.0]):
        given = Tensor(numbers, ms.float32), Tensor([1, 0, 2])
        assert outcome(compiled, *given) == outcome(look, *given)


def outcome(fn, *given):
    try:
        return fn(*given).tolist()
    except IndexError as error:
        return str(error).splitlines()[0]


DIFFERENTIATED = {
    "joined": lambda x: (ops.cat((x[x > 0], x), 0) ** 2).sum(),
    "product": lambda x: x[x > 0].prod(),  # whose derivative asks how many there are
    "gathered": lambda x: (x[x > 0][ops.zeros(3, ms.int32)] ** 2).sum(),
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_the_gradient_of_a_jitted_function_agrees_with_eager_also_where_it_needs_the_size(name: str) -> None:
    fn = DIFFERENTIATED[name]
    jitted, x = ms.jit(fn), Tensor([1.0, -2.0, 3.0, 0.5], ms.float32)
    np.testing.assert_allclose(ms.grad(jitted)(x).asnumpy(), ms.grad(fn)(x).asnumpy(), 1e-6)
    np.testing.assert_allclose(jitted(x).asnumpy(), fn(x).asnumpy(), 1e-6)


def test_a_derivative_that_needs_the_size_is_an_error_where_python_may_not_run() -> None:
    strict = ms.jit(DIFFERENTIATED["product"], fullgraph=True)
    with pytest.raises(RuntimeError, match="comes out of data"):
        ms.grad(strict)(Tensor([1.0, -2.0, 3.0], ms.float32))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "bool"])
@pytest.mark.parametrize("descending", [False, True])
def test_what_a_mask_has_chosen_is_sorted_inside_the_program(dtype: str, descending: bool) -> None:
    """Behind it there are numbers that come last: those that are equal to them, and nan, stay in front."""

    def ordered(x: Tensor, mask: Tensor) -> Any:
        return ops.sort(x[mask], 0, descending), ops.argsort(x[mask], 0, descending)

    compiled = ms.jit(ordered)
    ends = {"float32": [np.nan, -np.inf, np.inf], "float16": [np.nan, -np.inf, np.inf], "bool": [True, False]}
    info = np.iinfo(dtype) if dtype in ("int32", "uint8") else None
    odd = ends.get(dtype) or [info.min, info.max]
    rng = np.random.default_rng(3)
    for size in (1, 6, 40):
        x = np.concatenate([rng.integers(0, 5, size).astype(dtype), np.array(odd, dtype), np.array(odd, dtype)])
        for mask in (rng.random(len(x)) < 0.6, np.ones(len(x), bool), np.zeros(len(x), bool)):
            got, want = compiled(Tensor(x), Tensor(mask)), ordered(Tensor(x), Tensor(mask))
            for a, b in zip((*got[0], got[1]), (*want[0], want[1]), strict=True):
                np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    assert "runs in Python" not in compiled.explain()
