"""BERT (Devlin et al., 2018): words that look at all words around them; in the sizes of Turc et al., 2019."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor
from mycelia.models.attention import Block


class Bert(nn.Cell):
    """What each word means where it stands, and one vector for the whole, from the first word.

    >>> from mycelia.types import int32
    >>> words, whole = Bert(vocabulary=30, width=8, layers=1, heads=2)(ops.zeros((2, 5), int32))
    >>> words.shape, whole.shape
    ((2, 5, 8), (2, 8))
    """

    def __init__(
        self,
        vocabulary: int = 30522,
        width: int = 512,
        layers: int = 4,
        heads: int = 8,
        longest: int = 512,
        kinds: int = 2,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(longest, width)
        self.kinds = nn.Embedding(kinds, width)
        self.norm, self.dropout = nn.LayerNorm((width,), epsilon=1e-12), nn.Dropout(p=dropout)
        self.blocks = nn.CellList([Block(width, heads, dropout=dropout, first=False, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Dense(width, width)

    def construct(
        self, tokens: Tensor, kinds: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """`kinds` tells the first sentence from the second; `mask` is false where there is no word."""
        of_kind = self.kinds(ops.zeros_like(tokens) if kinds is None else kinds)
        x = self.words(tokens) + self.places(ops.arange(tokens.shape[1])) + of_kind
        x = self.dropout(self.norm(x))
        for block in self.blocks:
            x, _ = block(x, None, mask)
        return x, ops.tanh(self.pooler(x[:, 0]))


class BertForMaskedWords(nn.Cell):
    """BERT that guesses words: a number for each word of the vocabulary at each place, by the embedding of the words.

    >>> from mycelia.types import int32
    >>> net = BertForMaskedWords(Bert(vocabulary=30, width=8, layers=1, heads=2))
    >>> net(ops.zeros((2, 5), int32)).shape
    (2, 5, 30)
    """

    def __init__(self, bert: Bert) -> None:
        super().__init__()
        width = bert.words.embedding_size
        self.bert, self.dense, self.norm = bert, nn.Dense(width, width), nn.LayerNorm((width,), epsilon=1e-12)

    def construct(self, tokens: Tensor, kinds: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        words, _ = self.bert(tokens, kinds, mask)
        guessed = self.norm(ops.gelu(self.dense(words)))
        out: Tensor = guessed @ self.bert.words.embedding_table.T
        return out


def bert_small(vocabulary: int = 30522) -> Bert:
    """Four layers of 512 features.

    >>> len(bert_small(100).blocks)
    4
    """
    return Bert(vocabulary)


def bert_base(vocabulary: int = 30522) -> Bert:
    """Twelve layers of 768 features.

    >>> bert_base.__defaults__
    (30522,)
    """
    return Bert(vocabulary, 768, 12, 12)
