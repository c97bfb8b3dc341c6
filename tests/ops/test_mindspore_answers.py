"""Answers of MindSpore 2.10 that its own tests ask for, and that were other ones here."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, grad, jit, ops


def test_vecdot_conjugates_the_first_factors():
    x, y = np.array([[1 + 2j, 3 + 4j], [5 - 6j, 7 + 3j]]), np.array([[5 + 6j, 7 + 8j], [10 - 4j, 9 + 2j]])
    for vecdot in (ops.vecdot, jit(lambda x, y: ops.vecdot(x, y))):
        assert np.allclose(vecdot(Tensor(x), Tensor(y)).asnumpy(), (x.conj() * y).sum(-1))


def test_normal_numbers_in_the_shape_of_others_are_float32():
    assert ops.randn_like(Tensor([1.0], ms.float16)).dtype == ms.float32
    assert ops.randn_like(Tensor([1]), dtype=ms.float16).dtype == ms.float16


def test_a_part_is_replaced_by_one_of_its_shape_only():
    x = Tensor(np.zeros((3, 4), np.float32))
    for wrong in (1.0, [1.0], [[1.0, 1.0, 1.0, 1.0]]):
        with pytest.raises(ValueError, match="part of shape"):
            ops.select_scatter(x, Tensor(wrong), 0, 1)
        with pytest.raises(ValueError, match="part of shape"):
            ops.slice_scatter(x, Tensor(wrong), 0, 1, 3)
    columns = ops.slice_scatter(x, Tensor(np.ones((3, 2), np.float32)), 1, 0, 4, 2)
    assert columns.asnumpy().sum(0).tolist() == [3, 0, 3, 0]


def test_topk_takes_a_tensor_of_one_whole_number():
    for k in (Tensor(2), Tensor([2], ms.int32)):
        assert ops.topk(Tensor([3.0, 1.0, 2.0]), k)[0].tolist() == [3.0, 2.0]
    for k in (Tensor(2.0), Tensor([1, 2])):
        with pytest.raises(TypeError):
            ops.topk(Tensor([3.0, 1.0, 2.0]), k)


def test_what_has_no_gradient_is_a_runtime_error():
    x = Tensor([1.0])
    for wrong in (
        lambda: grad(ops.relu, ()),
        lambda: grad(ops.relu, (0, 1))(x),
        lambda: ops.get_grad(grad(ops.relu, return_ids=True)(x), 1),
    ):
        for kind in (RuntimeError, ValueError, TypeError):
            with pytest.raises(kind):
                wrong()
