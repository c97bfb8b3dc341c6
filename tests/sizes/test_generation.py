"""Generation with a cache of keys and values that grows: nothing is compiled after the third length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import mycelia as ms
from mycelia import Tensor, nn, ops
from tests.sizes.running import counted

WIDTH = 8


class Step(nn.Cell):
    """Attention of one query over all keys so far."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Dense(WIDTH, 3 * WIDTH)

    def construct(self, x: Any, keys: Any, values: Any) -> Any:
        q, k, v = ops.split(self.qkv(x), WIDTH, -1)
        keys, values = ops.cat((keys, k), 1), ops.cat((values, v), 1)
        return ops.softmax(q @ keys.swapaxes(1, 2), -1) @ values, keys, values


def inputs(length: int) -> list[Tensor]:
    r = np.random.default_rng(0)
    return [Tensor(r.standard_normal((2, 1, WIDTH)).astype("float32")) for _ in range(length)]


def nothing() -> Tensor:
    return Tensor(np.zeros((2, 0, WIDTH), "float32"))


def expected(step: Step, xs: list[Tensor]) -> list[np.ndarray]:
    keys, values, found = nothing(), nothing(), []
    for x in xs:
        out, keys, values = step(x, keys, values)
        found.append(out.asnumpy())
    return found


def test_caches_that_are_passed_and_returned() -> None:
    step, xs = Step(), inputs(20)
    wanted = expected(step, xs)
    jitted = ms.jit(step)
    keys, values = nothing(), nothing()
    for n, x in enumerate(xs):
        with counted() as found:
            out, keys, values = jitted(x, keys, values)
        np.testing.assert_allclose(out.asnumpy(), wanted[n], 1e-5, 1e-6)
        assert n < 4 or not found, f"compiled at length {n + 1}"


def test_a_prompt_of_several_letters_comes_first() -> None:
    step, xs = Step(), inputs(16)
    wanted = expected(step, xs)
    jitted = ms.jit(step)
    keys = values = nothing()
    for x in xs[:3]:
        _, keys, values = step(x, keys, values)
    for n, x in enumerate(xs[3:], 3):
        with counted() as found:
            out, keys, values = jitted(x, keys, values)
        np.testing.assert_allclose(out.asnumpy(), wanted[n], 1e-5, 1e-6)
        assert n < 5 or not found, f"compiled at length {n + 1}"


class Keeping(nn.Cell):
    """The same, with the keys and values so far in attributes."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step
        self.keys, self.values = nothing(), nothing()

    def construct(self, x: Any) -> Any:
        out, self.keys, self.values = self.step(x, self.keys, self.values)
        return out


def test_caches_that_are_attributes() -> None:
    step, xs = Step(), inputs(20)
    wanted = expected(step, xs)
    keeping = Keeping(step)
    jitted = ms.jit(keeping)
    for n, x in enumerate(xs):
        with counted() as found:
            out = jitted(x)
        np.testing.assert_allclose(out.asnumpy(), wanted[n], 1e-5, 1e-6)
        assert keeping.keys.shape == (2, n + 1, WIDTH)
        assert n < 4 or not found, f"compiled at length {n + 1}"
    assert "runs in Python" not in jitted.explain()


def test_sizes_are_numbers_with_the_meaning_that_python_gives_them() -> None:
    def numbers(x: Any) -> Any:
        n, m = x.shape
        return (
            x / n, n / 3, 2.0**-n, math.sqrt(n * m), f"{n}x{m}", n % 4, -n // 3, max(n, 5), n > 6, isinstance(n, int),
            str(x.shape), float(n), abs(3 - n), divmod(n, 4), n**2, type(n), [n, m], n << 1, round(n / 4), bool(n - 7),
        )  # fmt: skip

    jitted = ms.jit(numbers)
    for n in (4, 9, 5, 7, 11, 30, 2, 7, 1, 12):
        x = Tensor(np.ones((n, 3), "float32"))
        (got, *others), (wanted, *expected) = jitted(x), numbers(x)
        np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy())
        assert others == expected
        assert [type(v) for v in others] == [type(v) for v in expected]
    assert "runs in Python" not in jitted.explain()
