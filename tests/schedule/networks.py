"""Training steps of random deep networks, as functions that give new parameters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Function, Value
from mycelia.transforms import value_and_grad
from mycelia.types import Array, TensorType, float32

ACTIVATIONS: tuple[Callable[[Value], Value], ...] = (
    p.tanh, p.sigmoid, lambda x: p.maximum(x, p.zeros(float32, ())), p.sin, lambda x: x * 0.5 + p.tanh(x),
)  # fmt: skip


def norm(x: Value) -> Value:
    """Each row with mean 0 and variance 1."""
    n = float(x.shape[-1])
    centred = x - p.reshape(p.reduce_sum(x, (1,)), (x.shape[0], 1)) / n
    spread = p.reshape(p.reduce_sum(centred * centred, (1,)), (x.shape[0], 1)) / n
    return centred * p.rsqrt(spread + 1e-5)


def training_step(
    seed: int, layers: int, rows: int = 32, width: int = 16, plain: bool = False
) -> tuple[Function, dict[int, int]]:
    """The function from data and parameters to the loss and new parameters, which lie where the old ones were. A plain
    network has one kind of layer.
    """
    rng = np.random.default_rng(seed)
    kinds = [0 if plain else int(k) for k in rng.integers(0, 4, layers)]
    acts = [ACTIVATIONS[0 if plain else int(k)] for k in rng.integers(0, len(ACTIVATIONS), layers)]
    sources = [int(rng.integers(0, n + 1)) for n in range(layers)]

    def loss(x: Value, *params: Value) -> Value:
        values = [x]
        for n in range(layers):
            here = p.matmul(values[-1], params[2 * n]) + params[2 * n + 1]
            here = acts[n](here)
            if kinds[n] == 1:
                here = here + values[-1]
            elif kinds[n] == 2:
                here = norm(here) + values[sources[n]]  # from far away
            elif kinds[n] == 3:
                here = here * p.sigmoid(values[-1])
            values.append(here)
        return p.reduce_sum(values[-1] * values[-1]) / float(rows * width)

    data = TensorType(float32, (rows, width))
    shapes = [s for _ in range(layers) for s in ((width, width), (width,))]
    types = [TensorType(float32, s) for s in shapes]
    both = value_and_grad(Function.build(loss, data, *types), (False, *[True] * len(types)))

    def step(x: Value, *params: Value) -> tuple[Value, ...]:
        value, *gradients = both(x, *params)
        return value, *[w - g * 0.01 for w, g in zip(params, gradients, strict=True)]

    return Function.build(step, data, *types), {1 + n: 1 + n for n in range(len(types))}


def inputs_of(fn: Function, seed: int) -> list[Array]:
    """Data, and parameters that keep numbers in bounds."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(t.shape).astype("f") * np.float32(t.shape[-1] ** -0.5) for t in fn.types]  # type: ignore[union-attr]
