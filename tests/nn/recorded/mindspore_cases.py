"""Programs that MindSpore users write. Each runs with MindSpore, once, and with Mycelia, in every test."""

import numpy as np

CASES = {}


def case(function):
    """Register a program: from the module that is imported as `ms` to a list of arrays or numbers, or names."""
    CASES[function.__name__] = function
    return function


def numbers(*shape, seed=0):
    """The same numbers everywhere: this generator of NumPy's is frozen."""
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def tensors(ms, *arrays):
    return [ms.Tensor(a) for a in arrays]


# ------------------------------------------------------------------------------------------------------------- names


@case
def names_of_nested_cells(ms):
    nn = ms.nn

    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = ms.Parameter(ms.Tensor([1.0], ms.float32))
            self.shift = ms.Parameter(ms.Tensor([1.0], ms.float32), name="moved")
            self.norm = nn.BatchNorm2d(2)

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.SequentialCell(nn.Conv2d(1, 2, 3, has_bias=True), nn.ReLU(), Inner())
            self.blocks = nn.CellList([nn.Dense(2, 2), nn.SequentialCell([nn.LayerNorm((2,)), nn.Embedding(3, 2)])])
            self.own = ms.Parameter(ms.Tensor([1.0], ms.float32), name="given", requires_grad=False)

    net = Outer()
    return [
        *sorted(p.name for p in net.get_parameters()),
        "trained",
        *sorted(p.name for p in net.trainable_params()),
        "cells",
        *[name for name, _ in net.cells_and_names()],
        "children",
        *net.name_cells(),
        "inner",
        *sorted(p.name for p in Inner().get_parameters()),
    ]


@case
def names_in_recurrent_layers(ms):
    nn = ms.nn
    both = nn.LSTM(3, 4, 2, bidirectional=True), nn.GRU(3, 4, has_bias=False), nn.RNN(3, 4), nn.GRUCell(3, 4)
    return [f"{p.name} {p.shape}" for net in both for p in nn.CellList([net]).get_parameters()]


@case
def names_in_attention(ms):
    both = ms.nn.MultiheadAttention(4, 2), ms.nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True)
    return [f"{p.name} {p.shape}" for net in both for p in sorted(net.get_parameters(), key=lambda p: p.name)]


# ------------------------------------------------------------------------------------------------------------ layers


