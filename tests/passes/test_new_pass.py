"""A pass is one function in one file, and its line in the pipeline."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import passes
from mycelia import primitives as p
from mycelia.ir import Function, Value, rewrite, rule_for
from mycelia.testing import compile, optimise
from mycelia.types import TensorType, bool_, float32

V = TensorType(float32, (4,))


# ---------------------------------------------------------------------------- the file: mycelia/passes/squares.py


@rule_for(p.Power)
def power_of_two(v: Value) -> Value | None:
    """A square is a product, which is faster."""
    x, y = v.inputs
    return x * x if isinstance(y.op, p.Full) and y.op.number == 2 else None


def multiply_squares(fn: Function) -> Function:
    """Apply the rule everywhere."""
    return rewrite(fn, [power_of_two])


# --------------------------------------------------------------- the line: in CANONICAL of mycelia/passes/__init__.py


@pytest.fixture
def in_the_pipeline(monkeypatch):
    monkeypatch.setattr(passes, "CANONICAL", (*passes.CANONICAL, multiply_squares))


SQUARE = Function.build(lambda x: p.power(x, 2.0), V)
PRODUCT = Function.build(lambda x: x * x, V)


def test_a_new_pass_runs(in_the_pipeline):
    assert optimise(SQUARE) == PRODUCT
    np.testing.assert_array_equal(compile(SQUARE)(np.arange(4, dtype="f"))[0], [0, 1, 4, 9])


def test_a_new_pass_goes_into_branches(in_the_pipeline):
    branch = Function.build(lambda c, x: p.Cond(SQUARE, PRODUCT)(c, x)[0], TensorType(bool_, ()), V)
    (cond,) = (v.op for v in optimise(branch).values() if isinstance(v.op, p.Cond))
    assert cond.then == cond.otherwise == PRODUCT


def test_a_new_pass_is_switched_off_by_its_name(in_the_pipeline):
    assert optimise(SQUARE, without=frozenset({"multiply_squares"})) == SQUARE


def test_a_new_pass_is_shown_and_verified(in_the_pipeline, capfd):
    compile(SQUARE, verify=True, show=frozenset({"passes"}))
    assert "multiply_squares: 3 values before, 2 after\nfn(" in capfd.readouterr().err


def test_without_its_line_it_does_not_run():
    assert optimise(SQUARE) == SQUARE
