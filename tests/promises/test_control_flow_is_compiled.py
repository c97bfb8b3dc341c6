"""The README: `if`, `while`, recursion and closures on tensor values are compiled and differentiated, to any order."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import ops


def branch(x):
    if x > 1.0:
        return x * x * x
    return ops.sin(x)


def newton(x):
    r = x
    while ops.abs(r * r - x) > 1e-6:
        r = 0.5 * (r + x / r)
    return r


def recursion(x):
    if x < 2.0:
        return x * x
    return recursion(x * 0.5) * x


def closure(x):
    def scaled(v):
        return v * x

    twice = lambda v: scaled(scaled(v))  # noqa: E731
    return twice(x)


def early_return(x):
    for k in (1.0, 2.0, 3.0):
        if x > k:
            return x**3 * k
    return x * x


PROGRAMS = [branch, newton, recursion, closure, early_return]


def derivative(fn, order):
    for _ in range(order):
        fn = ms.grad(fn)
    return fn


def by_differences(fn, x, order, step):
    """The derivative by central differences of plain Python in float64."""
    if order == 0:
        return float(fn(ms.Tensor(x, ms.float64)))
    return (by_differences(fn, x + step, order - 1, step) - by_differences(fn, x - step, order - 1, step)) / (2 * step)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_control_flow_is_one_native_call_with_derivatives(fn, order):
    compiled = ms.jit(derivative(fn, order))
    for x in (0.7, 1.7, 2.6, 5.3):
        got = float(compiled(ms.Tensor(x, ms.float64)))
        np.testing.assert_allclose(got, by_differences(fn, x, order, 1e-3), rtol=1e-3, atol=1e-4)
    assert "one native call" in compiled.explain()
    assert "runs in Python" not in compiled.explain()


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_many_examples_go_their_own_ways(fn):
    xs = ms.Tensor([0.7, 1.7, 2.6, 5.3], ms.float64)
    want = [float(fn(x)) for x in xs]
    np.testing.assert_allclose(ms.jit(ms.vmap(fn))(xs).asnumpy(), want, rtol=1e-12)
