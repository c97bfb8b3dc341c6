"""Meanings that were asked of MindSpore 2.10, where one would expect another one."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops

X = np.arange(6, dtype=np.float32).reshape(2, 3)
CUBE = np.arange(24).reshape(2, 3, 4)


@pytest.fixture(params=[lambda f: f, ms.jit], ids=["eager", "jit"])
def way(request):
    return request.param


def test_the_method_gives_the_element_first_and_the_primitive_its_place(way):
    value, place = way(lambda x: x.argmax_with_value(axis=1))(Tensor(X))
    assert (value.tolist(), place.tolist()) == (X.max(1).tolist(), X.argmax(1).tolist())
    value, place = way(lambda x: x.argmin_with_value(0, True))(Tensor(X))
    assert (value.tolist(), place.tolist()) == (X.min(0, keepdims=True).tolist(), X.argmin(0, keepdims=True).tolist())
    place, value = way(lambda x: ops.ArgMaxWithValue(axis=1)(x))(Tensor(X))
    assert (value.tolist(), place.tolist()) == (X.max(1).tolist(), X.argmax(1).tolist())
    place, value = way(lambda x: ops.ArgMinWithValue(axis=1)(x))(Tensor(X))
    assert (value.tolist(), place.tolist()) == (X.min(1).tolist(), X.argmin(1).tolist())


def test_flattening_in_the_order_of_fortran_reverses_the_axes_first(way):
    assert way(lambda x: x.flatten(order="F"))(Tensor(X)).tolist() == X.flatten(order="F").tolist()
    assert way(lambda x: x.flatten(order="F"))(Tensor(CUBE)).tolist() == CUBE.flatten(order="F").tolist()
    assert way(lambda x: ops.flatten(x, order="F"))(Tensor(CUBE)).tolist() == CUBE.T.reshape(4, 6).tolist()


def test_two_numbers_exchange_axes_and_a_tuple_orders_them(way):
    assert way(lambda x: x.transpose(0, 1))(Tensor(X)).tolist() == X.T.tolist()
    assert way(lambda x: x.transpose((0, 1)))(Tensor(X)).tolist() == X.tolist()
    assert way(lambda x: x.transpose(0, -1))(Tensor(CUBE)).tolist() == CUBE.swapaxes(0, -1).tolist()
    assert way(lambda x: x.transpose(dim0=0, dim1=1))(Tensor(CUBE)).tolist() == CUBE.swapaxes(0, 1).tolist()
    assert way(lambda x: x.transpose(2, 0, 1))(Tensor(CUBE)).tolist() == CUBE.transpose(2, 0, 1).tolist()
    assert way(lambda x: x.permute(0, 1))(Tensor(X)).tolist() == X.tolist()
    assert way(lambda x: x.transpose())(Tensor(CUBE)).tolist() == CUBE.T.tolist()
