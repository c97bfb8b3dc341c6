"""Sizes that come out of data inside branches and loops: one native call, equal to eager, also differentiated."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.runtime.executable import Calls


def one_way(x):
    if x.sum() > 0:
        chosen = ops.exp(x[x > 0])
        y = (chosen**2).sum()
    else:
        y = x.sum()
    return y


def both_ways(x):
    if x.sum() > 0:
        y = x[x > 0]
        n = y.shape[0]
        z = (y * 2).sum() + (ops.ones((n,), ms.float64) * ops.exp(y)).sum()
    else:
        z, n = ops.tanh(x[x < 0]).sum(), ops.nonzero(x).shape[0]
    return z * n


def every_turn(x):
    t = x
    while t.sum() > 1:
        t = t - ops.tanh(x[t > 0]).mean() * ops.exp(t * 0.1)
    return (t * t).sum()


def branches_in_turns(x):
    t = x
    while t.sum() > 1:
        if t[0] > 0:
            chosen = t[t > 0]
            t = t - (chosen**2).mean() * 0.1 - 0.05
        else:
            t = t - (ops.masked_select(t, t != 0) ** 2).sum() * 0.3
    return t.sum()


def unique_on_one_way(x):
    if x.sum() > 0:
        found, inverse = ops.unique((x * 2).astype(ms.int32))
        r = (x * inverse.reshape(x.shape)).sum() + found.shape[0]
    else:
        r = ops.masked_select(x, x < 0).sum()
    return r


PROGRAMS = [one_way, both_ways, every_turn, branches_in_turns, unique_on_one_way]
INPUTS = [np.array([0.3, 1.2, 0.7, 0.2, 1.9, 0.5]), np.array([0.9, -0.4, 1.1, 0.6]), -np.arange(1.0, 5.0)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_is_one_native_call_equal_to_eager(program):
    compiled = ms.jit(program)
    for x in map(Tensor, INPUTS):
        before = Calls.count
        got = compiled(x)
        assert Calls.count == before + 1, compiled.explain()
        np.testing.assert_allclose(got.asnumpy(), program(x).asnumpy(), rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_and_examples_agree_with_eager(program):
    slope = ms.grad(program)
    compiled, differentiated = ms.jit(slope), ms.jit(program)
    for x in map(Tensor, INPUTS[:2]):
        wanted = slope(x).asnumpy()
        np.testing.assert_allclose(compiled(x).asnumpy(), wanted, rtol=1e-10)
        np.testing.assert_allclose(ms.grad(differentiated)(x).asnumpy(), wanted, rtol=1e-10)
    assert "Python" not in compiled.explain()
    many = ops.stack([Tensor(INPUTS[0]), Tensor(-INPUTS[0]), Tensor(INPUTS[0] * 0.1)])
    each = np.stack([program(x).asnumpy() for x in many])
    np.testing.assert_allclose(ms.jit(ms.vmap(program))(many).asnumpy(), each, rtol=1e-12)
    slopes = np.stack([slope(x).asnumpy() for x in many])
    summed = ms.jit(ms.grad(lambda xs: ms.vmap(program)(xs).sum()))
    np.testing.assert_allclose(summed(many).asnumpy(), slopes, rtol=1e-10)
    np.testing.assert_allclose(ms.jit(ms.vmap(slope))(many).asnumpy(), slopes, rtol=1e-10)


# ---------------------------------------------------------------------- what Python runs, with the same results


def leaves_a_branch(x):
    if x.sum() > 0:
        x = x[x > 0]
    return x


def leaves_a_loop(x):
    kept, t = x, x.sum() * 0
    while t < 3:
        kept = x[x > t]
        t = t + 1
    return kept.sum() + t


def calls_itself(x, n=3):
    chosen = x[x > 0]
    rest = calls_itself(x - 0.5, n - 1) if n > 0 else x.sum()
    return rest + (chosen * chosen).sum()


def under_many_conditions(x):
    for i in range(12):
        y = x[x > i * 0.1]
        if y.sum() < 2.0:
            return y.sum() + i
    return x.sum()


@pytest.mark.parametrize("program", [leaves_a_branch, leaves_a_loop, calls_itself, under_many_conditions],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_a_size_that_others_would_see_is_left_to_python(program):
    compiled = ms.jit(program)
    for x in map(Tensor, INPUTS):
        np.testing.assert_allclose(compiled(x).asnumpy(), program(x).asnumpy(), rtol=1e-12)
