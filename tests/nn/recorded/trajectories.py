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
KINDS = {
    "SGD": {
        "plain": {},
        "momentum": {"momentum": 0.9, "dampening": 0.3},
        "nesterov": {"momentum": 0.9, "nesterov": True},
    },
    "Momentum": {"plain": {"momentum": 0.9}, "nesterov": {"momentum": 0.8, "use_nesterov": True}},
    "Adam": {"plain": {}, "nesterov": {"use_nesterov": True}, "amsgrad": {"use_amsgrad": True}},
    "AdamWeightDecay": {"plain": {}, "betas": {"beta1": 0.8, "beta2": 0.95, "eps": 1e-3}},
    "LazyAdam": {"nesterov": {"use_nesterov": True}},
    "RMSProp": {"momentum": {"momentum": 0.9, "decay": 0.8}, "centered": {"centered": True}},
    "Adagrad": {"plain": {}},
    "Adadelta": {"plain": {"rho": 0.8, "epsilon": 1e-3}},
    "AdaMax": {"plain": {}},
    "ProximalAdagrad": {"l2": {"l2": 0.1}, "l1": {"l1": 0.05}},
    "FTRL": {"l2": {"l2": 0.1}, "power": {"lr_power": -0.4}},
    "Rprop": {"plain": {"step_sizes": (1e-4, 0.01)}},
    "ASGD": {"plain": {"t0": 10.0}},
    "AdaFactor": {"plain": {"scale_parameter": False, "relative_step": False, "beta1": 0.9}},
}
"""Optimizers with what only some of them can do."""
SETTINGS = {
    "decay": {"weight_decay": 0.05},
    "groups": {"groups": True, "weight_decay": 0.02},
    "schedule": {"schedule": True},
    "decays": {"decays": True},
    "scale": {"loss_scale": 8.0},
}
"""What all of them can do, each tried with each of those above."""
OPTIMIZERS |= {
    f"{kind}.{way}.{setting}": (
        kind, {"learning_rate": 0.01} | options | asked | ({"groups": way} if setting == "groups" else {})
    )
    for kind, ways in KINDS.items() for way, options in ways.items()
    for setting, asked in ({"alone": {}} | SETTINGS).items()
}  # fmt: skip
STEEP = ("AdamWeightDecay plain", "RMSProp centered")
"""Which steps of 0.3 throw about so far that the last bits of a sum show."""
BY_TORCH = {
    f"{kind}.{way}.{setting}": (kind, {"learning_rate": 0.01} | options | asked)
    for kind, way, options in (
        ("SGD", "plain", {}), ("SGD", "nesterov", {"momentum": 0.9, "nesterov": True}),
        ("Momentum", "plain", {"momentum": 0.9}), ("Momentum", "nesterov", {"momentum": 0.8, "use_nesterov": True}),
        ("Adam", "plain", {}), ("Adam", "amsgrad", {"use_amsgrad": True}),
    )
    for setting, asked in (
        {"alone": {}, "centralized": {"centralized": True, "weight_decay": 0.02}}
        | {word: SETTINGS[word] for word in ("decay", "groups", "schedule", "scale")}
    ).items()
}  # fmt: skip
"""Those that PyTorch has run, too: MindSpore centralizes no gradient on a processor, and leaves `use_nesterov` out."""


def run(ms, name, compiled=lambda f: f, steps=STEPS):
    """The weights after some of the steps."""
    kind, options = (OPTIMIZERS | BY_TORCH)[name]
    options = dict(options)
    centralized = options.pop("centralized", False)
    width = 16 if centralized else 3  # of which MindSpore takes multiples
    w = ms.Parameter(ms.Tensor(numbers(5, width)), name="w")
    b = ms.Parameter(ms.Tensor(numbers(width, seed=1)), name="some.bias")
    x, y = ms.Tensor(numbers(8, 5, seed=2)), ms.Tensor(numbers(8, width, seed=3))
    params = [w, b]
    if centralized:
        params = [{"params": [w], "grad_centralization": True}, {"params": [b]}, {"order_params": [w, b]}]
    if options.pop("schedule", False):
        options["learning_rate"] = ms.nn.ExponentialDecayLR(0.02, 0.8, 5)
    if options.pop("decays", False):
        options["weight_decay"] = ms.nn.CosineDecayLR(0.0, 0.1, 40)
    if groups := options.pop("groups", False):
        rate = 0.03 if f"{kind} {groups}" in STEEP else 0.3
        params = [{"params": [b], "lr": rate, "weight_decay": 0.2}, {"params": [w]}, {"order_params": [w, b]}]
    optimizer = getattr(ms.nn, kind)(params, **options)

    def loss(x, y):
        return ms.ops.square(ms.ops.matmul(x, w) + b - y).mean()

    grads = ms.value_and_grad(loss, None, ms.ParameterTuple([w, b]))

    def step(x, y):
        value, found = grads(x, y)
        optimizer(found)
        return value

    step, seen = compiled(step), []
    for number in range(1, steps + 1):
        step(x, y)
        if number in SHOWN:
            seen += [w.asnumpy().copy(), b.asnumpy().copy()]
    return seen
