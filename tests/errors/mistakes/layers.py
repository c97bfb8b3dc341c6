"""Layers that are built or called wrongly."""

import numpy as np

import mycelia as ms
from mycelia import Parameter, Tensor, nn
from tests.errors.collect import mistake

X = Tensor(np.ones((2, 3), np.float32))
IMAGE = Tensor(np.ones((1, 3, 8, 8), np.float32))
DENSE = nn.Dense(4, 2)
CONV = nn.Conv2d(1, 4, 3)
NORM = nn.BatchNorm2d(5)
TABLE = nn.Embedding(10, 4)
LAYER = nn.LayerNorm((4,))
STACK = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(5, 2))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 4)
        self.second = nn.Dense(8, 2)

    def construct(self, x):
        return self.second(self.first(x))


class Typo(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 4)

    def construct(self, x):
        return self.densse(x)


class Forward(nn.Cell):
    def forward(self, x):
        return x


class Forgetful(nn.Cell):
    def __init__(self):
        self.dense = nn.Dense(3, 4)


NET, TYPO, FORWARD = Net(), Typo(), Forward()


@mistake(X)
def a_dense_layer_of_another_width(x):
    return DENSE(x)


@mistake(X)
def a_network_whose_layers_do_not_fit(x):
    return NET(x)


@mistake(X)
def a_sequence_whose_layers_do_not_fit(x):
    return STACK(x)


@mistake(IMAGE)
def a_convolution_of_another_number_of_channels(x):
    return CONV(x)


@mistake(X)
def a_convolution_of_a_matrix(x):
    return CONV(x)


@mistake(IMAGE)
def a_batch_norm_of_another_number_of_channels(x):
    return NORM(x)


@mistake(X)
def a_layer_norm_of_another_width(x):
    return LAYER(x)


@mistake(X)
def an_embedding_of_floats(x):
    return TABLE(x)


@mistake(Tensor([1, 10]))
def an_embedding_beyond_its_table(x):
    return TABLE(x)


@mistake(X)
def an_attribute_of_a_network_spelt_wrong(x):
    return TYPO(x)


@mistake(X)
def forward_in_place_of_construct(x):
    return FORWARD(x)


@mistake()
def a_network_that_forgets_super():
    return Forgetful()


@mistake(X)
def a_layer_with_an_argument_too_many(x):
    return DENSE(x, x)


@mistake()
def a_layer_without_its_input():
    return DENSE()


@mistake(np.ones((2, 4), np.float64))
def text_given_to_a_layer(x):
    return DENSE("text")


@mistake()
def a_layer_without_sizes():
    return nn.Dense()


@mistake()
def a_dense_layer_of_a_float_width():
    return nn.Dense(3.5, 2)


@mistake()
def a_dense_layer_of_negative_width():
    return nn.Dense(-3, 2)


@mistake()
def a_dense_layer_with_the_words_of_pytorch():
    return nn.Dense(in_features=3, out_features=2)


@mistake()
def a_layer_without_bias_as_in_pytorch():
    return nn.Dense(3, 2, bias=False)


@mistake()
def an_embedding_with_the_words_of_pytorch():
    return nn.Embedding(num_embeddings=10, embedding_dim=4)


@mistake()
def a_convolution_with_the_words_of_pytorch():
    return nn.Conv2d(3, 4, kernel_size=3, bias=False, groups=1)


@mistake()
def a_layer_in_place_as_in_pytorch():
    return nn.LeakyReLU(0.1, inplace=True)


@mistake()
def transposed_convolution_as_in_pytorch():
    return nn.ConvTranspose2d(3, 2, 3)


@mistake()
def sequential_as_in_pytorch():
    return nn.Sequential(nn.ReLU())


@mistake()
def a_layer_spelt_wrong():
    return nn.Dense2(3, 2)


@mistake()
def an_activation_that_does_not_exist():
    return nn.Dense(3, 2, activation="rellu")


@mistake()
def an_initializer_that_does_not_exist():
    return nn.Dense(3, 2, weight_init="xavier")


@mistake()
def a_padding_without_its_mode():
    return nn.Conv2d(3, 4, 3, padding=1)


@mistake()
def a_pad_mode_that_does_not_exist():
    return nn.Conv2d(3, 4, 3, pad_mode="full")


@mistake()
def a_stride_of_zero():
    return nn.Conv2d(3, 4, 3, stride=0)


@mistake()
def groups_that_do_not_divide():
    return nn.Conv2d(3, 4, 3, group=2)


@mistake()
def a_dropout_of_everything():
    return nn.Dropout(p=1.5)


@mistake(IMAGE)
def a_pooling_window_larger_than_the_image(x):
    return nn.MaxPool2d(16)(x)


@mistake()
def a_sequence_of_things_that_are_no_cells():
    return nn.SequentialCell(nn.Dense(3, 4), "relu")


@mistake()
def heads_that_do_not_divide():
    return nn.MultiheadAttention(10, 3)


@mistake()
def a_parameter_of_text():
    return Parameter("weights")


@mistake()
def parameters_as_in_pytorch():
    return NET.parameters()


@mistake()
def modules_as_in_pytorch():
    return NET.named_modules()


@mistake()
def train_and_eval_as_in_pytorch():
    return NET.eval()


@mistake()
def a_network_on_a_gpu_as_in_pytorch():
    return NET.cuda()


@mistake()
def data_of_another_shape_for_a_parameter():
    NET.first.weight.set_data(Tensor([1.0]))


@mistake()
def a_type_that_networks_are_not_computed_in():
    return NET.to_float(ms.int32)
