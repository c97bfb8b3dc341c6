"""Functions of mint, and what PyTorch's give: `python tests/mint/recorded/functions.py` asks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def numbers(*shape: int, seed: int = 0) -> Any:
    """Numbers around zero, without ties."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def positive(*shape: int) -> Any:
    return np.abs(numbers(*shape, seed=5)) + 0.5


def signs(*shape: int) -> Any:
    return np.where(numbers(*shape, seed=6) > 0, 1.0, -1.0).astype(np.float32)


CASES: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "avg_pool1d": ("avg_pool1d", (numbers(2, 3, 7), 3), {}),
    "avg_pool1d/padded": ("avg_pool1d", (numbers(2, 3, 7), 3, 2, 1, True, False), {}),
    "avg_pool2d": ("avg_pool2d", (numbers(1, 2, 5, 6), 2), {"divisor_override": 3}),
    "avg_pool2d/padded": ("avg_pool2d", (numbers(1, 2, 5, 6), (3, 2), 2, (1, 1)), {"count_include_pad": False}),
    "avg_pool3d": ("avg_pool3d", (numbers(1, 2, 4, 5, 4), 2), {}),
    "adaptive_avg_pool1d": ("adaptive_avg_pool1d", (numbers(1, 2, 7), 3), {}),
    "adaptive_avg_pool3d": ("adaptive_avg_pool3d", (numbers(1, 2, 4, 5, 3), (2, 3, 1)), {}),
    "adaptive_max_pool1d": ("adaptive_max_pool1d", (numbers(1, 2, 7), 3), {"return_indices": True}),
    "adaptive_max_pool2d": ("adaptive_max_pool2d", (numbers(1, 2, 7, 5), (3, 2)), {"return_indices": True}),
    "batch_norm": ("batch_norm", (numbers(4, 3, 2), numbers(3, seed=1), positive(3), numbers(3), numbers(3)), {}),
    "batch_norm/training": (
        "batch_norm", (numbers(4, 3, 2), numbers(3, seed=1), positive(3)), {"training": True, "momentum": 0.3},
    ),
    "conv1d": ("conv1d", (numbers(2, 4, 8), numbers(6, 2, 3), numbers(6), 2, 1, 2, 2), {}),
    "conv1d/same": ("conv1d", (numbers(2, 4, 8), numbers(6, 4, 3)), {"padding": "same"}),
    "conv3d": ("conv3d", (numbers(1, 2, 4, 5, 4), numbers(3, 2, 2, 3, 2), numbers(3), (1, 2, 1), 1), {}),
    "conv_transpose2d": ("conv_transpose2d", (numbers(1, 4, 3, 3), numbers(4, 3, 3, 2), None, 2, 1, 1, 2), {}),
    "cosine_embedding_loss": ("cosine_embedding_loss", (numbers(3, 4), numbers(3, 4, seed=1), signs(3), 0.1), {}),
    "elu_": ("elu_", (numbers(9),), {"alpha": 1.5}),
    "fold": ("fold", (numbers(1, 8, 12), (4, 5), 2), {}),
    "grid_sample": ("grid_sample", (numbers(1, 2, 4, 5), numbers(1, 3, 3, 2) * 0.6), {"align_corners": False}),
    "group_norm": ("group_norm", (numbers(2, 6, 3), 3, numbers(6), numbers(6, seed=1)), {}),
    "hardtanh": ("hardtanh", (numbers(9), -0.5, 0.7), {}),
    "hardtanh_": ("hardtanh_", (numbers(9), -0.5, 0.7), {}),
    "interpolate": ("interpolate", (numbers(1, 2, 4, 5), (7, 3)), {"mode": "bilinear", "align_corners": True}),
    "interpolate/nearest": ("interpolate", (numbers(1, 2, 5), 8), {}),
    "relu_": ("relu_", (numbers(9),), {}),
    "sigmoid_": ("sigmoid_", (numbers(9),), {}),
    "soft_margin_loss": ("soft_margin_loss", (numbers(3, 4), signs(3, 4)), {}),
    "threshold": ("threshold", (numbers(9), 0.1, 5.0), {}),
    "threshold_": ("threshold_", (numbers(9), 0.1, 5.0), {}),
    "unfold": ("unfold", (numbers(1, 2, 5, 6), (2, 3)), {"dilation": 2, "padding": 1, "stride": (1, 2)}),
    "kthvalue": ("kthvalue", (numbers(3, 5), 2), {"dim": 1, "keepdim": True}),
    "conv_tbc": ("conv_tbc", (numbers(5, 2, 3), numbers(3, 3, 4), numbers(4), 1), {}),
    "addr_": ("addr_", (numbers(3, 4), numbers(3), numbers(4)), {"beta": 0.5, "alpha": 2.0}),
}  # fmt: skip
"""What is called, with what; arrays are tensors, and the first is differentiated."""


def write() -> None:
    """Ask PyTorch."""
    import torch

    told = {}
    for name, (path, args, options) in CASES.items():
        fn = getattr(torch.nn.functional, path, None) or getattr(torch, path, None) or getattr(torch.Tensor, path)
        given = [torch.tensor(a) if isinstance(a, np.ndarray) else a for a in args]
        start = given[0].requires_grad_()
        moved = [start * 1, *given[1:]]  # what changes in place is no leaf
        out = fn(*moved, **options)
        parts = out if isinstance(out, tuple) else (out,)
        weight = torch.tensor(numbers(*parts[0].shape, seed=99))
        (parts[0] * weight).sum().backward()
        for i, part in enumerate(parts):
            told[f"{name}/out{i}"] = part.detach().numpy()
        told[f"{name}/slope"] = start.grad.numpy()
        if "training" in name:
            told[f"{name}/mean"], told[f"{name}/var"] = given[1].numpy(), given[2].numpy()
    np.savez_compressed(HERE / "functions.npz", **told)


if __name__ == "__main__":
    write()
