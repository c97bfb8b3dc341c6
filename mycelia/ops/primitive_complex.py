"""Operations on complex numbers as objects: a table of names, their attributes, and what a call means."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor
from mycelia.ops import complexes
from mycelia.ops.arguments import sizes, tensor
from mycelia.ops.primitive import declare

__all__: list[str] = []


def _length(x: Any) -> Tensor:
    """The distance of complex numbers from zero."""
    return p.abs(tensor(x))


def _conjugate_transpose(x: Any, perm: Any) -> Tensor:
    """The conjugate, with its axes in another order."""
    return complexes.conj(p.transpose(tensor(x), sizes(perm)))


_TABLE: dict[str, tuple[str, Callable[..., Any]]] = {
    "Angle": ("", complexes.angle),
    "Complex": ("", complexes.combined),
    "ComplexAbs": ("", _length),
    "Conj": ("", complexes.conj),
    "ConjugateTranspose": ("", _conjugate_transpose),
    "Imag": ("", complexes.imag),
    "Polar": ("", complexes.polar),
    "Real": ("", complexes.real),
}
for _name, (_attributes, _function) in _TABLE.items():
    declare(globals(), _name, _attributes, _function)
