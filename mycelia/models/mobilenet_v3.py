"""MobileNet v3 (Howard et al., 2019): found by search, with weighted channels and hard activations."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor
from mycelia.models.mobile import InvertedResidual, SqueezeExcite, divisible, normalised

# kernel, inner channels, channels, whether channels are weighted, whether it is hard swish, stride
LARGE = (
    (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1),
    (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
    (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1),
    (5, 960, 160, 1, 1, 1),
)  # fmt: skip
SMALL = (
    (3, 16, 16, 1, 0, 2), (3, 72, 24, 0, 0, 2), (3, 88, 24, 0, 0, 1), (5, 96, 40, 1, 1, 2), (5, 240, 40, 1, 1, 1),
    (5, 240, 40, 1, 1, 1), (5, 120, 48, 1, 1, 1), (5, 144, 48, 1, 1, 1), (5, 288, 96, 1, 1, 2), (5, 576, 96, 1, 1, 1),
    (5, 576, 96, 1, 1, 1),
)  # fmt: skip
EPS = 1e-3


class MobileNetV3(nn.Cell):
    """The network of a table such as `SMALL`; `width` scales its channels.

    >>> MobileNetV3(SMALL, 1024, num_classes=10, width=0.25)(ops.zeros((1, 3, 32, 32))).shape
    (1, 10)
    """

    def __init__(
        self,
        table: tuple[tuple[int, ...], ...],
        dense: int,
        num_classes: int = 1000,
        in_channels: int = 3,
        width: float = 1.0,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        inputs = divisible(16 * width)
        layers: list[nn.Cell] = [*normalised(in_channels, inputs, 3, 2, eps=EPS), nn.HSwish()]
        for kernel, wide, channels, weighted, hard, stride in table:
            inner, outputs = divisible(wide * width), divisible(channels * width)
            weights = SqueezeExcite(inner, divisible(inner / 4), nn.ReLU(), ops.hardsigmoid) if weighted else None
            activation = nn.HSwish if hard else nn.ReLU
            layers.append(InvertedResidual(inputs, inner, outputs, kernel, stride, activation, weights, EPS))
            inputs = outputs
        self.features = nn.SequentialCell(*layers, *normalised(inputs, 6 * inputs, eps=EPS), nn.HSwish())
        self.classifier = nn.SequentialCell(
            nn.Dense(6 * inputs, dense), nn.HSwish(), nn.Dropout(p=dropout), nn.Dense(dense, num_classes)
        )

    def construct(self, images: Tensor) -> Tensor:
        out: Tensor = self.classifier(ops.mean(self.features(images), (2, 3)))
        return out


def mobilenet_v3_large(num_classes: int = 1000, in_channels: int = 3, width: float = 1.0) -> MobileNetV3:
    """The larger one.

    >>> len(mobilenet_v3_large(10, width=0.1).features)
    21
    """
    return MobileNetV3(LARGE, divisible(1280 * width), num_classes, in_channels, width)


def mobilenet_v3_small(num_classes: int = 1000, in_channels: int = 3, width: float = 1.0) -> MobileNetV3:
    """The smaller one.

    >>> len(mobilenet_v3_small(10, width=0.1).features)
    17
    """
    return MobileNetV3(SMALL, divisible(1024 * width), num_classes, in_channels, width)
