"""Diffusion (Ho et al., 2020): noise is added step by step, and a network learns to take it away again."""

from __future__ import annotations

import numpy as np

from mycelia import checks, nn, ops
from mycelia.eager import Tensor
from mycelia.types import Array, float32, int32


class Denoiser(nn.Cell):
    """Guesses the noise in vectors at given steps.

    >>> Denoiser(features=4, hidden=8)(ops.zeros((3, 4)), ops.zeros((3,), int32)).shape
    (3, 4)
    """

    def __init__(self, features: int, hidden: int = 128, layers: int = 2) -> None:
        super().__init__()
        self.frequencies = Tensor(np.exp(-np.log(1e4) * np.arange(16) / 16).astype(np.float32))
        self.first, self.when = nn.Dense(features, hidden), nn.Dense(32, hidden)
        self.inner = nn.CellList([nn.Dense(hidden, hidden) for _ in range(layers)])
        self.last = nn.Dense(hidden, features)

    def construct(self, x: Tensor, steps: Tensor) -> Tensor:
        angles = steps.astype(float32)[:, None] * self.frequencies
        when = self.when(ops.cat((ops.sin(angles), ops.cos(angles)), 1))
        hidden = ops.silu(self.first(x) + when)
        for layer in self.inner:
            hidden = hidden + ops.silu(layer(hidden) + when)
        out: Tensor = self.last(hidden)
        return out


class Diffusion(nn.Cell):
    """Its call gives the loss of a network that guesses noise; `sample` makes new vectors out of noise.

    >>> model = Diffusion(Denoiser(4, hidden=8), steps=10)
    >>> model(ops.zeros((3, 4))).shape, model.sample((2, 4), seed=0).shape
    ((), (2, 4))
    """

    def __init__(self, network: nn.Cell, steps: int = 200) -> None:
        super().__init__()
        self.network, self.steps = network, checks.whole("Diffusion", "steps", steps, least=1)
        self.betas: Array = np.linspace(1e-4, 0.02, steps) * (1000 / steps)
        self.betas = np.minimum(self.betas, 0.999)
        self.kept: Array = np.cumprod(1.0 - self.betas)  # of the variance of a picture, after each step
        self.picture = Tensor(np.sqrt(self.kept).astype(np.float32))
        self.noise = Tensor(np.sqrt(1.0 - self.kept).astype(np.float32))

    def construct(self, x: Tensor) -> Tensor:
        when = ops.randint(0, self.steps, (x.shape[0],)).astype(int32)
        noise = ops.randn_like(x)
        mixed = self.picture[when][:, None] * x + self.noise[when][:, None] * noise
        return ops.mean(ops.square(self.network(mixed, when) - noise))

    def sample(self, shape: tuple[int, int], seed: int | None = None) -> Tensor:
        """New vectors, made from noise by going all steps back."""
        rng = np.random.default_rng(seed)
        x = rng.normal(size=shape)
        for t in reversed(range(self.steps)):
            guessed = self.network(Tensor(x.astype(np.float32)), Tensor(np.full(shape[0], t, np.int32))).asnumpy()
            beta, kept = self.betas[t], self.kept[t]
            x = (x - beta / np.sqrt(1 - kept) * guessed) / np.sqrt(1 - beta)
            if t:
                x = x + np.sqrt(beta) * rng.normal(size=shape)
        return Tensor(x.astype(np.float32))
