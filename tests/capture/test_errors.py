# ruff: noqa: SIM108
"""Mistakes inside jit are told with the user's own line, the place on it, and the values."""

import re

import pytest

from mycelia.api.jit import jit
from mycelia.eager import Tensor
from mycelia.errors import CaptureError, DTypeError, ShapeError

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


def test_what_differs_on_two_ways_is_what_python_gives():
    def shapes(x, m):
        if x.sum() > 0:
            y = x * 2
        else:
            y = m
        return y + 1

    def types(x, m):
        if x.sum() > 0:
            return x
        return x.astype("int32")

    def texts(x, m):
        mode = "a"
        if x.sum() > 0:
            mode = "bb"
        return x * len(mode)

    for fn in (shapes, types, texts):
        compiled = jit(fn, fallback=False)
        for x in (X, -X):
            want, got = fn(x, M), compiled(x, M)
            assert (want.dtype, want.tolist()) == (got.dtype, got.tolist())


def test_a_name_that_only_one_branch_defines():
    @jit
    def f(x):
        if x.sum() > 0:
            y = x * 2
        return y

    assert f(X).tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(UnboundLocalError, match="'y'"):
        f(-X)


def test_a_carry_that_changes_its_shape():
    @jit
    def f(x):
        while x.sum() < 100:
            x = (x.reshape((3, 1)) + x).sum(axis=0, keepdims=True)
        return x

    assert f(X).shape == (1, 3)


def test_a_variable_that_only_a_loop_defines():
    @jit
    def f(x):
        while x.sum() < 1:
            y = x
            x = x + 1
        return y

    assert f(-X).tolist() == [1.0, 0.0, -1.0]
    with pytest.raises(UnboundLocalError, match="'y'"):
        f(X)


def test_a_condition_of_many_elements():
    @jit
    def f(x):
        if x > 0:
            return x
        return -x

    told = message(ShapeError, f, X)
    assert "only a tensor of one element is a number, not one of shape (3,)" in told
    assert "at test_errors.py:N  if [x > 0]:" in told or "at test_errors.py:N  if x > 0:" in told


def test_a_function_that_never_returns():
    def f(x):
        if x.sum() > 0:
            return f(x - 1)
        return f(x + 1)

    with pytest.raises(CaptureError, match="never returns"):
        jit(f, fallback=False)(X)


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
