"""A tensor of one type or another, as a condition says: operations on it are compiled for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops


def two_floats(x):
    y = ops.cast(x, ms.float64) if x.sum() > 0 else x
    return -y, y * 2, 2 / y, y + x, ops.sin(y), y.sum().dtype, y[0], ops.argmax(y), y.shape, ops.cast(y, ms.float32)


def two_lengths(x):
    y = ops.concat([x, x]) if x.sum() > 0 else x
    z = y * 2
    z += 1
    return z.sum(), y.sum(), ops.max(z)[0], z


def written_to(x):
    y = ops.cast(x, ms.float64) if x.sum() > 0 else x
    y[0] = 5
    y += 1
    return y.sum() * 1.0, x


def of_integers(x):
    y = ops.cast(x, ms.int32) if x.sum() > 0 else x
    w = y / 2
    z = ops.zeros(3)
    z[0] = y[0]
    return w, z, y > 1


def of_three(x):
    y = ops.cast(x, ms.float64) if x.sum() > 0 else ops.cast(x, ms.int64) if x[0] < -1 else x
    return y * x, ops.exp(y), [y + 1, y]


@pytest.mark.parametrize("program", [two_floats, two_lengths, written_to, of_integers, of_three])
@pytest.mark.parametrize("scale", [1.0, -1.0, -2.0])
def test_it_is_as_in_python(program: Callable[[Tensor], tuple[Any, ...]], scale: float) -> None:
    fast = ms.jit(program)
    for _ in range(2):
        given = [Tensor(np.array([scale, 2 * scale, 0.5], "f")) for _ in range(2)]
        for got, expected in zip(fast(given[0]), program(given[1]), strict=True):
            for a, b in zip(*([x] if not isinstance(x, list) else x for x in (got, expected)), strict=True):
                if isinstance(b, Tensor):
                    assert a.dtype == b.dtype
                    np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-6)
                else:
                    assert a == b
        np.testing.assert_array_equal(given[0].asnumpy(), given[1].asnumpy())
    assert "in Python" not in fast.explain()
