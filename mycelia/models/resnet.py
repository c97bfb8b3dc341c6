"""ResNet (He et al., 2015): blocks that add to what they are given; 18, 34, 50, 101 and 152 layers."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor


def convolution(inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> nn.Conv2d:
    """A convolution without a bias, since a normalisation follows, that keeps the size (or divides it by the stride).

    >>> convolution(3, 8)(ops.zeros((1, 3, 4, 4))).shape
    (1, 8, 4, 4)
    """
    return nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, weight_init="HeNormal")


class BasicBlock(nn.Cell):
    """Two convolutions of three by three.

    >>> BasicBlock(4, 4)(ops.zeros((1, 4, 8, 8))).shape
    (1, 4, 8, 8)
    """

    expansion = 1

    def __init__(self, inputs: int, channels: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, channels, 3, stride), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = convolution(channels, channels), nn.BatchNorm2d(channels)
        self.shortcut = shortcut(inputs, channels, stride)

    def construct(self, x: Tensor) -> Tensor:
        out = ops.relu(self.bn1(self.conv1(x)))
        return ops.relu(self.bn2(self.conv2(out)) + self.shortcut(x))


class Bottleneck(nn.Cell):
    """A convolution of three by three between two of one by one; it gives four times as many channels.

    >>> Bottleneck(4, 4)(ops.zeros((1, 4, 8, 8))).shape
    (1, 16, 8, 8)
    """

    expansion = 4

    def __init__(self, inputs: int, channels: int, stride: int = 1) -> None:
        super().__init__()
        outputs = channels * self.expansion
        self.conv1, self.bn1 = convolution(inputs, channels, 1), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = convolution(channels, channels, 3, stride), nn.BatchNorm2d(channels)
        self.conv3, self.bn3 = convolution(channels, outputs, 1), nn.BatchNorm2d(outputs)
        self.shortcut = shortcut(inputs, outputs, stride)

    def construct(self, x: Tensor) -> Tensor:
        out = ops.relu(self.bn1(self.conv1(x)))
        out = ops.relu(self.bn2(self.conv2(out)))
        return ops.relu(self.bn3(self.conv3(out)) + self.shortcut(x))


def shortcut(inputs: int, outputs: int, stride: int) -> nn.Cell:
    """What a block adds to: its argument, in the shape of its result.

    >>> type(shortcut(4, 4, 1)).__name__
    'Identity'
    """
    if inputs == outputs and stride == 1:
        return nn.Identity()
    return nn.SequentialCell(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))


class ResNet(nn.Cell):
    """Four stages of blocks, each with twice the channels and half the size; `small` is for pictures of some 32 pixels.

    >>> net = ResNet(BasicBlock, (1, 1, 1, 1), num_classes=10, small=True)
    >>> net(ops.zeros((2, 3, 32, 32))).shape
    (2, 10)
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        layers: tuple[int, int, int, int],
        num_classes: int = 1000,
        in_channels: int = 3,
        small: bool = False,
    ) -> None:
        super().__init__()
        self.conv1 = convolution(in_channels, 64, 3, 2) if small else convolution(in_channels, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64)
        self.pool = nn.Identity() if small else nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        stages, inputs = [], 64
        for number, count in enumerate(layers):
            blocks = []
            for i in range(count):
                blocks.append(block(inputs, 64 << number, 2 if number and not i else 1))
                inputs = (64 << number) * block.expansion
            stages.append(nn.SequentialCell(*blocks))
        self.stages = nn.SequentialCell(*stages)
        self.fc = nn.Dense(inputs, num_classes)

    def construct(self, images: Tensor) -> Tensor:
        seen = self.stages(self.pool(ops.relu(self.bn1(self.conv1(images)))))
        return self.fc(ops.mean(seen, (2, 3)))  # type: ignore[no-any-return]


def resnet18(num_classes: int = 1000, in_channels: int = 3, small: bool = False) -> ResNet:
    """ResNet of 18 layers.

    >>> sum(p.size for p in resnet18().trainable_params())
    11689512
    """
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes, in_channels, small)


def resnet34(num_classes: int = 1000, in_channels: int = 3, small: bool = False) -> ResNet:
    """ResNet of 34 layers.

    >>> len(resnet34(10).stages[2])
    6
    """
    return ResNet(BasicBlock, (3, 4, 6, 3), num_classes, in_channels, small)


def resnet50(num_classes: int = 1000, in_channels: int = 3, small: bool = False) -> ResNet:
    """ResNet of 50 layers.

    >>> len(resnet50(10).stages[2])
    6
    """
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes, in_channels, small)


def resnet101(num_classes: int = 1000, in_channels: int = 3, small: bool = False) -> ResNet:
    """ResNet of 101 layers.

    >>> resnet101.__defaults__
    (1000, 3, False)
    """
    return ResNet(Bottleneck, (3, 4, 23, 3), num_classes, in_channels, small)


def resnet152(num_classes: int = 1000, in_channels: int = 3, small: bool = False) -> ResNet:
    """ResNet of 152 layers.

    >>> resnet152.__defaults__
    (1000, 3, False)
    """
    return ResNet(Bottleneck, (3, 8, 36, 3), num_classes, in_channels, small)
