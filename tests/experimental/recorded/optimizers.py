"""Fifty steps of optimizers with groups, and rates by schedules, as programs that any MindSpore can run."""

import numpy as np

OPTIMIZERS = {
    "SGD": ("SGD", {"lr": 0.05}),
    "SGD momentum": ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01, "dampening": 0.3}),
    "SGD nesterov": ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "maximize": True}),
    "Adam": ("Adam", {"lr": 0.05, "weight_decay": 0.01}),
    "AdamW": ("AdamW", {"lr": 0.05}),
    "AdamW amsgrad": ("AdamW", {"lr": 0.05, "weight_decay": 0.1, "amsgrad": True, "maximize": True}),
    "Adamax": ("Adamax", {"lr": 0.05, "weight_decay": 0.01}),
    "NAdam": ("NAdam", {"lr": 0.05, "weight_decay": 0.01}),
    "RAdam": ("RAdam", {"lr": 0.05, "weight_decay": 0.01}),
    "RMSprop": ("RMSprop", {"lr": 0.05}),
    "RMSprop centered": ("RMSprop", {"lr": 0.01, "momentum": 0.9, "centered": True, "weight_decay": 0.01}),
    "Adagrad": ("Adagrad", {"lr": 0.05, "lr_decay": 0.1, "initial_accumulator_value": 0.2}),
    "Adadelta": ("Adadelta", {"lr": 0.5, "weight_decay": 0.01}),
    "Rprop": ("Rprop", {"lr": 0.01}),
    "ASGD": ("ASGD", {"lr": 0.05, "t0": 10.0, "weight_decay": 0.01}),
}
SCHEDULES = {
    "StepLR": ("StepLR", {"step_size": 3, "gamma": 0.5}),
    "MultiStepLR": ("MultiStepLR", {"milestones": [2, 5, 5], "gamma": 0.5}),
    "ConstantLR": ("ConstantLR", {"factor": 0.25, "total_iters": 4}),
    "LinearLR": ("LinearLR", {"start_factor": 0.25, "total_iters": 5}),
    "ExponentialLR": ("ExponentialLR", {"gamma": 0.75}),
    "PolynomialLR": ("PolynomialLR", {"total_iters": 6, "power": 2.0}),
    "LambdaLR": ("LambdaLR", {"lr_lambda": [lambda epoch: 0.5**epoch, lambda epoch: 1 / (1 + epoch)]}),
    "MultiplicativeLR": ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.75}),
    "CosineAnnealingLR": ("CosineAnnealingLR", {"T_max": 4, "eta_min": 0.01}),
    "CosineAnnealingWarmRestarts": ("CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2, "eta_min": 0.01}),
    "CyclicLR": ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 3, "step_size_down": 2}),
    "CyclicLR triangular2": ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "mode": "triangular2"}),
    "CyclicLR exp_range": (
        "CyclicLR", {"base_lr": 0.1, "max_lr": [0.5, 0.7], "step_size_up": 2, "mode": "exp_range", "gamma": 0.9},
    ),
}  # fmt: skip
LOSSES = (1.0, 0.9, 0.9, 0.91, 0.95, 0.96, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6)
PLATEAUS = {
    "min": {"patience": 1, "factor": 0.5},
    "cooldown": {"patience": 0, "factor": 0.5, "cooldown": 2, "min_lr": [0.05, 0.3]},
    "max": {"mode": "max", "patience": 2, "factor": 0.25, "threshold": 0.3, "threshold_mode": "abs"},
}


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def parameters(ms):
    return [ms.Parameter(ms.Tensor(numbers(4, 3)), name="w"), ms.Parameter(ms.Tensor(numbers(3, seed=1)), name="b")]


def run(ms, optim, name, compiled=lambda f: f):
    """Weights and biases after fifty steps; the biases have another rate."""
    kind, options = OPTIMIZERS[name]
    params = parameters(ms)
    options = dict(options)
    lr = options.pop("lr")
    groups = [{"params": params[:1], "lr": lr}, {"params": params[1:], "lr": lr / 2}]
    optimizer = getattr(optim, kind)(groups, lr=lr, **options)
    step = compiled(lambda *gradients: optimizer(gradients))
    for t in range(50):
        step(*[ms.Tensor(numbers(*p.shape, seed=100 + t)) for p in params])
    return [p.asnumpy() for p in params]


def scheduled(ms, optim, name, steps=12):
    """The rates of two groups after each step."""
    kind, options = SCHEDULES[name]
    params = parameters(ms)
    optimizer = optim.SGD([{"params": params[:1], "lr": 0.2}, {"params": params[1:], "lr": 0.4}], lr=0.1)
    schedule = getattr(optim.lr_scheduler, kind)(optimizer, **options)
    found = [[float(rate.asnumpy()) for rate in schedule.get_last_lr()]]
    for _ in range(steps):
        schedule.step()
        found.append([float(rate.asnumpy()) for rate in schedule.get_last_lr()])
    return found


def sequence(ms, optim):
    params = parameters(ms)
    optimizer = optim.SGD([{"params": params[:1], "lr": 0.2}, {"params": params[1:], "lr": 0.4}], lr=0.1)
    first = optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    second = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    schedule = optim.lr_scheduler.SequentialLR(optimizer, [first, second], [3])
    found = []
    for _ in range(7):
        schedule.step()
        found.append([float(rate.asnumpy()) for rate in schedule.get_last_lr()])
    return found


def plateau(ms, optim, name):
    params = parameters(ms)
    optimizer = optim.SGD([{"params": params[:1], "lr": 0.2}, {"params": params[1:], "lr": 0.4}], lr=0.1)
    schedule = optim.lr_scheduler.ReduceLROnPlateau(optimizer, **PLATEAUS[name])
    found = []
    for loss in LOSSES:
        schedule.step(loss)
        found.append([float(rate.asnumpy()) for rate in schedule.get_last_lr()])
    return found
