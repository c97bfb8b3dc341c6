"""Fifty steps of every optimizer on one small problem: MindSpore ran them once, Mycelia runs them in every test."""

import numpy as np

STEPS, SHOWN = 50, (1, 2, 10, 50)


def numbers(*shape, seed=0):
    return np.asarray(np.random.RandomState(seed).standard_normal(shape), np.float32)


OPTIMIZERS = {
    "rmsprop": ("RMSProp", {"learning_rate": 0.01}),
    "rmsprop_centered": ("RMSProp", {"learning_rate": 0.01, "momentum": 0.7, "centered": True, "epsilon": 1e-3}),
    "rmsprop_decay": ("RMSProp", {"learning_rate": 0.01, "weight_decay": 0.1, "loss_scale": 8.0}),
    "adagrad": ("Adagrad", {"learning_rate": 0.1}),
    "adagrad_decay": ("Adagrad", {"accum": 0.5, "learning_rate": 0.1, "weight_decay": 0.1, "loss_scale": 8.0}),
    "adadelta": ("Adadelta", {"learning_rate": 3.0, "rho": 0.8, "epsilon": 1e-3}),
    "adamax": ("AdaMax", {"learning_rate": 0.05, "beta1": 0.8, "beta2": 0.95, "weight_decay": 0.05}),
    "proximal_adagrad": ("ProximalAdagrad", {"learning_rate": 0.1, "l1": 0.05, "l2": 0.1}),
    "ftrl": ("FTRL", {"learning_rate": 0.1, "l2": 0.1, "weight_decay": 0.02}),
    "rprop": ("Rprop", {"learning_rate": 0.001, "etas": (0.5, 1.1), "step_sizes": (1e-4, 0.01)}),
    "asgd": ("ASGD", {"learning_rate": 0.05, "lambd": 0.01, "t0": 10.0, "weight_decay": 0.01}),
    "lazy_adam": ("LazyAdam", {"learning_rate": 0.05}),
    "adafactor": ("AdaFactor", {"learning_rate": 0.02, "scale_parameter": False, "relative_step": False}),
    "adafactor_relative": ("AdaFactor", {"beta1": 0.0, "weight_decay": 0.01}),
    "listed_rates": ("RMSProp", {"learning_rate": [0.03 / (1 + i) for i in range(50)]}),
    "groups": ("Adagrad", {"learning_rate": 0.1, "groups": True}),
}  # fmt: skip


def run(ms, name, compiled=lambda f: f):
    """The weights after some of the steps."""
    kind, options = OPTIMIZERS[name]
    options = dict(options)
    w = ms.Parameter(ms.Tensor(numbers(5, 3)), name="w")
    b = ms.Parameter(ms.Tensor(numbers(3, seed=1)), name="some.bias")
    x, y = ms.Tensor(numbers(8, 5, seed=2)), ms.Tensor(numbers(8, 3, seed=3))
    params = [w, b]
    if options.pop("groups", False):
        params = [{"params": [b], "lr": 0.3, "weight_decay": 0.2}, {"params": [w]}, {"order_params": [w, b]}]
    optimizer = getattr(ms.nn, kind)(params, **options)

    def loss(x, y):
        return ms.ops.square(ms.ops.matmul(x, w) + b - y).mean()

    grads = ms.value_and_grad(loss, None, ms.ParameterTuple([w, b]))

    def step(x, y):
        value, found = grads(x, y)
        optimizer(found)
        return value

    step, seen = compiled(step), []
    for number in range(1, STEPS + 1):
        step(x, y)
        if number in SHOWN:
            seen += [w.asnumpy().copy(), b.asnumpy().copy()]
    return seen
