"""What beginners write in their first week: words of NumPy, wrong shapes of data, settings that mean nothing."""

import numpy as np

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia import dataset as ds
from tests.errors.collect import mistake

X = Tensor(np.ones((2, 3), np.float32))
V = Tensor([1.0, 2.0, 3.0])
I = Tensor([1, 2])  # noqa: E741
IMAGE = Tensor(np.ones((1, 3, 8, 8), np.float32))
SEQUENCE = Tensor(np.ones((5, 2, 3), np.float32))
NET = nn.Dense(3, 4)
PAIR = nn.SequentialCell([nn.Dense(3, 4), nn.Dense(5, 2)])
DATA = ds.NumpySlicesDataset({"a": [1, 2, 3]}, shuffle=False)


class Two(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(3, 4)

    def construct(self, x, y):
        return self.a(x) + y


TWO = Two()


@mistake(X)
def a_network_without_its_second_input(x):
    return TWO(x)


@mistake(X)
def a_network_with_an_input_too_many(x):
    return NET(x, x, x)


@mistake(X)
def an_input_by_a_wrong_name(x):
    return TWO(x, z=x)


@mistake(X)
def a_sequence_with_a_gap(x):
    return PAIR(x)


@mistake(IMAGE)
def an_image_given_to_a_dense_layer(x):
    return nn.Dense(192, 10)(x)


@mistake(X)
def numbers_of_numpy_given_to_a_layer(x):
    return NET(x.asnumpy().astype(object))


@mistake(jit=False)
def a_kernel_larger_than_the_image():
    return nn.Conv2d(3, 4, 11, pad_mode="valid")(IMAGE)


@mistake(IMAGE, jit=False)
def channels_at_the_end(x):
    return nn.Conv2d(3, 4, 3)(x.permute(0, 2, 3, 1))


@mistake(jit=False)
def a_window_of_zero():
    return nn.MaxPool2d(0)


@mistake(jit=False)
def a_kernel_of_text():
    return nn.Conv2d(3, 4, "3")


@mistake(SEQUENCE, jit=False)
def a_recurrent_layer_without_its_hidden_size(x):
    return nn.LSTM(3)(x)


@mistake(jit=False)
def an_embedding_of_no_words():
    return nn.Embedding(0, 4)


@mistake(X)
def a_softmax_over_an_axis_that_is_not_there(x):
    return ops.softmax(x, 2)


@mistake(X)
def a_mean_over_two_equal_axes(x):
    return x.mean((0, 0))


@mistake(X)
def a_reshape_of_text(x):
    return x.reshape("3, 2")


@mistake(X)
def a_reshape_to_a_negative_size(x):
    return x.reshape(-2, 3)


@mistake(X)
def a_reshape_to_a_fraction(x):
    return x.reshape(6 / 2, 2)


@mistake(X)
def a_flatten_from_an_axis_that_is_not_there(x):
    return ops.flatten(x, start_dim=4)


@mistake(X)
def a_tile_by_a_fraction(x):
    return ops.tile(x, (1.5, 2))


@mistake(X)
def a_concat_of_a_tensor_and_a_number(x):
    return ops.concat([x, 1.0])


@mistake(X)
def a_stack_of_a_number(x):
    return ops.stack(3)


@mistake(X)
def a_split_into_more_than_there_is(x):
    return ops.split(x, (2, 9), 1)


@mistake(X)
def a_chunk_of_zero(x):
    return x.chunk(0)


@mistake(X)
def a_roll_without_a_shift(x):
    return ops.roll(x)


@mistake(V)
def a_matrix_product_of_a_number(x):
    return ops.matmul(x, 2.0)


@mistake(V)
def a_product_at_a_number(x):
    return x @ 2.0


@mistake(X)
def a_determinant_of_a_rectangle(x):
    return ops.det(x)


@mistake(X)
def a_cholesky_of_a_rectangle(x):
    return ops.cholesky(x)


@mistake(X)
def a_diagonal_that_is_far_away(x):
    return ops.diagonal(x, 0, 5, 6)


@mistake(X)
def a_clamp_by_text(x):
    return ops.clamp(x, "0", 1.0)


@mistake(V)
def a_power_by_text(x):
    return x ** "2"


@mistake(V)
def a_comparison_with_text(x):
    return x > "a"


@mistake(V)
def a_sum_with_a_dictionary(x):
    return x + {"a": 1.0}


@mistake(V)
def a_maximum_of_a_tensor_and_none(x):
    return ops.maximum(x, None)


@mistake(V, jit=False)
def a_linspace_of_negative_steps(x):
    return ops.linspace(0.0, 1.0, -5)


@mistake(jit=False)
def an_arange_of_text():
    return ops.arange("5")


@mistake(jit=False)
def zeros_of_a_tensor_of_floats():
    return ops.zeros(Tensor([2.0, 3.0]))


@mistake(jit=False)
def an_eye_of_a_negative_size():
    return ops.eye(-2)


@mistake(V)
def a_sort_along_an_axis_that_is_not_there(x):
    return ops.sort(x, 1)


@mistake(V)
def a_topk_of_a_fraction(x):
    return ops.topk(x, 1.5)


@mistake(V)
def an_argmax_along_text(x):
    return x.argmax("0")


@mistake(X)
def a_gather_along_an_axis_that_is_not_there(x):
    return ops.gather(x, I, 5)


@mistake(X)
def a_mask_of_numbers(x):
    return ops.masked_select(x, x)


@mistake(X)
def a_mask_of_another_shape(x):
    return ops.masked_fill(x, Tensor([True, False]), 0.0)


@mistake(X)
def a_where_without_a_mask(x):
    return ops.where(x, "a", x)


@mistake(X)
def a_scatter_of_other_shapes(x):
    return ops.scatter(x, 0, Tensor([[0, 1, 2, 3]]), x)


@mistake(X)
def an_interpolation_of_a_matrix(x):
    return ops.interpolate(x, scale_factor=2.0)


@mistake(V, jit=False)
def a_parameter_without_numbers(x):
    return Parameter(None)


@mistake(jit=False)
def a_cell_that_is_no_cell_in_a_list():
    return nn.CellList([nn.Dense(2, 2), "relu"])


@mistake(jit=False)
def a_momentum_without_momentum():
    return nn.Momentum(NET.trainable_params(), 0.1)


@mistake(jit=False)
def a_weight_decay_of_text():
    return nn.Adam(NET.trainable_params(), 0.1, weight_decay="1e-4")


@mistake(jit=False)
def a_label_smoothing_of_two():
    return nn.CrossEntropyLoss(label_smoothing=2.0)


@mistake(X, jit=False)
def a_loss_of_rows_and_no_classes(x):
    return nn.CrossEntropyLoss()(x, Tensor(np.ones((2, 3, 4), np.float32)))


@mistake(X)
def a_hinge_of_other_shapes(x):
    return ops.hinge_embedding_loss(x, V[:2])


@mistake(X)
def a_similarity_of_other_widths(x):
    return ops.cosine_similarity(x, x[:, :2])


@mistake(jit=False)
def a_dataset_with_its_length_asked():
    return DATA.size()


@mistake(jit=False)
def a_map_over_a_column_that_is_not_there():
    return list(DATA.map(lambda a: a, input_columns="z"))


@mistake(jit=False)
def a_model_trained_on_a_tensor():
    return ms.Model(NET, nn.MSELoss(), nn.SGD(NET.trainable_params(), 0.1)).train(1, X)


@mistake(jit=False)
def a_model_trained_for_no_epochs():
    model = ms.Model(NET, nn.MSELoss(), nn.SGD(NET.trainable_params(), 0.1))
    return model.train(-1, DATA)


@mistake(jit=False)
def a_device_that_does_not_exist():
    return ms.set_device("TPU")


@mistake(jit=False)
def a_tensor_saved_without_a_name():
    return ms.save_checkpoint(NET)
