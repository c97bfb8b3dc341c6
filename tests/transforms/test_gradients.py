"""Derivatives of every order, through every kind of control flow, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, interpret, verify
from mycelia.transforms import jvp, vjp
from mycelia.types import float64
from tests.transforms.programs import EXAMPLES, build, gradient, loop, number, numeric

every_program = pytest.mark.parametrize(("fn", "inputs"), EXAMPLES.values(), ids=EXAMPLES)


def smooth(fn: Function) -> list[int]:
    return [i for i, t in enumerate(fn.types) if t.differentiable]


def total(fn: Function) -> Function:
    """A weighted sum of all that `fn` gives: a scalar to differentiate again."""

    def program(*xs):
        weights = [p.cos(p.iota(float64, (r.tensor.size,), 0)) for r in fn.results]
        terms = [p.reduce_sum(p.reshape(r, w.shape) * w) for r, w in zip(fn(*xs), weights, strict=True)]
        return sum(terms, number(0.0))

    return build(program, *fn.types)


@every_program
def test_a_gradient_equals_finite_differences(fn, inputs):
    for i in smooth(fn):
        grad = gradient(fn, i)
        verify(grad)
        np.testing.assert_allclose(interpret(grad, *inputs)[0], numeric(fn, inputs, i), rtol=1e-7, atol=1e-8)


@every_program
def test_a_second_gradient_equals_finite_differences_of_the_first(fn, inputs):
    for i in smooth(fn):
        once = total(gradient(fn, i))
        for k in smooth(fn):
            twice = gradient(once, k)
            verify(twice)
            np.testing.assert_allclose(interpret(twice, *inputs)[0], numeric(once, inputs, k), rtol=1e-6, atol=1e-7)


@every_program
def test_a_third_gradient_equals_finite_differences_of_the_second(fn, inputs):
    i = smooth(fn)[0]
    twice = total(gradient(total(gradient(fn, i)), i))
    got = interpret(gradient(twice, i), *inputs)[0]
    np.testing.assert_allclose(got, numeric(twice, inputs, i), rtol=1e-6, atol=1e-7)


@every_program
def test_a_tangent_equals_finite_differences(fn, inputs):
    for i in smooth(fn):
        wrt = tuple(k == i for k in range(len(fn.params)))
        pushed = jvp(fn, wrt)
        verify(pushed)
        directions = np.eye(np.size(inputs[i])).reshape(-1, *np.shape(inputs[i]))
        got = [interpret(pushed, *inputs, d)[len(fn.results)] for d in directions]
        want = numeric(fn, inputs, i)
        np.testing.assert_allclose(np.reshape(got, want.shape), want, rtol=1e-7, atol=1e-8)


@every_program
def test_forward_over_reverse_equals_reverse_over_forward(fn, inputs):
    i = smooth(fn)[0]
    wrt = tuple(k == i for k in range(len(fn.params)))
    direction = np.cos(np.arange(np.size(inputs[i]))).reshape(np.shape(inputs[i]))
    forward_over_reverse = interpret(jvp(gradient(fn, i), wrt), *inputs, direction)[1]
    pushed = jvp(fn, wrt)
    tangent = pushed.with_results(pushed.results[len(fn.results) :][:1])
    reverse_over_forward = interpret(gradient(tangent, i), *inputs, direction)[0]
    np.testing.assert_allclose(forward_over_reverse, reverse_over_forward, rtol=1e-9, atol=1e-12)


@every_program
def test_tangents_and_cotangents_agree(fn, inputs):
    """The cotangent of the tangent is the tangent of the cotangent: <ct, J t> = <J* ct, t>."""
    rng = np.random.default_rng(1)
    tangents = [rng.normal(size=np.shape(inputs[i])) for i in smooth(fn)]
    results = interpret(jvp(fn), *inputs, *tangents)
    moved = results[len(fn.results) :]
    cts = [rng.normal(size=np.shape(m)) for m in moved]
    pulled = interpret(vjp(fn), *inputs, *cts)[len(fn.results) :]
    there = sum(np.vdot(c, m) for c, m in zip(cts, moved, strict=True))
    back = sum(np.vdot(t, q) for t, q in zip(tangents, pulled, strict=True))
    np.testing.assert_allclose(there, back, rtol=1e-9, atol=1e-12)


def test_the_gradient_of_a_loop_that_does_not_run_is_that_of_the_rest():
    assert interpret(gradient(loop(), 1), np.float64(1.3), np.float64(9.0))[0] == 18.0
    assert interpret(gradient(loop(), 0), np.float64(1.3), np.float64(9.0))[0] == 0.0
