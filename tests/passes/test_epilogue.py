"""A bias goes into the call it follows, where nobody else reads what the call gives."""

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, interpret
from mycelia.testing import compile, optimise
from mycelia.types import type_of

RNG = np.random.default_rng(0)
X, W, B = (RNG.normal(size=s).astype("f") for s in ((32, 24), (24, 40), (40,)))
IMAGE, KERNEL, C = (RNG.normal(size=s).astype("f") for s in ((2, 3, 8, 8), (4, 3, 3, 3), (4,)))


def relu(x):
    return p.select(p.less_equal(x, p.zeros_like(x)), p.zeros_like(x), x)


def dense(x, w, b):
    return relu(p.matmul(x, w) + b)


def convolved(x, w, b):
    return relu(p.Conv((1, 1), ((1, 1), (1, 1)), (1, 1), 1)(x, w) + p.reshape(b, (1, 4, 1, 1)))


@pytest.mark.parametrize(("layer", "arrays"), [(dense, (X, W, B)), (convolved, (IMAGE, KERNEL, C))])
def test_the_call_adds_the_bias(layer, arrays):
    fn = Function.build(layer, *map(type_of, arrays))
    run = compile(fn)
    assert [call.bias for call in run.binding.calls] == [True]
    np.testing.assert_allclose(run(*arrays)[0], interpret(fn, *arrays)[0], rtol=2e-5, atol=2e-5)


def test_a_sum_that_others_read_keeps_its_own_place():
    fn = Function.build(lambda x, w, b: (dense(x, w, b), p.matmul(x, w)), *map(type_of, (X, W, B)))
    assert not any(v.op.name == "epilogue" for v in optimise(fn).values())


def test_what_is_not_a_number_stays_so():
    fn = Function.build(dense, *map(type_of, (X, W, B)))
    bad = X.copy()
    bad[3, 5] = np.nan
    got = compile(fn)(bad, W, B)[0]
    assert np.isnan(got[3]).all()
    assert not np.isnan(got[4]).any()


def test_what_loops_multiply_faster_stays_out_of_the_library_with_its_bias():
    arrays = X[:4, :6], W[:6, :5], B[:5]
    fn = Function.build(dense, *map(type_of, arrays))
    run = compile(fn)
    assert not run.binding.calls
    np.testing.assert_allclose(run(*arrays)[0], interpret(fn, *arrays)[0], rtol=2e-5, atol=2e-5)
