"""Indices that are not there, or are no indices; and assignments that do not fit."""

import numpy as np

from mycelia import Tensor
from tests.errors.collect import mistake

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


@mistake(X)
def a_position_beyond_the_end(x):
    return x[5]


@mistake(X)
def a_position_beyond_the_end_of_the_second_axis(x):
    return x[0, 3]


@mistake(X)
def more_indices_than_axes(x):
    return x[0, 0, 0]


@mistake(X)
def a_float_as_an_index(x):
    return x[1.0]


@mistake(X)
def text_as_an_index(x):
    return x["a"]


@mistake(X)
def a_float_tensor_as_an_index(x):
    return x[Tensor([0.0, 1.0])]


@mistake(X)
def a_list_of_positions_beyond_the_end(x):
    return x[[0, 9]]


@mistake(X, Tensor([0, 9]))
def a_tensor_of_positions_beyond_the_end(x, i):
    return x[i]


@mistake(X)
def a_mask_of_another_length(x):
    return x[Tensor([True, False, True])]


@mistake(X)
def a_step_of_zero(x):
    return x[::0]


@mistake(X)
def two_ellipses(x):
    return x[..., 0, ...]


@mistake(X)
def an_assignment_that_does_not_fit(x):
    x = x + 0
    x[0] = Tensor([1.0, 2.0])
    return x


@mistake(X)
def an_assignment_beyond_the_end(x):
    x = x + 0
    x[7] = 1.0
    return x


@mistake(X)
def an_assignment_of_text(x):
    x = x + 0
    x[0] = "a"
    return x


@mistake(X)
def index_arrays_that_do_not_fit_together(x):
    return x[[0, 1], [0, 1, 2]]
