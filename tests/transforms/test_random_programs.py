"""Random programs with nested control flow: derivatives equal finite differences, batches equal loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mycelia import primitives as p
from mycelia.ir import Function, Value, interpret, verify
from mycelia.transforms import jvp, vjp, vmap
from tests.transforms.programs import I, S, V, build, count, gradient, number, numeric

UNARY: list[Callable[[Value], Value]] = [
    p.sin,
    p.tanh,
    lambda x: p.exp(-x * x),
    lambda x: x * 0.7,
    lambda x: x * x * 0.5,
    lambda x: p.log(x * x + 1.0),
    lambda x: p.sqrt(x * x + 0.1),
    lambda x: x,
]


class Writer:
    """Writes random functions. Every choice is a draw, so that a failing program shrinks to a short one."""

    def __init__(self, draw: Callable[[int], int]) -> None:
        self.draw = draw
        self.names = 0

    def function(self, types: tuple, results: tuple, depth: int, calls: tuple = ()) -> Function:
        """A function of these types to those."""

        def program(*xs: Value) -> tuple[Value, ...]:
            pool = list(xs)
            for _ in range(1 + self.draw(3)):
                pool.extend(self.statement(pool, depth, calls))
            return tuple(self.some(pool, t) for t in results)

        return build(program, *types)

    def some(self, pool: list[Value], t: object) -> Value:
        """A value of type S, V or I from those at hand, the last ones more likely."""
        fits = [v for v in pool if v.type == t]
        if fits and (t == I or self.draw(4)):
            return fits[-1 - self.draw(min(len(fits), 3) - 1)]
        if t == S:
            return p.reduce_sum(self.some(pool, V)) * 0.3 if any(v.type == V for v in pool) else number(0.4)
        scalars = [v for v in pool if v.type == S]
        spread = p.iota(S.dtype, V.shape, 0) * 0.2 + 0.1
        return spread * p.broadcast(scalars[-1], V.shape) if scalars else spread

    def scalar_or_vector(self):
        return V if self.draw(1) else S

    def truth(self, pool: list[Value]) -> Value:
        return p.greater(self.some(pool, S), number(self.draw(4) * 0.25 - 0.4))

    def statement(self, pool: list[Value], depth: int, calls: tuple) -> tuple[Value, ...]:
        kinds = [self.arithmetic, self.arithmetic]
        if depth:
            kinds += [self.branch, self.loop, self.scan, self.rows, self.call, self.recursion]
        if calls:
            kinds += [lambda pool, depth: self.again(pool, calls)] * 2
        return kinds[self.draw(len(kinds) - 1)](pool, depth)

    def arithmetic(self, pool: list[Value], depth: int) -> tuple[Value, ...]:
        t = self.scalar_or_vector()
        x = UNARY[self.draw(len(UNARY) - 1)](self.some(pool, t))
        other = self.some(pool, S)
        return (x * p.tanh(other) if self.draw(1) else x + p.sin(other),)

    def operands(self, pool: list[Value]) -> list[Value]:
        return [self.some(pool, self.scalar_or_vector()) for _ in range(1 + self.draw(2))]

    def branch(self, pool: list[Value], depth: int) -> tuple[Value, ...]:
        xs = self.operands(pool)
        types, results = tuple(x.type for x in xs), (S, V)[: 1 + self.draw(1)]
        sides = [self.function(types, results, depth - 1) for _ in range(2)]
        return p.Cond(*sides)(self.truth(pool), *xs)

    def loop(self, pool: list[Value], depth: int) -> tuple[Value, ...]:
        """At most a few turns; fewer if a value grows. Sometimes what it leaves behind is read."""
        shared, carries = self.operands(pool), [self.some(pool, S), *self.operands(pool)]
        types = tuple(x.type for x in (*shared, *carries))
        extra = (S,) * self.draw(1)
        step = self.function(types, (*[x.type for x in carries], *extra), depth - 1)
        most, limit = count(self.draw(4)), number(0.2 + 0.5 * self.draw(3))

        def condition(*values: Value) -> Value:
            small = p.less(values[len(shared)], limit)
            return p.logical_and(p.less(values[-1], most), small)

        def body(*values: Value) -> tuple[Value, ...]:
            outs = step(*values[:-1])
            return (*outs[: len(carries)], values[-1] + count(1), *outs[len(carries) :])

        loop = p.While(build(condition, *types, I), build(body, *types, I), len(shared))
        outs = loop(*shared, *carries, count(0))
        if not extra:
            return tuple(outs[: len(carries)])
        reader = self.function((S, S), (S,), depth - 1)
        turns, ys = outs[-2:]
        return (*outs[: len(carries)], *p.Scan(reader, 0, 1, bool(self.draw(1)))(turns, outs[0], ys))

    def scan(self, pool: list[Value], depth: int) -> tuple[Value, ...]:
        shared, carries = self.operands(pool), self.operands(pool)
        types = tuple(x.type for x in (*shared, *carries))
        step = self.function((*types, S), (*[x.type for x in carries], S), depth - 1)
        scan = p.Scan(step, len(shared), len(carries), bool(self.draw(1)), 3)
        return scan(*shared, *carries, self.some(pool, V))

    def rows(self, pool: list[Value], depth: int) -> tuple[Value, ...]:
        shared = self.operands(pool)
        step = self.function((*[x.type for x in shared], S), (S, S), depth - 1)
        return p.Map(step, len(shared), 3, 1)(*shared, self.some(pool, V))

    def call(self, pool: list[Value], depth: int) -> tuple[Value, ...]:
        xs = self.operands(pool)
        fn = self.function(tuple(x.type for x in xs), (S, V)[: 1 + self.draw(1)], depth - 1)
        return p.Call(fn, bool(self.draw(1)))(*xs)

    def recursion(self, pool: list[Value], depth: int) -> tuple[Value, ...]:
        """One or two functions that call one another, a few levels deep."""
        self.names += 1
        names = [f"f{self.names}{k}" for k in range(1 + self.draw(1))]
        types = (S, self.scalar_or_vector())
        calls = tuple(p.NamedCall(name, (S,)) for name in names)
        definitions = []
        for name in names:
            base = self.function((*types, I), (S,), depth - 1)
            step = self.function((*types, I), (S,), depth - 1, tuple((c, types) for c in calls))
            branch = p.Cond(base, step)
            definitions.append((name, build(lambda *v, b=branch: b(p.less(v[-1], count(1)), *v), *types, I)))
        recursion = p.Recurse(tuple(definitions), names[0])
        return recursion(*[self.some(pool, t) for t in types], count(self.draw(3)))

    def again(self, pool: list[Value], calls: tuple) -> tuple[Value, ...]:
        call, types = calls[self.draw(len(calls) - 1)]
        return call(*[self.some(pool, t) for t in types], next(v for v in pool if v.type == I) - count(1))


@st.composite
def programs(draw, depth: int = 2):
    """A function of two scalars and a vector to a scalar, and numbers for three examples."""
    writer = Writer(lambda most: draw(st.integers(0, most)))
    fn = writer.function((S, S, V), (S,), depth)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return fn, [rng.uniform(-1, 1, (3, *t.shape)) for t in fn.types]


def first(inputs):
    return [x[0] for x in inputs]


@settings(max_examples=150)
@given(programs())
def test_gradients_equal_finite_differences(example):
    fn, inputs = example
    one = first(inputs)
    for i in range(len(fn.params)):
        grad = gradient(fn, i)
        verify(grad)
        want = numeric(fn, one, i)
        assume(np.allclose(want, numeric(fn, one, i, step=3e-5), rtol=1e-6, atol=1e-7))  # else a branch is near
        np.testing.assert_allclose(interpret(grad, *one)[0], want, rtol=1e-6, atol=1e-7)


@settings(max_examples=60)
@given(programs())
def test_second_gradients_equal_finite_differences_of_the_first(example):
    fn, inputs = example
    one = first(inputs)
    grad = gradient(fn, 2)
    once = build(lambda *xs: p.reduce_sum(grad(*xs)[0] * p.cos(p.iota(S.dtype, V.shape, 0))), *fn.types)
    for i in range(len(fn.params)):
        want = numeric(once, one, i)
        assume(np.allclose(want, numeric(once, one, i, step=3e-5), rtol=1e-5, atol=1e-6))
        np.testing.assert_allclose(interpret(gradient(once, i), *one)[0], want, rtol=1e-5, atol=1e-6)


@settings(max_examples=150)
@given(programs())
def test_tangents_and_cotangents_agree(example):
    fn, inputs = example
    rng = np.random.default_rng(0)
    tangents = [rng.normal(size=t.shape) for t in fn.types]
    pushed, joint = jvp(fn), vjp(fn)
    verify(pushed)
    moved = interpret(pushed, *first(inputs), *tangents)[1]
    pulled = interpret(joint, *first(inputs), np.float64(1.0))[1:]
    back = sum(np.vdot(t, c) for t, c in zip(tangents, pulled, strict=True))
    np.testing.assert_allclose(moved, back, rtol=1e-8, atol=1e-10)


@settings(max_examples=100)
@given(programs(), st.lists(st.booleans(), min_size=3, max_size=3))
def test_vmap_equals_a_loop(example, mapped):
    fn, inputs = example
    given_inputs = [x if m else x[0] for x, m in zip(inputs, mapped, strict=True)]
    for f in (fn, gradient(fn, 0), jvp(gradient(fn, 2), (True, False, False))):
        more = [np.float64(0.5)] * (len(f.params) - 3)
        batched = vmap(f, 3, (*mapped, *[False] * len(more)))
        verify(batched)
        whole = interpret(batched, *given_inputs, *more)
        for k in range(3):
            part = interpret(f, *[x[k] if m else x for x, m in zip(given_inputs, mapped, strict=True)], *more)
            for a, b in zip(whole, part, strict=True):
                np.testing.assert_allclose(a[k], b, rtol=1e-9, atol=1e-11)


@settings(max_examples=60)
@given(programs(), st.lists(st.booleans(), min_size=3, max_size=3))
def test_the_gradient_of_vmap_is_the_sum_of_gradients(example, mapped):
    fn, inputs = example
    given_inputs = [x if m else x[0] for x, m in zip(inputs, mapped, strict=True)]
    batched = vmap(fn, 3, tuple(mapped))
    weights = np.array([0.5, -1.0, 2.0])
    pulled = interpret(vjp(batched), *given_inputs, weights)[1:]
    each = [
        interpret(vjp(fn), *[x[k] if m else x for x, m in zip(given_inputs, mapped, strict=True)], weights[k])[1:]
        for k in range(3)
    ]
    for i, (got, m) in enumerate(zip(pulled, mapped, strict=True)):
        want = np.stack([e[i] for e in each])
        np.testing.assert_allclose(got, want if m else want.sum(0), rtol=1e-8, atol=1e-10)
