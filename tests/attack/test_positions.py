"""Positions that do not exist, and positions in small element types."""

from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.errors import ArgumentError

TABLE = np.arange(12.0, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: ops.gather(x, Tensor([3]), 0),
        lambda x: ops.gather(x, Tensor([-5]), 1),
        lambda x: ops.index_add(x, Tensor([3]), Tensor(np.ones((1, 4), np.float32)), 0),
        lambda x: ops.tensor_scatter_add(x, Tensor([[0, 5]]), Tensor([1.0])),
        lambda x: ops.embedding(Tensor([7]), x),
    ],
)
def test_a_position_that_is_known_not_to_exist_is_an_error(fn: Any) -> None:
    for way in (fn, ms.grad(fn), ms.jit(fn)):
        with pytest.raises(IndexError, match="does not fit a tensor of shape"):
            way(Tensor(TABLE))


def test_an_embedding_refuses_words_that_it_does_not_have() -> None:
    with pytest.raises(IndexError, match="does not fit a tensor of shape"):
        nn.Embedding(3, 2)(Tensor([3]))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64])
def test_positions_of_any_integer_type_reach_all_of_a_long_axis(dtype: Any) -> None:
    x, i = np.arange(300.0, dtype=np.float32), np.array([1, 100, np.iinfo(dtype).max if dtype is np.int8 else 7], dtype)
    for fn in (lambda x, i: ops.gather(x, i, 0), ms.jit(lambda x, i: ops.gather(x, i, 0))):
        np.testing.assert_array_equal(fn(Tensor(x), Tensor(i)).asnumpy(), x[i.astype(np.int64)])


def test_slices_of_no_segment_are_left_out_of_the_sums() -> None:
    x, ids = Tensor([1.0, 2.0, 4.0, 8.0]), Tensor([1, -1, 5, 1])
    for fn in (ops.unsorted_segment_sum, ms.jit(ops.unsorted_segment_sum)):
        assert fn(x, ids, 3).tolist() == [0.0, 9.0, 0.0]
    gradient = ms.grad(lambda x: ops.unsorted_segment_sum(x, ids, 3).sum())(x)
    assert gradient.tolist() == [1.0, 0.0, 0.0, 1.0]


def test_bincount_refuses_negative_numbers() -> None:
    with pytest.raises(ArgumentError, match="from 0 on, not -1"):
        ops.bincount(Tensor([0, -1]))


def test_a_compiled_position_beyond_a_row_does_not_reach_another_row() -> None:
    def write(x: Any, i: Any) -> Any:
        x = x * 1
        x[0, i] = 50.0
        return x

    def add(x: Any, i: Any) -> Any:
        return ops.tensor_scatter_add(x, ops.reshape(ops.stack([i * 0, i]), (1, 2)), Tensor([50.0]))

    for fn in (write, add, lambda x, i: x[0, i]):
        given = Tensor(TABLE)
        with pytest.raises(IndexError):
            fn(given, Tensor(5))
        with pytest.raises(IndexError):
            ms.jit(fn)(given, Tensor(5))
        np.testing.assert_array_equal(given.asnumpy(), TABLE)
