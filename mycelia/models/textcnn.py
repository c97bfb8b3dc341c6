"""Text CNN (Kim, 2014): windows of a few words, and of each filter the place where it fits best."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor


class TextCNN(nn.Cell):
    """A number for each class of a text, which is at least as long as the widest window.

    >>> from mycelia.types import int32
    >>> TextCNN(vocabulary=20, width=4, filters=3, num_classes=2)(ops.zeros((2, 7), int32)).shape
    (2, 2)
    """

    def __init__(
        self, vocabulary: int, width: int = 128, filters: int = 100, num_classes: int = 2,
        windows: tuple[int, ...] = (3, 4, 5), dropout: float = 0.5,
    ) -> None:  # fmt: skip
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.windows = nn.CellList([nn.Conv1d(width, filters, n, pad_mode="valid", has_bias=True) for n in windows])
        self.dropout, self.head = nn.Dropout(p=dropout), nn.Dense(filters * len(windows), num_classes)

    def construct(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens).swapaxes(1, 2)
        found = ops.cat([ops.amax(ops.relu(window(x)), 2) for window in self.windows], 1)
        out: Tensor = self.head(self.dropout(found))
        return out
