"""A loop whose turns a number or a size of the call counts is one program for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops

TURNS = (3, 5, 0, 9, 41, -1)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(len(shape)).normal(size=shape).astype("f")


def up(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = ops.sin(x) * 0.9 + i
    return x


def down(x: Tensor, n: int) -> Tensor:
    while n > 0:
        x = ops.sin(x) * 0.9 + n
        n -= 1
    return x


def until(x: Tensor, n: int) -> Any:
    i = 0
    while i < n and x.sum() < 4.0:
        x = x * 1.25 + 0.1
        i += 1
    return x * i


@pytest.mark.parametrize("loop", [up, down, until])
def test_a_number_counts_the_turns_of_one_program(loop: Callable[[Tensor, int], Tensor]) -> None:
    compiled, slope = ms.jit(loop), ms.jit(ms.grad(loop))
    mapped = ms.jit(ms.vmap(loop, (0, None)))
    x = Tensor(normal(3))
    for n in TURNS:
        np.testing.assert_allclose(compiled(x, n).asnumpy(), loop(x, n).asnumpy(), rtol=1e-5)
        np.testing.assert_allclose(slope(x, n).asnumpy(), ms.grad(loop)(x, n).asnumpy(), rtol=1e-5, atol=1e-6)
        if loop is not until:  # whose branch on a mapped tensor is a mask there
            both = Tensor(normal(2, 3))
            want = [loop(row, n).asnumpy() for row in both]
            np.testing.assert_allclose(mapped(both, n).asnumpy(), want, rtol=1e-5)
    most = (
        3 if loop is until else 2
    )  # the first number is taken for a constant; `and` asks whether there is a first turn
    assert programs(compiled) <= most
    assert programs(slope) <= most


def by_number(x: Tensor) -> Any:
    state = x[0] * 0.0
    for t in range(x.shape[0]):
        state = ops.tanh(state * 0.5 + x[t])
    return state


def by_row(x: Tensor) -> Any:
    state = x[0] * 0.0
    for row in x:
        state = ops.tanh(state * 0.5 + row)
    return state + row


def in_place(x: Tensor) -> Tensor:
    out = ops.zeros_like(x)
    for t in range(1, x.shape[0]):
        out[t] = out[t - 1] + x[t]
    return out


@pytest.mark.parametrize("loop", [by_number, by_row, in_place])
def test_a_size_counts_the_turns_of_one_program(loop: Callable[[Tensor], Tensor]) -> None:
    compiled, slope = ms.jit(loop), ms.jit(ms.grad(loop))
    for rows in (3, 7, 50, 4):
        x = Tensor(normal(rows, 2))
        np.testing.assert_allclose(compiled(x).asnumpy(), loop(x).asnumpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(slope(x).asnumpy(), ms.grad(loop)(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert programs(compiled) == programs(slope) == 2, "the first size is taken for a constant"


def test_positions_of_a_counter_beyond_the_end_are_an_error_after_which_nothing_has_changed() -> None:
    @ms.jit
    def written(x: Tensor, n: int) -> Tensor:
        for i in range(n):
            x[i] = x[i] + 1.0
        return x

    x = Tensor(np.zeros(4, "f"))
    for n in (2, 3, 4):
        written(x, n)
    with pytest.raises(IndexError, match=r"index 4 is out of bounds|positions"):
        written(x, 6)
    assert x.tolist() == [4.0, 4.0, 3.0, 2.0], "as Python does: what stands before the error has been written"


def programs(compiled: Any) -> int:
    """How many programs there are; none of them is in pieces."""
    text = compiled.explain()
    assert "runs in Python" not in text, text
    return int(text.count("one native call"))
