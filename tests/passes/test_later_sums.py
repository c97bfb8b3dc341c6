"""Products that a loop adds up are one product behind it, where that keeps less than the sum is."""

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, interpret
from mycelia.passes import sum_later
from mycelia.primitives import Contract, Scan
from mycelia.types import TensorType, float64

TURNS = 5


def loop(examples, rows, columns, reverse=False, start=0.0):
    """A loop that adds up (h x)^T y, where h = tanh(h + x)."""
    many = TensorType(float64, (rows, columns))
    x, y = TensorType(float64, (examples, rows)), TensorType(float64, (examples, columns))

    def turn(total, h, x, y):
        product = p.contract("er", "ec", "cr")(h * x, y)
        return total + p.transpose(product, (1, 0)), p.tanh(h + x), h * 2.0

    body = Function.build(turn, many, x, x, y)

    def whole(h, xs, ys):
        return Scan(body, 0, 2, reverse, TURNS)(p.full(start, float64, many.shape), h, xs, ys)

    return Function.build(whole, x, *(TensorType(float64, (TURNS, *t.shape)) for t in (x, y)))


def products_inside(fn):
    scans = [v.op for v in fn.values() if isinstance(v.op, Scan)]
    return [v for op in scans for v in op.body.values() if isinstance(v.op, Contract)]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("start", [0.0, 1.5])
def test_a_sum_of_products_is_one_product_behind_the_loop(reverse, start):
    fn = loop(2, 8, 9, reverse, start)
    later = sum_later(fn)
    assert products_inside(fn)
    assert not products_inside(later)
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=t.shape) for t in fn.types]
    for a, b in zip(interpret(fn, *inputs), interpret(later, *inputs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_operands_that_are_larger_than_their_product_are_not_kept():
    fn = loop(50, 8, 9)
    assert sum_later(fn) == fn


def test_a_sum_that_the_loop_reads_stays_in_it():
    t = TensorType(float64, (4, 4))
    body = Function.build(lambda total, x: (total + p.matmul(x * 2.0, x), total * x), t, t)
    fn = Function.build(lambda xs: Scan(body, 0, 1, False, 3)(p.zeros(float64, (4, 4)), xs), t.with_shape((3, 4, 4)))
    assert sum_later(fn) == fn
