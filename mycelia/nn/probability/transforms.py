"""A plain network made Bayesian: its layers become distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia.errors import ArgumentError
from mycelia.names import boundary as _boundary
from mycelia.nn.basic import Dense
from mycelia.nn.cell import Cell
from mycelia.nn.conv import Conv2d
from mycelia.nn.probability.bnn_layers import ConvReparam, DenseReparam, WithBNNLossCell
from mycelia.nn.wrap import TrainOneStepCell

__all__ = ["TransformToBNN"]

Arguments = Callable[[Any], dict[str, Any]]


def _of_dense(layer: Any) -> dict[str, Any]:
    return {
        "in_channels": layer.in_channels,
        "out_channels": layer.out_channels,
        "has_bias": layer.has_bias,
        "activation": layer.activation,
    }


def _of_convolution(layer: Any) -> dict[str, Any]:
    words = ("in_channels", "out_channels", "kernel_size", "stride", "pad_mode", "padding", "dilation", "group")
    return {**{word: getattr(layer, word) for word in words}, "has_bias": layer.bias is not None}


class TransformToBNN:
    """The training step of a plain network, to be made one of a Bayesian network.

    >>> from mycelia import nn
    >>> net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 1))
    >>> plain = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    >>> step = TransformToBNN(plain).transform_to_bnn_model()
    >>> type(net[0]).__name__
    'DenseReparam'
    """

    def __init__(self, trainable_dnn: Any, dnn_factor: float = 1, bnn_factor: float = 1) -> None:
        if not isinstance(trainable_dnn, TrainOneStepCell):
            raise ArgumentError("a training step is transformed", hint="give a TrainOneStepCell of a WithLossCell")
        self._step = trainable_dnn
        self._network: Any = trainable_dnn.network
        self._factors = dnn_factor, bnn_factor

    def transform_to_bnn_model(
        self,
        get_dense_args: Arguments = _of_dense,
        get_conv_args: Arguments = _of_convolution,
        add_dense_args: dict[str, Any] | None = None,
        add_conv_args: dict[str, Any] | None = None,
    ) -> TrainOneStepCell:
        """All dense layers and convolutions become Bayesian ones; a new training step, with a new optimizer of the same
        kind and learning rate, is given.
        """
        self._replaced(Dense, DenseReparam, get_dense_args, add_dense_args)
        self._replaced(Conv2d, ConvReparam, get_conv_args, add_conv_args)
        return self._renewed()

    def transform_to_bnn_layer(
        self,
        dnn_layer: type[Cell],
        bnn_layer: type[Cell],
        get_args: Arguments | None = None,
        add_args: dict[str, Any] | None = None,
    ) -> TrainOneStepCell:
        """All layers of one class become such of another."""
        known = {Dense: _of_dense, Conv2d: _of_convolution}
        if get_args is None and dnn_layer not in known:
            raise ArgumentError(f"the arguments of {dnn_layer.__name__} are not known", hint="give get_args")
        self._replaced(dnn_layer, bnn_layer, get_args or known[dnn_layer], add_args)
        return self._renewed()

    def _backbone(self) -> Cell:
        return self._network.backbone_network  # type: ignore[no-any-return]  # of a cell with a loss

    def _replaced(self, old: type[Cell], new: type[Cell], arguments: Arguments, more: dict[str, Any] | None) -> None:
        for _, cell in list(self._backbone().cells_and_names()):
            for name, layer in list(cell.name_cells().items()):
                if type(layer) is old:
                    made = new(**arguments(layer), **(more or {}))
                    made.update_parameters_name(f"{name}.")
                    if name.isdigit():
                        cell[int(name)] = made  # type: ignore[index]  # a list of cells
                    else:
                        setattr(cell, name, made)

    def _renewed(self) -> TrainOneStepCell:
        loss = WithBNNLossCell(self._backbone(), self._network._loss_fn, *self._factors)
        optimizer: Any = self._step.optimizer
        renewed = type(optimizer)(loss.trainable_params(), learning_rate=optimizer.get_lr())
        return TrainOneStepCell(loss, renewed, self._step.sens)


_boundary(globals())
