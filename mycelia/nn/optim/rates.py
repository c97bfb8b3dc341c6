"""What a person may give as a learning rate, as cells that give the rate of a step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mycelia import ops
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError
from mycelia.nn.cell import Cell
from mycelia.types import float32


class Rate(Cell):
    """The rate of each step; `source` is what it comes from."""

    source: Parameter | Cell


class Fixed(Rate):
    """One rate, as long as nobody assigns another to the parameter that holds it."""

    def __init__(self, rate: Parameter) -> None:
        super().__init__(auto_prefix=False)
        self.source = rate

    def construct(self, global_step: Tensor) -> Tensor:
        assert isinstance(self.source, Parameter), "a fixed rate is held by a parameter"
        return self.source.value()

    def __repr__(self) -> str:
        assert isinstance(self.source, Parameter), "a fixed rate is held by a parameter"
        return f"{self.source.asnumpy():.6g}"


class Listed(Fixed):
    """A rate for each step; the last one stays."""

    def construct(self, global_step: Tensor) -> Tensor:
        assert isinstance(self.source, Parameter), "listed rates are held by a parameter"
        return ops.gather(self.source, ops.minimum(global_step, self.source.shape[0] - 1), 0)

    def __repr__(self) -> str:
        assert isinstance(self.source, Parameter), "listed rates are held by a parameter"
        rates = self.source.asnumpy()
        return f"{rates[0]:.6g} ... {rates[-1]:.6g} in {len(rates)} steps"


class Scheduled(Rate):
    """The rate that another cell computes."""

    def __init__(self, schedule: Cell) -> None:
        super().__init__(auto_prefix=False)
        self.source = schedule

    def __repr__(self) -> str:
        return repr(self.source)

    def construct(self, global_step: Tensor) -> Tensor:
        return self.source(global_step)  # type: ignore[operator,no-any-return]  # a schedule is a cell


def as_rate(rate: Any, name: str) -> Rate:
    """A learning rate given as a number, a list, a tensor or a schedule.

    >>> as_rate([0.1, 0.05], "learning_rate")(Tensor(7)).item()
    0.05
    """
    if isinstance(rate, Cell):
        return Scheduled(rate)
    if isinstance(rate, Parameter):
        return Fixed(rate) if rate.ndim == 0 else Listed(rate)
    if isinstance(rate, bool | str) or not isinstance(rate, int | float | Tensor | np.ndarray | Iterable):
        raise ArgumentError(
            f"{rate!r} is no learning rate", hint="give a number, a list of numbers, a tensor, or a schedule"
        )
    numbers = np.asarray(rate.numbers() if isinstance(rate, Tensor) else _listed(rate), np.float32)
    if numbers.ndim > 1 or numbers.size == 0 or not (numbers >= 0).all():
        raise ArgumentError(
            f"a learning rate is a number from 0, or a list of them, not {rate!r}", hint="for example 0.01"
        )
    held = Parameter(Tensor(numbers, float32), name=name, requires_grad=False)
    return Fixed(held) if numbers.ndim == 0 else Listed(held)


def _listed(rate: Any) -> Any:
    return list(rate) if isinstance(rate, Iterable) else rate
