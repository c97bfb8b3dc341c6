"""Attention."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from typing import Any

from mycelia import primitives as p
from mycelia.api.fused import fused
from mycelia.cost import BLOCKS_FROM
from mycelia.eager import Tensor, cast, created, default_generator
from mycelia.errors import ArgumentError
from mycelia.ops.activation import softmax
from mycelia.ops.arguments import floated, number, tensor
from mycelia.ops.attending import attend
from mycelia.ops.random import dropout
from mycelia.primitives.family import broadcast_shape
from mycelia.sizes import hint, known_equal, same
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
    Of many tokens the matrix of scores is never there as a whole, forward or on the way back: `ops/attending.py`.

    >>> q = Tensor([[[1.0, 0.0]]])
    >>> scaled_dot_product_attention(q, q, q).tolist()
    [[[1.0, 0.0]]]
    """
    q, k, v = floated(query), floated(key), floated(value)
    if is_causal and attn_mask is not None:
        raise ArgumentError("is_causal is a mask of its own", hint="give attn_mask, or is_causal=True, not both")
    q = q * (1.0 / math.sqrt(q.shape[-1]) if scale is None else scale)
    mask = None if attn_mask is None else tensor(attn_mask)
    if mask is not None and mask.dtype is not bool_:
        mask = cast(mask, q.dtype)
    if 0.0 <= dropout_p <= 1.0 and _goes_by_blocks(q, k, v, mask):
        return attend(q, k, v, mask, is_causal, float(dropout_p), default_generator.draw)
    scores = p.matmul(q, k.swapaxes(-1, -2))
    if is_causal:
        shape = scores.shape[-2:]
        later = p.greater(created(p.Iota(int32, shape, 1)), created(p.Iota(int32, shape, 0)))
        scores = p.select(later, number(-math.inf, scores), scores)
    elif mask is not None:
        scores = p.select(mask, scores, number(-math.inf, scores)) if mask.dtype is bool_ else scores + mask
    weights = softmax(scores, -1)
    return p.matmul(dropout(weights, dropout_p) if dropout_p else weights, v)


def _goes_by_blocks(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> bool:
    """Whether the matrix of scores is too large to be made, and the operands are such that it could be."""
    if min(q.ndim, k.ndim, v.ndim) < 2 or not q.dtype is k.dtype is v.dtype:
        return False
    queries, keys = q.shape[-2], k.shape[-2]
    fits = same(k.shape[-1:], q.shape[-1:]) and same(v.shape[-2:-1], k.shape[-2:-1])
    if not fits or hint(queries * keys) < BLOCKS_FROM:
        return False
    batch: tuple[int, ...] | None = ()
    for x in (q, k, v) if mask is None else (q, k, v, mask):
        batch = batch if batch is None else broadcast_shape(batch, x.shape[:-2])
    hides = () if mask is None else zip(mask.shape[::-1], (keys, queries), strict=False)
    return batch is not None and all(known_equal(n, 1) or known_equal(n, m) for n, m in hides)
