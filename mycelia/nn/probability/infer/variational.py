"""Variational inference: the evidence lower bound as a loss, and its training."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia import checks, ops
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.nn.cell import Cell
from mycelia.nn.probability.distribution import Normal
from mycelia.nn.wrap import TrainOneStepCell

__all__ = ["ELBO", "SVI"]


class ELBO(Cell):
    """Minus the evidence lower bound, but for a constant: half the squared errors of what was rebuilt (or, with the
    output prior "Bernoulli", their binary cross entropy), and the divergence of the latent variables from a standard
    normal distribution. The first argument is what `dpn.VAE` gives: rebuilt numbers, numbers, means, deviations.

    >>> x = ops.zeros((2, 3))
    >>> ELBO()((x, x, ops.zeros((2, 1)), ops.ones((2, 1))), x).item()
    0.0
    """

    def __init__(self, latent_prior: str = "Normal", output_prior: str = "Normal") -> None:
        super().__init__()
        self.latent_prior = checks.choice(self.cls_name, "latent_prior", latent_prior, ("Normal",))
        self.output_prior = checks.choice(self.cls_name, "output_prior", output_prior, ("Normal", "Bernoulli"))
        self._normal = Normal(0.0, 1.0)

    def construct(self, data: Any, label: Any = None) -> Tensor:
        rebuilt, x, mean, deviation = data
        if self.output_prior == "Normal":
            away = ops.reduce_sum(ops.square(rebuilt - x)) * 0.5
        else:
            away = -ops.reduce_sum(x * ops.log(rebuilt + 1e-7) + (1.0 - x) * ops.log(1.0 - rebuilt + 1e-7))
        zero = ops.zeros_like(mean)
        return away + ops.reduce_sum(self._normal.kl_loss("Normal", zero, zero + 1.0, mean, deviation))


class SVI:
    """Stochastic variational inference: a network that gives the loss of a batch is trained over a dataset, or over
    any iterable of batches.

    >>> from mycelia import nn
    >>> net = nn.WithLossCell(nn.Dense(1, 1), nn.MSELoss())
    >>> svi = SVI(net, nn.SGD(net.trainable_params(), 0.1))
    >>> svi.run([(ops.ones((4, 1)), ops.ones((4, 1)))], epochs=3) is net
    True
    """

    def __init__(self, net_with_loss: Cell, optimizer: Any) -> None:
        self.net_with_loss, self.optimizer = net_with_loss, optimizer
        self._loss: float | None = None

    def run(self, train_dataset: Any, epochs: int = 10) -> Cell:
        """Train, and give the network."""
        step = TrainOneStepCell(self.net_with_loss, self.optimizer)
        step.set_train()
        for _ in range(checks.whole("SVI.run", "epochs", epochs, least=1)):
            losses = [step(*map(_tensor, batch)) for batch in _batches(train_dataset)]
            if not losses:
                raise ArgumentError("the dataset of SVI.run has no batch")
            self._loss = float(np.mean([np.mean(loss.asnumpy()) for loss in losses]))
        return self.net_with_loss

    def get_train_loss(self) -> float:
        """The mean loss of the last epoch."""
        if self._loss is None:
            raise ArgumentError("there is no loss before SVI.run")
        return self._loss


def _tensor(x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else Tensor(x)


def _batches(dataset: Any) -> Any:
    iterate = getattr(dataset, "create_tuple_iterator", None)
    return dataset if iterate is None else iterate()
