"""Which cells compute in 16 bits: four levels, or lists of one's own.

Parameters stay in 32 bits, as master weights; a cell casts them, and its inputs, as it is called. Sums and products
are accumulated in 32 bits whatever the type of their operands.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mycelia.amp.managers import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from mycelia.eager import Tensor, as_dtype, cast
from mycelia.errors import ArgumentError
from mycelia.names import nearest
from mycelia.nn import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    Cell,
    Conv1d,
    Conv1dTranspose,
    Conv2d,
    Conv2dTranspose,
    Conv3d,
    Conv3dTranspose,
    Dense,
    GRUCell,
    LayerNorm,
    LSTMCell,
    RNNCell,
    TrainOneStepCell,
    WithLossCell,
)
from mycelia.nn.loss_scale import TrainOneStepWithLossScaleCell
from mycelia.nn.optim import Optimizer
from mycelia.tree import tree_map
from mycelia.types import DType, bfloat16, float16, float32

LEVELS = ("O0", "O1", "O2", "O3")
WHITE: tuple[type[Cell], ...] = (
    Conv1d, Conv2d, Conv3d, Conv1dTranspose, Conv2dTranspose, Conv3dTranspose, Dense, LSTMCell, RNNCell, GRUCell,
)  # fmt: skip
BLACK: tuple[type[Cell], ...] = (BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm)
MARK = "mixed_precision"  # the flag of a network that was converted


def get_white_list() -> list[type[Cell]]:
    """The kinds of cells that compute in 16 bits at level O1: a new list, to be changed at will.

    >>> Dense in get_white_list()
    True
    """
    return list(WHITE)


def get_black_list() -> list[type[Cell]]:
    """The kinds of cells that compute in 32 bits at level O2: a new list, to be changed at will.

    >>> LayerNorm in get_black_list()
    True
    """
    return list(BLACK)


class _Gives:
    """What follows a cell: its result in another floating type."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def __call__(self, cell: Cell, args: Any, out: Any) -> Any:
        return tree_map(lambda x: cast(x, self.dtype) if isinstance(x, Tensor) and x.dtype.is_float else x, out)


def auto_mixed_precision(network: Cell, amp_level: str = "O0", dtype: Any = float16) -> Cell:
    """Let a network compute in 16 bits, float16 or bfloat16, as far as the level says; its results are in 32 bits.

    "O0" changes nothing. "O1" lets convolutions, dense layers and cells of recurrent networks compute in 16 bits, "O2"
    everything but the normalisations, "O3" everything. The network itself is changed, and returned.

    >>> net = auto_mixed_precision(Dense(2, 1), "O2", bfloat16)
    >>> net(Tensor([[1.0, 2.0]])).dtype, net.weight.dtype
    (float32, float32)
    """
    if amp_level == "auto":
        raise ArgumentError("levels are for cells here, and auto is for operators", hint="O1 and O2 come near it")
    if amp_level not in LEVELS:
        raise ArgumentError(f"there is no level {amp_level!r}", hint=nearest(str(amp_level), LEVELS))
    low = _low(network, dtype)
    if amp_level == "O0":
        return network
    if amp_level == "O1":
        return _white(network, WHITE, low)
    return _black(network, BLACK if amp_level == "O2" else (), low)


def custom_mixed_precision(
    network: Cell,
    *,
    white_list: Iterable[type[Cell]] | None = None,
    black_list: Iterable[type[Cell]] | None = None,
    dtype: Any = float16,
) -> Cell:
    """Let a network compute in 16 bits: the kinds of cells in a white list, or all but those in a black one.

    >>> net = custom_mixed_precision(Dense(2, 1), black_list=get_black_list())
    >>> net(Tensor([[1.0, 2.0]])).dtype
    float32
    """
    if (white_list is None) == (black_list is None):
        raise ArgumentError("custom_mixed_precision takes a white list or a black list, and one of them")
    kinds = tuple(white_list if white_list is not None else black_list or ())
    for kind in kinds:
        if not isinstance(kind, type) or not issubclass(kind, Cell):
            raise ArgumentError(
                f"{kind!r} is no kind of cell", hint="lists hold classes, such as nn.Dense; functions follow their cell"
            )
    low = _low(network, dtype)
    return _white(network, kinds, low) if white_list is not None else _black(network, kinds, low)


