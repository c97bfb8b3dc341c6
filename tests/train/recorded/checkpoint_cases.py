"""Networks, trainings and tensors that are saved: each takes the framework, MindSpore or ours."""

import numpy as np

KEY = b"0123456789ABCDEF"
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def numbers(*shape, seed=0):
    """Numbers that are the same everywhere."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


LAYERS = {  # what is made of the framework, and what it is given
    "dense": (lambda nn: nn.Dense(3, 2, activation="relu"), (2, 3)),
    "conv1d": (lambda nn: nn.Conv1d(2, 3, 3, has_bias=True), (2, 2, 5)),
    "conv2d": (lambda nn: nn.Conv2d(2, 4, 3, stride=2, group=2, has_bias=True), (1, 2, 5, 5)),
    "transposed": (lambda nn: nn.Conv2dTranspose(2, 3, 3, has_bias=True), (1, 2, 4, 4)),
    "batch1d": (lambda nn: nn.BatchNorm1d(3), (4, 3)),
    "batch2d": (lambda nn: nn.BatchNorm2d(3), (2, 3, 2, 2)),
    "layer": (lambda nn: nn.LayerNorm((3,)), (2, 3)),
    "group": (lambda nn: nn.GroupNorm(2, 4), (1, 4, 2, 2)),
    "prelu": (lambda nn: nn.PReLU(3), (2, 3, 2, 2)),
    "embedding": (lambda nn: nn.Embedding(7, 3), "ids"),
    "lstm": (lambda nn: nn.LSTM(3, 2, 2, bidirectional=True, batch_first=True), (2, 4, 3)),
    "gru": (lambda nn: nn.GRU(3, 2), (4, 2, 3)),
    "rnn": (lambda nn: nn.RNN(3, 2), (4, 2, 3)),
    "cell": (lambda nn: nn.SequentialCell(nn.Dense(3, 3), nn.SequentialCell(nn.Dense(3, 2), nn.Tanh())), (2, 3)),
    "encoder": (lambda nn: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True), (2, 3, 4)),
}


def layers(ms):
    """All layers, as one network whose names have dots."""

    class Layers(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            for name, (make, _) in LAYERS.items():
                setattr(self, name, make(ms.nn))

    return Layers().set_train(False)


def changed(ms, net):
    """A network whose numbers are not those it was made with: means and variances too."""
    for i, p in enumerate(net.get_parameters()):
        p.set_data(ms.Tensor(np.abs(numbers(*p.shape, seed=i)) * 0.5 + 0.1))
    return net


def given(ms, name):
    """What a layer is given."""
    shape = LAYERS[name][1]
    return ms.Tensor(np.array([[0, 6], [3, 1]], np.int32) if shape == "ids" else numbers(*shape, seed=99))


def outputs(ms, net):
    """What each layer gives, as arrays."""
    found = {}
    for name in LAYERS:
        out = getattr(net, name)(given(ms, name))
        found[name] = (out[0] if isinstance(out, tuple) else out).asnumpy()
    return found


def training(ms):
    """A network and a step of Adam, with dropout left out: what it does is the same everywhere."""
    net = ms.nn.SequentialCell(
        ms.nn.Conv2d(1, 2, 3, pad_mode="valid"), ms.nn.BatchNorm2d(2), ms.nn.ReLU(), ms.nn.Flatten(), ms.nn.Dense(8, 3)
    )
    for i, p in enumerate(net.trainable_params()):
        p.set_data(ms.Tensor(numbers(*p.shape, seed=i) * 0.5))
    rate = ms.nn.ExponentialDecayLR(0.05, 0.9, 2)
    optimizer = ms.nn.Adam(net.trainable_params(), rate, weight_decay=0.01)
    loss = ms.nn.CrossEntropyLoss()
    step = ms.nn.TrainOneStepCell(ms.nn.WithLossCell(net, loss), optimizer)
    return net, step.set_train()


def trained(ms, step, count, first=0):
    """Losses of some steps."""
    losses = []
    for i in range(first, first + count):
        x = ms.Tensor(numbers(6, 1, 4, 4, seed=100 + i))
        losses.append(float(step(x, ms.Tensor(np.arange(6, dtype=np.int32) % 3)).asnumpy()))
    return losses


def added(ms):
    """What `append_dict` adds."""
    return {"epoch_num": 3, "best": 0.5, "done": True, "note": "grüße, 世界", "scale": ms.Tensor(2.0, ms.float32)}


def arrays():
    """A tensor of each element type, as plain arrays; those of bfloat16 are numbers that it can hold."""
    held = {f"of.{name}": np.array([[0, 1, 100], [7, 2, 3]], name) for name in WHOLE}
    held |= {f"of.{name}": np.array([0.0, -1.5, 96.0, np.inf], np.float32) for name in FLOATS}
    held["of.bool"] = np.array([True, False, True])
    held["single"] = np.array(5, np.int32)
    held["single.float16"] = np.array(0.5, np.float16)
    held["one"] = np.array([2.5], np.float32)
    held["no.rows"] = np.zeros((0, 3), np.float32)
    held["name with spaces/slashes.and.ünïcode"] = np.array([1.0], np.float32)
    return held


def tensors(ms):
    """The same as tensors of the framework."""
    return {
        name: ms.Tensor(array, getattr(ms, name[3:])) if name[3:] in FLOATS else ms.Tensor(array)
        for name, array in arrays().items()
    }


def seen(found):
    """Parameters as they can be compared: element type, shape, numbers."""
    told = {}
    for name, p in sorted(found.items()):
        wide = p if isinstance(p, str) else p.float().asnumpy() if str(p.dtype) == "BFloat16" else p.asnumpy()
        told[name] = p if isinstance(p, str) else [str(p.dtype), list(p.shape), wide.astype(float).reshape(-1).tolist()]
    return told


OPTIMIZERS = {
    "Adam": {"use_amsgrad": True}, "AdaMax": {}, "AdamOffload": {}, "AdamWeightDecay": {}, "ASGD": {}, "Adadelta": {},
    "Adagrad": {}, "FTRL": {}, "LazyAdam": {}, "Momentum": {"momentum": 0.9}, "ProximalAdagrad": {},
    "RMSProp": {"centered": True, "momentum": 0.5}, "Rprop": {},
    "SGD": {"momentum": 0.9, "dampening": 0.25},
}  # fmt: skip
"""Optimizers, and what they are made with beside a rate."""


class Held:
    """An optimizer with two weights, as one network."""

    def __init__(self, ms, name):
        self.ms = ms
        shapes = {"w": (2, 3), "b": (3,)}
        self.weights = [
            ms.Parameter(ms.Tensor(numbers(*shape, seed=i)), name=n) for i, (n, shape) in enumerate(shapes.items())
        ]
        self.optimizer = getattr(ms.nn, name)(self.weights, learning_rate=0.05, **OPTIMIZERS[name])

        class Both(ms.nn.Cell):
            def __init__(cell, optimizer, weights):  # two things called self
                super().__init__(auto_prefix=False)
                cell.w, cell.b = weights
                cell.optimizer = optimizer

        self.cell = Both(self.optimizer, self.weights)

    def steps(self, first, last):
        """Some steps along gradients that are the same everywhere."""
        for i in range(first, last):
            self.optimizer(tuple(self.ms.Tensor(numbers(*w.shape, seed=50 + i)) for w in self.weights))
        return {w.name: w.asnumpy() for w in self.weights}
