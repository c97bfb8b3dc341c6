"""The README: what cannot be compiled runs in Python, with the same values and gradients, and `explain()` says so."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import ops


def asks_numpy(x):
    y = x * 2.0
    mean = float(np.median(y.asnumpy()))
    return y * mean


def runs_text(x):
    y = ops.tanh(x)
    scale = eval("1 + 2")
    return y * scale


def looks_at_an_exception(x):
    y = x * x
    try:
        {}["missing"]
    except KeyError as error:
        y = y * len(error.args)
    return y


def awaits(x):
    async def later(v):
        return v * 3.0

    task = later(x)
    try:
        task.send(None)
    except StopIteration as end:
        return end.value * x


PROGRAMS = [asks_numpy, runs_text, looks_at_an_exception, awaits]
X = [0.5, 1.5, -2.0]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_values_and_gradients_are_those_of_python(fn):
    compiled = ms.jit(fn)
    x = ms.Tensor(X)
    np.testing.assert_allclose(compiled(x).asnumpy(), fn(x).asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(
        ms.grad(lambda v: compiled(v).sum())(x).asnumpy(), ms.grad(lambda v: fn(v).sum())(x).asnumpy(), rtol=1e-6
    )


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_explain_names_the_line_and_the_reason(fn):
    compiled = ms.jit(fn)
    compiled(ms.Tensor(X))
    how = compiled.explain()
    assert "runs in Python" in how
    assert "test_python_takes_over.py" in how


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_it_is_an_error_for_those_who_ask_for_one_program(fn):
    with pytest.raises(ms.errors.CaptureError):
        ms.jit(fn, fullgraph=True)(ms.Tensor(X))
