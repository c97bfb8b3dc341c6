"""Derivatives by central differences, in double precision: an oracle that knows no rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia.types import Array

Program = Callable[..., Sequence[Any]]  # arrays to arrays


def numeric_vjp(f: Program, inputs: Sequence[Array], cts: Sequence[Array], step: float = 1e-3) -> list[Array]:
    """The gradient of <cts, f(inputs)> with respect to each input; None for one that is not floating. That of a
    complex number is the slope along its real part, and i times the slope along its imaginary part.

    >>> numeric_vjp(lambda x: [x * x], [np.array([3.0])], [np.ones(1)])
    [array([6.])]
    """
    gradients: list[Any] = []
    for n, x in enumerate(inputs):
        if x.dtype.kind not in "fc":
            gradients.append(None)
            continue
        gradient = np.zeros_like(x)
        for i in np.ndindex(x.shape):
            for unit in (1, 1j) if x.dtype.kind == "c" else (1,):
                direction = np.zeros_like(x)
                direction[i] = unit
                tangents = [direction if m == n else None for m in range(len(inputs))]
                moved = numeric_jvp(f, inputs, tangents, step)
                gradient[i] += unit * sum(_dot(ct, t) for ct, t in zip(cts, moved, strict=True))
        gradients.append(gradient)
    return gradients


def numeric_jvp(
    f: Program, inputs: Sequence[Array], tangents: Sequence[Array | None], step: float = 1e-3
) -> list[Array]:
    """The derivative of f(inputs) in the direction of the tangents, where None stands still.

    Four points, so that the error falls with the fourth power of the step.

    >>> numeric_jvp(lambda x: [x**3], [np.array(2.0)], [np.array(1.0)])
    [array(12.)]
    """

    def along(t: float) -> list[Array]:
        moved = [x if d is None else np.asarray(x + t * d, x.dtype) for x, d in zip(inputs, tangents, strict=True)]
        return [np.asarray(y) for y in f(*moved)]

    far, near, back, far_back = along(2 * step), along(step), along(-step), along(-2 * step)
    return [
        np.asarray((8 * (b - c) - (a - d)) / (12 * step)) if a.dtype.kind in "fc" else np.zeros(a.shape)
        for a, b, c, d in zip(far, near, back, far_back, strict=True)
    ]


def _dot(x: Array, y: Array) -> float:
    return float(np.real(np.sum(np.conj(np.asarray(x, np.complex128)) * np.asarray(y, np.complex128))))
