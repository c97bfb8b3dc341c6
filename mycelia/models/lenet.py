"""LeNet-5 (LeCun et al., 1998), with rectifiers and maxima, as it is taught today."""

from __future__ import annotations

from mycelia import nn
from mycelia.eager import Tensor


class LeNet(nn.Cell):
    """Two convolutions and three dense layers, for pictures of 28 by 28 pixels.

    >>> from mycelia import ops
    >>> net = LeNet()
    >>> net(ops.zeros((2, 1, 28, 28))).shape, sum(p.size for p in net.trainable_params())
    ((2, 10), 44426)
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1) -> None:
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(in_channels, 6, 5, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
        )
        self.classifier = nn.SequentialCell(
            nn.Dense(16 * 4 * 4, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, num_classes)
        )

    def construct(self, images: Tensor) -> Tensor:
        return self.classifier(self.features(images))  # type: ignore[no-any-return]
