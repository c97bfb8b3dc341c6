"""Small programs in ordinary Python. Each must do the same eagerly and under jit."""

import contextlib
from collections import namedtuple

import numpy as np

from mycelia.eager import Tensor

NATIVE = []  # programs that a graph can hold
PYTHON = []  # programs that Python has to run


def native(*args):
    """The program is compiled, for these arguments."""
    return lambda fn: NATIVE.append((fn, args)) or fn


def python(*args):
    """The program falls back to Python, for these arguments."""
    return lambda fn: PYTHON.append((fn, args)) or fn


def vector(*numbers):
    return Tensor(np.array(numbers, "float32"))


X = vector(1.0, -2.0, 3.0)
Y = vector(0.5, 0.25, -1.0)
M = Tensor(np.arange(6, dtype="float32").reshape(2, 3) - 2)
S = Tensor(2.5)
N = Tensor(4)
FACTOR = 3.0
TABLE = {"a": 1.0, "b": [2.0, 3.0]}
SHIFT = Tensor(np.array([1.0, 1.0, 1.0], "float32"))
Point = namedtuple("Point", "x y")


class Scaler:
    limit = 2.0

    def __init__(self, factor):
        self.factor = factor
        self.__hidden = 0.5

    def __call__(self, x):
        return x * self.factor + self.__hidden

    def clipped(self, x):
        if x.sum() > self.limit:
            return x * 0 + self.limit
        return self(x)

    @property
    def double(self):
        return self.factor * 2

    @staticmethod
    def plus(x):
        return x + 1

    @classmethod
    def make(cls, factor):
        return cls(factor)


@contextlib.contextmanager
def nothing():
    yield 2.0


SCALER = Scaler(3.0)
