"""Operations on tensors whose shapes, types or axes do not fit."""

import numpy as np

from mycelia import Tensor, ops
from tests.errors.collect import mistake

X = Tensor(np.ones((2, 3), np.float32))
W = Tensor(np.ones((4, 5), np.float32))
I = Tensor([1, 2, 3])  # noqa: E741


@mistake(X, W)
def a_product_of_matrices_that_do_not_fit(x, w):
    return ops.matmul(x, w)


@mistake(X, W)
def a_product_with_at(x, w):
    return x @ w


@mistake(X, W)
def a_sum_of_shapes_that_do_not_fit(x, w):
    return x + w


@mistake(X, W)
def a_difference_made_by_a_function(x, w):
    return ops.sub(x, w)


@mistake(X)
def a_tensor_and_text(x):
    return x + "1"


@mistake(X)
def a_tensor_and_none(x):
    return x * None


@mistake(X)
def a_tensor_and_a_list_that_does_not_fit(x):
    return x + [1.0, 2.0]  # noqa: RUF005  # a sum, not a longer list


@mistake(X)
def an_axis_that_is_not_there(x):
    return ops.sum(x, 2)


@mistake(X)
def an_axis_of_a_method_that_is_not_there(x):
    return x.mean(axis=5)


@mistake(X)
def an_axis_given_twice(x):
    return x.sum(axis=(0, 0))


@mistake(X)
def an_axis_that_is_a_float(x):
    return x.sum(axis=1.0)


@mistake(X)
def an_axis_that_is_text(x):
    return ops.softmax(x, "rows")


@mistake(X)
def a_reshape_to_another_size(x):
    return x.reshape(4, 2)


@mistake(X)
def a_reshape_with_two_unknowns(x):
    return x.reshape(-1, -1)


@mistake(X)
def a_reshape_that_does_not_divide(x):
    return x.reshape(-1, 4)


@mistake(X)
def a_transpose_without_all_axes(x):
    return x.transpose(0)


@mistake(X)
def a_transpose_with_an_axis_too_many(x):
    return ops.transpose(x, (0, 1, 2))


@mistake(X, W)
def a_concat_of_other_widths(x, w):
    return ops.cat([x, w], axis=0)


@mistake()
def a_concat_of_nothing():
    return ops.cat([])


@mistake(X)
def tensors_to_join_that_are_in_no_list(x):
    return ops.cat(x, x)


@mistake(X, W)
def a_stack_of_other_shapes(x, w):
    return ops.stack([x, w])


@mistake(X)
def a_split_that_does_not_add_up(x):
    return ops.split(x, [2, 2], 1)


@mistake(X)
def a_broadcast_that_does_not_fit(x):
    return ops.broadcast_to(x, (2, 4))


@mistake(X)
def shifts_of_floats(x):
    return x << 1


@mistake(X)
def a_bitwise_and_of_floats(x):
    return x & x


@mistake(I)
def a_product_of_vectors_that_do_not_fit(x):
    return ops.matmul(x, Tensor([1.0, 2.0]))


@mistake(X)
def a_cast_to_nothing_known(x):
    return x.astype("flot32")


@mistake(X)
def a_one_hot_of_floats(x):
    return ops.one_hot(x, 3)


@mistake(X)
def a_gather_by_floats(x):
    return ops.gather(x, Tensor([0.0, 1.0]), 0)


@mistake(X)
def a_gather_beyond_the_end(x):
    return ops.gather(x, Tensor([0, 7]), 0)


@mistake(X)
def a_where_of_three_shapes(x):
    return ops.where(x > 0, x, Tensor([1.0, 2.0]))


@mistake(X)
def a_topk_of_more_than_there_are(x):
    return ops.topk(x, 5)


@mistake(X)
def a_maximum_of_nothing(x):
    return x[:0].max()


@mistake(X)
def einsum_with_a_wrong_equation(x):
    return ops.einsum("ij,jk->ik", x, x)


@mistake(X)
def einsum_with_an_operand_missing(x):
    return ops.einsum("ij,jk->ik", x)


@mistake(X)
def axes_that_should_be_a_tuple(x):
    return ops.permute(x, 1, 0, 2)


@mistake(X)
def an_argument_too_many(x):
    return ops.relu(x, 1)


@mistake(X)
def an_argument_missing(x):
    return ops.matmul(x)


@mistake(X)
def an_unknown_option(x):
    return ops.softmax(x, axes=1)


@mistake(X)
def text_given_to_a_function_of_tensors(x):
    return ops.exp("x")


@mistake()
def none_given_to_a_function_of_tensors():
    return ops.relu(None)


@mistake(X)
def a_clamp_without_bounds(x):
    return ops.clamp(x)


@mistake(X)
def a_negative_repeat(x):
    return ops.tile(x, (-1, 2))


@mistake(X)
def a_pad_of_odd_length(x):
    return ops.pad(x, (1,))


@mistake(X)
def a_norm_of_a_name_that_does_not_exist(x):
    return ops.norm(x, "frobenius")


@mistake(X)
def an_inverse_of_a_matrix_that_is_not_square(x):
    return ops.inverse(x)


@mistake(X, W)
def an_expression_on_several_lines(x, w):
    return ops.matmul(
        x,
        w,
    )


@mistake(X, W)
def an_expression_after_letters_of_other_scripts(x, w):
    损失 = "größe"
    return 损失, ops.matmul(x, w), 损失