def _low(network: Cell, dtype: Any) -> DType:
    """The type of fewer bits, if the network can be converted."""
    if not isinstance(network, Cell):
        raise ArgumentError(f"mixed precision is for a Cell, not for a {type(network).__name__}")
    low = as_dtype(dtype)
    if low not in (float16, bfloat16):
        raise ArgumentError(f"mixed precision computes in float16 or bfloat16, not in {low!r}")
    if network.get_flags().get(MARK):
        raise ArgumentError("this network computes in mixed precision already", hint="convert it once, or use level O0")
    return low


def _white(network: Cell, kinds: tuple[type[Cell], ...], low: DType) -> Cell:
    """Cells of these kinds compute in fewer bits, and give 32."""
    for _, cell in list(network.cells_and_names()):
        if isinstance(cell, kinds):
            cell.to_float(low)
            cell.register_forward_hook(_Gives(float32))
    return network.add_flags(**{MARK: True})


def _black(network: Cell, kinds: tuple[type[Cell], ...], low: DType) -> Cell:
    """All cells compute in fewer bits but those of these kinds, which give what the others compute in."""
    network.to_float(low)
    for _, cell in list(network.cells_and_names()):
        if kinds and isinstance(cell, kinds):
            cell.to_float(float32)
            cell.register_forward_hook(_Gives(low))
    network.register_forward_hook(_Gives(float32))
    return network.add_flags(**{MARK: True})


def build_train_network(
    network: Cell,
    optimizer: Optimizer,
    loss_fn: Any = None,
    level: str = "O0",
    boost_level: str = "O0",
    **kwargs: Any,
) -> Cell:
    """A training step in mixed precision: the network, its loss, gradients, a loss scale and the optimizer.

    `loss_scale_manager` chooses a scale; level "O2" has a dynamic one unless it is None. `keep_batchnorm_fp32` says
    whether normalisations stay in 32 bits, `cast_model_type` which type has fewer bits (float16).

    >>> from mycelia.nn import SGD, MSELoss
    >>> net = Dense(1, 1, weight_init="ones", has_bias=False)
    >>> step = build_train_network(net, SGD(net.trainable_params(), 0.25), MSELoss(), "O3", loss_scale_manager=None)
    >>> step(Tensor([[1.0]]), Tensor([[3.0]])).item(), net.weight.item()
    (4.0, 2.0)
    """
    if boost_level != "O0":
        raise ArgumentError(f"there is no boost {boost_level!r} here", hint='leave it at "O0"')
    known = ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager")
    for name in kwargs:
        if name not in known:
            raise ArgumentError(f"build_train_network has no {name}", hint=nearest(name, known))
    if not isinstance(optimizer, Optimizer):
        raise ArgumentError(f"a training step needs an optimizer, not a {type(optimizer).__name__}")
    low = kwargs.get("cast_model_type", float16)
    keep = kwargs.get("keep_batchnorm_fp32")
    if level in ("O2", "O3") and keep is not None:
        network = _black(network, BLACK if keep else (), _low(network, low))
    else:
        network = auto_mixed_precision(network, level, low)
    manager = kwargs.get("loss_scale_manager", DynamicLossScaleManager() if level == "O2" else None)
    whole = WithLossCell(network, loss_fn) if loss_fn is not None else network
    if manager is None:
        return TrainOneStepCell(whole, optimizer)
    if not isinstance(manager, LossScaleManager):
        raise ArgumentError(f"loss_scale_manager is a LossScaleManager, not a {type(manager).__name__}")
    update = manager.get_update_cell()
    if update is not None:
        if optimizer.loss_scale != 1.0:
            raise ArgumentError(
                f"the step divides gradients by its scale, and the optimizer by {optimizer.loss_scale} too",
                hint="leave out loss_scale of the optimizer",
            )
        return TrainOneStepWithLossScaleCell(whole, optimizer, update)
    scale = manager.get_loss_scale()
    if isinstance(manager, FixedLossScaleManager) and optimizer.loss_scale != scale:
        raise ArgumentError(
            f"the loss is multiplied by {scale}, and the optimizer divides gradients by {optimizer.loss_scale}",
            hint=f"give the optimizer loss_scale={scale}, or the manager drop_overflow_update=True",
        )
    return TrainOneStepCell(whole, optimizer, scale)
