"""One op is one class: nothing else is touched, and all laws hold it."""

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, Op, interpret, registry
from mycelia.loops import binary, const, unary
from mycelia.primitives import Unary
from mycelia.testing import LAWS, all_samples, obeys
from mycelia.transforms import jvp, vjp, vmap
from mycelia.types import TensorType, float64


def softplus_class():
    class Softplus(Unary):
        """log(1 + exp(x)), without overflow."""

        domain, points = (-3.0, 3.0), (0.0, 80.0, -80.0, 1e4)

        @staticmethod
        def oracle(x):
            return np.logaddexp(x, 0).astype(x.dtype)

        def scalar(self, x):
            small = unary("exp", unary("neg", unary("abs", x)))
            return binary("max", x, const(0.0, x.dtype)) + unary("log1p", small)

        def vjp(self, ct, out, x):
            return (ct * p.sigmoid(x),)

    return Softplus


@pytest.fixture
def softplus():
    yield softplus_class()
    del registry["softplus"]


def test_a_new_op_is_found_by_the_laws_without_being_told(softplus):
    assert any(sample.op.name == "softplus" for sample in all_samples())


@pytest.mark.parametrize("law", LAWS)
def test_a_new_op_obeys(law, softplus):
    obeys(softplus, only=[law])


def test_a_new_op_goes_through_all_transforms(softplus):
    fn = Function.build(softplus(), TensorType(float64, ()))
    zero, one = np.array(0.0), np.array(1.0)
    value, slope = interpret(vjp(fn), zero, one)
    assert (value, slope) == (np.log(2.0), 0.5)
    assert interpret(jvp(vjp(fn)), zero, one, one, zero)[3] == 0.25  # the second derivative at 0
    np.testing.assert_array_equal(interpret(vmap(fn, 2), np.zeros(2))[0], np.full(2, np.log(2.0)))


def test_a_wrong_gradient_of_a_new_op_is_noticed(softplus):
    softplus.vjp = lambda self, ct, out, x: (ct * p.sigmoid(-x),)
    with pytest.raises(AssertionError, match="gradient"):
        obeys(softplus, only=["gradient_equals_differences"])


def test_a_wrong_element_of_a_new_op_is_noticed(softplus):
    softplus.scalar = lambda self, x: unary("log1p", unary("exp", x))  # overflows
    with pytest.raises(AssertionError, match="elements"):
        obeys(softplus, only=["execution_equals_reference"])


def test_an_op_without_a_rule_does_not_import():
    with pytest.raises(TypeError, match="op halfdone must define vjp or augment"):

        class HalfDone(Unary):
            kind, oracle = "exp", np.exp

    with pytest.raises(TypeError, match="must define infer, reference, vmap, axes, samples, vjp or augment, purity"):

        class Nothing(Op):
            pass
