"""A program that is asked whether it can go on stops before it does anything."""

import warnings

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.errors import CompileError
from mycelia.ir import Function
from mycelia.loops import equal, parse_program, show
from mycelia.loops.status import Stopped
from mycelia.lowering import lower
from mycelia.primitives import Callee
from mycelia.runtime.reference import Reference
from mycelia.sizes import Scope
from mycelia.testing.native import compile, optimise
from mycelia.types import TensorType, float32, int32

SIZES = [1, 7, 5000]


def asking(n):
    """Two questions about numbers, and then weights that are changed by them."""

    def build(weights, numbers):
        low, high = p.full(0, int32, ()), p.full(10, int32, ())
        wrong = [p.reduce_any(q, (0,)) for q in (p.less(numbers, low), p.greater_equal(numbers, high))]
        return *wrong, p.tanh(weights) + 1.0, p.cast(numbers, float32) + weights

    return Function.build(build, TensorType(float32, (n,)), TensorType(int32, (n,)))


def runs(n):
    """The program as machine code, for all sizes, and interpreted."""
    yield compile(asking(n), {0: 0}, asks=2)
    yield compile(asking(Scope().name("n", 12, low=1)), {0: 0}, asks=2)
    with warnings.catch_warnings(action="ignore"):  # it says, once, that it is slow
        yield Reference(asking(n), {0: 0}, CompileError("for a test"), 2)


@pytest.mark.parametrize("n", SIZES)
def test_it_stops_before_it_writes(n):
    for run in runs(n):
        weights = np.linspace(-1, 1, n, dtype="f")
        numbers = np.arange(n, dtype="i") % 10
        for bad in (-1, 10):
            wrong = numbers.copy()
            wrong[n // 2] = bad
            before = weights.copy()
            with pytest.raises(Stopped):
                run(weights, wrong)
            np.testing.assert_array_equal(weights, before)
        old = weights.copy()
        new, total = run(weights, numbers)
        assert new is weights
        np.testing.assert_allclose(new, np.tanh(old) + 1, rtol=1e-6)
        np.testing.assert_allclose(total, numbers + old, rtol=1e-6)


def test_it_is_one_native_call():
    from mycelia.runtime.executable import Calls

    run = compile(asking(3), asks=2)
    before = Calls.count
    run(np.zeros(3, "f"), np.zeros(3, "i"))
    assert Calls.count == before + 1


@pytest.mark.parametrize("n", SIZES)
def test_its_text_can_be_read(n):
    fn = asking(n)
    asked, rest = Function(fn.params, fn.results[:2]), fn.with_results(fn.results[2:])
    program = lower(optimise(rest), {0: 0}, options(), asked=optimise(asked))
    assert "stop(" in show(program)
    assert equal(parse_program(show(program)), program)


def test_it_stops_before_it_calls_python():
    called = []

    def build(x):
        p.HostCall(Callee(called.append))(x)
        return p.less(x, p.full(0, float32, ())), x + 1.0

    fn = Function.build(build, TensorType(float32, ()))
    with warnings.catch_warnings(action="ignore"):
        runs = compile(fn, asks=1), Reference(fn, {}, CompileError("for a test"), 1)
    for run in runs:
        with pytest.raises(Stopped):
            run(np.array(-1, "f"))
        assert not called
        assert float(run(np.array(1, "f"))[0]) == 2.0
        assert called.pop() == 1.0
