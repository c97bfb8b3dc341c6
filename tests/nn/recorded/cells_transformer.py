"""Layers of the Transformer, as PyTorch has them."""

import numpy as np
from cells import case, numbers

PADDING = np.array([[False, False, True], [False, True, True]])
SOURCE_PADDING = np.array([[False, False, False, True], [False, True, False, False]])
CAUSAL = np.triu(np.full((3, 3), -np.inf, np.float32), 1)
SIZES = {"d_model": 4, "nhead": 2, "dim_feedforward": 6, "dropout": 0.0}


def renamed(module):
    """Our names for PyTorch's parameters."""
    words = {"linear1": "dense1", "linear2": "dense2"}

    def ours(name):
        parts = [words.get(part, part) for part in name.split(".")]
        if parts[-2].startswith("norm"):
            parts[-1] = {"weight": "gamma", "bias": "beta"}[parts[-1]]
        return ".".join(parts)

    return {name: ours(name) for name, _ in module.named_parameters()}


def layer(kind, name, *inputs, fixed=(), **options):
    options = SIZES | options
    case(
        f"{kind}_{name}",
        lambda nn: getattr(nn, kind)(**options),
        *inputs,
        torch=lambda torch: getattr(torch.nn, kind)(**options),
        names=renamed,
        train=True,
        fixed=fixed,
    )


layer("TransformerEncoderLayer", "plain", numbers(3, 2, 4))
layer("TransformerEncoderLayer", "masked", numbers(2, 3, 4), CAUSAL, PADDING, batch_first=True, activation="gelu")
layer("TransformerEncoderLayer", "norm_first", numbers(3, 2, 4), CAUSAL < 0, norm_first=True, layer_norm_eps=1e-3)
layer("TransformerDecoderLayer", "plain", numbers(3, 2, 4), numbers(5, 2, 4, seed=1))
layer(
    "TransformerDecoderLayer", "masked", numbers(2, 3, 4), numbers(2, 4, 4, seed=1), CAUSAL, None, PADDING,
    SOURCE_PADDING, batch_first=True, norm_first=True,
)  # fmt: skip
layer(
    "Transformer", "whole", numbers(4, 2, 4), numbers(3, 2, 4, seed=1), None, CAUSAL,
    fixed=(3,), num_encoder_layers=2, num_decoder_layers=2,
)  # fmt: skip
