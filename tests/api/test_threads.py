"""Threads: while one captures, the others see tensors with their numbers."""

import threading

import numpy as np

from mycelia.api.grad import value_and_grad
from mycelia.api.jit import jit
from mycelia.eager import Parameter, Tensor

X = Tensor([1.0, 2.0])


def together(*runs):
    """Run these at the same time, and give what they gave."""
    found, errors = [None] * len(runs), []

    def one(i):
        try:
            found[i] = runs[i]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(runs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors
    return found


def test_captures_leave_parameters_alone():
    w = Parameter([3.0, 3.0], name="w")

    def capture(k):
        return [jit(lambda x, k=k, i=i: x * w + (k + i))(X).tolist() for i in range(4)]

    def read():
        return all((w * 2).tolist() == [6.0, 6.0] and w.asnumpy().tolist() == [3.0, 3.0] for _ in range(300))

    def slope():
        return [value_and_grad(lambda x: (x * w).sum(), None, w)(X)[1].tolist() for _ in range(30)]

    first, second, right, slopes = together(lambda: capture(0), lambda: capture(10), read, slope)
    assert first == [[3.0 + i, 6.0 + i] for i in range(4)]
    assert second == [[13.0 + i, 16.0 + i] for i in range(4)]
    assert right
    assert slopes == [[1.0, 2.0]] * 30


def test_what_a_thread_assigns_during_a_capture_stays():
    w = Parameter([3.0, 3.0], name="w")

    def capture():
        for i in range(6):
            jit(lambda x, i=i: x * w + i)(X)

    def assign():
        for i in range(500):
            w.set_data(Tensor([float(i), float(i)]))

    together(capture, assign)
    assert w.asnumpy().tolist() == [499.0, 499.0]


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
