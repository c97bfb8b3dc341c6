"""Models for the optimizer THOR, which MindSpore has for Ascend and GPU devices only."""

from __future__ import annotations

from typing import Any

from mycelia.errors import ArgumentError
from mycelia.nn import Cell
from mycelia.train.model import Model


class ConvertModelUtils:
    """Makes a model for THOR of a model; with every other optimizer, and there are only others here, it stays as it is.

    >>> from mycelia import nn
    >>> model = Model(nn.Dense(2, 1))
    >>> ConvertModelUtils.convert_to_thor_model(model, network=model.train_network) is model
    True
    """

    @staticmethod
    def convert_to_thor_model(model: Model, network: Any, **settings: Any) -> Model:
        """The model. The other arguments are those that it was made with."""
        if not isinstance(model, Model):
            raise ArgumentError(f"convert_to_thor_model takes a Model, not a {type(model).__name__}")
        known = {"loss_fn", "optimizer", "metrics", "amp_level", "loss_scale_manager", "keep_batchnorm_fp32"}
        for name in sorted(settings.keys() - known):
            raise ArgumentError(
                f"convert_to_thor_model has no argument {name}", hint=f"there are {', '.join(sorted(known))}"
            )
        return model


class ConvertNetUtils:
    """Makes a network for THOR of a network. There is no THOR here, so the layers stay what they are, and compute what
    MindSpore's computes.

    >>> from mycelia import nn
    >>> net = nn.Dense(2, 1)
    >>> ConvertNetUtils().convert_to_thor_net(net)
    >>> net.weight.shape
    (1, 2)
    """

    def convert_to_thor_net(self, net: Cell) -> None:
        """Leave the network as it is."""
        if not isinstance(net, Cell):
            raise ArgumentError(f"convert_to_thor_net takes a Cell, not a {type(net).__name__}")
