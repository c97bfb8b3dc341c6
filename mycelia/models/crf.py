"""A conditional random field (Lafferty et al., 2001): tags of words that also fit the tags beside them."""

from __future__ import annotations

import numpy as np

from mycelia import nn, ops
from mycelia.common.initializer import initializer
from mycelia.eager import Parameter, Tensor
from mycelia.types import Array


class CRF(nn.Cell):
    """The negative logarithm of the probability of tags, given scores of each tag at each word: averaged over texts.

    >>> from mycelia.types import int32
    >>> crf = CRF(3)
    >>> loss = crf(ops.zeros((1, 4, 3)), ops.zeros((1, 4), int32))
    >>> round(loss.item(), 4) == round(4 * float(np.log(3.0)), 4)  # all tags are as likely
    True
    """

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.tags = tags
        self.first = Parameter(initializer("zeros", (tags,)))
        self.last = Parameter(initializer("zeros", (tags,)))
        self.transitions = Parameter(initializer("zeros", (tags, tags)))  # from, to

    def construct(self, scores: Tensor, tags: Tensor, mask: Tensor | None = None) -> Tensor:
        """`scores` are (batch, time, tags), `tags` (batch, time); `mask` is true where there is a word."""
        batch, time, _ = scores.shape
        if mask is None:
            mask = ops.ones((batch, time)) > 0
        return ops.mean(self.total(scores, mask) - self.of(scores, tags, mask))

    def of(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """The score of these tags."""
        chosen = ops.one_hot(tags, self.tags, 1.0, 0.0)
        there = mask.astype(scores.dtype)
        total = ops.sum(ops.sum(scores * chosen, 2) * there, 1) + chosen[:, 0] @ self.first
        between = ops.sum((chosen[:, :-1] @ self.transitions) * chosen[:, 1:], 2)
        ends = there - ops.cat((there[:, 1:], ops.zeros_like(there[:, :1])), 1)  # 1 at the last word
        found: Tensor = total + ops.sum(between * there[:, 1:], 1) + ops.sum((chosen @ self.last) * ends, 1)
        return found

    def total(self, scores: Tensor, mask: Tensor) -> Tensor:
        """The logarithm of the sum of exponentials of the scores of all tags (the forward algorithm)."""
        state = self.first + scores[:, 0]
        for t in range(1, scores.shape[1]):
            moved = ops.logsumexp(state[:, :, None] + self.transitions, 1) + scores[:, t]
            state = ops.where(mask[:, t : t + 1], moved, state)
        return ops.logsumexp(state + self.last, 1)

    def decode(self, scores: Tensor, mask: Tensor | None = None) -> list[list[int]]:
        """The best tags of each text (Viterbi).

        >>> CRF(2).decode(Tensor([[[0.0, 1.0], [3.0, 2.0]]]))
        [[1, 0]]
        """
        numbers = scores.asnumpy()
        there = np.ones(numbers.shape[:2], bool) if mask is None else mask.asnumpy()
        return [self._best(row[: int(count)]) for row, count in zip(numbers, there.sum(1), strict=True)]

    def _best(self, scores: Array) -> list[int]:
        if not len(scores):
            return []
        state, back = self.first.asnumpy() + scores[0], []
        for row in scores[1:]:
            ways = state[:, None] + self.transitions.asnumpy()
            back.append(ways.argmax(0))
            state = ways.max(0) + row
        tags = [int((state + self.last.asnumpy()).argmax())]
        for places in reversed(back):
            tags.append(int(places[tags[-1]]))
        return tags[::-1]


class Tagger(nn.Cell):
    """Words, an LSTM in both directions, scores of tags, and a CRF: its loss, and `decode` for the tags themselves.

    >>> from mycelia.types import int32
    >>> net = Tagger(vocabulary=9, tags=3, width=4, hidden=4)
    >>> net(ops.zeros((2, 5), int32), ops.zeros((2, 5), int32)).shape
    ()
    """

    def __init__(self, vocabulary: int, tags: int, width: int = 100, hidden: int = 128) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, bidirectional=True, batch_first=True)
        self.head, self.crf = nn.Dense(2 * hidden, tags), CRF(tags)

    def scores(self, tokens: Tensor) -> Tensor:
        """A number for each tag at each word."""
        seen, _ = self.lstm(self.words(tokens))
        out: Tensor = self.head(seen)
        return out

    def construct(self, tokens: Tensor, tags: Tensor, mask: Tensor | None = None) -> Tensor:
        out: Tensor = self.crf(self.scores(tokens), tags, mask)
        return out

    def decode(self, tokens: Tensor, mask: Tensor | None = None) -> list[list[int]]:
        """The best tags of each text."""
        return self.crf.decode(self.scores(tokens), mask)
