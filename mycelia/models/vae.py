"""A variational autoencoder (Kingma and Welling, 2013): pictures as a few numbers, and pictures from such numbers."""

from __future__ import annotations

from mycelia import nn, ops
from mycelia.eager import Tensor


class VAE(nn.Cell):
    """Its call gives the loss of vectors of numbers from 0 to 1: what is lost when they are written down in `latent`
    numbers and read again, in nats a vector, averaged.

    >>> net = VAE(8, hidden=4, latent=2)
    >>> net(ops.ones((3, 8))).shape, net.decode(ops.zeros((5, 2))).shape
    ((), (5, 8))
    """

    def __init__(self, features: int = 784, hidden: int = 400, latent: int = 20) -> None:
        super().__init__()
        self.latent = latent
        self.seen = nn.Dense(features, hidden)
        self.mean, self.log_variance = nn.Dense(hidden, latent), nn.Dense(hidden, latent)
        self.wide, self.picture = nn.Dense(latent, hidden), nn.Dense(hidden, features)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The mean of the numbers that stand for `x`, and the logarithm of their variance."""
        hidden = ops.relu(self.seen(x))
        return self.mean(hidden), self.log_variance(hidden)

    def scores(self, z: Tensor) -> Tensor:
        """The picture of some numbers, before it is brought to 0 ... 1."""
        out: Tensor = self.picture(ops.relu(self.wide(z)))
        return out

    def decode(self, z: Tensor) -> Tensor:
        """The picture of some numbers."""
        return ops.sigmoid(self.scores(z))

    def construct(self, x: Tensor) -> Tensor:
        mean, log_variance = self.encode(x)
        z = mean + ops.exp(0.5 * log_variance) * ops.randn_like(mean)
        scores = self.scores(z)
        lost = ops.sum(ops.relu(scores) - scores * x + ops.log1p(ops.exp(-ops.abs(scores))), 1)
        far = 0.5 * ops.sum(ops.exp(log_variance) + ops.square(mean) - 1.0 - log_variance, 1)
        return ops.mean(lost + far)
