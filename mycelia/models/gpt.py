"""GPT-2 (Radford et al., 2019): each word follows from those before; keys and values are kept while text is written."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.common.initializer import Normal
from mycelia.eager import Tensor
from mycelia.models.attention import Block, Pair

Cache = tuple[Pair, ...]  # of each block


class GPT(nn.Cell):
    """Numbers for the next word after each word; words are named by the same table that they are read by.

    `net(tokens)` gives (batch, time, vocabulary). `net.after(tokens, cache)` goes on after what the cache holds (None:
    nothing), and gives the numbers after the last word, and the cache with the new words.

    >>> from mycelia.types import int32
    >>> net = GPT(vocabulary=11, width=8, layers=2, heads=2, longest=16)
    >>> net(ops.zeros((2, 5), int32)).shape
    (2, 5, 11)
    >>> scores, cache = net.after(ops.zeros((2, 5), int32))
    >>> scores.shape, cache[0][0].shape
    ((2, 11), (2, 2, 5, 4))
    """

    def __init__(
        self,
        vocabulary: int = 50257,
        width: int = 768,
        layers: int = 12,
        heads: int = 12,
        longest: int = 1024,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocabulary, self.longest = vocabulary, longest
        self.words = nn.Embedding(vocabulary, width, embedding_table=Normal(0.02))
        self.places = nn.Embedding(longest, width, embedding_table=Normal(0.01))
        self.dropout = nn.Dropout(p=dropout)
        self.blocks = nn.CellList([Block(width, heads, True, dropout, gelu="tanh") for _ in range(layers)])
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)

    def read(self, tokens: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
        """What each word means after all before it, and the cache with all of them."""
        before = 0 if cache is None else cache[0][0].shape[2]
        x = self.dropout(self.words(tokens) + self.places(ops.arange(tokens.shape[1]) + before))
        kept = []
        for number, block in enumerate(self.blocks):
            x, pair = block(x, None if cache is None else cache[number])
            kept.append(pair)
        return self.norm(x), tuple(kept)

    def construct(self, tokens: Tensor) -> Tensor:
        scores: Tensor = self.read(tokens, None)[0] @ self.words.embedding_table.T
        return scores

    def after(self, tokens: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Numbers for the word after the last of `tokens`, and the cache to go on with."""
        seen, cache = self.read(tokens, cache)
        return seen[:, -1] @ self.words.embedding_table.T, cache


def gpt2_small(vocabulary: int = 50257) -> GPT:
    """GPT-2 of 124 million weights.

    >>> gpt2_small.__defaults__
    (50257,)
    """
    return GPT(vocabulary)
