"""Vision transformer (Dosovitskiy et al., 2020): a picture is a sentence of patches."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.common.initializer import Normal, initializer
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError
from mycelia.models.attention import Block


class ViT(nn.Cell):
    """Patches of `patch` by `patch` pixels, one word more that collects the answer, and blocks of attention.

    >>> ViT(image=8, patch=4, width=16, layers=1, heads=2, num_classes=10)(ops.zeros((2, 3, 8, 8))).shape
    (2, 10)
    """

    def __init__(
        self,
        image: int = 224,
        patch: int = 16,
        width: int = 768,
        layers: int = 12,
        heads: int = 12,
        num_classes: int = 1000,
        in_channels: int = 3,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if image % patch:
            raise ArgumentError(f"patches of {patch} do not divide a picture of {image} pixels")
        self.patches = nn.Conv2d(in_channels, width, patch, patch, pad_mode="valid", has_bias=True)
        self.answer = Parameter(initializer("zeros", (1, 1, width)))
        self.places = Parameter(initializer(Normal(0.02), (1, (image // patch) ** 2 + 1, width)))
        self.dropout = nn.Dropout(p=dropout)
        self.blocks = nn.CellList([Block(width, heads, dropout=dropout, eps=1e-6) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm((width,), epsilon=1e-6), nn.Dense(width, num_classes)

    def construct(self, images: Tensor) -> Tensor:
        found = self.patches(images)
        batch, width = found.shape[:2]
        words = found.reshape((batch, width, -1)).swapaxes(1, 2)
        x = ops.cat((ops.broadcast_to(self.answer, (batch, 1, width)), words), 1) + self.places
        x = self.dropout(x)
        for block in self.blocks:
            x, _ = block(x)
        out: Tensor = self.head(self.norm(x)[:, 0])
        return out
