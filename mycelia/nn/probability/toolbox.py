"""What does not look like the data that was learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia import checks
from mycelia.eager import Tensor
from mycelia.names import boundary as _boundary
from mycelia.nn.cell import Cell
from mycelia.nn.optim import Adam
from mycelia.nn.probability.dpn import VAE
from mycelia.nn.probability.infer import ELBO, SVI
from mycelia.nn.wrap import WithLossCell

__all__ = ["VAEAnomalyDetection"]


class VAEAnomalyDetection:
    """An auto-encoder that learns examples, and tells by how badly it rebuilds others that they are strange.

    >>> from mycelia import nn, ops
    >>> strange = VAEAnomalyDetection(nn.Dense(6, 4), nn.Dense(4, 6), 4, 2)
    >>> _ = strange.train([(ops.zeros((8, 6)), ops.zeros((8,)))], epochs=1)
    >>> strange.predict_outlier(Tensor(np.full((1, 6), 100.0), "float32"))
    True
    """

    def __init__(self, encoder: Cell, decoder: Cell, hidden_size: int = 400, latent_size: int = 20) -> None:
        self.vae = VAE(encoder, decoder, hidden_size, latent_size)

    def train(self, train_dataset: Any, epochs: int = 5) -> Cell:
        """Learn the examples of a dataset, whose second column is not looked at."""
        net = WithLossCell(self.vae, ELBO())
        svi = SVI(net, Adam(self.vae.trainable_params(), learning_rate=0.001))
        return svi.run(train_dataset, epochs)

    def predict_outlier(self, sample_x: Tensor, threshold: float = 100.0) -> bool:
        """Whether the score of an example is above a threshold."""
        return self.predict_outlier_score(sample_x) > checks.number("predict_outlier", "threshold", threshold)

    def predict_outlier_score(self, sample_x: Tensor) -> float:
        """The squared error of an example that was rebuilt."""
        rebuilt = self.vae.reconstruct_sample(sample_x).asnumpy()
        return float(np.sum((rebuilt - sample_x.asnumpy()) ** 2))


_boundary(globals())
