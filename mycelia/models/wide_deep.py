"""Wide and deep (Cheng et al., 2016): what is known of single features, and of all together."""

from __future__ import annotations

from itertools import pairwise

from mycelia import nn, ops
from mycelia.eager import Tensor


class WideDeep(nn.Cell):
    """A number for each row of features, given by their places in one table and their weights: (batch, fields).

    >>> from mycelia.types import int32
    >>> net = WideDeep(features=50, fields=3, width=4, hidden=(8,))
    >>> net(ops.zeros((2, 3), int32), ops.ones((2, 3))).shape
    (2,)
    """

    def __init__(
        self, features: int, fields: int, width: int = 80, hidden: tuple[int, ...] = (1024, 512, 256, 128),
        dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.wide, self.deep = nn.Embedding(features, 1), nn.Embedding(features, width)
        layers: list[nn.Cell] = []
        sizes = (fields * width, *hidden)
        for a, b in pairwise(sizes):
            layers += [nn.Dense(a, b), nn.ReLU(), nn.Dropout(p=dropout)]
        self.layers = nn.SequentialCell(*layers, nn.Dense(sizes[-1], 1))

    def construct(self, ids: Tensor, weights: Tensor) -> Tensor:
        by = weights[:, :, None]
        wide = ops.sum(self.wide(ids) * by, (1, 2))
        deep = self.layers((self.deep(ids) * by).reshape((ids.shape[0], -1)))
        out: Tensor = wide + deep[:, 0]
        return out
