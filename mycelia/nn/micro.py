"""A batch in parts, one after another, in one process: what networks around networks for several devices mean here."""

from __future__ import annotations

from typing import Any

from mycelia.checks import whole
from mycelia.errors import CallError, ShapeError
from mycelia.nn.cell import Cell

__all__ = ["GradAccumulationCell", "MicroBatchInterleaved", "PipelineCell"]


class _Parts(Cell):
    """A network, called on the parts of a batch; what it gives is added up."""

    def __init__(self, network: Cell, count: int, name: str) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise CallError(f"{self.cls_name}: network is a Cell, not a {type(network).__name__}")
        self.network, self.count = network, whole(self.cls_name, name, count, 1)

    def construct(self, *inputs: Any) -> Any:
        total = None
        for i in range(self.count):
            out = self.network(*[self._part(x, i) for x in inputs])
            total = out if total is None else total + out
        return total

    def _part(self, x: Any, i: int) -> Any:
        if not x.shape or x.shape[0] % self.count:
            raise ShapeError(f"a batch of shape {x.shape} has no {self.count} equal parts")
        size = x.shape[0] // self.count
        return x[i * size : (i + 1) * size]


class PipelineCell(_Parts):
    """A network whose batch comes in `micro_size` parts, one after another; what it gives is added up. There is one
    stage here, so `stage_config` is noted only.

    >>> from mycelia import Tensor
    >>> from mycelia.nn import MSELoss
    >>> PipelineCell(MSELoss(), 2)(Tensor([1.0, 3.0]), Tensor([0.0, 0.0])).item()
    10.0
    """

    def __init__(self, network: Cell, micro_size: int, stage_config: Any = None, segment_config: Any = None) -> None:
        super().__init__(network, micro_size, "micro_size")
        self.micro_size = self.count
        names = {name for name, _ in network.cells_and_names()}
        for config in (stage_config, segment_config):
            unknown = [name for name in config or {} if name not in names]
            if unknown:
                raise CallError(f"PipelineCell: the network has no cell {unknown[0]!r}")


class GradAccumulationCell(_Parts):
    """A network whose batch comes in `micro_size` parts, one after another; what it gives is added up.

    >>> from mycelia import Tensor
    >>> from mycelia.nn import MSELoss
    >>> GradAccumulationCell(MSELoss(), 2)(Tensor([1.0, 3.0]), Tensor([0.0, 0.0])).item()
    10.0
    """

    def __init__(self, network: Cell, micro_size: int) -> None:
        super().__init__(network, micro_size, "micro_size")
        self.micro_size = self.count


class MicroBatchInterleaved(_Parts):
    """A network whose batch comes in `interleave_num` parts; what it gives is added up.

    >>> from mycelia import Tensor
    >>> from mycelia.nn import MSELoss
    >>> MicroBatchInterleaved(MSELoss())(Tensor([1.0, 3.0]), Tensor([0.0, 0.0])).item()
    10.0
    """

    def __init__(self, network: Cell, interleave_num: int = 2) -> None:
        super().__init__(network, interleave_num, "interleave_num")
        self.interleave_num = self.count
