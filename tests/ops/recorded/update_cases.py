"""Steps of optimizers as operations, each called twice on the same parameters: attributes, states, arguments.

MindSpore's kernels for processors ignore `use_nesterov`, `gradient_scale` and `update_slots`, some give other numbers
than the parameters hold, and `ApplyFtrl` takes l1 with the wrong sign where the linear term is negative: such settings
are in OURS, and of all others what the parameters hold is compared.
"""

W, G = [1.0, -2.0, 0.05], [0.3, -0.2, 0.4]
ONES, SMALL, ZEROS = [1.0, 1.0, 1.0], [0.1, 0.2, 0.3], [0.0, 0.0, 0.0]
CASES = {
    "Adam": ({}, [W, ZEROS, ZEROS], [0.9, 0.999, 0.1, 0.9, 0.999, 1e-8, "g"]),
    "AdamWeightDecay": ({}, [W, ZEROS, ZEROS], [0.1, 0.9, 0.999, 1e-6, 0.01, "g"]),
    "ApplyAdaMax": ({}, [W, SMALL, SMALL], [0.9, 0.1, 0.9, 0.99, 1e-8, "g"]),
    "ApplyAdadelta": ({}, [W, SMALL, SMALL], [0.1, 0.9, 1e-6, "g"]),
    "ApplyAdagrad": ({}, [W, SMALL], [0.1, "g"]),
    "ApplyAdagradV2": ({"epsilon": 1e-3}, [W, SMALL], [0.1, "g"]),
    "ApplyAdamWithAmsgrad": ({}, [W, ZEROS, ZEROS, SMALL], [0.9, 0.999, 0.1, "g"]),
    "ApplyAddSign": ({}, [W, SMALL], [0.1, 1.0, 0.9, 0.8, "g"]),
    "ApplyCenteredRMSProp": ({}, [W, ZEROS, SMALL, ZEROS], ["g", 0.1, 0.9, 0.5, 1e-3]),
    "ApplyFtrl": ({}, [[-1.0, -2.0, 0.05], SMALL, SMALL], ["g", 0.1, 0.01, 0.02, -0.5]),
    "ApplyGradientDescent": ({}, [W], [0.1, "g"]),
    "ApplyMomentum": ({}, [W, SMALL], [0.1, "g", 0.9]),
    "ApplyPowerSign": ({}, [W, SMALL], [0.1, 1.0, 0.9, 0.8, "g"]),
    "ApplyProximalAdagrad": ({}, [W, SMALL], [0.1, 0.2, 0.3, "g"]),
    "ApplyProximalGradientDescent": ({}, [W], [0.1, 0.2, 0.3, "g"]),
    "ApplyRMSProp": ({}, [W, SMALL, ZEROS], [0.1, "g", 0.9, 0.5, 1e-3]),
}
OURS = {
    "Adam nesterov": ({"use_nesterov": True}, [W, ZEROS, ZEROS], [0.9, 0.999, 0.1, 0.9, 0.999, 1e-8, "g"]),
    "ApplyAdagrad kept": ({"update_slots": False}, [W, SMALL], [0.1, "g"]),
    "ApplyKerasMomentum": ({}, [W, ZEROS], [0.1, "g", 0.9]),
    "ApplyKerasMomentum nesterov": ({"use_nesterov": True}, [W, ZEROS], [0.1, "g", 0.9]),
    "ApplyMomentum from rest": ({}, [W, ZEROS], [0.1, "g", 0.9]),
    "ApplyMomentum nesterov from rest": ({"use_nesterov": True}, [W, ZEROS], [0.1, "g", 0.9]),
    "ApplyMomentum scaled": ({"gradient_scale": 0.5}, [W, ZEROS], [0.1, "g", 0.9]),
}


def run(ms, name):
    """What the parameters hold after each of two calls, and what the last call gave."""
    attributes, states, others = {**CASES, **OURS}[name]
    op = getattr(ms.ops, name.split()[0])(**attributes)
    held = [ms.Parameter(ms.Tensor(s, ms.float32), name=f"s{i}") for i, s in enumerate(states)]
    told = []
    for _ in range(2):
        given = [ms.Tensor(G, ms.float32) if x == "g" else x for x in others]
        if name.split()[0] in TENSORS:
            given = [x if isinstance(x, ms.Tensor) else ms.Tensor(x, ms.float32) for x in given]
        out = op(*held, *given)
        told.append([x.asnumpy().tolist() for x in held])
    return told, [x.asnumpy().tolist() for x in (out if isinstance(out, tuple) else (out,))]


TENSORS = {
    "ApplyAdamWithAmsgrad",
    "ApplyKerasMomentum",
    "ApplyAddSign",
    "ApplyPowerSign",
    "ApplyAdaMax",
    "ApplyAdadelta",
}
