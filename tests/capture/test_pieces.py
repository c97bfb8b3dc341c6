"""A function that Python has to run in part: the statements around that part are compiled all the same."""

import numpy as np
import pytest

from mycelia.api.grad import grad
from mycelia.api.jit import jit
from mycelia.capture.machine import Machine
from mycelia.eager import Tensor
from mycelia.runtime.executable import Calls

X = Tensor([1.0, 2.0])


def in_the_middle(x, k=2.0):
    """Three pieces."""
    y = x * k
    z = (y * y).sum()
    s = float(z)
    r = y * s
    if r.sum() > 0:
        r = r * 2
    return r.sum()


def twice(x):
    y = x + 1
    a = Tensor(np.tanh(y.asnumpy()))
    z = y * a
    b = Tensor(np.tanh(z.asnumpy()))
    return (z * b).sum() + y.sum()


def at_the_end(x):
    y = (x * x).sum()
    return y + Tensor(np.tanh(x.asnumpy())).sum()


def in_a_loop(x):
    total = x * 0
    for i in range(3):
        total = total + x * float(total.sum() + i)
    total = total * 2
    return total.sum()


def in_a_called_function(x):
    y = x * 3
    z = through_float(y)
    return (z * z).sum()


def through_float(y):
    return y * float(y.sum())


PROGRAMS = [in_the_middle, twice, at_the_end, in_a_loop, in_a_called_function]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_pieces_equal_python(fn):
    compiled = jit(fn)
    for k in (1.0, 0.5, 2.0):
        x = X * k
        assert np.allclose(compiled(x).asnumpy(), fn(x).asnumpy(), rtol=1e-5)
        assert np.allclose(grad(compiled)(x).asnumpy(), grad(fn)(x).asnumpy(), rtol=1e-5)


@pytest.mark.parametrize(("fn", "pieces"), [(in_the_middle, 2), (twice, 3), (at_the_end, 1), (in_a_loop, 2)])
def test_what_is_around_runs_compiled(fn, pieces):
    compiled = jit(fn)
    compiled(X)
    before = Calls.count
    compiled(X)
    assert Calls.count == before + pieces
    assert "runs in Python" in compiled.explain()
    assert "native" in compiled.explain()


class Model:
    def __init__(self):
        self.k = 3.0

    def forward(self, x):
        y = x * self.k
        self.last = float(y.sum())
        return y + 1


def test_a_method_in_pieces():
    model = Model()
    compiled = jit(model.forward)
    assert compiled(X).tolist() == [4.0, 7.0]
    assert model.last == 9.0
    model.k = 1.0
    assert compiled(X).tolist() == [2.0, 3.0]
    assert model.last == 3.0


def test_prints_happen_at_every_call(capsys):
    @jit
    def f(x):
        y = x * 2
        print("sum", y.sum())
        return y + 1

    for _ in range(3):
        assert f(X).tolist() == [3.0, 5.0]
    assert capsys.readouterr().out == "sum 6.0\n" * 3
    assert "one native call" in f.explain()


def test_chance_is_new_at_every_call():
    rng = np.random.default_rng(0)
    f = jit(lambda x: x * rng.random())
    assert f(X).tolist() != f(X).tolist()


def test_variables_that_may_have_no_value_keep_the_function_whole():
    @jit
    def f(x, n):
        if n > 0:
            y = x * 2
        float(x.sum())
        return y

    assert f(X, 1).tolist() == [2.0, 4.0]
    with pytest.raises(UnboundLocalError):
        f(X, 0)


def begins_in_python(x):
    n = float(x.sum())
    return x / 2 + n


def is_all_in_python(x):
    return x * float(x.sum())


@pytest.mark.parametrize("fn", [begins_in_python, is_all_in_python, in_the_middle, twice, at_the_end])
def test_calls_of_one_kind_are_captured_once(fn, monkeypatch):
    captured, begin = [], Machine.__init__
    monkeypatch.setattr(Machine, "__init__", lambda self, store: captured.append(fn) or begin(self, store))
    compiled = jit(fn)
    for x in (X, Tensor([[1.0], [2.0]])):
        for i in range(3):  # a number that changes is found out at the second call
            compiled(x + i)
        before = len(captured)
        for i in range(3):
            np.testing.assert_allclose(compiled(x - i).asnumpy(), fn(x - i).asnumpy(), rtol=1e-5)
        assert len(captured) == before
