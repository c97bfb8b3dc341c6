"""Weights, data and settings of the small networks that PyTorch trained once and Mycelia trains in every test."""

import numpy as np

GPT = {"layers": 2, "width": 16, "heads": 2, "time": 6, "batch": 3, "vocabulary": 11}

OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1, "weight_decay": 0.05}),
    "sgd_momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    "sgd_nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    "adam": ("Adam", {"lr": 0.1}),
    "adam_decay": ("Adam", {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    "adam_amsgrad": ("Adam", {"lr": 0.1, "amsgrad": True}),
    "adamw": ("AdamW", {"lr": 0.1, "weight_decay": 0.1}),
    "adamw_amsgrad": ("AdamW", {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True, "maximize": True}),
}


def numbers(*shape, seed=0, scale=1.0):
    """The same numbers everywhere: this generator of NumPy's is frozen."""
    return (np.random.RandomState(seed).standard_normal(shape) * scale).astype(np.float32)


def classes(*shape, count, seed=0):
    """Whole numbers below `count`."""
    return np.random.RandomState(seed).randint(0, count, shape).astype(np.int32)


def weights(shapes, scale=0.3):
    """Random weights; what scales a normalised signal is near 1."""
    made = {name: numbers(*shape, seed=i, scale=scale) for i, (name, shape) in enumerate(shapes.items())}
    return {name: a + 1 if name.endswith("gamma") else a for name, a in made.items()}


def mlp_weights():
    return weights({"0.weight": (16, 12), "0.bias": (16,), "2.weight": (5, 16), "2.bias": (5,)})


def mlp_data():
    return numbers(8, 12, seed=100), classes(8, count=5, seed=101)


def lenet_weights():
    shapes = {"c1.weight": (3, 1, 5, 5), "c1.bias": (3,), "c2.weight": (4, 3, 3, 3), "c2.bias": (4,)}
    return weights(shapes | {"f1.weight": (10, 36), "f1.bias": (10,), "f2.weight": (5, 10), "f2.bias": (5,)})


def lenet_data():
    return numbers(4, 1, 16, 16, seed=102), classes(4, count=5, seed=103)


def gpt_weights():
    d = GPT["width"]
    shapes = {"wte.embedding_table": (GPT["vocabulary"], d), "wpe.embedding_table": (GPT["time"], d)}
    for i in range(GPT["layers"]):
        at = f"blocks.{i}."
        shapes |= {at + f"{ln}.{part}": (d,) for ln in ("ln1", "ln2") for part in ("gamma", "beta")}
        for name, rows, columns in (("qkv", 3 * d, d), ("proj", d, d), ("fc", 4 * d, d), ("out", d, 4 * d)):
            shapes |= {at + name + ".weight": (rows, columns), at + name + ".bias": (rows,)}
    shapes |= {"lnf.gamma": (d,), "lnf.beta": (d,), "head.weight": (GPT["vocabulary"], d)}
    return weights(shapes)


def gpt_data():
    tokens = classes(GPT["batch"], GPT["time"] + 1, count=GPT["vocabulary"], seed=104)
    return np.ascontiguousarray(tokens[:, :-1]), np.ascontiguousarray(tokens[:, 1:])


def batches():
    return [numbers(4, 3, 2, 5, seed=seed) * 2 + 1 for seed in (110, 111)]


def attention():
    """For each way to call attention: how it is made, its inputs, its masks."""
    shapes = {"in_proj_weight": (24, 8), "in_proj_bias": (24,), "out_proj.weight": (8, 8), "out_proj.bias": (8,)}
    made = weights(shapes)
    time_first = [numbers(4, 3, 8, seed=120), numbers(5, 3, 8, seed=121), numbers(5, 3, 8, seed=122)]
    batch_first = [np.ascontiguousarray(a.swapaxes(0, 1)) for a in time_first]
    padding = np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 0, 1]], bool)
    causal = np.triu(np.ones((4, 5), bool), 1)
    return {
        "plain": ({"weights": made, "zero": False}, time_first, {}),
        "batch_first": ({"weights": made, "zero": False, "batch_first": True}, batch_first, {}),
        "padded": ({"weights": made, "zero": False}, time_first, {"key_padding_mask": padding}),
        "causal": ({"weights": made, "zero": True}, time_first, {"attn_mask": causal}),
        "added": ({"weights": made, "zero": False}, time_first, {"attn_mask": numbers(6, 4, 5, seed=123)}),
        "unbatched": ({"weights": made, "zero": False}, [a[:, 0] for a in time_first], {}),
    }
