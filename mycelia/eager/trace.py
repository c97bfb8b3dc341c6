"""Writing an eager function down as a graph, by calling it on values: what vectorisation needs to see."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from mycelia import primitives as p
from mycelia.eager.dispatch import Concrete, mode
from mycelia.eager.parameter import Parameter
from mycelia.eager.pullback import replay
from mycelia.eager.tape import current_tape, set_aside
from mycelia.eager.tensor import Tensor, as_value, wrap
from mycelia.errors import ArgumentError, CaptureError
from mycelia.frozen import frozen
from mycelia.ir import Function, Op, Value, fresh_params, region, toposort
from mycelia.ir.value import serials
from mycelia.sizes import NeedsSize, Sym, comes_from_data
from mycelia.tree import Structure, flatten, unflatten
from mycelia.types import DType, Type, type_of

PLAIN = (int, float, complex, str, bytes, range, slice, type, DType, Enum, np.generic, np.ndarray)  # hold no tensors


@frozen
class Traced:
    """A graph, the tensors from outside that it reads (further parameters), and the structure of what it returns."""

    function: Function
    captured: tuple[Tensor, ...]
    structure: Structure
    others: tuple[Any, ...]  # leaves of the result that are not tensors, None for those that are

    def results(self, tensors: Sequence[Tensor]) -> Any:
        """What the function returns, when these are its tensors."""
        got = iter(tensors)
        return unflatten(self.structure, [next(got) if o is None else o for o in self.others])


def trace(fn: Callable[..., Any], types: Sequence[Type]) -> Traced:
    """Call `fn` on tensors that stand for values of these types."""
    moment = next(serials)
    params = fresh_params(tuple(types))
    lifted: dict[tuple[int, int], tuple[Tensor, Value]] = {}

    def lift(x: Tensor) -> Value:
        data, here = x._data, around is not None and x._tape is around
        if data.__class__ is Value and not here:  # it is of the capture around this one, and perhaps on its tape
            return data if before[1] is None or x._tape is None else before[1](x)
        if before[0] and not here:  # an input of that capture, which may also change it
            return p.constant(data) if before[1] is None else before[1](x)
        key = id(data), -1 if x._tape is None else x._id
        if key not in lifted:
            lifted[key] = x.alias(), fresh_params((data.type if data.__class__ is Value else type_of(data),))[0]
        return lifted[key][1]

    around = current_tape()  # what is on it is given to the graph, so that the gradient flows to it
    before = mode.capturing, mode.lift, mode.changing
    noted, mode.concrete = mode.concrete, None
    changed: list[_Changed] = []

    def changing(x: Tensor) -> None:
        if isinstance(x, Parameter) or x._data.__class__ is not Value:
            changed.append(_Changed(ref(x), x._data, x._tape))
        if before[2] is not None:
            before[2](x)

    mode.capturing, mode.lift, mode.changing = True, lift, changing
    try:
        with set_aside(), region() as inside:
            leaves, structure = flatten(fn(*[wrap(v) for v in params]))
            if mode.concrete is not None:  # and the function has caught it
                raise mode.concrete
            values = [as_value(x) for x in leaves if isinstance(x, Tensor)]
            _check_results(leaves, values)
            others = tuple([None if isinstance(x, Tensor) else x for x in leaves])
            leaves.clear()  # what was made inside is gone now
            _check_changes(changed, params)
    except NeedsSize as reason:
        raise size_of_an_example(reason) from None
    except Concrete as reason:
        raise asked_for_a_number(reason) from None
    except Exception:
        if mode.concrete is None:
            raise
        raise asked_for_a_number(mode.concrete) from None  # what was raised since then came of it
    finally:
        for c in changed:
            if c.is_different(params):  # which was told, or something else was raised
                c.give_back()
        mode.capturing, mode.lift, mode.changing = before
        mode.concrete = noted or (mode.concrete if before[0] else None)
    outside = list(lifted.values())
    function, captured = Function.close([*params, *[v for _, v in outside]], values, inside.effects, moment)
    return Traced(
        function,
        (*[x for x, _ in outside], *[wrap(v) for v in captured]),
        structure,
        others,
    )


def asked_for_a_number(reason: Concrete) -> CaptureError:
    """What is to be said of a number that only the running program knows."""
    return CaptureError(
        f"a number was asked for while many examples are computed at once: {reason}",
        hint="choose with ops.where instead of if, and keep asnumpy(), float() and bool() out of the function",
    )


def size_of_an_example(reason: NeedsSize) -> CaptureError:
    """What is to be said of a size that each example has for itself."""
    return CaptureError(
        f"a size depends on the numbers of an example, while many are computed at once: {reason}",
        hint="x[mask], nonzero and unique are for one example: choose with ops.where inside of vmap",
    )


def _check_results(leaves: Sequence[Any], values: Sequence[Value]) -> None:
    """Complain of results that are no tensors of one size, and may hold what is not computed yet."""
    for x in leaves:
        if type(x) is Sym:
            raise NeedsSize(x)
        known = isinstance(x, set | frozenset) and all(isinstance(e, PLAIN) for e in x)
        if not known and not isinstance(x, (Tensor, *PLAIN)):
            raise CaptureError(
                f"while many examples are computed at once, each gives a {type(x).__name__}",
                hint="return tensors, alone or in tuples, lists and dictionaries",
            )
    for v in values:
        for n in v.shape:
            if comes_from_data(n):
                raise NeedsSize(n)  # type: ignore[arg-type]  # no number comes from data


class _Changed(NamedTuple):
    """A tensor that was written to, and what it held before."""

    tensor: ref[Tensor]
    data: Any
    tape: Any

    def is_different(self, params: Sequence[Value]) -> bool:
        """Whether it is still there, and holds something else for each example."""
        x = self.tensor()
        return x is not None and x._data.__class__ is Value and not set(toposort([x._data])).isdisjoint(params)

    def give_back(self) -> None:
        """Let it hold what it held."""
        x = self.tensor()
        if x is not None:
            x._data, x._tape = self.data, self.tape


def _check_changes(changed: Sequence[_Changed], params: Sequence[Value]) -> None:
    """Complain of tensors from outside that would hold something else for each example. Those that the function made
    itself are gone when it has returned, or wait for the next collection.
    """
    if any(c.is_different(params) for c in changed):
        gc.collect()
    for c in changed:
        if c.is_different(params):
            x = c.tensor()
            what = f"the parameter {x.name!r}" if isinstance(x, Parameter) else "a tensor from outside"
            raise ArgumentError(
                f"while many examples are computed at once, each would change {what} in its own way",
                hint="return the new value, and assign what should remain of all examples outside of vmap",
            )


def run(fn: Function, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The results of a graph at these tensors, op by op, recorded as any computation."""
    return [x if isinstance(x, Tensor) else wrap(_held(x)) for x in replay(fn, tensors, _apply)]


def _apply(op: Op, operands: Sequence[Any]) -> Any:
    """The op on tensors, and on what is known: now, unless a graph is being written."""
    if mode.capturing or any(isinstance(x, Tensor) for x in operands):
        return op(*operands)
    return Tensor.apply(op, tuple(operands))


def _held(v: Value) -> Any:
    return v if mode.capturing else Tensor(v).numbers()
