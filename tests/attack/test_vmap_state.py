"""State that a function changes while it runs for many examples at once."""

from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.errors import ArgumentError

X = Tensor(np.ones((3, 4), np.float32))


def test_random_numbers_inside_vmap_are_the_same_compiled() -> None:
    fn = ms.vmap(lambda t: t + ops.rand(4))
    ms.set_seed(3)
    eager = [fn(X).asnumpy() for _ in range(2)]
    ms.set_seed(3)
    compiled = ms.jit(fn)
    for wanted in eager:
        np.testing.assert_array_equal(compiled(X).asnumpy(), wanted)


def test_a_parameter_that_all_examples_change_alike_is_changed_once() -> None:
    p = ms.Parameter(Tensor([2.0]), name="p")

    def step(t: Any) -> Any:
        ops.assign_add(p, Tensor([1.0]))
        return t * p

    ms.vmap(step)(X)
    assert p.tolist() == [3.0]
    ms.jit(ms.vmap(step))(X)
    assert p.tolist() == [4.0]


def test_a_parameter_cannot_hold_something_else_for_each_example() -> None:
    p = ms.Parameter(Tensor([2.0]), name="p")

    def step(t: Any) -> Any:
        ops.assign_add(p, t[:1])
        return t * p

    for fn in (ms.vmap(step), ms.jit(ms.vmap(step))):
        with pytest.raises(ArgumentError, match="each would change the parameter 'p' in its own way"):
            fn(X)
        assert p.tolist() == [2.0]
