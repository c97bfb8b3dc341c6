"""Generation with a cache of keys and values that grows: nothing is compiled after the third length."""

from __future__ import annotations

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
