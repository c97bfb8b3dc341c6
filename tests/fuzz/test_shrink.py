"""A failing program becomes a small one that still fails."""

from __future__ import annotations

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Function, interpret
from mycelia.types import TensorType, float64
from tests.fuzz.programs import Case
from tests.fuzz.shrink import shrink, size

V = TensorType(float64, (4,))


def program(x, y):
    a = p.sin(x * y) + p.exp(y)
    b = p.erf(p.tanh(a) * 2.0) / (x * x + 1.0)
    return p.cumsum(a, 0), p.reduce_sum(b, (0,)), p.cos(b) * a


CASE = Case(Function.build(program, V, V), (np.linspace(-1, 1, 4), np.arange(4.0)))


def test_one_wrong_op_is_left_alone():
    small = shrink(CASE, lambda c: any(isinstance(v.op, p.Erf) for v in c.fn.values()))
    assert size(small.fn) == 1
    assert len(small.inputs) == 1


def test_two_ops_that_are_wrong_together_stay_together():
    def fails(c: Case) -> bool:
        kinds = {type(v.op) for v in c.fn.values()}
        return {p.Exp, p.Cos} <= kinds

    small = shrink(CASE, fails)
    assert fails(small)
    assert size(small.fn) < size(CASE.fn)


def test_inputs_of_a_smaller_program_are_what_the_larger_one_computed():
    small = shrink(CASE, lambda c: any(isinstance(v.op, p.Erf) for v in c.fn.values()))
    x, y = CASE.inputs
    np.testing.assert_allclose(interpret(small.fn, *small.inputs)[0], interpret(
        Function.build(lambda x, y: p.erf(p.tanh(p.sin(x * y) + p.exp(y)) * 2.0), V, V), x, y)[0])  # fmt: skip
