"""Weights that a cell holds and does not own, because they lie in a list: they would stay as they are, unsaid."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mycelia.eager import Parameter, ParameterTuple
from mycelia.nn.state import Stateful

if TYPE_CHECKING:
    from mycelia.nn.cell import Cell


def tell_of_unowned(net: Cell, owned: Collection[Parameter]) -> None:
    """Warn of cells and parameters in plain lists, tuples and dictionaries that do not belong to the network anyway.

    What is kept under a name with an underscore at its beginning is meant to stay outside.

    >>> from mycelia.nn import Cell, Dense
    >>> net = Cell()
    >>> net.first, net.layers = Dense(2, 2), [Dense(2, 1)]
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     len(net.trainable_params())
    2
    >>> print(told[0].message)
    layers of Cell is a list of cells, whose 2 parameters are not the network's: no optimizer changes them, ...
    """
    known = {id(p) for p in owned}
    for path, cell in net.cells_and_names():
        for name, value in vars(cell).items():
            if name.startswith("_") or type(value) not in (list, tuple, dict):
                continue
            outside = [p for p in _weights(value) if id(p) not in known]
            if outside:
                _tell(f"{path}.{name}" if path else name, cell, value, len(outside))


def _weights(held: Any) -> Iterator[Parameter]:
    """The parameters to be trained of what lies in a list, tuple or dictionary."""
    for value in held.values() if isinstance(held, Mapping) else held:
        if isinstance(value, Parameter) and value.requires_grad:
            yield value
        elif isinstance(value, Stateful):  # a cell, which asks for this file
            yield from (p for p in value.get_parameters() if p.requires_grad)  # type: ignore[attr-defined]


def _tell(place: str, cell: Cell, held: Any, count: int) -> None:
    kind = type(held).__name__
    loose = any(isinstance(value, Parameter) for value in (held.values() if isinstance(held, Mapping) else held))
    instead = {"dict": "nn.CellDict"}.get(kind, "nn.CellList") if not loose else ParameterTuple.__name__
    what = "parameters, which" if loose else f"cells, whose {count} parameters"
    warnings.warn(
        f"{place} of {cell.cls_name} is a {kind} of {what} are not the network's: no optimizer changes them, and no "
        f"checkpoint holds them; use {instead}({'{...}' if kind == 'dict' and not loose else '[...]'})",
        stacklevel=4,
    )
