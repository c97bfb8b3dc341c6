"""The parts of networks for small machines: convolutions of one channel each, between two of one pixel."""

from __future__ import annotations

from collections.abc import Callable

from mycelia import nn, ops
from mycelia.eager import Tensor


def divisible(channels: float, by: int = 8) -> int:
    """The nearest number of channels that 8 divides, at least nine tenths of what was asked for.

    >>> divisible(32 * 0.35), divisible(23)
    (16, 24)
    """
    found = max(by, int(channels + by / 2) // by * by)
    return found if found >= 0.9 * channels else found + by


def normalised(
    inputs: int, outputs: int, kernel: int = 1, stride: int = 1, group: int = 1, eps: float = 1e-5
) -> tuple[nn.Cell, nn.Cell]:
    """A convolution that keeps the size (or divides it by the stride), and its normalisation.

    >>> [type(c).__name__ for c in normalised(4, 8)]
    ['Conv2d', 'BatchNorm2d']
    """
    convolution = nn.Conv2d(
        inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, group=group, weight_init="HeNormal"
    )
    return convolution, nn.BatchNorm2d(outputs, eps)


class SqueezeExcite(nn.Cell):
    """Each channel times a number between 0 and 1, which the means of all channels decide (Hu et al., 2017).

    >>> SqueezeExcite(8, 2, nn.ReLU(), ops.sigmoid)(ops.ones((1, 8, 2, 2))).shape
    (1, 8, 2, 2)
    """

    def __init__(self, channels: int, squeezed: int, activation: nn.Cell, gate: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1, has_bias=True)
        self.excite = nn.Conv2d(squeezed, channels, 1, has_bias=True)
        self.activation, self.gate = activation, gate

    def construct(self, x: Tensor) -> Tensor:
        means = ops.mean(x, (2, 3), True)
        out: Tensor = x * self.gate(self.excite(self.activation(self.squeeze(means))))
        return out


class InvertedResidual(nn.Cell):
    """Wider, filtered channel by channel, weighted where that is asked for, narrow again; added to its argument where
    the shapes allow (Sandler et al., 2018).

    >>> InvertedResidual(8, 32, 8, 3, 1, nn.ReLU6)(ops.ones((1, 8, 4, 4))).shape
    (1, 8, 4, 4)
    """

    def __init__(
        self,
        inputs: int,
        inner: int,
        outputs: int,
        kernel: int,
        stride: int,
        activation: Callable[[], nn.Cell],
        weighted: nn.Cell | None = None,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        wider = (*normalised(inputs, inner, eps=eps), activation()) if inner != inputs else ()
        filtered = (*normalised(inner, inner, kernel, stride, inner, eps), activation())
        weights = () if weighted is None else (weighted,)
        self.layers = nn.SequentialCell(*wider, *filtered, *weights, *normalised(inner, outputs, eps=eps))
        self.adds = stride == 1 and inputs == outputs

    def construct(self, x: Tensor) -> Tensor:
        out: Tensor = self.layers(x)
        return x + out if self.adds else out
