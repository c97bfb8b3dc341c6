"""Where results go: memory of their own, or that of a parameter which is given away."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function
from mycelia.testing import compile
from mycelia.types import bool_, complex64, float64, int32
from tests.lowering.programs import check, copies, f32, launches, lowered, numbers, typed

X = f32(33, 20)


def run(fn, *types, donated=None, arrays=None):
    arrays = arrays or [numbers(t, i) for i, t in enumerate(types)]
    return arrays, compile(Function.build(fn, *types), donated)(*arrays)


# -------------------------------------------------------------------------------------------------- of its own


def test_a_parameter_as_a_result_is_a_copy():
    (x,), (y,) = run(lambda x: x, X)
    np.testing.assert_array_equal(x, y)
    assert not np.shares_memory(x, y)


def test_a_result_given_twice_is_two_arrays():
    _, (a, b) = run(lambda x: (p.exp(x),) * 2, X)
    np.testing.assert_array_equal(a, b)
    assert not np.shares_memory(a, b)


def test_results_of_two_calls_are_different_arrays():
    compiled = compile(Function.build(lambda x: x * 2.0, X))
    a = compiled(np.ones(X.shape, "f"))[0]
    b = compiled(np.zeros(X.shape, "f"))[0]
    assert (a == 2).all()
    assert (b == 0).all()


def test_a_constant_result_may_be_changed_without_changing_the_program():
    data = np.arange(6, dtype="f")
    compiled = compile(Function.build(lambda: (p.constant(data), p.full(3.0, X.dtype, (2,)))))
    for _ in range(2):
        a, b = compiled()
        np.testing.assert_array_equal(a, data)
        np.testing.assert_array_equal(b, [3, 3])
        a[...] = 9


@pytest.mark.parametrize(
    "view",
    [
        lambda x: p.transpose(x, (1, 0)),
        lambda x: p.reshape(x, (20, 33)),
        lambda x: p.slice_(x, (1, 2), (30, 11), (2, 3)),
        lambda x: p.flip(x, (0, 1)),
        lambda x: p.broadcast(p.slice_(x, (0, 0), (1, 20)), (33, 20)),
    ],
)
def test_a_view_as_a_result_is_laid_out_row_by_row(view):
    check(view, X)
    check(lambda x: (view(x), view(p.exp(x)), p.exp(view(x))), X, tolerance=1e-5)
    _, (y,) = run(view, X)
    assert y.flags.c_contiguous


def test_results_that_are_views_of_one_another_are_all_right():
    check(lambda x: (y := p.exp(x), p.transpose(y, (1, 0)), p.reshape(y, (660,)), x), X, tolerance=1e-5)


# -------------------------------------------------------------------------------------------------- empty, 0-d


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3), (1, 0, 1)])
def test_tensors_without_elements_go_through_everything(shape):
    last = len(shape) - 1
    t = f32(*shape)
    check(lambda x: p.tanh(x) + x, t)
    check(lambda x: [p.reduce_sum(x, (d,)) for d in range(last + 1)], t)
    check(lambda x: (p.reduce_sum(x), p.reduce_prod(x)), t)
    check(lambda x: p.pad(p.exp(x), (1,) * (last + 1), (1,) * (last + 1), 2.0), t)
    check(lambda x: p.cumsum(p.concat([x, x], last), last), t)


def test_products_over_nothing_are_zero():
    check(p.matmul, f32(3, 0), f32(0, 4))
    check(p.matmul, f32(0, 3), f32(3, 4))


@pytest.mark.parametrize("dtype", [bool_, int32, float64])
def test_single_numbers_go_through_everything(dtype):
    t = typed(dtype)
    check(lambda x: (x, p.reshape(x, (1, 1)), p.broadcast(x, (3, 2)), p.cast(x, float64) * 2.0), t)
    check(lambda x: (p.reduce_all if dtype is bool_ else p.reduce_sum)(x, ()), t)


# -------------------------------------------------------------------------------------------------- given away


def step(w, g):
    return w - g * 0.1


def test_a_donated_parameter_is_updated_in_place():
    (w, g), (out,) = run(step, X, X, donated={0: 0}, arrays=[np.ones(X.shape, "f"), np.ones(X.shape, "f")])
    assert out is w
    np.testing.assert_allclose(w, 0.9, rtol=1e-6)
    assert (g == 1).all()


def test_updating_in_place_moves_nothing():
    program = lowered(step, X, X, donated={0: 0})
    assert not copies(program)
    assert len(launches(program)) == 1
    assert program.outputs == program.inputs[:1]


def test_optimizer_state_is_updated_in_place_by_one_kernel():
    def adam(w, m, v, g):
        m, v = m * 0.9 + g * 0.1, v * 0.99 + g * g * 0.01
        return w - m / (p.sqrt(v) + 1e-8), m, v

    program = lowered(adam, X, X, X, X, donated={0: 0, 1: 1, 2: 2})
    assert not copies(program)
    assert len(launches(program)) == 1
    arrays = [np.abs(numbers(X, i)) for i in range(4)]
    w, m, v, g = (a.astype("d") for a in arrays)
    compile(Function.build(adam, X, X, X, X), {0: 0, 1: 1, 2: 2})(*arrays)
    m, v = m * 0.9 + g * 0.1, v * 0.99 + g * g * 0.01
    for got, want in zip(arrays, (w - m / (np.sqrt(v) + 1e-8), m, v, g), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_a_parameter_that_is_read_elsewhere_is_updated_last():
    def fn(w, x):
        return w - p.matmul(p.transpose(x, (1, 0)), p.matmul(x, w)) * 0.01, p.reduce_sum(w, (1,))

    types = f32(48, 40), f32(64, 48)
    w, x = (numbers(t, i) for i, t in enumerate(types))
    before = w.astype("d")
    out, rows = compile(Function.build(fn, *types), {0: 0})(w, x)
    assert out is w
    np.testing.assert_allclose(w, before - x.T.astype("d") @ (x @ before) * 0.01, atol=1e-4)
    np.testing.assert_allclose(rows, before.sum(1), atol=1e-4)


def test_parameters_may_be_exchanged():
    (a, b), out = run(lambda a, b: (b, a), X, X, donated={0: 0, 1: 1}, arrays=[numbers(X, 1), numbers(X, 2)])
    assert out[0] is a
    assert out[1] is b
    np.testing.assert_array_equal(a, numbers(X, 2))
    np.testing.assert_array_equal(b, numbers(X, 1))


def test_parameters_may_go_round_in_a_circle():
    def fn(a, b, c):
        return b * 2.0, c + a, p.tanh(a)

    arrays = [numbers(X, i) for i in range(3)]
    a, b, c = (x.copy() for x in arrays)
    compile(Function.build(fn, X, X, X), {0: 0, 1: 1, 2: 2})(*arrays)
    for got, want in zip(arrays, (b * 2, c + a, np.tanh(a)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize(
    "fn",
    [
        lambda w: p.transpose(w, (1, 0)) * 2.0,
        lambda w: p.flip(w, (0,)) + w,
        lambda w: w + p.reduce_sum(w, (0,)),
        lambda w: w - p.reduce_max(w, (1,), True),
        lambda w: p.cumsum(w, 0),
        lambda w: p.matmul(w, w),
        lambda w: p.gather(w, p.constant(np.array([3, 1, 2] * 8)), 0) * 2.0,
        lambda w: p.concat([p.slice_(w, (1, 0), (24, 24)), p.slice_(w, (0, 0), (1, 24))], 0),
    ],
)
def test_updates_that_read_other_elements_are_right_in_place(fn):
    t = f32(24, 24)
    w = numbers(t)
    (want,) = compile(Function.build(fn, t))(w.copy())
    (got,) = compile(Function.build(fn, t), {0: 0})(w)
    assert got is w
    np.testing.assert_array_equal(got, want)


def test_a_donated_array_may_also_be_given_as_another_argument():
    for order in ((0, 1), (1, 0)):
        fn = Function.build(lambda *xs, at=order: p.flip(xs[at[1]], (0,)) + xs[at[0]], X, X)
        w = numbers(X)
        want = w[::-1] + w
        (got,) = compile(fn, {0: order[0]})(w, w)
        np.testing.assert_array_equal(got, want)


def test_a_donated_array_of_other_strides_is_copied_and_the_copy_returned():
    w = np.asfortranarray(numbers(X))
    want = w * 2
    (got,) = compile(Function.build(lambda w: w * 2.0, X), {0: 0})(w)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("laid", [np.ascontiguousarray, np.asfortranarray])
def test_a_donated_complex_array_is_overwritten_or_copied_as_a_real_one_is(laid):
    w = laid(np.arange(12.0).reshape(3, 4) * (1 + 2j)).astype(np.complex64, order="K")
    want = w * (2 + 1j)
    (got,) = compile(Function.build(lambda w: w * (2 + 1j), typed(complex64, 3, 4)), {0: 0})(w)
    np.testing.assert_array_equal(got, want)
    assert (got is w) == w.flags.c_contiguous


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 4), (3, 1), (2, 3), (0, 3), (3, 0)])
@pytest.mark.parametrize("axis", [0, -1])
def test_the_order_of_few_elements_is_that_of_the_reference(shape, axis):
    axis %= len(shape)
    for descending in (False, True):
        check(lambda x: (*p.sort(x, axis, descending), p.order_of(x, axis, descending)), f32(*shape))  # noqa: B023
        check(lambda x: p.order_of(x, axis, descending), typed(int32, *shape))  # noqa: B023
