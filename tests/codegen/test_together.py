"""Threads that sleep are woken for a program as a whole, where that pays; a small one runs on the thread that calls."""

from dataclasses import replace

import numpy as np
import pytest

from mycelia.api import options
from mycelia.codegen.driver import emit_program
from mycelia.cost import shared_from, together_from
from mycelia.ir import Function
from mycelia.loops.unit_text import parse_unit, show_unit
from mycelia.lowering import lower
from mycelia.passes import optimise
from mycelia.primitives import exp, matmul, sort
from mycelia.runtime.bind import Bound, arrange
from mycelia.runtime.layout import layout
from mycelia.runtime.warm import compile
from mycelia.sizes import Scope
from mycelia.sizes.sym import text
from mycelia.types import TensorType, float32, int32


def unit_of(python, *types):
    two = replace(options(), threads=2)
    return layout(lower(optimise(Function.build(python, *types), two), {}, two), two), two


def shares(unit, two):
    return "GOMP_parallel" in emit_program(unit, two, "run").modules[0]


def test_threads_are_woken_for_much_work_in_all_not_for_one_step_of_it():
    target = options().target
    n = shared_from(target)  # elements: each takes some additions
    vector = TensorType(float32, (n,))
    assert 3 * n < together_from(target)
    assert not shares(*unit_of(lambda x: x + x, vector))
    assert shares(*unit_of(lambda x: exp(exp(exp(exp(x + x)))), vector))


def test_sizes_that_are_met_later_decide_later():
    n = Scope().name("n", hint=1000, low=2, high=1 << 24)
    unit, two = unit_of(lambda x, w: matmul(x, w) + 1.0, TensorType(float32, (n, 64)), TensorType(float32, (64, 64)))
    assert shares(unit, two)
    again = parse_unit(show_unit(unit))
    assert text(again.binding.together) == text(unit.binding.together)
    bound = Bound(replace(unit.binding, numbers=emit_program(unit, two, "run").numbers), {})
    assert [bound.numbers.threads(size) for size in (2, 1 << 20)] == [1, 2]
    assert arrange(bound, (2,)).arena > 0


@pytest.mark.parametrize("rows", [3, 4000])
def test_both_ways_compute_the_same(rows):
    n = Scope().name("n", hint=1000, low=2, high=1 << 24)
    fn = Function.build(lambda x, w: matmul(x, w) * 2.0, TensorType(float32, (n, 64)), TensorType(float32, (64, 64)))
    x, w = (np.random.default_rng(i).normal(size=(k, 64)).astype("f") for i, k in enumerate((rows, 64)))
    (out,) = compile(fn, {}, replace(options(), threads=2))(x, w)
    np.testing.assert_allclose(out, x @ w * 2, rtol=1e-4, atol=1e-4)


def test_a_long_row_is_sorted_in_phases_that_follow_one_another():
    x = np.random.default_rng(3).integers(-(10**6), 10**6, 1 << 19, np.int32)
    t = TensorType(int32, x.shape)
    assert shares(*unit_of(lambda x: sort(x, 0), t))
    values, places = compile(Function.build(lambda x: sort(x, 0), t), {}, replace(options(), threads=2))(x)
    np.testing.assert_array_equal(values, np.sort(x))
    np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))
