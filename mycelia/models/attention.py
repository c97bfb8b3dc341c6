"""The block of transformers: attention of several heads, then two dense layers, each added to its argument."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError

Pair = tuple[Tensor, Tensor]  # the keys and the values of what came before: (batch, heads, time, features)


class SelfAttention(nn.Cell):
    """Every place looks at every place, or, if it is `causal`, at those before it; `before` are keys and values that
    were computed earlier.

    >>> x = ops.ones((2, 3, 8))
    >>> out, (keys, values) = SelfAttention(8, heads=2)(x)
    >>> out.shape, keys.shape
    ((2, 3, 8), (2, 2, 3, 4))
    """

    def __init__(self, width: int, heads: int, causal: bool = False, dropout: float = 0.0) -> None:
        super().__init__()
        if width % heads:
            raise ArgumentError(f"{heads} heads do not divide {width} features", hint="choose heads that do")
        self.heads, self.causal, self.scale = heads, causal, (width // heads) ** -0.5
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x: Tensor, before: Pair | None = None, mask: Tensor | None = None) -> tuple[Tensor, Pair]:
        batch, time, width = x.shape
        q, k, v = self.qkv(x).reshape((batch, time, 3, self.heads, width // self.heads)).transpose((2, 0, 3, 1, 4))
        if before is not None:
            k, v = ops.cat((before[0], k), 2), ops.cat((before[1], v), 2)
        scores = q @ k.swapaxes(-1, -2) * self.scale
        if self.causal:
            seen = ops.arange(k.shape[2]) <= ops.arange(time)[:, None] + (k.shape[2] - time)
            scores = ops.masked_fill(scores, ops.logical_not(seen), -1e9)
        if mask is not None:
            scores = ops.masked_fill(scores, ops.logical_not(mask)[:, None, None, :], -1e9)
        mixed = self.dropout(ops.softmax(scores, -1)) @ v
        return self.out(mixed.swapaxes(1, 2).reshape((batch, time, width))), (k, v)


class Block(nn.Cell):
    """Attention and two dense layers. Normalised are the arguments of both (`first`), as in GPT and ViT, or the sums,
    as in BERT.

    >>> out, _ = Block(8, heads=2)(ops.ones((2, 3, 8)))
    >>> out.shape
    (2, 3, 8)
    """

    def __init__(
        self,
        width: int,
        heads: int,
        causal: bool = False,
        dropout: float = 0.0,
        first: bool = True,
        eps: float = 1e-5,
        gelu: str = "none",
    ) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,), epsilon=eps), nn.LayerNorm((width,), epsilon=eps)
        self.attention = SelfAttention(width, heads, causal, dropout)
        self.wide, self.narrow = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.dropout, self.first, self.gelu = nn.Dropout(p=dropout), first, gelu

    def feed(self, x: Tensor) -> Tensor:
        """The two dense layers."""
        out: Tensor = self.dropout(self.narrow(ops.gelu(self.wide(x), self.gelu)))
        return out

    def construct(self, x: Tensor, before: Pair | None = None, mask: Tensor | None = None) -> tuple[Tensor, Pair]:
        if self.first:
            mixed, kept = self.attention(self.norm1(x), before, mask)
            x = x + self.dropout(mixed)
            return x + self.feed(self.norm2(x)), kept
        mixed, kept = self.attention(x, before, mask)
        x = self.norm1(x + self.dropout(mixed))
        return self.norm2(x + self.feed(x)), kept
