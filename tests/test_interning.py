"""Equal values, expressions and atoms of indices are one object, also when threads make them at the same moment."""

import sys
import threading

import pytest

from mycelia import primitives as p
from mycelia.ir import Param, Value
from mycelia.loops import Variable, binary, const, datum, index, unary
from mycelia.types import TensorType, float32, int64

THREADS, THINGS = 8, 400


def values(n):
    return Value(p.Multiply(), (p.full(float(n), float32, (3,)), Value(Param(7, TensorType(float32, (3,))))))


def expressions(n):
    return binary("add", unary("exp", const(float(n) + 0.25, float32)), const(float(n), float32))


VARIABLE = Variable(1 << 20)


def quotients(n):
    return ((index(VARIABLE) + n) // (1000 + n)).terms[-1][0]


def remainders(n):
    return ((index(VARIABLE) + n) % (1000 + n)).terms[0][0]


def data(n):
    return datum(const(n, int64), 0, n + 1).terms[0][0]


@pytest.fixture
def hasty():
    """Threads change places all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("make", [values, expressions, quotients, remainders, data], ids=lambda f: f.__name__)
def test_equal_things_are_one_object_in_all_threads(make, hasty):
    made = [[None] * THINGS for _ in range(THREADS)]
    begin = threading.Barrier(THREADS)

    def work(mine):
        begin.wait()
        for n in range(THINGS):
            mine[n] = make(n)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in made]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for n, same in enumerate(zip(*made, strict=True)):
        assert len(set(map(id, same))) == 1, f"thing {n} became {len(set(map(id, same)))} objects"
