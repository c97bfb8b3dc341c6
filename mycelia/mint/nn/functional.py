"""Functions of networks in `mint`: those whose arguments are the same as in `ops`, and covers of others."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code="no-any-return, no-untyped-call"

from __future__ import annotations

from importlib import import_module
from typing import Any

from mycelia import ops
from mycelia.checks import only
from mycelia.mint.covers import conv2d as conv2d
from mycelia.names import missing_in
from mycelia.ops import adaptive_avg_pool2d as adaptive_avg_pool2d
from mycelia.ops import binary_cross_entropy as binary_cross_entropy
from mycelia.ops import cross_entropy as cross_entropy
from mycelia.ops import dropout2d as dropout2d
from mycelia.ops import elu as elu
from mycelia.ops import glu as glu
from mycelia.ops import hardshrink as hardshrink
from mycelia.ops import hardsigmoid as hardsigmoid
from mycelia.ops import hardswish as hardswish
from mycelia.ops import kl_div as kl_div
from mycelia.ops import l1_loss as l1_loss
from mycelia.ops import layer_norm as layer_norm
from mycelia.ops import leaky_relu as leaky_relu
from mycelia.ops import log_softmax as log_softmax
from mycelia.ops import logsigmoid as logsigmoid
from mycelia.ops import max_pool2d as max_pool2d
from mycelia.ops import mish as mish
from mycelia.ops import mse_loss as mse_loss
from mycelia.ops import nll_loss as nll_loss
from mycelia.ops import normalize as normalize
from mycelia.ops import pad as pad
from mycelia.ops import pixel_shuffle as pixel_shuffle
from mycelia.ops import prelu as prelu
from mycelia.ops import relu as relu
from mycelia.ops import relu6 as relu6
from mycelia.ops import selu as selu
from mycelia.ops import sigmoid as sigmoid
from mycelia.ops import softplus as softplus
from mycelia.ops import softshrink as softshrink
from mycelia.ops import tanh as tanh


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Axes from one to another as one.

    >>> flatten(ops.ones((2, 3), "float32")).shape
    (6,)
    """
    return ops.flatten(input, start_dim=start_dim, end_dim=end_dim)


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Input @ weight.T + bias.

    >>> linear(ops.ones((1, 2), "float32"), ops.ones((1, 2), "float32")).tolist()
    [[2.0]]
    """
    return ops.dense(input, weight, bias)


def softmax(input: Any, dim: int | None = None, *, dtype: Any = None) -> Any:
    """Exponentials along an axis that add up to one; without an axis along the first of 0, 1 and 3 axes, else the next.

    >>> softmax(ops.zeros((2,), "float32")).tolist()
    [0.5, 0.5]
    """
    place = (0 if input.ndim in (0, 1, 3) else 1) if dim is None else dim
    return ops.softmax(input if dtype is None else input.astype(dtype), place)


def silu(input: Any, inplace: bool = False) -> Any:
    """X sigmoid(x).

    >>> silu(ops.zeros((1,), "float32")).tolist()
    [0.0]
    """
    only("silu", "inplace", inplace, False, "assign the result")
    return ops.silu(input)


def gelu(input: Any, *, approximate: str = "none") -> Any:
    """The Gaussian error linear unit.

    >>> gelu(ops.zeros((1,), "float32")).tolist()
    [0.0]
    """
    return ops.gelu(input, approximate)


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """A new last axis, with 1 at the position that was given; as long as the largest asks for, if -1.

    >>> one_hot(ops.arange(2), 2).tolist()
    [[1, 0], [0, 1]]
    """
    depth = int(tensor.max()) + 1 if num_classes == -1 else num_classes
    return ops.one_hot(tensor, depth).astype("int64")


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Each element zero with probability p, the others scaled up such that the mean stays.

    >>> dropout(ops.ones((2,), "float32"), 0.0).tolist()
    [1.0, 1.0]
    """
    only("dropout", "inplace", inplace, False, "assign the result")
    return ops.dropout(input, p, training)


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Any:  # fmt: skip
    """Rows of a table, at positions.

    >>> embedding(ops.arange(1), ops.ones((2, 2), "float32")).tolist()
    [[1.0, 1.0]]
    """
    return ops.embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    """The cross entropy of sigmoids of scores, against probabilities.

    >>> round(binary_cross_entropy_with_logits(ops.zeros((1,), "float32"), ops.ones((1,), "float32")).item(), 4)
    0.6931
    """
    ones = ops.ones_like(input)
    return ops.binary_cross_entropy_with_logits(
        input, target, ones if weight is None else weight, ones if pos_weight is None else pos_weight, reduction
    )


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Squares of small differences, and sizes of large ones.

    >>> smooth_l1_loss(ops.zeros((1,), "float32"), ops.ones((1,), "float32")).item()
    0.5
    """
    return ops.smooth_l1_loss(input, target, beta, reduction)


RARER = (
    "adaptive_avg_pool1d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "batch_norm", "conv1d", "conv3d", "conv_transpose2d", "cosine_embedding_loss", "elu_",
    "fold", "grid_sample", "group_norm", "hardtanh", "hardtanh_", "interpolate", "max_unpool2d", "relu_", "sigmoid_",
    "soft_margin_loss", "threshold", "threshold_", "unfold", "upsample",
)  # fmt: skip
"""Names of `mycelia.mint.nn.rarer`."""
_missing = missing_in(__name__)


def __getattr__(name: str) -> Any:
    return getattr(import_module("mycelia.mint.nn.rarer"), name) if name in RARER else _missing(name)
