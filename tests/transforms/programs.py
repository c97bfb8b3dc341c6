"""Programs with every kind of control flow, and numbers to judge their derivatives by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Function, Value, interpret
from mycelia.transforms import value_and_grad
from mycelia.types import TensorType, float64, int64

S = TensorType(float64, ())
I = TensorType(int64, ())  # noqa: E741  # an integer scalar
V = TensorType(float64, (3,))
M = TensorType(float64, (3, 3))


def number(x: float) -> Value:
    return p.full(x, float64, ())


def count(i: int) -> Value:
    return p.full(i, int64, ())


def build(python: Callable[..., Any], *types: Any) -> Function:
    return Function.build(python, *types)


def numeric(fn: Function, inputs: Sequence[Any], which: int, result: int = 0, step: float = 2e-4) -> np.ndarray:
    """The derivative of the sum of a result with respect to one input, by central differences of fourth order."""
    x = np.array(inputs[which], float)
    out = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        for weight, far in ((8, 1), (-8, -1), (-1, 2), (1, -2)):
            moved = x.copy()
            moved[index] += far * step
            given = [moved if i == which else v for i, v in enumerate(inputs)]
            out[index] += weight * np.sum(interpret(fn, *given)[result]) / (12 * step)
    return out


def gradient(fn: Function, which: int) -> Function:
    """The function of the same parameters to the gradient by one of them."""
    grad = value_and_grad(fn, tuple(i == which for i in range(len(fn.params))))
    return grad.with_results(grad.results[len(fn.results) :])


def loop() -> Function:
    """The loop `while x*x < 50: x = x*w + sin(x); return x*x`."""
    condition = build(lambda w, x: p.less(x * x, number(50.0)), S, S)
    body = build(lambda w, x: x * w + p.sin(x), S, S)

    def program(w: Value, x: Value) -> Value:
        x, _ = p.While(condition, body, 1)(w, x)
        return x * x

    return build(program, S, S)


def nested() -> Function:
    """A loop with a loop and a branch inside, and integers beside."""
    then = build(lambda y, x: p.sin(y) * x, S, S)
    otherwise = build(lambda y, x: p.exp(-y), S, S)
    inner_condition = build(lambda x, y, k: p.less(y, x), S, S, I)

    def inner(x: Value, y: Value, k: Value) -> tuple[Value, ...]:
        (z,) = p.Cond(then, otherwise)(p.greater(y, number(1.0)), y, x)
        return y + 0.5 + z * 0.03, k + count(1)

    inner_body = build(inner, S, S, I)
    condition = build(lambda w, x, s, n: p.less(x, number(6.0)), S, S, S, I)

    def outer(w: Value, x: Value, s: Value, n: Value) -> tuple[Value, ...]:
        y, k, _ = p.While(inner_condition, inner_body, 1)(x, w * s, count(0))
        return x + w * 1.1, s + y * 0.01, n + k

    body = build(outer, S, S, S, I)

    def program(w: Value, x: Value) -> Value:
        x, s, _, _ = p.While(condition, body, 1)(w, x, number(0.2), count(0))
        return s * x

    return build(program, S, S)


def tree() -> Function:
    """A recursion with two calls of itself, as deep as a number says."""
    call = p.NamedCall("tree", (S,))
    base = build(lambda x, n: p.sin(x) * n, S, S)

    def step(x: Value, n: Value) -> Value:
        (left,) = call(x * 0.9, n - 1.0)
        (right,) = call(x + left, n - 2.0)
        return left * right + p.tanh(x)

    body = build(lambda x, n: p.Cond(base, build(step, S, S))(p.less(n, number(2.0)), x, n), S, S)
    return build(lambda x, n: p.Recurse((("tree", body),), "tree")(x, n), S, S)


def mutual() -> Function:
    """Two functions that call each other, one of them from inside a loop."""
    even, odd = p.NamedCall("even", (S, I)), p.NamedCall("odd", (S, I))
    small = build(lambda x, n: (p.sin(x), n), S, I)

    def deeper(x: Value, n: Value) -> tuple[Value, ...]:
        y, m = odd(x * 1.1, n - count(1))
        return y * x, m

    once = build(lambda x, n, y: (even(x * y * 0.5, n)[0],), S, I, S)

    def sideways(x: Value, n: Value) -> tuple[Value, ...]:
        (y,) = p.Scan(once, 2, 1)(count(2), x, n - count(1), x + 0.3)
        return y + p.exp(-x), n

    def choose(name: str, step: Callable[..., Any]) -> tuple[str, Function]:
        branch = p.Cond(small, build(step, S, I))
        return name, build(lambda x, n: branch(p.less(n, count(1)), x, n), S, I)

    definitions = choose("even", deeper), choose("odd", sideways)
    return build(lambda x, n: p.Recurse(definitions, "even")(x, n), S, I)


def rnn() -> Function:
    """A loop that leaves a sequence, and a scan over it."""
    condition = build(lambda w, h, i: p.less(i, count(5)), M, V, I)

    def turn(w: Value, h: Value, i: Value) -> tuple[Value, ...]:
        new = p.tanh(p.matmul(h, w))
        return new, i + count(1), new

    body = build(turn, M, V, I)
    total = build(lambda acc, h: acc * 0.5 + p.reduce_sum(h * h), S, V)

    def program(w: Value, h: Value) -> Value:
        _, _, turns, hs = p.While(condition, body, 1)(w, h, count(0))
        return p.Scan(total, 0, 1)(turns, number(0.0), hs)[0]

    return build(program, M, V)


def rows() -> Function:
    """A scan over the rows of a tensor, with a call, a map and a branch around it."""
    body = build(lambda w, h, x: (p.tanh(h * w + x), h * x), S, S, S)
    shifted = build(lambda a, x: (x * a + p.sin(x), x * a * a), S, S)
    fn = build(lambda x, y: (x * p.reduce_sum(y), y * y), S, V)
    flat = build(lambda x, y: (x, y), S, V)

    def program(w: Value, x: Value) -> Value:
        h, ys = p.Scan(body, 1, 1, True, 3)(w, w * 0.1, x)
        zs, t = p.Map(shifted, 1, 3, 1)(h, ys)
        a, b = p.Call(fn)(t, zs)
        c, d = p.Cond(fn, flat)(p.greater(w, number(0.0)), a, b)
        e, f = p.Cond(fn, flat)(p.less(w, number(0.0)), c, d)
        return e + p.reduce_sum(f)

    return build(program, S, V)


_rng = np.random.default_rng(0)
_f8 = np.float64
EXAMPLES: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "loop": (loop(), (_f8(1.3), _f8(0.7))),
    "loop of one turn": (loop(), (_f8(1.3), _f8(6.0))),
    "loop of no turn": (loop(), (_f8(1.3), _f8(9.0))),
    "nested": (nested(), (_f8(0.83), _f8(0.4))),
    "tree": (tree(), (_f8(0.6), _f8(5.3))),
    "mutual": (mutual(), (_f8(0.6), np.int64(5))),
    "rnn": (rnn(), (_rng.normal(size=(3, 3)) * 0.7, _rng.normal(size=3))),
    "rows": (rows(), (_f8(0.7), _rng.normal(size=3))),
}  # programs, and numbers at which they are smooth
