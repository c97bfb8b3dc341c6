"""U-Net (Ronneberger et al., 2015): down to what is seen, and up again to where it is; with batch norms and padding."""

from __future__ import annotations

from itertools import pairwise

from mycelia import nn, ops
from mycelia.eager import Tensor


def twice(inputs: int, outputs: int) -> nn.SequentialCell:
    """Two convolutions of three by three, each with a normalisation and a rectifier.

    >>> twice(1, 4)(ops.zeros((1, 1, 8, 8))).shape
    (1, 4, 8, 8)
    """
    layers: list[nn.Cell] = []
    for channels in (inputs, outputs):
        convolution = nn.Conv2d(channels, outputs, 3, pad_mode="pad", padding=1, weight_init="HeNormal")
        layers += [convolution, nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.SequentialCell(*layers)


class UNet(nn.Cell):
    """A number for each class at every pixel; sides are multiples of 2 to the `depth`.

    >>> UNet(3, 2, width=4, depth=2)(ops.zeros((1, 3, 8, 8))).shape
    (1, 2, 8, 8)
    """

    def __init__(self, in_channels: int = 3, num_classes: int = 2, width: int = 64, depth: int = 4) -> None:
        super().__init__()
        sizes = [width << n for n in range(depth + 1)]
        self.first = twice(in_channels, width)
        self.down = nn.CellList([twice(a, b) for a, b in pairwise(sizes)])
        back = sizes[::-1]
        pairs = list(pairwise(back))
        self.up = nn.CellList([
            nn.Conv2dTranspose(a, b, 2, 2, pad_mode="valid", has_bias=True, weight_init="HeNormal") for a, b in pairs
        ])  # fmt: skip
        self.join = nn.CellList([twice(a, b) for a, b in pairs])
        self.pool = nn.MaxPool2d(2, 2)
        self.last = nn.Conv2d(width, num_classes, 1, has_bias=True)

    def construct(self, images: Tensor) -> Tensor:
        x: Tensor = self.first(images)
        seen = [x]
        for layer in self.down:
            x = layer(self.pool(x))
            seen.append(x)
        seen.pop()
        for up, join in zip(self.up, self.join, strict=True):
            x = join(ops.cat((seen.pop(), up(x)), 1))
        out: Tensor = self.last(x)
        return out