@case
def convolutions(ms):
    (x,) = tensors(ms, numbers(2, 4, 7, 8))
    out = []
    for seed, options in enumerate(
        [
            {"pad_mode": "same"},
            {"pad_mode": "same", "stride": 2},
            {"pad_mode": "same", "stride": (2, 3), "dilation": 2},
            {"pad_mode": "valid", "stride": 2, "group": 2},
            {"pad_mode": "pad", "padding": 1},
            {"pad_mode": "pad", "padding": (1, 2, 0, 1)},
        ]
    ):
        weight = ms.Tensor(numbers(6, 4 // options.get("group", 1), 3, 3, seed=seed))
        layer = ms.nn.Conv2d(4, 6, 3, weight_init=weight, bias_init="ones", has_bias=True, **options)
        out.append(layer(x).asnumpy())
    return out


@case
def convolutions_of_lines(ms):
    (x,) = tensors(ms, numbers(2, 4, 9))
    weight = ms.Tensor(numbers(6, 4, 3, seed=1))
    options = [
        {"pad_mode": "same", "stride": 2},
        {"pad_mode": "pad", "padding": 2},
        {"pad_mode": "valid", "dilation": 2},
    ]
    return [ms.nn.Conv1d(4, 6, 3, weight_init=weight, **o)(x).asnumpy() for o in options]


@case
def pooling(ms):
    (x,) = tensors(ms, numbers(2, 3, 7, 8))
    nn = ms.nn
    layers = [
        nn.MaxPool2d(2, 2),
        nn.MaxPool2d(3, 2, pad_mode="same"),
        nn.MaxPool2d((2, 3), (1, 2), pad_mode="pad", padding=1),
        nn.MaxPool2d(3, 2, pad_mode="pad", padding=1, ceil_mode=True),
        nn.AvgPool2d(2, 2),
        nn.AvgPool2d(3, 2, pad_mode="same"),
        nn.AvgPool2d(3, 2, pad_mode="pad", padding=1),
        nn.AvgPool2d(3, 2, pad_mode="pad", padding=1, count_include_pad=False),
    ]
    return [layer(x).asnumpy() for layer in layers]


@case
def layer_norms(ms):
    (x,) = tensors(ms, numbers(2, 3, 4))
    gamma, beta = tensors(ms, numbers(3, 4, seed=1), numbers(3, 4, seed=2))
    row, shift = tensors(ms, numbers(4, seed=1), numbers(4, seed=2))
    nn = ms.nn
    return [
        nn.LayerNorm((4,))(x).asnumpy(),
        nn.LayerNorm((4,), gamma_init=row, beta_init=shift, epsilon=1e-3)(x).asnumpy(),
        nn.LayerNorm((3, 4), 1, 1, gamma_init=gamma, beta_init=beta)(x).asnumpy(),
    ]


@case
def batch_norms_in_use(ms):
    (x,) = tensors(ms, numbers(2, 3, 4, 5))
    made = [ms.Tensor(a) for a in (numbers(3, seed=1), numbers(3, seed=2), numbers(3, seed=3), numbers(3, seed=4) ** 2)]
    net = ms.nn.BatchNorm2d(3, gamma_init=made[0], beta_init=made[1], moving_mean_init=made[2], moving_var_init=made[3])
    return [net(x).asnumpy()]


@case
def activations(ms):
    (x,) = tensors(ms, numbers(3, 5) * 3)  # not Tanh, of which MindSpore has but four digits
    nn = ms.nn
    cells = [
        nn.ReLU(), nn.ReLU6(), nn.LeakyReLU(), nn.ELU(), nn.GELU(), nn.GELU(approximate=False),
        nn.Sigmoid(), nn.SiLU(), nn.Softmax(), nn.Softmax(axis=0), nn.LogSoftmax(), nn.LogSigmoid(),
    ]  # fmt: skip
    return [cell(x).asnumpy() for cell in cells]


@case
def dense_layers(ms):
    (x,) = tensors(ms, numbers(2, 3, 4))
    weight, bias = tensors(ms, numbers(5, 4, seed=1), numbers(5, seed=2))
    layers = [
        ms.nn.Dense(4, 5, weight_init=weight, bias_init=bias),
        ms.nn.Dense(4, 5, weight_init=weight, has_bias=False, activation="relu"),
    ]
    return [layer(x).asnumpy() for layer in layers]


# ------------------------------------------------------------------------------------------------------------ losses


@case
def losses(ms):
    nn = ms.nn
    x, y = tensors(ms, numbers(4, 3), numbers(4, 3, seed=1))
    scores, classes = tensors(ms, numbers(4, 5), np.array([0, 4, 2, 1], np.int32))
    shares, bits = tensors(ms, np.abs(numbers(4, 3)) % 1, (numbers(4, 3, seed=1) > 0).astype(np.float32))
    logs = ms.ops.log_softmax(scores)
    weight = ms.Tensor(np.array([0.5, 1, 2, 1, 3], np.float32))
    out = [
        nn.MSELoss()(x, y), nn.MSELoss("none")(x, y), nn.L1Loss("sum")(x, y), nn.SmoothL1Loss()(x, y),
        nn.SmoothL1Loss(beta=0.5, reduction="mean")(x, y), nn.HuberLoss(delta=0.7)(x, y), nn.RMSELoss()(x, y),
        nn.CrossEntropyLoss()(scores, classes), nn.CrossEntropyLoss(reduction="none")(scores, classes),
        nn.CrossEntropyLoss(weight=weight, label_smoothing=0.1)(scores, classes),
        nn.CrossEntropyLoss(ignore_index=4)(scores, classes), nn.NLLLoss()(logs, classes),
        nn.NLLLoss(weight=weight, reduction="sum")(logs, classes), nn.BCELoss()(shares, bits),
        nn.BCEWithLogitsLoss()(x, bits), nn.SoftmaxCrossEntropyWithLogits(sparse=True)(scores, classes),
    ]  # fmt: skip
    return [loss.asnumpy() for loss in out]


# ------------------------------------------------------------------------------------------------------ learning rates


@case
def rates_as_lists(ms):
    nn = ms.nn
    return [
        np.array(rates)
        for rates in (
            nn.piecewise_constant_lr([2, 5, 9], [0.1, 0.05, 0.01]),
            nn.exponential_decay_lr(0.1, 0.9, 9, 2, 2),
            nn.exponential_decay_lr(0.1, 0.9, 9, 2, 2, is_stair=True),
            nn.natural_exp_decay_lr(0.1, 0.9, 9, 2, 2),
            nn.natural_exp_decay_lr(0.1, 0.9, 9, 2, 2, True),
            nn.inverse_decay_lr(0.1, 0.5, 9, 2, 2),
            nn.inverse_decay_lr(0.1, 0.5, 9, 2, 2, True),
            nn.cosine_decay_lr(0.01, 0.1, 9, 2, 3),
            nn.polynomial_decay_lr(0.1, 0.01, 9, 2, 2, 0.5),
            nn.polynomial_decay_lr(0.1, 0.01, 9, 2, 2, 2.0, True),
            nn.warmup_lr(0.1, 9, 2, 3),
        )
    ]


@case
def rates_as_cells(ms):
    nn = ms.nn
    schedules = [
        nn.ExponentialDecayLR(0.1, 0.9, 4),
        nn.ExponentialDecayLR(0.1, 0.9, 4, is_stair=True),
        nn.NaturalExpDecayLR(0.1, 0.9, 4),
        nn.NaturalExpDecayLR(0.1, 0.9, 4, True),
        nn.InverseDecayLR(0.1, 0.9, 4),
        nn.InverseDecayLR(0.1, 0.9, 4, True),
        nn.CosineDecayLR(0.01, 0.1, 4),
        nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5),
        nn.WarmUpLR(0.1, 4),
    ]
    return [np.array([float(s(ms.Tensor(step, ms.int32)).asnumpy()) for step in range(7)]) for s in schedules]


# --------------------------------------------------------------------------------------------------------- optimizers


def trajectory(ms, make, steps=4):
    """Two weights after some steps along given gradients; one is named like a scale, which does not decay."""
    w = ms.Parameter(ms.Tensor(numbers(3, 4)), name="dense.weight")
    g = ms.Parameter(ms.Tensor(numbers(4, seed=1)), name="norm.gamma")
    optimizer = make([w, g])
    for step in range(steps):
        optimizer((ms.Tensor(numbers(3, 4, seed=10 + step)), ms.Tensor(numbers(4, seed=20 + step))))
    return [w.asnumpy().copy(), g.asnumpy().copy()]


@case
def descents(ms):
    nn = ms.nn
    return [
        array
        for make in (
            lambda p: nn.SGD(p, 0.1),
            lambda p: nn.SGD(p, 0.1, momentum=0.9),
            lambda p: nn.SGD(p, 0.1, momentum=0.9, nesterov=True, loss_scale=2.0),
            lambda p: nn.Momentum(p, 0.1, 0.9),
            lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.1),  # it leaves use_nesterov aside on a CPU
            lambda p: nn.Momentum(p, [0.1, 0.2, 0.05, 0.01], 0.9, loss_scale=2.0),
            lambda p: nn.Momentum(p, nn.ExponentialDecayLR(0.1, 0.5, 1), 0.9),
            lambda p: nn.Momentum(
                [{"params": p[:1], "lr": 0.2, "weight_decay": 0.3}, {"params": p[1:]}], 0.1, 0.9, 0.05
            ),
        )
        for array in trajectory(ms, make)
    ]


@case
def adams(ms):
    nn = ms.nn  # not Adam itself, to which MindSpore adds eps before it corrects the means, and we after
    return [
        array
        for make in (
            lambda p: nn.AdamWeightDecay(p, 0.1),
            lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.1),
        )
        for array in trajectory(ms, make)
    ]
