"""What tests of lowering share: types, the steps of a program, and compiled against interpreted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Function, interpret
from mycelia.loops import Copy, Invoke, Launch, Program
from mycelia.testing import compile, lower, optimise
from mycelia.types import Array, DType, TensorType, float32


def f32(*shape: int) -> TensorType:
    return TensorType(float32, shape)


def typed(dtype: DType, *shape: int) -> TensorType:
    return TensorType(dtype, shape)


def lowered(fn: Callable[..., Any], *types: TensorType, donated: dict[int, int] | None = None) -> Program:
    return lower(optimise(Function.build(fn, *types)), donated or {})


def launches(program: Program) -> list[Launch]:
    return [s for s in program.block.walk() if isinstance(s, Launch)]


def invokes(program: Program) -> list[Invoke]:
    return [s for s in program.block.walk() if isinstance(s, Invoke)]


def copies(program: Program) -> list[Copy]:
    return [s for s in program.block.walk() if isinstance(s, Copy)]


def numbers(t: TensorType, seed: int = 0) -> Array:
    rng = np.random.default_rng([seed, *t.shape])
    if t.dtype.kind == "b":
        return rng.integers(0, 2, t.shape).astype(bool)
    if t.dtype.is_integer:
        return rng.integers(-50, 50, t.shape).astype(t.dtype.numpy)
    return np.asarray(rng.standard_normal(t.shape)).astype(t.dtype.numpy)


def check(fn: Callable[..., Any], *types: TensorType, tolerance: float = 2e-6) -> None:
    """Compiled code gives what the interpreter gives, within a part of the largest number."""
    function = Function.build(fn, *types)
    inputs = [numbers(t, i) for i, t in enumerate(types)]
    for got, want in zip(compile(function)(*inputs), interpret(function, *inputs), strict=True):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        scale = 1 + (np.abs(want).max() if want.size and want.dtype.kind == "f" else 0)
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * scale if want.dtype.kind == "f" else 0)


def softmax(x: Any, axis: int = -1) -> Any:
    axes = (axis % len(x.shape),)
    e = p.exp(x - p.stop_gradient(p.reduce_max(x, axes, True)))
    return e / p.reduce_sum(e, axes, True)


def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
    axes = (len(x.shape) - 1,)
    centred = x - p.mean(x, axes, True)
    return centred * p.rsqrt(p.mean(centred * centred, axes, True) + 1e-5) * gain + bias
