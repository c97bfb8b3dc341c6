"""True, 1 and a number of a class of its own are equal: whichever comes first, the others mean what they meant."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.eager import dispatch

X = Tensor([[1.0, 2.0]])
SIZED: dict[str, Callable[[Any], Tensor]] = {
    "ones": lambda n: ops.ones((n, 2)),
    "full": lambda n: ops.full((n, 2), X[0]),
    "broadcast_to": lambda n: ops.broadcast_to(X[0], (n, 2)),
    "reshape": lambda n: X.reshape((2, n)),
    "tile": lambda n: ops.tile(X, (n, 2)),
    "rand": lambda n: ops.rand(n, 2, seed=3),
    "randn": lambda n: ops.randn(n, seed=3),
    "randint": lambda n: ops.randint(0, 9, (n,), 3),
    "randperm": lambda n: ops.randperm(n, 3),
    "sum": lambda n: X.sum(n),
    "roll": lambda n: ops.roll(X, n, n),
    "inplace_update": lambda n: ops.inplace_update(X.astype(bool), n, 0 * n),
    "expand": lambda n: X.expand((n, 2)),
    "repeat_interleave": lambda n: ops.repeat_interleave(X, n, n),
}


class Whole(int):
    """A whole number of a class of its own."""


@pytest.mark.parametrize("name", SIZED)
@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_equal_sizes_mean_the_same_in_any_order(name: str, wrap: Any) -> None:
    for order in ((True, 1, Whole(1)), (Whole(1), True, 1), (1, True, Whole(1))):
        dispatch._ready.clear()  # as in a new process
        results = [wrap(SIZED[name])(n) for n in order]
        for r in results[1:]:
            np.testing.assert_array_equal(r.asnumpy(), results[0].asnumpy())


@pytest.mark.parametrize("value", [X, Tensor([2.0]), Tensor(3.0)], ids=["same", "row", "number"])
@pytest.mark.parametrize("make", [ops.full_like, lambda x, v: ops.full(x.shape, v), ops.fills], ids=["a", "b", "c"])
def test_what_is_filled_is_a_tensor_of_its_own(make: Any, value: Tensor) -> None:
    before = value.tolist()
    jitted = ms.jit(make)
    for fn in (make, jitted, jitted):
        for rows in (1, 3, 1, 4):  # from the second on a compiled program does not know the sizes
            filled = fn(Tensor(np.zeros((rows, 2), np.float32)), value)
            assert filled is not value
            filled[0] = 9.0
            assert value.tolist() == before
