"""What a size costs that was not met before, and that it changes nothing: products of any size share their code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.loops import Matmul, Strided
from mycelia.onednn import library
from mycelia.runtime.recipes import prepared
from mycelia.types import float32

R = np.random.default_rng(0)
WIDE, NARROW = (Tensor(R.standard_normal(shape).astype("float32")) for shape in ((512, 640), (640, 64)))


@contextmanager
def made() -> Iterator[list[int]]:
    """Inside the block the primitives are written down that oneDNN makes."""
    found: list[int] = []
    functions = library().functions
    plain = functions["dnnl_primitive_create"]

    def create(*args: Any) -> int:
        found.append(plain(*args))
        return found[-1]

    functions["dnnl_primitive_create"] = create
    try:
        yield found
    finally:
        functions["dnnl_primitive_create"] = plain


def layers(x: Tensor, wide: Tensor, narrow: Tensor) -> Tensor:
    return (ops.tanh(x @ wide) @ narrow).square().mean()


def rows(n: int) -> Tensor:
    return Tensor(np.random.default_rng(n).standard_normal((n, 512)).astype("float32"))


def test_a_new_size_of_large_products_makes_no_code() -> None:
    step = ms.jit(ms.value_and_grad(layers, 2))
    for n in (256, 300, 320):
        step(rows(n), WIDE, NARROW)
    for n in (272, 411, 500):
        with made() as found:
            step(rows(n), WIDE, NARROW)
        assert not found, f"{n} rows"


def attended(x: Tensor) -> Tensor:
    batch, time = x.shape[:2]
    q, k, v = x.reshape((batch, time, 3, 4, -1)).transpose((2, 0, 3, 1, 4))
    return (ops.softmax(q @ k.swapaxes(-1, -2), -1) @ v).square().mean()


def test_a_new_length_of_attention_makes_no_code() -> None:
    step = ms.jit(ms.value_and_grad(attended))
    for n in (50, 54, 61):
        x = Tensor(np.random.default_rng(n).standard_normal((4, n, 384)).astype("float32"))
        with made() as found:
            gradient = step(x)[1]
        assert n < 61 or not found, f"{n} steps"
        np.testing.assert_array_equal(gradient.asnumpy(), step(x)[1].asnumpy())
        np.testing.assert_allclose(gradient.asnumpy(), ms.grad(attended)(x).asnumpy(), 1e-4, 1e-6)


def test_a_size_has_the_same_bits_whatever_came_between() -> None:
    step = ms.jit(ms.value_and_grad(layers, (0, 1, 2)))
    sizes = (256, 300, 3, 40, 33, 500, 7)
    first = [step(rows(n), WIDE, NARROW) for n in sizes]
    for n, (value, gradients) in zip(reversed(sizes), reversed(first), strict=True):
        again, others = step(rows(n), WIDE, NARROW)
        np.testing.assert_array_equal(again.asnumpy(), value.asnumpy())
        for a, b in zip(others, gradients, strict=True):
            np.testing.assert_array_equal(a.asnumpy(), b.asnumpy(), f"{n} rows")


def product(m: int, k: int, n: int) -> Matmul:
    return Matmul(*[Strided(shape, (shape[1], 1), float32) for shape in ((m, k), (k, n), (m, n))])


def test_a_call_made_ready_keeps_no_descriptor() -> None:
    for m, k, n in ((9, 30, 41), (300, 300, 7), (256, 256, 256)):
        (call,) = prepared([product(m, k, n)], 2)
        ((primitive, _),) = call.primitives
        assert not primitive.made.descriptor.address
        a, b, c = (np.ones(shape, "float32") for shape in ((m, k), (k, n), (m, n)))
        primitive.run(a, b, c)
        np.testing.assert_array_equal(c, a @ b)


def test_little_work_is_not_shared_between_threads() -> None:
    small, large = product(32, 8, 8), product(200, 200, 20)
    for call, shared in ((small, False), (large, True)):
        (alone,), (together,) = (prepared([call], threads) for threads in (1, 2))
        assert (alone is not together) == shared
