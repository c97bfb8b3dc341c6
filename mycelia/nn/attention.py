"""Attention of several heads."""

from __future__ import annotations

import math

from mycelia import ops
from mycelia.common.initializer import XavierNormal, initializer
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.basic import Dense
from mycelia.nn.cell import Cell
from mycelia.types import DType, bool_, float32


class MultiheadAttention(Cell):
    """Each head sees the inputs through maps of its own, and looks where its queries fit the keys.

    Inputs are (time, batch, features), with `batch_first` (batch, time, features), or without a batch.

    >>> x = Tensor([[[1.0, 2.0, 3.0, 4.0]]])
    >>> out, weights = MultiheadAttention(4, num_heads=2)(x, x, x)
    >>> out.shape, weights.shape
    ((1, 1, 4), (1, 1, 1))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ArgumentError(
                f"{num_heads} heads do not divide {embed_dim} features", hint="num_heads divides embed_dim"
            )
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn

        def weight(rows: int, columns: int) -> Parameter:
            return Parameter(initializer("xavier_uniform", (rows, columns), dtype))

        self.together = self.kdim == self.vdim == embed_dim
        if self.together:
            self.in_proj_weight = weight(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight = weight(embed_dim, embed_dim)
            self.k_proj_weight, self.v_proj_weight = weight(embed_dim, self.kdim), weight(embed_dim, self.vdim)
        self.in_proj_bias: Parameter | None = None
        if has_bias:
            self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype))
        self.out_proj = Dense(embed_dim, embed_dim, bias_init="zeros", has_bias=has_bias, dtype=dtype)
        self.bias_k: Parameter | None = None
        self.bias_v: Parameter | None = None
        if add_bias_kv:
            self.bias_k = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype))
            self.bias_v = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype))

    def construct(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        batched = query.ndim == 3
        q, k, v = self._projected(*(self._batch_first(x, batched) for x in (query, key, value)))
        if self.bias_k is not None and self.bias_v is not None:
            k, v = (_longer(x, ops.broadcast_to(b, (x.shape[0], 1, self.embed_dim)))
                    for x, b in ((k, self.bias_k), (v, self.bias_v)))  # fmt: skip
        if self.add_zero_attn:
            k, v = (_longer(x, ops.zeros_like(x[:, :1])) for x in (k, v))
        q, k, v = (self._heads(x) for x in (q, k, v))
        scores = (q * (1.0 / math.sqrt(self.head_dim))) @ k.swapaxes(-1, -2)  # (batch, heads, time, source)
        if attn_mask is not None:
            scores = _masked(scores, self._aligned(attn_mask, scores))
        if key_padding_mask is not None:
            mask = key_padding_mask if key_padding_mask.ndim == 2 else key_padding_mask[None]
            scores = _masked(scores, _extended(mask, scores)[:, None, None])
        weights = ops.softmax(scores, -1)
        dropped = ops.dropout(weights, self.dropout) if self.training and self.dropout else weights
        mixed = (dropped @ v).swapaxes(1, 2)
        out = self.out_proj(mixed.reshape((*mixed.shape[:2], self.embed_dim)))
        if average_attn_weights:
            weights = ops.mean(weights, 1)
        if not batched:
            return out[0], weights[0] if need_weights else None
        return (out if self.batch_first else out.swapaxes(0, 1)), weights if need_weights else None

    def _batch_first(self, x: Tensor, batched: bool) -> Tensor:
        if x.ndim != (3 if batched else 2):
            raise ShapeError(
                f"query, key and value have two axes each, or three; one has shape {x.shape}",
                hint="(time, batch, features), or (time, features)",
            )
        return x[None] if not batched else x if self.batch_first else x.swapaxes(0, 1)

    def _projected(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        e = self.embed_dim
        if self.together:
            weights = [self.in_proj_weight[i * e : (i + 1) * e] for i in range(3)]
        else:
            weights = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        bias = self.in_proj_bias
        biases = [None if bias is None else bias[i * e : (i + 1) * e] for i in range(3)]
        q, k, v = (ops.dense(x, w, b) for x, w, b in zip((q, k, v), weights, biases, strict=True))
        return q, k, v

    def _heads(self, x: Tensor) -> Tensor:
        """(batch, time, features) as (batch, heads, time, features of a head)."""
        return x.reshape((*x.shape[:2], self.num_heads, self.head_dim)).swapaxes(1, 2)

    def _aligned(self, mask: Tensor, scores: Tensor) -> Tensor:
        """A mask for all, or one for each example and head, as wide as the scores."""
        mask = _extended(mask, scores)
        return mask if mask.ndim == 2 else mask.reshape((*scores.shape[:2], *mask.shape[1:]))


def _longer(x: Tensor, more: Tensor) -> Tensor:
    return ops.cat((x, more), 1)


def _extended(mask: Tensor, scores: Tensor) -> Tensor:
    """The mask, with nothing hidden at the places that were added behind the source."""
    missing = scores.shape[-1] - mask.shape[-1]
    return ops.cat((mask, ops.zeros((*mask.shape[:-1], missing), mask.dtype)), -1) if missing else mask


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores without those that a mask of bools hides, or with another mask added."""
    return ops.masked_fill(scores, mask, -math.inf) if mask.dtype is bool_ else scores + mask
