"""Totals of columns: several rows are added to them at a time, in their order."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function
from mycelia.loops import Store
from mycelia.testing import compile
from tests.each import each
from tests.lowering.programs import check, f32, launches, lowered

FOLDS = {np.add: p.reduce_sum, np.maximum: p.reduce_max, np.minimum: p.reduce_min}


def rows_at_a_time(program):
    """How many rows each sweep down the columns of a program takes, where it is more than one."""
    sweeps = [s for launch in launches(program) for s in launch.kernel.sweeps if len(s.columns) == 2]
    return [e.walk()[-1].kind for s in sweeps for e in [a.value for a in s.actions if isinstance(a, Store)]]


def test_several_rows_are_added_at_a_time():
    assert rows_at_a_time(lowered(lambda x: p.reduce_sum(x, (0,)), f32(40, 70))) == ["add"]
    assert rows_at_a_time(lowered(lambda x, y: p.matmul(x, y), f32(40), f32(40, 70))) == ["add"]


@pytest.mark.parametrize("two", FOLDS, ids=lambda two: two.__name__)
def test_folds_of_columns_are_those_of_the_rows_in_turn_to_the_bit(two):
    def same(rows, columns):
        fn = Function.build(lambda x: FOLDS[two](x, (0,)), f32(rows, columns))
        x = np.random.default_rng(rows).normal(size=(rows, columns)).astype("f")
        np.testing.assert_array_equal(compile(fn)(x)[0], reduce(two, x))

    each(same, [(f"{n} rows of {m}", (n, m)) for n in (*range(2, 14), 103) for m in (3, 64, 80, 130, 300, 1000)])


@pytest.mark.parametrize("columns", [1000, 1040, 4100, 257])
def test_columns_that_no_width_divides_are_shared_all_the_same(columns):
    def blocks(fn, *types):
        (launch,) = launches(lowered(fn, *types))
        return launch.kernel.rows[-1].extent

    assert blocks(lambda x: p.reduce_sum(x, (0,)), f32(40, columns)) > 1
    check(lambda x: p.reduce_sum(x, (0,)), f32(40, columns), tolerance=1e-5)
    check(lambda x, y: p.matmul(x, y), f32(40), f32(40, columns), tolerance=1e-5)


def test_folds_over_several_axes_and_of_long_expressions_are_right():
    check(lambda x: p.reduce_sum(x, (0, 1)), f32(7, 9, 70), tolerance=1e-5)
    check(lambda x: p.reduce_sum(x, (0, 1)), f32(7, 8, 70), tolerance=1e-5)
    check(lambda x: p.reduce_sum(p.tanh(p.exp(x) * x + p.sin(x)) / (x * x + 1.0), (0,)), f32(33, 70), tolerance=1e-5)
    check(lambda x: (p.reduce_sum(x * x, (0,)), p.reduce_max(x, (0,))), f32(33, 70), tolerance=1e-5)
