"""Vectorisation equals a Python loop over the examples, whichever way each example goes."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, Value, interpret, toposort, verify
from mycelia.transforms import jvp, value_and_grad, vmap
from tests.transforms.programs import (
    I,
    S,
    V,
    build,
    count,
    gradient,
    loop,
    mutual,
    nested,
    number,
    numeric,
    rnn,
    rows,
    tree,
)

RNG = np.random.default_rng(0)
N = 4
BATCHES = {
    "loop": (loop(), (RNG.uniform(1.3, 1.6, N), np.array([0.3, 6.0, 9.0, 0.8]))),
    "nested": (nested(), (np.array([0.83, 0.71, 0.95, 0.9]), np.array([0.4, 0.33, 0.55, 0.45]))),
    "tree": (tree(), (RNG.uniform(0.3, 1.0, N), np.array([1.5, 3.5, 6.1, 4.2]))),
    "mutual": (mutual(), (RNG.uniform(0.3, 1.0, N), np.array([0, 5, 2, 3]))),
    "rnn": (rnn(), (RNG.normal(size=(N, 3, 3)) * 0.5, RNG.normal(size=(N, 3)))),
    "rows": (rows(), (np.array([0.7, -0.4, 0.2, -1.0]), RNG.normal(size=(N, 3)))),
}
every_batch = pytest.mark.parametrize(("fn", "inputs"), BATCHES.values(), ids=BATCHES)


def masks(fn: Function) -> list[tuple[bool, ...]]:
    return [(True, True), (True, False), (False, True)]


def check(fn: Function, inputs, mapped) -> Function:
    """Assert that `vmap` is a loop, where unmapped inputs are those of the first example."""
    given = [x if m else x[0] for x, m in zip(inputs, mapped, strict=True)]
    batched = vmap(fn, N, mapped)
    verify(batched)
    got = interpret(batched, *given)
    each = [interpret(fn, *[x[i] if m else x for x, m in zip(given, mapped, strict=True)]) for i in range(N)]
    for k, values in enumerate(got):
        np.testing.assert_allclose(values, np.stack([e[k] for e in each]), rtol=1e-10, atol=1e-12)
    return batched


def ops_in(fn: Function) -> set[str]:
    return {v.op.name for v in toposort(fn.results)}


@every_batch
def test_vmap_equals_a_loop(fn, inputs):
    for mapped in masks(fn):
        check(fn, inputs, mapped)


@every_batch
def test_vmap_of_a_gradient_equals_a_loop(fn, inputs):
    for mapped in masks(fn):
        check(gradient(fn, 0), inputs, mapped)


@every_batch
def test_vmap_of_a_second_gradient_equals_a_loop(fn, inputs):
    scalar = build(lambda *xs: p.reduce_sum(gradient(fn, 0)(*xs)[0]), *fn.types)
    check(gradient(scalar, 0), inputs, (True, True))


@every_batch
def test_vmap_of_a_tangent_equals_a_loop(fn, inputs):
    pushed = jvp(fn, (True, False))
    check(pushed, (*inputs, np.cos(inputs[0])), (True, True, True))


@every_batch
def test_the_gradient_of_vmap_equals_finite_differences(fn, inputs):
    for mapped in masks(fn):
        given = [x if m else x[0] for x, m in zip(inputs, mapped, strict=True)]
        batched = vmap(fn, N, mapped)
        summed = build(lambda *xs, f=batched: p.reduce_sum(f(*xs)[0] * p.cos(p.iota(S.dtype, (N,), 0))), *batched.types)
        for i, t in enumerate(summed.types):
            if t.differentiable:
                got = interpret(gradient(summed, i), *given)[0]
                np.testing.assert_allclose(got, numeric(summed, given, i), rtol=1e-6, atol=1e-7)


@every_batch
def test_vmap_of_vmap_equals_a_loop(fn, inputs):
    inner = vmap(fn, N, (True, False))
    other = np.stack([inputs[1][0]] * N)
    wide = np.stack([inputs[0] * (1 + 0.01 * k) for k in range(N)]) if inputs[0].dtype.kind == "f" else inputs[0]
    check(inner, (wide, other), (True, True))
    grad = build(lambda *xs: p.reduce_sum(inner(*xs)[0]), *inner.types)
    check(gradient(grad, 0), (wide, other), (True, True))


def test_what_does_not_depend_on_an_example_is_computed_once():
    fn = build(lambda x, y: p.sin(x) * y, S, S)
    batched = vmap(fn, 3, (False, True))
    (sine,) = [v for v in toposort(batched.results) if v.op.name == "sin"]
    assert sine.type == S


def test_a_loop_whose_turns_are_equal_for_all_stays_one_loop():
    assert "map" not in ops_in(vmap(rnn(), N, (True, True)))
    assert "map" not in ops_in(vmap(gradient(rnn(), 0), N, (True, True)))


def test_a_loop_without_residuals_runs_masked_and_its_gradient_maps():
    assert "map" not in ops_in(vmap(loop(), N, (True, True)))
    assert "map" in ops_in(vmap(gradient(loop(), 0), N, (True, True)))


def test_each_example_counts_its_own_turns():
    condition = build(lambda x: p.less(x, number(10.0)), S)
    body = build(lambda x: x * 2.0, S)
    counted = build(lambda x: p.While(condition, body, 0)(x)[1], S)
    got = interpret(vmap(counted, 3), np.array([1.0, 20.0, 6.0]))[0]
    np.testing.assert_array_equal(got, [4, 0, 1])


def halving() -> Function:
    """The loop `while n != 1: n = n // 2`, which does not end for n < 1."""
    condition = build(lambda n, x: p.not_equal(n, count(1)), I, S)
    body = build(lambda n, x: (p.floor_divide(n, count(2)), x * 1.5), I, S)
    return build(lambda n, x: p.While(condition, body, 0)(n, x)[1], I, S)


def test_a_branch_that_would_not_end_is_not_run_for_those_who_did_not_take_it():
    """A loop behind a branch, where running the untaken side for all examples would not end."""
    endless = build(lambda n, x: halving()(n, x), I, S)
    at_once = build(lambda n, x: x, I, S)
    fn = build(lambda n, x: p.Cond(endless, at_once)(p.greater(n, count(0)), n, x), I, S)
    inputs = np.array([0, 5, -3, 8]), np.array([1.0, 2.0, 3.0, 4.0])
    check(fn, inputs, (True, True))
    check(gradient(fn, 1), inputs, (True, True))


def test_a_loop_inside_a_loop_is_not_run_for_those_who_have_ended():
    """The inner loop does not end from the state in which the outer one does."""
    condition = build(lambda n, x: p.greater(n, count(0)), I, S)

    def turn(n: Value, x: Value) -> tuple[Value, ...]:
        return n - count(1), halving()(n, x)[0]

    fn = build(lambda n, x: p.While(condition, build(turn, I, S), 0)(n, x)[1], I, S)
    inputs = np.array([0, 3, 1, 2]), np.array([1.0, 2.0, 3.0, 4.0])
    check(fn, inputs, (True, True))
    check(gradient(fn, 1), inputs, (True, True))


def test_recursion_ends_for_each_example_by_itself():
    call = p.NamedCall("down", (S,))
    base = build(lambda n, x: x, I, S)
    step = build(lambda n, x: call(n - count(2), x * 0.5), I, S)
    body = build(lambda n, x: p.Cond(base, step)(p.equal(n, count(0)), n, x), I, S)
    fn = build(lambda n, x: p.Recurse((("down", body),), "down")(n, x), I, S)
    check(fn, (np.array([0, 4, 2, 6]), np.array([1.0, 2.0, 3.0, 4.0])), (True, True))


def test_the_untaken_side_makes_no_nan():
    root = build(lambda x, w: p.sqrt(x) * w, S, S)
    zero = build(lambda x, w: x * w, S, S)
    fn = build(lambda x, w: p.Cond(root, zero)(p.greater(x, number(0.0)), x, w), S, S)
    batched = vmap(fn, 3, (True, False))
    assert "map" not in ops_in(batched)
    grad = value_and_grad(build(lambda x, w: p.reduce_sum(batched(x, w)[0]), *batched.types))
    with np.errstate(all="ignore"):
        _, dx, dw = interpret(grad, np.array([4.0, 0.0, -1.0]), np.float64(3.0))
    np.testing.assert_allclose(dx, [0.75, 3.0, 3.0])
    np.testing.assert_allclose(dw, 2.0 + 0.0 - 1.0)


def test_an_example_that_has_ended_makes_no_nan():
    condition = build(lambda w, x: p.greater(x, number(0.5)), S, S)
    body = build(lambda w, x: p.sqrt(x - 0.5) * w * 0.5, S, S)
    fn = build(lambda w, x: p.While(condition, body, 1)(w, x)[0], S, S)
    batched = vmap(fn, 3, (False, True))
    assert "map" not in ops_in(batched)
    grad = value_and_grad(build(lambda w, x: p.reduce_sum(batched(w, x)[0]), *batched.types))
    inputs = np.float64(0.9), np.array([0.2, 3.0, 0.5])
    with np.errstate(all="ignore"):
        _, dw, dx = interpret(grad, *inputs)
        each = [interpret(value_and_grad(fn), inputs[0], x) for x in inputs[1]]
    np.testing.assert_allclose(dw, sum(e[1] for e in each))
    np.testing.assert_allclose(dx, [e[2] for e in each])


def test_large_weights_are_not_repeated_for_the_sake_of_a_branch():
    big = V.with_shape((64, 64))
    then = build(lambda w, x: p.reduce_sum(w) * x, big, S)
    fn = build(lambda w, x: p.Cond(then, then)(p.greater(x, number(0.0)), w, x), big, S)
    assert ops_in(vmap(fn, 3, (False, True))) == {"param", "map", "project", "greater", "full"}


def test_sequences_pass_from_a_common_loop_into_a_branch_of_each():
    """A loop of equal turns leaves a sequence in lock-step; only some examples read it, each by itself."""
    condition = build(lambda x, y, i: p.less(i, count(3)), S, S, I)
    turns = p.While(condition, build(lambda x, y, i: (y * x, i + count(1), y), S, S, I), 1)
    total = p.Scan(build(lambda t, y: t + p.sin(y), S, S), 0, 1)

    def program(x: Value, y: Value) -> Value:
        z, _, n, ys = turns(x, y, count(0))
        reads = build(lambda n, z, ys: total(n, z, ys)[0], I, S, ys.type)
        skips = build(lambda n, z, ys: z, I, S, ys.type)
        return p.Cond(reads, skips)(p.greater(x, number(0.5)), n, z, ys)[0]

    fn = build(program, S, S)
    inputs = np.array([0.2, 0.7, 0.9, 0.4]), np.array([1.0, 2.0, 3.0, 4.0])
    for mapped in [(True, True), (True, False), (False, True)]:
        check(fn, inputs, mapped)
        check(gradient(fn, 0), inputs, mapped)
        check(gradient(fn, 1), inputs, mapped)
    batched = vmap(fn, N)
    summed = build(lambda x, y: p.reduce_sum(batched(x, y)[0]), *batched.types)
    np.testing.assert_allclose(interpret(gradient(summed, 0), *inputs)[0], numeric(summed, inputs, 0), rtol=1e-7)
