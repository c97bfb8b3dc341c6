"""A cell whose parameters look different while it is called: in another floating type (`Cell.to_float`), or as a hook
makes them (`Cell.register_parameter_forward_hook`). They themselves stay as they are.

Eagerly, attributes hold other tensors while `construct` runs. Inside a captured program they do in the program's store,
and hold the parameters again after it, so the program writes to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mycelia.capture.registered import REGISTERED
from mycelia.eager import Parameter, Tensor, cast
from mycelia.tree import tree_map
from mycelia.types import DType

if TYPE_CHECKING:
    from mycelia.nn.cell import Cell


def in_type(x: Any, dtype: DType) -> Any:
    """A floating tensor in another floating type; anything else as it is.

    >>> from mycelia.types import float16
    >>> in_type(Tensor([1.0]), float16).dtype, in_type(3, float16)
    (float16, 3)
    """
    return cast(x, dtype) if isinstance(x, Tensor) and x.dtype.is_float else x


def all_in_type(inputs: tuple[Any, ...], dtype: DType) -> tuple[Any, ...]:
    """Inputs with all floating tensors among them in another type.

    >>> from mycelia.types import float16
    >>> all_in_type((Tensor([1.0]), 3), float16)[0].dtype
    float16
    """
    return tuple(tree_map(lambda x: in_type(x, dtype), x) for x in inputs)


def looking(cell: Cell, name: str, parameter: Any) -> Any:
    """A parameter as `construct` sees it: after its hooks, in the type that was chosen unless it is kept whole."""
    seen = parameter
    for hook in cell._on_parameters.get(name, ()):
        seen = hook(seen)
    if cell._float is None or name in type(cell).kept_whole:
        return seen
    return in_type(seen, cell._float)


def constructed_in(cell: Cell, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What `construct` gives where the cell's own parameters look different."""
    held = {name: value for name, value in cell.__dict__.items() if isinstance(value, Parameter)}
    seen = {name: looking(cell, name, value) for name, value in held.items()}
    held = {name: value for name, value in held.items() if seen[name] is not value}
    cell.__dict__.update({name: seen[name] for name in held})
    try:
        return cell._constructed(args, dict(kwargs))
    finally:
        cell.__dict__.update(held)


def model_constructed_in(machine: Any, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The same inside a captured program."""
    cell, given, keywords = args
    held = {}
    for name in machine.items_of(machine.whole(cell, ("attr", "_params"))):
        value = machine.read(cell, ("attr", name))
        seen = machine.call(looking, (cell, name, value), {}) if isinstance(value, Parameter) else value
        if seen is not value:
            held[name] = value, seen
    for name, (_, seen) in held.items():
        machine.store.write(cell, ("attr", name), seen)
    try:
        return machine.call(type(cell)._constructed, (cell, given, keywords), {})
    finally:
        for name, (value, _) in held.items():
            machine.store.write(cell, ("attr", name), value)


REGISTERED[constructed_in.__code__] = model_constructed_in
