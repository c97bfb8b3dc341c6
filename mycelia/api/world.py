"""Tensors as capture sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mycelia.capture import Stage, World
from mycelia.eager import Concrete, Parameter, Tensor, as_value, default_generator, wrap
from mycelia.eager.dispatch import mode
from mycelia.eager.host import failed, printed
from mycelia.eager.tape import set_aside


@contextmanager
def writing(stage: Stage) -> Iterator[None]:
    """Inside the block ops on tensors write the graph of this stage, and no tape is written."""
    before = mode.capturing, mode.lift, mode.changing, mode.may_raise, mode.symbols
    mode.capturing, mode.lift, mode.changing, mode.may_raise = True, stage.lift, stage.changing_tensor, stage.may_raise
    mode.symbols = True
    try:
        with set_aside():
            yield
    finally:
        mode.capturing, mode.lift, mode.changing, mode.may_raise, mode.symbols = before


def _read(x: Tensor) -> tuple[Any, ...]:
    return x._data, x._tape, x._id if x._tape is not None else -1


def _write(x: Tensor, held: tuple[Any, ...]) -> None:
    x._data, x._tape, x._id = held


def _data(x: Tensor) -> Any:
    return x._data


def _hold(x: Tensor, data: Any) -> None:
    x._data, x._tape = data, None


WORLD = World(
    tensor=Tensor,
    parameter=Parameter,
    wrap=wrap,
    value=as_value,
    read=_read,
    write=_write,
    data=_data,
    hold=_hold,
    state=(default_generator.key, default_generator.counter),
    mode=writing,
    printed=printed,
    failed=failed,
    concrete=Concrete,
)
