"""EfficientNet-B0 (Tan and Le, 2019), without stochastic depth."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor
from mycelia.models.mobile import InvertedResidual, SqueezeExcite, divisible, normalised

# expansion, kernel, stride, channels, blocks
STAGES = ((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3), (6, 5, 2, 192, 4),
          (6, 3, 1, 320, 1))  # fmt: skip


class EfficientNetB0(nn.Cell):
    """Blocks of MobileNet with weighted channels and SiLU; `width` scales their channels.

    >>> EfficientNetB0(num_classes=10, width=0.125)(ops.zeros((1, 3, 32, 32))).shape
    (1, 10)
    """

    def __init__(self, num_classes: int = 1000, in_channels: int = 3, width: float = 1.0, dropout: float = 0.2) -> None:
        super().__init__()
        inputs = divisible(32 * width)
        layers: list[nn.Cell] = [*normalised(in_channels, inputs, 3, 2), nn.SiLU()]
        for expansion, kernel, stride, channels, count in STAGES:
            for i in range(count):
                inner, outputs = inputs * expansion, divisible(channels * width)
                weights = SqueezeExcite(inner, max(inputs // 4, 1), nn.SiLU(), ops.sigmoid)
                layers.append(InvertedResidual(inputs, inner, outputs, kernel, 1 if i else stride, nn.SiLU, weights))
                inputs = outputs
        self.features = nn.SequentialCell(*layers, *normalised(inputs, 4 * inputs), nn.SiLU())
        self.classifier = nn.SequentialCell(nn.Dropout(p=dropout), nn.Dense(4 * inputs, num_classes))

    def construct(self, images: Tensor) -> Tensor:
        out: Tensor = self.classifier(ops.mean(self.features(images), (2, 3)))
        return out
