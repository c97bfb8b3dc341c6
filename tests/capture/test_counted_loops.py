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


def by_place(x: Tensor, y: Tensor) -> Tensor:
    total = x[0] * 0
    for i, row in enumerate(x):
        total = ops.sin(total * 0.5 + row) + (i + 1) * 0.1
    return total


def from_a_start(x: Tensor, y: Tensor) -> Tensor:
    total = x[0] * 0
    for i, row in enumerate(x, start=3):
        total = ops.sin(total * 0.5 + row) + i * 0.1
    return total


def from_a_place(x: Tensor, y: Tensor) -> Tensor:
    total = x[0] * 0
    for i, row in enumerate(x, -2):
        total = ops.sin(total * 0.5 + row) + i * 0.1
    return total


def together(x: Tensor, y: Tensor) -> Tensor:
    total = x[0] * 0
    for row, other in zip(x, y):  # noqa: B905
        total = ops.sin(total * 0.5 + row) * other
    return total


def strictly(x: Tensor, y: Tensor) -> Tensor:
    total = x[0] * 0
    for row, other, again in zip(x, y, x, strict=True):
        total = ops.sin(total * 0.5 + row) * other - again
    return total


def both(x: Tensor, y: Tensor) -> Tensor:
    total = x[0] * 0
    for i, (row, other) in enumerate(zip(x, y)):  # noqa: B905
        total = ops.sin(total * 0.5 + row) * other + i
    return total


@pytest.mark.parametrize("loop", [by_place, from_a_start, from_a_place, together, strictly, both])
def test_rows_are_gone_over_as_in_python(loop: Callable[[Tensor, Tensor], Tensor]) -> None:
    compiled, slope = ms.jit(loop, fallback=False), ms.jit(ms.grad(loop))
    for rows in (2, 40, 41):
        x, y = Tensor(normal(rows, 3)), Tensor(normal(rows, 3) + 0.5)
        for _ in range(2):
            np.testing.assert_allclose(compiled(x, y).asnumpy(), loop(x, y).asnumpy(), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(slope(x, y).asnumpy(), ms.grad(loop)(x, y).asnumpy(), rtol=1e-3, atol=1e-4)
    if loop is strictly:
        with pytest.raises(ValueError, match="shorter"):
            ms.jit(loop)(Tensor(normal(40, 3)), Tensor(normal(39, 3)))


ROLLED: list[Callable[[int], Any]] = [
    lambda i: i // 3, lambda i: i % 4, lambda i: (i + 7) // 2 - 2 * i, lambda i: 1 if i % 3 == 1 else 2,
    lambda i: i > 3, lambda i: i < 2**62, lambda i: -(2**63) <= i <= 2**63 - 1, lambda i: i > True,
    lambda i: i // 2 % 3,
]  # fmt: skip
WRITTEN_OUT: list[Callable[[int], Any]] = [  # turn by turn: machines would count otherwise, or might
    lambda i: i < 2**63, lambda i: i > -(2**63) - 1, lambda i: i == 2**64, lambda i: i < 2**70, lambda i: i < 2.5,
    lambda i: -i % 5, lambda i: i / 4, lambda i: i**2, lambda i: i // -2, lambda i: i % -3, lambda i: i * 2**40 * i,
    lambda i: (i - 3) % 2, lambda i: (i - 9) // 4, lambda i: (i == False) + (i != 2),  # noqa: E712
]  # fmt: skip


@pytest.mark.parametrize("number", [*ROLLED, *WRITTEN_OUT])
@pytest.mark.parametrize("step", [1, 2])
def test_numbers_of_turns_are_numbers_of_python(number: Callable[[int], Any], step: int) -> None:
    def loop(x: Tensor, n: int) -> Tensor:
        for i in range(0, n, step):
            x = ops.sin(x) + number(i)
        return x

    compiled, x = ms.jit(loop), Tensor(normal(3))
    for n in TURNS:
        np.testing.assert_allclose(compiled(x, n).asnumpy(), loop(x, n).asnumpy(), rtol=1e-4)
    assert (programs(compiled) <= 2) == (number in ROLLED)


def test_a_range_with_words_is_refused_as_by_python() -> None:
    def loop(x: Tensor, n: int) -> Tensor:
        for _ in range(n, step=2):  # type: ignore[call-overload]
            x = x + 1
        return x

    with pytest.raises(TypeError, match="keyword"):
        ms.jit(loop)(Tensor([1.0]), 40)
