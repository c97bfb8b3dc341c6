"""The same call gives the same bits every time, however often it is made: who computes is decided by op and types."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.eager.kernels import PATIENCE, rounds_nothing
from mycelia.ir import Op, interpret
from mycelia.testing import all_samples, compile, function_of

rng = np.random.default_rng(0)
X, Y, N = (
    rng.normal(size=(200, 200)).astype("f"),
    rng.normal(size=(200, 200)).astype("f"),
    rng.integers(0, 9, (200, 200)),
)
PROGRAMS = {
    "exp": lambda x, y, n: ops.exp(x),
    "tanh": lambda x, y, n: ops.tanh(x),
    "softmax": lambda x, y, n: ops.softmax(x, 1),
    "sum": lambda x, y, n: x.sum(),
    "mean": lambda x, y, n: x.mean(0),
    "chain": lambda x, y, n: (x * y + x) / (y * y + 1.0),
    "product": lambda x, y, n: ops.matmul(x, y),
    "cumsum": lambda x, y, n: x.cumsum(1),
    "var": lambda x, y, n: x.var(1),
    "whole": lambda x, y, n: (n * n + n).sum(0),
    "turned": lambda x, y, n: ops.flip(x.T, (0,)) + 0,
    "chosen": lambda x, y, n: ops.where(n > 4, x, y),
    "gradient": lambda x, y, n: ms.grad(lambda x: (ops.tanh(x) * y).sum())(x),
    "gradient of softmax": lambda x, y, n: ms.grad(lambda x: (ops.softmax(x, 1) * y).sum())(x),
    "gradient of a product": lambda x, y, n: ms.grad(lambda x: (x @ y).sum())(x),
    "second gradient": lambda x, y, n: ms.grad(ms.grad(lambda x: (ops.sin(x) * y).sum()))(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_bits_every_time(name):
    program = PROGRAMS[name]
    first, *others = [program(Tensor(X), Tensor(Y), Tensor(N)).asnumpy() for _ in range(PATIENCE + 4)]
    for later in others:
        assert first.tobytes() == later.tobytes()


def test_what_is_said_to_round_nothing_is_the_same_natively():
    """On numbers that a processor may flush and zeros that have a sign."""
    kept = 0
    for sample in all_samples():
        fn = function_of(sample)
        if not all(map(rounds_nothing, fn.values())) or not any(isinstance(v.op, Op) for v in fn.values()):
            continue
        hard = [
            np.resize(np.array([1e-42, -0.0, np.inf, 0.1, -3.0], x.dtype), x.shape) if x.dtype.kind == "f" else x
            for x in map(np.asarray, sample.inputs)
        ]
        for got, want in zip(compile(fn)(*hard), interpret(fn, *hard), strict=True):
            assert np.asarray(got).tobytes() == np.asarray(want).tobytes(), str(sample)
        kept += 1
    assert kept > 100
