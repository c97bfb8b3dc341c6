"""DenseNet (Huang et al., 2016): every layer sees what all layers before it have given."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor


class DenseLayer(nn.Cell):
    """Its argument, and a few channels more.

    >>> DenseLayer(8, growth=4)(ops.zeros((1, 8, 4, 4))).shape
    (1, 12, 4, 4)
    """

    def __init__(self, inputs: int, growth: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(inputs), nn.Conv2d(inputs, 4 * growth, 1, weight_init="HeNormal")
        self.norm2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, pad_mode="pad", padding=1, weight_init="HeNormal")

    def construct(self, x: Tensor) -> Tensor:
        narrow = self.conv1(ops.relu(self.norm1(x)))
        return ops.cat((x, self.conv2(ops.relu(self.norm2(narrow)))), 1)


class DenseNet(nn.Cell):
    """Blocks of such layers; between two of them half of the channels and a quarter of the pixels are left.

    >>> DenseNet((1, 1), growth=4, num_classes=10)(ops.zeros((1, 3, 32, 32))).shape
    (1, 10)
    """

    def __init__(
        self, blocks: tuple[int, ...], growth: int = 32, num_classes: int = 1000, in_channels: int = 3
    ) -> None:
        super().__init__()
        channels = 2 * growth
        layers: list[nn.Cell] = [
            nn.Conv2d(in_channels, channels, 7, 2, pad_mode="pad", padding=3, weight_init="HeNormal"),
            nn.BatchNorm2d(channels), nn.ReLU(), nn.MaxPool2d(3, 2, pad_mode="pad", padding=1),
        ]  # fmt: skip
        for number, count in enumerate(blocks):
            if number:
                half = channels // 2
                layers += [nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, half, 1, weight_init="HeNormal"),
                           nn.AvgPool2d(2, 2)]  # fmt: skip
                channels = half
            for _ in range(count):
                layers.append(DenseLayer(channels, growth))
                channels += growth
        self.features = nn.SequentialCell(*layers, nn.BatchNorm2d(channels), nn.ReLU())
        self.classifier = nn.Dense(channels, num_classes)

    def construct(self, images: Tensor) -> Tensor:
        out: Tensor = self.classifier(ops.mean(self.features(images), (2, 3)))
        return out


def densenet121(num_classes: int = 1000, in_channels: int = 3) -> DenseNet:
    """DenseNet of 121 layers.

    >>> len([c for c in densenet121(10).features if isinstance(c, DenseLayer)])
    58
    """
    return DenseNet((6, 12, 24, 16), 32, num_classes, in_channels)
