"""A second derivative goes through a gradient of one's own twice, wherever the cell is called, compiled or not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn


class Doubled(nn.Cell):
    """Its gradient is not that of what it computes, and depends on what it was given and on what it gave."""

    def construct(self, x: Tensor) -> Tensor:
        return x * 2.0

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (dout * (3.0 + x * 0.1 + out * 0.05),)


class Same(Doubled):
    """It gives what it is given."""

    def construct(self, x: Tensor) -> Tensor:
        return x


cell, same = Doubled(), Same()
again = nn.SequentialCell(Doubled(), Doubled())
again.recompute()


def chained(z: Tensor) -> Tensor:
    return cell(cell(cell(z))).sum()


def unchanged(z: Tensor) -> Tensor:
    return (same(same(z)) * z).sum()


def branched(z: Tensor) -> Tensor:
    return cell(cell(z)).sum() if z.sum() > 0 else z.sum()


def rolled(z: Tensor) -> Tensor:
    for _ in range(50):
        z = cell(z) * 0.3
    return z.sum()


def repeated(z: Tensor) -> Tensor:
    while z.sum() < 20.0:
        z = cell(z) + 1.0
    return z.sum()


def grown(z: Tensor) -> Tensor:
    return z if z.sum() > 20.0 else grown(cell(z) + 1.0) * 0.5


def recursive(z: Tensor) -> Tensor:
    return grown(z).sum()


def mapped(z: Tensor) -> Tensor:
    return ms.vmap(lambda a: cell(cell(a)))(z).sum()


def recomputed(z: Tensor) -> Tensor:
    return again(z).sum()


def twice(fn: Callable[[Tensor], Tensor], inner: Any = lambda f: f, outer: Any = lambda f: f) -> Any:
    first = inner(ms.grad(fn))
    return outer(ms.grad(lambda z: first(z).sum()))


X = Tensor([1.0, 1.0, 0.5])


@pytest.mark.parametrize(
    "fn", [chained, unchanged, branched, rolled, repeated, recursive, mapped, recomputed], ids=lambda f: f.__name__
)
def test_second_derivatives_are_those_of_the_tape(fn: Callable[[Tensor], Tensor]) -> None:
    on_tape = (lambda z: cell(cell(z)).sum()) if fn is recomputed else fn  # recomputation goes by a graph
    want = twice(on_tape)(X).asnumpy()
    for way in (twice(fn, outer=ms.jit), twice(fn, inner=ms.jit), twice(ms.jit(fn)), twice(fn)):
        np.testing.assert_allclose(way(X).asnumpy(), want, rtol=1e-5)


def test_they_are_what_the_rule_says() -> None:
    """d/dx of g(x) = 3 + 0.1 x + 0.05 * out, where out itself has the slope g(x)."""
    x = np.float32(1.5)
    slope = 3.0 + 0.1 * x + 0.05 * 2.0 * x
    got = twice(lambda z: cell(z).sum())(Tensor([x])).asnumpy()
    np.testing.assert_allclose(got, [0.1 + 0.05 * slope], rtol=1e-6)
