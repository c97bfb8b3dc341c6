"""Two networks against one another (Goodfellow et al., 2014): one makes pictures, the other judges them."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor


class Generator(nn.Cell):
    """Vectors of numbers from -1 to 1 out of noise.

    >>> Generator(features=8, noise=2, hidden=4)(ops.zeros((3, 2))).shape
    (3, 8)
    """

    def __init__(self, features: int = 784, noise: int = 100, hidden: int = 256) -> None:
        super().__init__()
        self.noise = noise
        self.layers = nn.SequentialCell(
            nn.Dense(noise, hidden), nn.LeakyReLU(0.2), nn.Dense(hidden, 2 * hidden), nn.LeakyReLU(0.2),
            nn.Dense(2 * hidden, features), nn.Tanh(),
        )  # fmt: skip

    def construct(self, z: Tensor) -> Tensor:
        out: Tensor = self.layers(z)
        return out


class Discriminator(nn.Cell):
    """A number for each vector: the larger, the more real it looks.

    >>> Discriminator(features=8, hidden=4)(ops.zeros((3, 8))).shape
    (3,)
    """

    def __init__(self, features: int = 784, hidden: int = 256) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(features, 2 * hidden), nn.LeakyReLU(0.2), nn.Dense(2 * hidden, hidden), nn.LeakyReLU(0.2),
            nn.Dense(hidden, 1),
        )  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        return self.layers(x)[:, 0]  # type: ignore[no-any-return]


def is_real(scores: Tensor, real: bool) -> Tensor:
    """The loss of who says that all of these are real, or that none is.

    >>> round(is_real(ops.zeros((2,)), True).item(), 4)
    0.6931
    """
    signed = scores if real else -scores
    return ops.mean(ops.relu(-signed) + ops.log1p(ops.exp(-ops.abs(signed))))
