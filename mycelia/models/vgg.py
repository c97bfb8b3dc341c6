"""VGG (Simonyan and Zisserman, 2014): convolutions of three by three, and nothing else, up to 19 layers deep."""

from __future__ import annotations

from mycelia import nn
from mycelia.eager import Tensor

STAGES = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


class VGG(nn.Cell):
    """Five stages of convolutions, each halved at its end, and three dense layers; `normalised` adds batch norms.

    >>> from mycelia import ops
    >>> VGG(STAGES[11], num_classes=10, width=0.0625)(ops.zeros((1, 3, 32, 32))).shape
    (1, 10)
    """

    def __init__(
        self,
        stages: tuple[int, ...],
        num_classes: int = 1000,
        in_channels: int = 3,
        normalised: bool = False,
        dropout: float = 0.5,
        width: float = 1.0,
    ) -> None:
        super().__init__()
        layers: list[nn.Cell] = []
        inputs = in_channels
        for number, count in enumerate(stages):
            channels = max(int(min(64 << number, 512) * width), 1)
            for _ in range(count):
                layers.append(nn.Conv2d(inputs, channels, 3, pad_mode="pad", padding=1, has_bias=True))
                layers += [nn.BatchNorm2d(channels)] if normalised else []
                layers.append(nn.ReLU())
                inputs = channels
            layers.append(nn.MaxPool2d(2, 2))
        self.features = nn.SequentialCell(*layers)
        self.pool = nn.AdaptiveAvgPool2d(7)
        dense = max(int(4096 * width), 1)
        self.classifier = nn.SequentialCell(
            nn.Flatten(), nn.Dense(49 * inputs, dense), nn.ReLU(), nn.Dropout(p=dropout),
            nn.Dense(dense, dense), nn.ReLU(), nn.Dropout(p=dropout), nn.Dense(dense, num_classes),
        )  # fmt: skip

    def construct(self, images: Tensor) -> Tensor:
        out: Tensor = self.classifier(self.pool(self.features(images)))
        return out


def vgg11(num_classes: int = 1000, in_channels: int = 3, normalised: bool = False, width: float = 1.0) -> VGG:
    """VGG of 11 layers.

    >>> len([c for c in vgg11(10, width=0.02).features if isinstance(c, nn.Conv2d)])
    8
    """
    return VGG(STAGES[11], num_classes, in_channels, normalised, width=width)


def vgg13(num_classes: int = 1000, in_channels: int = 3, normalised: bool = False, width: float = 1.0) -> VGG:
    """VGG of 13 layers.

    >>> len([c for c in vgg13(10, width=0.02).features if isinstance(c, nn.Conv2d)])
    10
    """
    return VGG(STAGES[13], num_classes, in_channels, normalised, width=width)


def vgg16(num_classes: int = 1000, in_channels: int = 3, normalised: bool = False, width: float = 1.0) -> VGG:
    """VGG of 16 layers.

    >>> len([c for c in vgg16(10, width=0.02).features if isinstance(c, nn.Conv2d)])
    13
    """
    return VGG(STAGES[16], num_classes, in_channels, normalised, width=width)


def vgg19(num_classes: int = 1000, in_channels: int = 3, normalised: bool = False, width: float = 1.0) -> VGG:
    """VGG of 19 layers.

    >>> len([c for c in vgg19(10, width=0.02).features if isinstance(c, nn.Conv2d)])
    16
    """
    return VGG(STAGES[19], num_classes, in_channels, normalised, width=width)
