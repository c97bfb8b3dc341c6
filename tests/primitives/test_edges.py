"""Gradients where functions have corners, and at the edges of domains: what we promise there."""

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, interpret
from mycelia.transforms import vjp
from mycelia.types import type_of


def gradient(python, *arrays):
    fn = Function.build(python, *map(type_of, arrays))
    ct = np.ones(fn.results[0].shape, fn.results[0].dtype.numpy)
    with np.errstate(all="ignore"):
        return [g.tolist() for g in interpret(vjp(fn), *arrays, ct)[1:]]


@pytest.mark.parametrize("op", [p.maximum, p.minimum])
def test_equal_operands_share_the_cotangent(op):
    assert gradient(op, np.array([1.0, 2.0]), np.array([1.0, 3.0]))[0][0] == 0.5
    assert gradient(op, np.array([1.0, 2.0]), np.array([1.0, 3.0]))[1][0] == 0.5


def test_equally_large_elements_share_the_cotangent():
    x = np.array([[3.0, 1.0, 3.0], [2.0, 2.0, 2.0]])
    assert gradient(lambda x: p.reduce_max(x, 1), x) == [[[0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]]]
    assert gradient(lambda x: p.reduce_min(x, 1), -x) == [[[0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]]]


def test_max_pooling_gives_to_the_first_of_equals():
    x = np.array([[[2.0, 2.0, 1.0, 5.0]]])
    assert gradient(lambda x: p.max_pool(x, (2,)), x) == [[[[1, 0, 0, 1]]]]


def test_the_absolute_value_is_flat_at_zero():
    assert gradient(p.abs, np.array([0.0, -2.0])) == [[0, -1]]


def test_powers_of_zero_have_finite_gradients():
    x, y = np.array([0.0, 0.0, 0.0]), np.array([0.0, 1.0, 2.0])
    assert gradient(p.power, x, y) == [[0, 1, 0], [0, 0, 0]]


def test_powers_of_negative_numbers_have_no_gradient_in_the_exponent():
    dx, dy = gradient(p.power, np.array([-2.0]), np.array([3.0]))
    assert dx == [12]
    assert np.isnan(dy[0])


def test_a_product_with_zeros_has_the_products_of_the_others():
    x = np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0]])
    assert gradient(lambda x: p.reduce_prod(x, 1), x) == [[[6, 0, 0], [0, 0, 0]]]


def test_a_product_of_nothing_is_one_and_has_no_gradient():
    assert gradient(lambda x: p.reduce_prod(x, 0), np.zeros((0, 2))) == [[]]


def test_a_branch_that_is_not_taken_does_no_harm():
    x = np.array([0.0, 4.0])
    safe = Function.build(lambda x: p.select(p.greater(x, 0.0), p.sqrt(x), 0.0), type_of(x))
    with np.errstate(all="ignore"):
        got = interpret(vjp(safe), x, np.ones(2))[1]
    assert got[1] == 0.25
    assert np.isnan(got[0])  # 0 * inf, as everywhere: put the condition around the operand instead


def test_shares_and_counts_are_exact_in_half_precision():
    x = np.ones(2048, np.float16)
    assert p.Sum((0,)).reference(x) == 2048  # one by one in float16, 1 would be lost from 2048 on
    assert p.Cumsum(0).reference(x)[-1] == 2048
