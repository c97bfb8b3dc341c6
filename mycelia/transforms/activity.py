"""Which values matter to a derivative, decided before anything is built: residuals depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from mycelia.errors import GradientError
from mycelia.ir import Function, Value
from mycelia.types import Type

Mask = tuple[bool, ...]


def moving(fn: Function, wrt: Mask) -> set[Value]:
    """The values that change, differentiably, when the chosen parameters do.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import TensorType, float32
    >>> x, y = [TensorType(float32, ())] * 2
    >>> fn = Function.build(lambda x, y: p.greater(p.sin(x), p.cos(y)), x, y)
    >>> sorted(v.op.name for v in moving(fn, (True, False)))
    ['param', 'sin']
    """
    found = {p for p, m in zip(fn.params, wrt, strict=True) if m}
    for v in fn.values():
        if v not in found and v.type.differentiable and any(x in found for x in v.inputs):
            found.add(v)
    return found


def reached(fn: Function, live: Mask) -> set[Value]:
    """The values through which the chosen results are computed, differentiably.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import TensorType, float32
    >>> x, y = [TensorType(float32, ())] * 2
    >>> fn = Function.build(lambda x, y: (p.sin(x), p.cos(y)), x, y)
    >>> sorted(v.op.name for v in reached(fn, (False, True)))
    ['cos', 'param']
    """
    found = {r for r, m in zip(fn.results, live, strict=True) if m}
    for v in reversed(fn.values()):
        if v in found:
            found.update(x for x in v.inputs if x.type.differentiable)
    return found


@lru_cache(maxsize=4096)
def depends(fn: Function, wrt: Mask) -> Mask:
    """Which results change when the chosen parameters do.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import TensorType, float32
    >>> x, y = [TensorType(float32, ())] * 2
    >>> depends(Function.build(lambda x, y: (p.sin(x), p.cos(y)), x, y), (True, False))
    (True, False)
    """
    found = moving(fn, wrt)
    return tuple(r in found for r in fn.results)


@lru_cache(maxsize=4096)
def reaches(fn: Function, live: Mask) -> Mask:
    """Which parameters change the chosen results.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import TensorType, float32
    >>> x, y = [TensorType(float32, ())] * 2
    >>> reaches(Function.build(lambda x, y: (p.sin(x), p.cos(y)), x, y), (False, True))
    (False, True)
    """
    found = reached(fn, live)
    return tuple(p in found for p in fn.params)


def differentiable(types: Sequence[Type], mask: Sequence[bool] | None, what: str) -> Mask:
    """The mask; all that can be differentiated when there is none; an error if it asks for more.

    >>> from mycelia.types import TensorType, float32, int32
    >>> differentiable([TensorType(float32, ()), TensorType(int32, ())], None, "parameter")
    (True, False)
    """
    if mask is None:
        return tuple(t.differentiable for t in types)
    assert len(mask) == len(types), f"{len(mask)} choices for {len(types)} {what}s"
    for i, (t, m) in enumerate(zip(types, mask, strict=True)):
        if m and not t.differentiable:
            raise GradientError(
                f"{what} {i} has type {t}, which has no derivative",
                hint="differentiate with respect to floating-point tensors; cast it first if it should be one",
            )
    return tuple(mask)
