"""Arguments described before they come: which dimensions may change from call to call, and what each call must fit.

A description is a nest of tensors like the arguments. One without data, `Tensor(shape=(None, 3), dtype=ms.float32)`,
leaves dimensions open; they are symbolic from the first call on (`mycelia.sizes`). One with data stands for its shape.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mycelia.eager import Tensor
from mycelia.eager.tensor import Outline
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.tree import flatten, tree_map, unflatten
from mycelia.types import DType

Place = tuple[int, int]  # a leaf of the arguments and an axis of it


@frozen
class Form:
    """The element type and the shape of a tensor, with None for dimensions, or a shape, that may change.

    >>> from mycelia.types import float32
    >>> print(Form(float32, (None, 3)), Form(float32, None))
    float32[None, 3] float32[...]
    """

    dtype: DType
    shape: tuple[int | None, ...] | None

    def __str__(self) -> str:
        shape = "[...]" if self.shape is None else list(self.shape)
        return f"{str(self.dtype).lower()}{shape}"


@frozen
class Described:
    """What the arguments of a function look like, by the names of its parameters."""

    signature: inspect.Signature
    wanted: Mapping[str, Any]

    @classmethod
    def of(cls, fn: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]) -> Described:
        """Descriptions by position and by name; an error if the function has no such parameters."""
        signature = inspect.signature(fn)
        owner = ("self",) if next(iter(signature.parameters), None) == "self" else ()  # of a method not yet bound
        try:
            bound = signature.bind_partial(*owner, *given, **named)
        except TypeError as error:
            raise ArgumentError(
                f"these are not the parameters of {_name(fn)}: {error}",
                given={"parameters": str(signature), "described": [*map(_text, given), *named]},
                hint="describe each parameter once, in order or by name",
            ) from None
        wanted = {name: part for name, part in bound.arguments.items() if name not in owner}
        for name, part in wanted.items():
            for leaf in flatten(part)[0]:
                if not (leaf is None or isinstance(leaf, Tensor | int | float | bool | str)):
                    raise ArgumentError(
                        f"{name} is described by {type(leaf).__name__}",
                        given={name: leaf},
                        hint="describe tensors: Tensor(shape=(None, 3), dtype=ms.float32), or a nest of them",
                    )
        return cls(signature, {name: tree_map(_form, part) for name, part in wanted.items()})

    @property
    def tensors(self) -> tuple[Any, ...]:
        """The descriptions as tensors without data, in the order of the parameters."""
        return tuple(tree_map(_outline, part) for part in self.wanted.values())

    def fit(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """An error if the arguments are not as described."""
        self.places(args, kwargs)

    def places(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> set[Place]:
        """The dimensions of the arguments that may change; an error if the arguments are not as described."""
        leaves, structure = flatten((args, dict(kwargs)))
        numbered, named = unflatten(structure, range(len(leaves)))
        try:
            where = self.signature.bind(*numbered, **named).arguments
        except TypeError:
            return set()  # the call itself will say it
        found: set[Place] = set()
        for name, wanted in self.wanted.items():
            if name not in where:
                continue
            for number, leaf in _pairs(name, where[name], wanted, leaves):
                found |= {(number, axis) for axis in _open(name, leaf, leaves[number])}
        return found


def _pairs(name: str, here: Any, wanted: Any, leaves: list[Any]) -> Iterator[tuple[int, Form]]:
    """The number of each tensor among the arguments, and what describes it."""
    numbers, structure = flatten(here)
    descriptions, expected = flatten(wanted)
    if structure != expected:
        raise ArgumentError(
            f"{name} is nested in another way than described",
            given={"described": _text(wanted), name: _text(unflatten(structure, [leaves[i] for i in numbers]))},
        )
    for number, leaf in zip(numbers, descriptions, strict=True):
        if isinstance(leaf, Form):
            yield number, leaf


def _open(name: str, wanted: Form, given: Any) -> list[int]:
    """The axes that are left open; an error if the argument does not fit."""
    if not isinstance(given, Tensor):
        raise ArgumentError(f"{name} is described as a tensor", given={"described": str(wanted), name: given})
    if given.dtype is not wanted.dtype:
        raise DTypeError(
            f"{name} has another element type than described",
            given={"described": str(wanted), name: _text(given)},
            hint=f"cast it: {name}.astype(ms.{str(wanted.dtype).lower()})",
        )
    if wanted.shape is None:
        return list(range(given.ndim))
    fits = len(wanted.shape) == given.ndim
    if not fits or any(w is not None and w != n for w, n in zip(wanted.shape, given.shape, strict=True)):
        raise ShapeError(
            f"{name} has another shape than described",
            given={"described": str(wanted), name: _text(given)},
            hint="a dimension that may change is described by None",
        )
    return [axis for axis, n in enumerate(wanted.shape) if n is None]


def _form(x: Any) -> Any:
    return Form(x.dtype, x.shape if x.shape is None else tuple(x.shape)) if isinstance(x, Tensor) else x


def _outline(x: Any) -> Any:
    return Outline.of(x.dtype, x.shape) if isinstance(x, Form) else x


def _text(part: Any) -> str:
    """A nest with tensors by their types.

    >>> _text([Tensor([[1.0]]), 2])
    '[float32[1, 1], 2]'
    """
    if isinstance(part, list | tuple):
        return f"[{', '.join(map(_text, part))}]"
    return str(_form(part))


def _name(fn: Any) -> str:
    return getattr(fn, "__qualname__", type(fn).__name__)
