"""One program serves all sizes where results are views of arguments, and what is written through a view is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from tests.sizes.running import counted

SHAPES = [(3, 4), (5, 4), (6, 7), (9, 2), (4, 4)]
VIEWS: dict[str, Callable[[Any], Any]] = {  # of arrays of NumPy as of tensors
    "reshaped": lambda x: x.reshape((x.shape[1], x.shape[0])),
    "flat and cut": lambda x: x.reshape(-1)[x.shape[0] :],
    "turned and cut": lambda x: x[: x.shape[0] - 1].T[1:],
    "in steps": lambda x: x[x.shape[0] // 2 :: 2, None],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_returned_view_shares_memory_with_the_argument_at_all_sizes(name: str) -> None:
    take = VIEWS[name]
    fn = ms.jit(lambda x: (take(x), x.sum()))
    with counted() as programs:
        for shape in SHAPES:
            array = np.arange(np.prod(shape), dtype="float32").reshape(shape)
            x = Tensor(array)
            view, part = fn(x)[0], take(array)
            assert np.array_equal(view.asnumpy(), part)
            view[0] = part[0] = 50.0
            assert np.array_equal(x.asnumpy(), array)
            x[1] = array[1] = 60.0
            assert np.array_equal(view.asnumpy(), part)
    assert len(programs) <= 3


@pytest.mark.parametrize("name", ["flat and cut", "in steps"])
def test_a_program_writes_through_views_at_all_sizes(name: str) -> None:
    take = VIEWS[name]

    def write(x: Any) -> None:
        take(x)[0] = 50.0

    fn = ms.jit(write)
    with counted() as programs:
        for shape in SHAPES:
            array = np.arange(np.prod(shape), dtype="float32").reshape(shape)
            x = Tensor(array)
            fn(x)
            write(array)
            assert np.array_equal(x.asnumpy(), array)
    assert len(programs) <= 3


def test_views_of_what_data_decides_are_left_to_python() -> None:
    fn = ms.jit(lambda x, i: x[int(i)])
    for n in (3, 5, 7):
        x = Tensor(np.arange(n, dtype="float32"))
        fn(x, Tensor(n - 1))[...] = 9.0
        assert x.tolist()[-1] == 9.0


def test_two_views_of_a_new_tensor_share_memory_at_all_sizes() -> None:
    def pair(x: Any) -> Any:
        y = x * 2
        return y.reshape(-1), ops.transpose(y, (1, 0))

    fn = ms.jit(pair)
    with counted() as programs:
        for shape in SHAPES:
            flat, turned = fn(ops.ones(shape))
            flat[1] = 9.0
            assert turned.asnumpy()[1, 0] == 9.0
    assert len(programs) <= 3
