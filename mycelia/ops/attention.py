"""Attention."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from typing import Any

from mycelia import primitives as p
from mycelia.api.fused import fused
from mycelia.eager import Tensor, cast, created
from mycelia.errors import ArgumentError
from mycelia.ops.activation import softmax
from mycelia.ops.arguments import floated, number, tensor
from mycelia.ops.random import dropout
from mycelia.types import bool_, int32

__all__ = [
    "scaled_dot_product_attention",
]


@fused
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """For each query the mean of the values, weighted by how well their keys fit: softmax(q k^T scale + mask) v.

    A mask of bools says where to look; other masks are added to the scores. `is_causal` looks at no later position.

    >>> q = Tensor([[[1.0, 0.0]]])
    >>> scaled_dot_product_attention(q, q, q).tolist()
    [[[1.0, 0.0]]]
    """
    q, k, v = floated(query), floated(key), floated(value)
    scores = p.matmul(q * (1.0 / math.sqrt(q.shape[-1]) if scale is None else scale), k.swapaxes(-1, -2))
    if is_causal:
        if attn_mask is not None:
            raise ArgumentError("is_causal is a mask of its own", hint="give attn_mask, or is_causal=True, not both")
        shape = scores.shape[-2:]
        later = p.greater(created(p.Iota(int32, shape, 1)), created(p.Iota(int32, shape, 0)))
        scores = p.select(later, number(-math.inf, scores), scores)
    elif attn_mask is not None:
        mask = tensor(attn_mask)
        if mask.dtype is bool_:
            scores = p.select(mask, scores, number(-math.inf, scores))
        else:
            scores = scores + cast(mask, scores.dtype)
    weights = softmax(scores, -1)
    return p.matmul(dropout(weights, dropout_p) if dropout_p else weights, v)
