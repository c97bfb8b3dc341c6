# ruff: noqa: SIM108
"""Mistakes inside jit are told with the user's own line, the place on it, and the values."""

import re

import pytest

from mycelia.api.jit import jit
from mycelia.eager import Tensor
from mycelia.errors import BranchError, CaptureError, DTypeError, ShapeError

X, M = Tensor([1.0, 2.0, 3.0]), Tensor([[1.0, 2.0], [3.0, 4.0]])


def message(error, fn, *args):
    """The message, without the numbers of lines; what the caret points at is put in brackets."""
    with pytest.raises(error) as caught:
        fn(*args)
    lines = str(caught.value).splitlines()
    for i, line in enumerate(lines):
        if set(line) == {" ", "^"}:
            start, end = line.index("^"), len(line)
            lines[i - 1] = f"{lines[i - 1][:start]}[{lines[i - 1][start:end]}]{lines[i - 1][end:]}"
    return re.sub(r"test_errors.py:\d+", "test_errors.py:N", "\n".join(x for x in lines if set(x) != {" ", "^"}))


def test_a_shape_error():
    @jit
    def f(x, m):
        y = x * 2
        return y + m

    assert message(ShapeError, f, X, M) == (
        "add cannot broadcast shapes (3,) and (2, 2) together\n"
        "  operand 0: f32[3]\n"
        "  operand 1: f32[2, 2]\n"
        "  at test_errors.py:N  return [y + m]\n"
        "hint: aligned at the right, two extents must be equal, or one of them 1"
    )


def test_a_type_error():
    @jit
    def f(x):
        y = x.astype("int32")
        return y << x

    assert "test_errors.py:N  return [y << x]\n" in message(DTypeError, f, X)


def test_two_branches_of_different_type():
    @jit
    def f(x, m):
        if x.sum() > 0:
            y = x * 2
        else:
            y = m
        return y + 1

    assert message(BranchError, f, X, M) == (
        "the two ways through this branch give `y` different types\n"
        "  if true: f32[3]   from test_errors.py:N  y = x * 2\n"
        "  if false: f32[2, 2]\n"
        "  at test_errors.py:N  if [x.sum() > 0]:\n"
        "hint: make both ways give the same shape and element type"
    )


def test_two_returns_of_different_type():
    @jit
    def f(x):
        if x.sum() > 0:
            return x
        return x.astype("int32")

    told = message(BranchError, f, X)
    assert "the two ways through this branch return different types" in told
    assert "if false: i32[3]   from test_errors.py:N  return x.astype" in told


def test_python_values_that_differ():
    @jit
    def f(x):
        mode = "a"
        if x.sum() > 0:
            mode = "b"
        return x * len(mode)

    told = message(BranchError, f, X)
    assert "give `mode` different types\n  if true: 'b' (str)\n  if false: 'a' (str)\n" in told


def test_a_name_that_only_one_branch_defines():
    @jit
    def f(x):
        if x.sum() > 0:
            y = x * 2
        return y

    told = message(BranchError, f, X)
    assert "`y` has a value on one way through this branch only" in told
    assert "hint: give `y` a value before the branch" in told


def test_a_carry_that_changes_its_shape():
    @jit
    def f(x):
        while x.sum() < 100:
            x = (x.reshape((3, 1)) + x).sum(axis=0, keepdims=True)
        return x

    told = message(BranchError, f, X)
    assert "`x` changes its type from one turn of this loop to the next\n  before: f32[3]\n  after: f32[1, 3]" in told
    assert "at test_errors.py:N  while [x.sum() < 100]:\n" in told


def test_a_variable_that_only_a_loop_defines():
    @jit
    def f(x):
        while x.sum() < 1:
            y = x
            x = x + 1
        return y

    assert "`y` has a value after this loop only if the loop runs" in message(BranchError, f, X)


def test_a_condition_of_many_elements():
    @jit
    def f(x):
        if x > 0:
            return x
        return -x

    told = message(ShapeError, f, X)
    assert "only a tensor of one element is true or false, not one of shape (3,)" in told
    assert "all() or any()" in told


def test_a_function_that_never_returns():
    @jit
    def f(x):
        if x.sum() > 0:
            return f(x - 1)
        return f(x + 1)

    assert "never returns" in message((BranchError, CaptureError), f, X)


def test_what_python_must_run_is_an_error_where_that_is_not_wanted():
    def f(x):
        y = x * 2
        return y * float(y.sum())

    for strict in (jit(f, fallback=False), jit(f, fullgraph=True)):
        told = message(CaptureError, strict, X)
        assert "at test_errors.py:N  return y * [float(y.sum())]\n" in told


def test_an_error_of_the_program_is_the_programs_own():
    @jit
    def f(x):
        return {"a": x}["b"]

    with pytest.raises(KeyError, match="b"):
        f(X)


def test_an_unbound_variable():
    @jit
    def f(x, n):
        if n:
            y = x
        return y * 2

    with pytest.raises(UnboundLocalError, match="'y'"):
        f(X, 0)
