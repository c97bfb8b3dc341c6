"""AlexNet (Krizhevsky, 2014, "one weird trick"): five convolutions and three dense layers."""

from __future__ import annotations

from mycelia import nn
from mycelia.eager import Tensor


def _seen(inputs: int, outputs: int, kernel: int, stride: int = 1) -> tuple[nn.Cell, nn.Cell]:
    padding = 2 if kernel > 3 else 1
    return nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=padding, has_bias=True), nn.ReLU()


class AlexNet(nn.Cell):
    """For pictures of 63 pixels and more; it was published for 224. `width` scales all channels, for small trials.

    >>> from mycelia import ops
    >>> net = AlexNet(num_classes=10, width=0.0625)
    >>> net(ops.zeros((1, 3, 64, 64))).shape
    (1, 10)
    """

    def __init__(self, num_classes: int = 1000, in_channels: int = 3, dropout: float = 0.5, width: float = 1.0) -> None:
        super().__init__()
        a, b, c, d, dense = (max(int(n * width), 1) for n in (64, 192, 384, 256, 4096))
        self.features = nn.SequentialCell(
            *_seen(in_channels, a, 11, 4), nn.MaxPool2d(3, 2), *_seen(a, b, 5), nn.MaxPool2d(3, 2),
            *_seen(b, c, 3), *_seen(c, d, 3), *_seen(d, d, 3), nn.MaxPool2d(3, 2),
        )  # fmt: skip
        self.pool = nn.AdaptiveAvgPool2d(6)
        self.classifier = nn.SequentialCell(
            nn.Flatten(), nn.Dropout(p=dropout), nn.Dense(36 * d, dense), nn.ReLU(),
            nn.Dropout(p=dropout), nn.Dense(dense, dense), nn.ReLU(), nn.Dense(dense, num_classes),
        )  # fmt: skip

    def construct(self, images: Tensor) -> Tensor:
        out: Tensor = self.classifier(self.pool(self.features(images)))
        return out
