"""Parameters after a compiled program hold what they hold after the same program eagerly, whatever was assigned."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, ops


class World:
    """Two parameters, a constant and an argument."""

    def __init__(self):
        self.p = Parameter(Tensor(np.array([1.0, 2.0], "f")), name="p")
        self.q = Parameter(Tensor(np.array([3.0, 4.0], "f")), name="q")
        self.c, self.x = Tensor([5.0, 6.0]), Tensor([7.0, 8.0])

    def numbers(self):
        return [t.asnumpy().tolist() for t in (self.p, self.q, self.c, self.x)]


def swap(w, x):
    before = w.p + 0
    ops.assign(w.p, w.q)
    ops.assign(w.q, before)


def swap_values(w, x):
    before = w.p.value()
    ops.assign(w.p, w.q.value())
    ops.assign(w.q, before)


def chosen(w, x):
    if x.sum() > 3 * w.p.sum():
        ops.assign(w.p, Tensor([3.0, 3.0]))
    else:
        ops.assign(w.p, w.q)


def repeated(w, x):
    for _ in range(3):
        ops.assign(w.p, Tensor([1.0, 1.0]))
        ops.assign(w.q, w.q + w.p)


def returned(w, x):
    ops.assign(w.p, Tensor([3.0, 3.0]))
    return w.p * 2, w.p


def part(w, x):
    w.p[0] = 9.0
    w.q[:1] = w.p[1:]


def gradient(w, x):
    def loss(y):
        ops.assign(w.q, Tensor([0.5, 0.5]))
        return (y * w.q).sum()

    ops.assign(w.p, ms.grad(loss)(x))


PROGRAMS = {
    "numbers": lambda w, x: ops.assign(w.p, Tensor([3.0, 3.0])),
    "set_data": lambda w, x: w.p.set_data(Tensor([3.0, 3.0])),
    "zeros": lambda w, x: ops.assign(w.p, ops.zeros_like(w.p)),
    "a tensor from outside": lambda w, x: ops.assign(w.p, w.c),
    "the argument": lambda w, x: ops.assign(w.p, x),
    "another parameter": lambda w, x: ops.assign(w.p, w.q),
    "itself": lambda w, x: ops.assign(w.p, w.p),
    "itself turned round": lambda w, x: ops.assign(w.p, w.p[::-1]),
    "a view of another": lambda w, x: ops.assign(w.p, w.q[::-1]),
    "one tensor to two": lambda w, x: (ops.assign(w.p, x), ops.assign(w.q, x)),
    "one result to two": lambda w, x: [ops.assign(v, r) for r in [x + w.p] for v in (w.p, w.q)],
    "numbers to two": lambda w, x: [ops.assign(v, r) for r in [Tensor([3.0, 3.0])] for v in (w.p, w.q)],
    "numbers, then more": lambda w, x: (ops.assign(w.p, Tensor([3.0, 3.0])), ops.assign_add(w.p, x)),
    "more, then numbers": lambda w, x: (ops.assign_add(w.p, x), ops.assign(w.p, Tensor([3.0, 3.0]))),
    **{f.__name__: f for f in (swap, swap_values, chosen, repeated, returned, part, gradient)},
}


def as_lists(result):
    if isinstance(result, tuple | list):
        return [as_lists(r) for r in result]
    return result.asnumpy().tolist() if isinstance(result, Tensor) else result


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_assigned_is_there(name):
    program = PROGRAMS[name]
    plain, compiled = World(), World()
    run = ms.jit(lambda x: program(compiled, x))
    step = ms.jit(lambda w: ops.assign_add(w, w))
    for turn in range(4):
        assert as_lists(program(plain, plain.x)) == as_lists(run(compiled.x))
        assert plain.numbers() == compiled.numbers(), f"after call {turn}"
        ops.assign_add(plain.p, plain.p)
        step(compiled.p)  # in place: nobody else may hold that memory
        assert plain.numbers() == compiled.numbers(), f"after update {turn}"


VALUES = {"numbers": lambda p: Tensor([3.0, 3.0]), "more": lambda p: p + 1.0, "square": lambda p: p * p}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_what_all_examples_assign_alike_is_there(value):
    p = Parameter(Tensor(np.array([1.0, 2.0], "f")), name="p")

    def step(x):
        ops.assign(p, value(p))
        return x * p.sum()

    for way in (ms.vmap(step), ms.jit(ms.vmap(step))):
        before = p.asnumpy()
        way(Tensor(np.ones((3, 2), "f")))
        np.testing.assert_array_equal(p.asnumpy(), value(Tensor(before)).asnumpy())
