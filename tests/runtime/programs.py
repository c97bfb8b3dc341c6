"""Programs that loop and recurse, with their gradients, for tests of the runtime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Function, Value
from mycelia.transforms import value_and_grad
from mycelia.types import Array, TensorType, float64, int64

S, N = TensorType(float64, ()), TensorType(int64, ())


def whole(n: int) -> Value:
    return p.full(n, int64, ())


def number(x: float) -> Array:
    return np.array(x, np.float64)


def count(n: int) -> Array:
    return np.array(n, np.int64)


def loop(width: int = 1) -> Function:
    """X after n turns of h -> tanh(h * x + h), summed: its gradient keeps what each turn saw."""
    v = TensorType(float64, (width,))
    condition = Function.build(lambda x, n, h, i: p.less(i, n), v, N, v, N)
    body = Function.build(lambda x, n, h, i: (p.tanh(h * x * 0.5 + h), i + whole(1)), v, N, v, N)
    return Function.build(lambda x, n: p.reduce_sum(p.While(condition, body, 2)(x, n, x, whole(0))[0]), v, N)


def tree() -> Function:
    """A recursion with two calls of itself, as deep as a number says."""
    call = p.NamedCall("tree", (S,))
    base = Function.build(lambda x, n: (p.sin(x) * n,), S, S)

    def deeper(x: Value, n: Value) -> Value:
        (left,) = call(x * 0.9, n - 1.0)
        (right,) = call(x + left, n - 2.0)
        return left * right + p.tanh(x)

    step = Function.build(deeper, S, S)
    body = Function.build(lambda x, n: p.Cond(base, step)(p.less(n, p.full(2.0, float64, ())), x, n), S, S)
    return Function.build(lambda x, n: p.Recurse((("tree", body),), "tree")(x, n), S, S)


def chain(shape: tuple[int, ...] = (), factor: float = 0.999) -> Function:
    """A recursion with one call of itself, n deep."""
    v = TensorType(float64, shape)
    call = p.NamedCall("chain", (v,))
    base = Function.build(lambda x, n: (x,), v, N)
    step = Function.build(lambda x, n: (p.sin(call(x * factor, n - whole(1))[0]) + x,), v, N)
    body = Function.build(lambda x, n: p.Cond(base, step)(p.less(n, whole(1)), x, n), v, N)
    return Function.build(lambda x, n: p.Recurse((("chain", body),), "chain")(x, n), v, N)


def gradient(fn: Function) -> Function:
    """The derivative with respect to the first parameter, alone."""
    both = value_and_grad(fn, (True, *[False] * (len(fn.params) - 1)))
    return both.with_results(both.results[1:])


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def differences(f: Callable[[Any], Any], x: float, step: float = 1e-3) -> float:
    """The derivative of f at x, by five points."""
    far, near, back, far_back = (float(f(x + k * step)) for k in (2, 1, -1, -2))
    return (8 * (near - back) - (far - far_back)) / (12 * step)
