"""Single expressions, by themselves: each gives or raises under jit what Python does, whoever runs it."""

import zlib
from pathlib import Path

import pytest

from tests.promises.generator.meaning import interpreting
from tests.promises.judge import Program, difference

BEFORE = """
import collections, functools, itertools, math, operator, types, typing
class Alike:
    def __init__(s, n): s.n = n
    def __eq__(s, o): return s.n == o.n if isinstance(o, Alike) else NotImplemented
    def __hash__(s): return hash(s.n)
class Odd:
    def __len__(s): return s.n
    def __bool__(s): return s.b
    def __contains__(s, x): return s.c
    def __index__(s): return s.i
    def __next__(s): raise StopIteration
    def __init__(s, **k): vars(s).update(k)
class Meta(type):
    def __eq__(c, o): return True
    def __hash__(c): return 7
class A(metaclass=Meta): pass
class B(metaclass=Meta): pass
class P(typing.NamedTuple):
    a: object
    b: object = 2
class S:
    __slots__ = ('a',)
class C:
    k = 1
    @property
    def one(s): return 1
    @staticmethod
    def st(x): return x
    @classmethod
    def cl(c, x): return c.__name__, x
    def me(s, x): return x
    def __call__(s, *a, **k): return a, k
def fn(a, b=2, /, c=3, *, d=4, **e): return a, b, c, d, e
def gen(n):
    for i in range(n):
        yield i
NAN = float('nan')
L, D, U = [3, 1, 2], {'a': 1, 'b': 2, 'c': 3}, (3, 1, 2)
"""


HERE = Path(__file__).parent
COMPILED = (HERE / "expressions_compiled.txt").read_text().splitlines()
BY_PYTHON = (HERE / "expressions_by_python.txt").read_text().splitlines()


def program(expression):
    """It is evaluated with tensors, and with numbers that change from call to call."""
    text = f"""
@J
def f(x, y, s, i0, t8, b0, n0, f0): return {expression}
def main():
    out = []
    for n, v in ((2, 2.5), (3, -1.5), (2, 0.25), (4, 1.0)):
        x = T(np.array([1.0, -2.0, 3.0], 'f'))
        given = T(np.array([0.5, 0.25, v], 'f')), x.sum(), T(np.array([1, 2])), T(np.array([5, -6], 'i1')), T(np.array([True, False]))
        try: out.append(f(x, *given, n, v))
        except Exception as error: out.append((type(error).__name__, *[str(a) for a in error.args if '0x' not in str(a)]))
    return out
"""  # noqa: E501
    return Program("single", f"expression_{zlib.crc32(expression.encode())}", text, (BEFORE,))


def run(expression):
    """The function, after it was called; it did what it does in Python."""
    with interpreting():
        found, made = difference(program(expression))
    assert found is None, found
    return made[0]


@pytest.mark.many("expression", COMPILED, pack=100)
@pytest.mark.filterwarnings("ignore")  # an expression may warn, as it does in Python
def test_an_expression_that_is_compiled_gives_or_raises_what_it_does_in_python(expression):
    assert "runs in Python" not in run(expression).explain()


@pytest.mark.many("expression", BY_PYTHON, pack=100)
@pytest.mark.filterwarnings("ignore")
def test_an_expression_that_python_runs_gives_or_raises_what_it_does_without_us(expression):
    run(expression)
