"""The same program, run by Python and under jit."""

import numpy as np
import pytest
from programs import NATIVE, PYTHON

from mycelia.api.grad import grad
from mycelia.api.jit import jit
from mycelia.eager import Tensor
from mycelia.tree import flatten


def named(cases):
    return [pytest.param(fn, args, id=f"{fn.__name__}-{i}") for i, (fn, args) in enumerate(cases)]


def plain(x):
    return x.asnumpy() if isinstance(x, Tensor) else x


def assert_equal(expected, got):
    (these, structure), (those, other) = flatten(expected), flatten(got)
    assert structure == other
    for a, b in zip(these, those, strict=True):
        if isinstance(a, Tensor):
            assert isinstance(b, Tensor)
            assert a.dtype is b.dtype
        if isinstance(a, str):
            assert a == b
        else:
            np.testing.assert_allclose(plain(b), plain(a), rtol=2e-6, atol=1e-6)


@pytest.mark.many(("fn", "args"), named(NATIVE), pack=20)
def test_a_captured_program_equals_python(fn, args):
    compiled = jit(fn, fallback=False)
    expected = fn(*args)
    assert_equal(expected, compiled(*args))
    assert_equal(expected, compiled(*args))


@pytest.mark.many(("fn", "args"), named(PYTHON))
def test_a_program_that_python_runs_equals_python(fn, args):
    compiled = jit(fn)
    assert_equal(fn(*args), compiled(*args))
    assert "runs in Python" in compiled.explain()


def differentiable(fn, args):
    found = [x for x in flatten(args)[0] if isinstance(x, Tensor) and x.dtype.is_float]
    return bool(found) and isinstance(args[0], Tensor)


def total(fn):
    def loss(*args):
        found = [x for x in flatten(fn(*args))[0] if isinstance(x, Tensor) and x.dtype.is_float]
        return sum((x * x).sum() for x in found)

    return loss


SMOOTH = [(f, a) for f, a in (*NATIVE, *PYTHON) if differentiable(f, a) and f.__name__ != "collatz"]


@pytest.mark.many(("fn", "args"), named(SMOOTH), pack=10)
def test_gradients_under_jit_equal_those_of_the_tape(fn, args):
    expected = grad(total(fn))(*args)
    assert_equal(expected, grad(total(jit(fn)))(*args))
    assert_equal(expected, jit(grad(total(fn)))(*args))
