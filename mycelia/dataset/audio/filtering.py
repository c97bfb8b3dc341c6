"""Linear recurrences: a filter y = (b/a) x run block by block, each block one product of matrices.

Within a block the output is the impulse response times the inputs, plus what the state at its start still gives:
no loop over samples, any number of channels at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError

BLOCK = 64


@lru_cache(maxsize=64)
def _machine(b: tuple[float, ...], a: tuple[float, ...]) -> tuple[Array, Array, Array, Array]:
    """A block as matrices: outputs from inputs, outputs from state, next state from inputs, next state from state."""
    order = len(a) - 1
    step = np.eye(order, k=1)
    step[:, 0] -= np.array(a[1:])  # direct form II, transposed
    enter = np.array(b[1:]) - np.array(a[1:]) * b[0]
    powers = [np.eye(order)]
    for _ in range(BLOCK):
        powers.append(powers[-1] @ step)
    response = np.array([b[0], *((p @ enter)[0] for p in powers[: BLOCK - 1])])
    lag = np.subtract.outer(np.arange(BLOCK), np.arange(BLOCK))
    outputs = np.where(lag >= 0, response[np.maximum(lag, 0)], 0.0)
    remembered = np.array([p[0] for p in powers[:BLOCK]]).reshape(BLOCK, order)
    entering = np.array([powers[BLOCK - 1 - k] @ enter for k in range(BLOCK)]).reshape(BLOCK, order)
    return outputs, remembered, entering, powers[BLOCK]


def lfilter(b: Any, a: Any, x: Array) -> Array:
    """The filter with numerator b and denominator a, lowest delay first, along the last axis; it starts at rest.

    >>> lfilter([1.0], [1.0, -0.5], np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    size = max(len(b), len(a), 2)
    if a[0] == 0:
        raise ArgumentError("the first denominator coefficient must not be 0", given={"a": a})
    numerator, denominator = (tuple((np.pad(np.asarray(c, float), (0, size - len(c))) / a[0]).tolist()) for c in (b, a))
    rows = x.reshape(-1, x.shape[-1])
    if not np.isfinite(rows).all():
        return np.asarray(_one_by_one(numerator, denominator, rows).reshape(x.shape))
    outputs, remembered, entering, carried = _machine(numerator, denominator)
    time = rows.shape[1]
    blocks = np.pad(rows, [(0, 0), (0, -time % BLOCK)]).reshape(len(rows), -1, BLOCK)
    pushes = blocks @ entering
    states = np.zeros_like(pushes)  # at the start of each block
    for k in range(1, blocks.shape[1]):
        states[:, k] = states[:, k - 1] @ carried.T + pushes[:, k - 1]
    result = blocks @ outputs.T + states @ remembered.T
    return np.asarray(result.reshape(len(rows), -1)[:, :time].reshape(x.shape))


def _one_by_one(b: tuple[float, ...], a: tuple[float, ...], rows: Array) -> Array:
    """The filter sample after sample: what is not a number must not reach back to what came before it."""
    while len(b) > 1 and b[-1] == a[-1] == 0:  # nor on, where nothing is remembered
        b, a = b[:-1], a[:-1]
    out, state = np.empty_like(rows), np.zeros((len(b), len(rows)))
    with np.errstate(invalid="ignore", over="ignore"):
        for t, sample in enumerate(rows.T):
            out[:, t] = b[0] * sample + state[0]
            state[:-1] = state[1:] + np.outer(b[1:], sample) - np.outer(a[1:], out[:, t])
    return out


def clamp(x: Array) -> Array:
    """Values held within [-1, 1].

    >>> clamp(np.array([-2.0, 0.5]))
    array([-1. ,  0.5])
    """
    return np.clip(x, -1.0, 1.0)
