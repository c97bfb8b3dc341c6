"""Threads: while one captures, the others see tensors with their numbers."""

import select
import threading

import numpy as np
import pytest

from mycelia.api.grad import value_and_grad
from mycelia.api.jit import jit
from mycelia.eager import Parameter, Tensor
from mycelia.ir import Value

X = Tensor([1.0, 2.0])


class Slow:
    """A function that is being captured by another thread, and has read the parameter `w`."""

    def __init__(self, w):
        self.w, self.inside = w, threading.Event()
        self.compiled, self.found = jit(self.run, fallback=False), []
        self.thread = threading.Thread(target=lambda: self.found.append(self.compiled(X)))

    def run(self, x):
        y = x * self.w
        self.inside.set()
        select.select([], [], [], 0.2)
        return y + self.w

    def __enter__(self):
        self.thread.start()
        assert self.inside.wait(60)
        assert isinstance(self.w._data, Value), "the capture is over, and this test shows nothing"

    def __exit__(self, *error):
        self.thread.join()
        assert self.found[0].tolist() == [6.0, 9.0]


USES = {
    "an op": lambda w: (w * 2).tolist() == [6.0, 6.0],
    "its numbers": lambda w: w.asnumpy().tolist() == [3.0, 3.0],
    "a gradient": lambda w: value_and_grad(lambda x: (x * w).sum(), None, w)(X)[1].tolist() == [1.0, 2.0],
    "another capture": lambda w: jit(lambda x: x * w)(X).tolist() == [3.0, 6.0],
    "as an argument": lambda w: jit(lambda x, w: x * w)(X, w).tolist() == [3.0, 6.0],
}


@pytest.mark.parametrize("use", USES)
def test_a_parameter_that_another_thread_captures_with_has_its_numbers(use):
    w = Parameter([3.0, 3.0], name="w")
    with Slow(w):
        assert USES[use](w)


def test_a_compiled_function_runs_while_another_thread_captures():
    w = Parameter([3.0, 3.0], name="w")
    f = jit(lambda x: x * w)
    f(X)
    with Slow(w):
        assert f(X).tolist() == [3.0, 6.0]
    assert f.explain().count("one native call") == 1


def test_what_another_thread_assigns_during_a_capture_stays():
    w = Parameter([3.0, 3.0], name="w")
    slow = Slow(w)
    slow.thread.start()
    assert slow.inside.wait(60)
    w.set_data(Tensor([5.0, 5.0]))
    slow.thread.join()
    assert w.asnumpy().tolist() == [5.0, 5.0]


def test_threads_that_call_one_function_for_the_first_time_compile_it_once():
    w = Parameter(np.ones(8, "f"), name="w")
    f, found = jit(lambda x: (x * w).sum()), []
    threads = [threading.Thread(target=lambda: found.append(f(Tensor(np.ones(8, "f"))).item())) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [8.0] * 8
    assert f.explain().count("one native call") == 1
