"""Texts, or other sequences of different lengths, by their class: an LSTM that reads them in both directions."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor


class LSTMClassifier(nn.Cell):
    """Words, what the LSTM knows at their end in both directions, and a number for each class.

    >>> from mycelia.types import int32
    >>> net = LSTMClassifier(vocabulary=20, width=4, hidden=8, num_classes=3)
    >>> net(ops.zeros((2, 5), int32), Tensor([5, 3], int32)).shape
    (2, 3)
    """

    def __init__(
        self, vocabulary: int, width: int = 100, hidden: int = 256, num_classes: int = 2, layers: int = 2,
        dropout: float = 0.5,
    ) -> None:  # fmt: skip
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        inner = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(width, hidden, layers, bidirectional=True, batch_first=True, dropout=inner)
        self.dropout, self.head = nn.Dropout(p=dropout), nn.Dense(2 * hidden, num_classes)

    def construct(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """`lengths` tells how many of the words of each row count."""
        _, (hidden, _) = self.lstm(self.dropout(self.words(tokens)), None, lengths)
        out: Tensor = self.head(self.dropout(ops.cat((hidden[-2], hidden[-1]), 1)))
        return out
