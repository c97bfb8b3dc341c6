"""Tensors that cannot be made, and attributes of tensors that are not there."""

import numpy as np

import mycelia as ms
from mycelia import Tensor, ops
from tests.errors.collect import mistake

X = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@mistake()
def rows_of_different_lengths():
    return Tensor([[1.0, 2.0], [3.0]])


@mistake()
def a_tensor_of_text():
    return Tensor("hello")


@mistake()
def a_tensor_of_words():
    return Tensor(["cat", "dog"])


@mistake()
def a_tensor_of_objects():
    return Tensor([{"a": 1}])


@mistake()
def a_dictionary_as_a_tensor():
    return Tensor({"x": 1.0})


@mistake()
def a_dtype_that_does_not_exist():
    return Tensor([1.0], dtype="float31")


@mistake()
def a_python_type_that_is_no_dtype():
    return Tensor([1.0], dtype=str)


@mistake()
def dates():
    return Tensor(np.array(["2020-01-01"], dtype="datetime64[D]"))


@mistake()
def a_shape_without_values():
    return Tensor(shape=(2, 3))


@mistake()
def nothing_at_all():
    return Tensor()


@mistake()
def a_number_too_large_for_its_type():
    return Tensor([300], dtype=ms.int8)


@mistake()
def a_negative_size():
    return ops.zeros((2, -1), ms.float32)


@mistake()
def a_size_that_is_no_whole_number():
    return ops.ones((2, 2.5), ms.float32)


@mistake()
def a_size_given_as_text():
    return ops.zeros("3", ms.float32)


@mistake()
def an_arange_that_goes_nowhere():
    return ops.arange(0, 5, 0)


@mistake(X)
def a_method_spelt_wrong(x):
    return x.reshap(3, 2)


@mistake(X)
def another_method_spelt_wrong(x):
    return x.unsqeeze(0)


@mistake(X)
def an_attribute_that_nobody_has(x):
    return x.foo


@mistake(X)
def a_method_that_only_mindspore_has(x):
    return x.delete_()


@mistake(X)
def backward_as_in_pytorch(x):
    loss = x.sum()
    loss.backward()


@mistake(X)
def cuda_as_in_pytorch(x):
    return x.cuda()


@mistake(X)
def cpu_as_in_pytorch(x):
    return x.cpu()


@mistake(X)
def to_a_device_as_in_pytorch(x):
    return x.to("cuda")


@mistake(X)
def detach_as_in_pytorch(x):
    return x.detach()


@mistake(X)
def the_gradient_as_an_attribute(x):
    return x.grad


@mistake(X)
def the_item_of_many(x):
    return x.item()


@mistake(X)
def the_truth_of_many(x):
    return 1 if x > 2 else 0


@mistake(X)
def a_float_of_many(x):
    return float(x)


@mistake(Tensor(1.0))
def the_length_of_a_number(x):
    return len(x)


@mistake(Tensor(1.0))
def a_loop_over_a_number(x):
    return [row for row in x]  # noqa: C416  # as a user writes it


@mistake(X)
def a_tensor_that_is_called(x):
    return x(0)


@mistake(Tensor([1.5, 2.5]))
def a_list_at_a_float(x):
    return [10, 20, 30][x[0]]
