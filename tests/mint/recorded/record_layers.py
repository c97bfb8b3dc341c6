"""Asks PyTorch what its layers give: python record_layers.py, where PyTorch is installed."""

from pathlib import Path

import numpy as np
import torch
from layers import LAYERS, MODES, inputs, numbers

told = {}
for name, (kind, args, options, _) in LAYERS.items():
    for training in MODES:
        layer = getattr(torch.nn, kind)(*args, **options).train(training)
        with torch.no_grad():
            for i, parameter in enumerate(layer.parameters()):
                parameter.copy_(torch.tensor(numbers(*parameter.shape, seed=10 + i)))
        given = [torch.tensor(x, requires_grad=i == 0) for i, x in enumerate(inputs(name))]
        for _ in range(2):
            out = layer(*given)
        (out * torch.tensor(numbers(*out.shape, seed=99))).sum().backward()
        key = f"{name}/{training}"
        told[f"{key}/out"], told[f"{key}/slope"] = out.detach().numpy(), given[0].grad.numpy()
        for what, held in layer.named_buffers():
            told[f"{key}/{what}"] = held.numpy().copy()
np.savez_compressed(Path(__file__).resolve().parent / "layers.npz", **told)
