"""A program under grad, grad of grad, vmap, and grad of vmap: in Python with oracles, compiled with our own.

Gradients of plain Python come from the tape; a batch of plain Python is one example after the other.
"""

from __future__ import annotations

import copy
from typing import Any

import mycelia as ms
from mycelia import ops
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, CaptureError, ShapeError
from mycelia.tree import tree_map


def total(value: Any) -> Any:
    """One number of all floating tensors in a result."""
    if isinstance(value, Tensor):
        return value.sum() if "Float" in str(value.dtype) else 0.0
    if isinstance(value, dict):
        value = list(value.values())
    return sum([total(v) for v in value]) if isinstance(value, list | tuple) else 0.0


def gradient(fn: Any, times: float = 1.0) -> Any:
    """The gradient of all that a function gives, by its first argument; that of a multiple, divided, is the same."""

    def derived(x: Tensor, *rest: Any) -> Any:
        return ms.grad(lambda x: total(fn(x, *rest)) * times)(x) / times

    derived.is_gradient = True  # type: ignore[attr-defined]
    return derived


def second(fn: Any, times: float = 1.0) -> Any:
    """The gradient of the squares of the gradient."""

    def derived(x: Tensor, *rest: Any) -> Any:
        def first(x: Tensor) -> Any:
            found = gradient(fn, times)(x, *rest)
            return (found * found).sum() * times

        return ms.grad(first)(x) / times

    derived.is_gradient = True  # type: ignore[attr-defined]
    return derived


def examples(x: Tensor) -> Tensor:
    """A batch that begins with `x`."""
    return ops.stack([x, x * 0.5 - 1.0, 2.5 - x])


def batch(fn: Any) -> Any:
    """A function for a batch of examples of its first argument."""

    def mapped(x: Tensor, *rest: Any) -> Any:
        return ms.vmap(lambda x: fn(x, *rest))(examples(x))

    mapped.may_be_refused = True  # type: ignore[attr-defined]
    return mapped


def batch_by_hand(fn: Any, order: int = 1) -> Any:
    """The same, one example after the other, or from the last one on."""

    def mapped(x: Tensor, *rest: Any) -> Any:
        return stacked([fn(example, *rest) for example in [*examples(x)][::order]][::order])

    return mapped


def vmap(fn: Any) -> Any:
    """What `vmap` means: one example after the other."""

    def mapped(*batches: Tensor) -> Any:
        if any(not getattr(b, "ndim", 0) for b in batches):
            raise ShapeError("what has no axis holds no examples")
        if not all(map(len, batches)):  # as many results as examples: none, of the kind that any example has
            return tree_map(cut, stacked([fn(*[ops.zeros(b.shape[1:], b.dtype) for b in batches])]))
        return stacked([fn(*example) for example in zip(*batches, strict=True)])

    return mapped


def cut(result: Any) -> Any:
    """What is left of a batch when its examples are gone."""
    return result[:0] if isinstance(result, Tensor) else result


def stacked(results: list[Any]) -> Any:
    """The results of examples as a batch; what is no tensor must be the same for all."""
    first = results[0]
    if isinstance(first, list | tuple) and not hasattr(first, "_fields"):
        return type(first)([stacked(list(parts)) for parts in zip(*results, strict=True)])
    if isinstance(first, dict) and all(isinstance(r, dict) and [*r] == [*first] for r in results):
        batched = copy.copy(first)  # of its own kind: a counter, a dictionary with defaults
        for key in first:
            batched[key] = stacked([r[key] for r in results])
        return batched
    if isinstance(first, Tensor):
        return ops.stack(results)
    if any(type(r) is not type(first) or repr(r) != repr(first) for r in results):
        raise TypeError("examples differ in something else than tensors")
    return first


def gradient_of_batch(fn: Any) -> Any:
    """The gradient through a batch."""
    derived = gradient(batch(fn))
    derived.may_be_refused = True
    return derived


def unsigned(fn: Any) -> Any:
    """A gradient without the sign of its zeros: where nothing flows back, one way adds a zero and another nothing."""

    def answered(*args: Any) -> Any:
        return fn(*args) + 0.0

    return answered


class Undefined(Exception):
    """Python has no answer: an example raises, or there is nothing to differentiate or to stack."""


class Refused(Exception):
    """A batch cannot be made of this function, and vmap says so."""


def refusing(fn: Any) -> Any:
    """The function, where an error of the capture says that it is refused."""

    def answered(*args: Any) -> Any:
        try:
            return fn(*args)
        except (CaptureError, ArgumentError) as error:
            if isinstance(error, ArgumentError) and "in its own way" not in str(error):  # one parameter, many examples
                raise
            raise Refused from error

    return answered


def asked(fn: Any) -> Any:
    """The function, where every exception says that there is no answer."""

    def answered(*args: Any) -> Any:
        try:
            return fn(*args)
        except Exception as error:
            raise Undefined from error

    return answered


def names(compiled: bool) -> dict[str, Any]:
    """What programs may call: vmap, the gradient, the second one, vmap over the first argument, its gradient."""
    if compiled:
        return {
            "V": ms.vmap, "GRAD": gradient, "GRAD2": second, "BATCH": batch, "GRAD_BATCH": gradient_of_batch,
        }  # fmt: skip
    return {
        "V": vmap,
        "GRAD": lambda fn: asked(unsigned(gradient(fn))),
        "GRAD2": lambda fn: asked(unsigned(second(fn))),
        "BATCH": lambda fn: asked(batch_by_hand(fn)),
        "GRAD_BATCH": lambda fn: asked(unsigned(gradient(batch_by_hand(fn)))),
    }


def asked_otherwise() -> dict[str, Any]:
    """The oracles asked in a way that changes nothing: of a multiple, of the examples from the last one on.

    Who answers otherwise has effects, or a gradient of its own that is none: not linear in what comes back.
    """
    return {
        "GRAD": lambda fn: asked(unsigned(gradient(fn, 2.0))),
        "GRAD2": lambda fn: asked(unsigned(second(fn, 2.0))),
        "BATCH": lambda fn: asked(batch_by_hand(fn, -1)),
        "GRAD_BATCH": lambda fn: asked(unsigned(gradient(batch_by_hand(fn, -1), 2.0))),
    }
