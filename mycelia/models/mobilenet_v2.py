"""MobileNet v2 (Sandler et al., 2018)."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor
from mycelia.models.mobile import InvertedResidual, divisible, normalised

STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class MobileNetV2(nn.Cell):
    """Blocks that are wide inside and narrow outside; `width` scales their channels.

    >>> net = MobileNetV2(num_classes=10, width=0.125)
    >>> net(ops.zeros((1, 3, 32, 32))).shape
    (1, 10)
    """

    def __init__(self, num_classes: int = 1000, in_channels: int = 3, width: float = 1.0, dropout: float = 0.2) -> None:
        super().__init__()
        inputs, last = divisible(32 * width), divisible(1280 * max(width, 1.0))
        layers: list[nn.Cell] = [*normalised(in_channels, inputs, 3, 2), nn.ReLU6()]
        for expansion, channels, count, stride in STAGES:
            for i in range(count):
                outputs = divisible(channels * width)
                inner = inputs * expansion
                layers.append(InvertedResidual(inputs, inner, outputs, 3, 1 if i else stride, nn.ReLU6))
                inputs = outputs
        self.features = nn.SequentialCell(*layers, *normalised(inputs, last), nn.ReLU6())
        self.classifier = nn.SequentialCell(nn.Dropout(p=dropout), nn.Dense(last, num_classes))

    def construct(self, images: Tensor) -> Tensor:
        out: Tensor = self.classifier(ops.mean(self.features(images), (2, 3)))
        return out
