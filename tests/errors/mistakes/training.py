"""Losses, optimizers and training steps that are put together wrongly."""

import numpy as np

import mycelia as ms
from mycelia import Tensor, nn, ops
from tests.errors.collect import mistake

X = Tensor(np.ones((2, 3), np.float32))
NET = nn.Dense(3, 4)
LOSS = nn.CrossEntropyLoss()
SGD = nn.SGD(NET.trainable_params(), 0.1)


@mistake(X, Tensor([0, 3]))
def a_label_that_is_no_class(x, labels):
    return ops.cross_entropy(x, labels)


@mistake(X, Tensor([0.0, 1.0]))
def labels_that_are_floats(x, labels):
    return LOSS(x, labels)


@mistake(X, Tensor([0, 1, 2]))
def more_labels_than_rows(x, labels):
    return LOSS(x, labels)


@mistake(X)
def a_loss_without_labels(x):
    return LOSS(x)


@mistake(X, Tensor([1.0, 2.0]))
def a_mean_square_of_shapes_that_do_not_fit(x, y):
    return nn.MSELoss()(x, y)


@mistake()
def a_reduction_that_does_not_exist():
    return nn.MSELoss(reduction="average")


@mistake()
def weights_for_another_number_of_classes():
    return nn.CrossEntropyLoss(weight=Tensor([1.0, 2.0]))(X, Tensor([0, 1]))


@mistake()
def a_loss_spelt_wrong():
    return nn.CrossEntropy()


@mistake()
def an_optimizer_of_a_network():
    return nn.SGD(NET, 0.1)


@mistake()
def an_optimizer_of_tensors():
    return nn.Adam([Tensor([1.0])], 0.1)


@mistake()
def an_optimizer_of_nothing():
    return nn.Adam([], 0.1)


@mistake()
def arguments_of_an_optimizer_in_the_other_order():
    return nn.SGD(0.1, NET.trainable_params())


@mistake()
def lr_as_in_pytorch():
    return nn.SGD(NET.trainable_params(), lr=0.1)


@mistake()
def betas_as_in_pytorch():
    return nn.Adam(NET.trainable_params(), 0.1, betas=(0.9, 0.99))


@mistake()
def a_negative_learning_rate():
    return nn.SGD(NET.trainable_params(), -0.1)


@mistake()
def a_learning_rate_of_text():
    return nn.SGD(NET.trainable_params(), "0.1")


@mistake()
def a_negative_momentum():
    return nn.SGD(NET.trainable_params(), 0.1, momentum=-1.0)


@mistake()
def a_parameter_given_twice():
    return nn.SGD([*NET.trainable_params(), NET.weight], 0.1)


@mistake()
def a_group_without_parameters():
    return nn.SGD([{"weights": NET.trainable_params()}], 0.1)


@mistake()
def zero_grad_as_in_pytorch():
    SGD.zero_grad()


@mistake()
def step_as_in_pytorch():
    SGD.step()


@mistake(X)
def one_gradient_for_two_parameters(x):
    return SGD((x,))


@mistake(X)
def gradients_of_other_shapes(x):
    return SGD((x, x))


@mistake(X)
def a_step_without_gradients(x):
    return SGD(None)


@mistake()
def no_grad_as_in_pytorch():
    with ms.no_grad():
        return NET(X)


@mistake()
def a_training_step_of_a_network_without_a_loss():
    step = nn.TrainOneStepCell(NET, SGD)
    return step(X, X)


@mistake()
def a_schedule_of_negative_steps():
    return nn.cosine_decay_lr(0.0, 0.1, -5, 2, 1)


@mistake()
def milestones_that_do_not_fit_their_rates():
    return nn.piecewise_constant_lr([2, 5], [0.1])
