"""Derivatives with respect to whole numbers: of weights, or of arguments.

Nothing changes a little in a whole number, but a formula of whole numbers is also one of real numbers, and that has a
derivative: it is what MindSpore gives, cut to the type of the weight. So everything that was computed from such numbers
is computed again, where what depends on them is float64, and differentiated like anything else. An op that takes only
whole numbers (positions, bits) or gives others than numbers (comparisons) is where it ends. What it cannot be followed
through is an error, and not a zero. Truth values are 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import product
from typing import Any

from mycelia import primitives as p
from mycelia import transforms
from mycelia.eager.backward import derive_back
from mycelia.eager.dispatch import Ready
from mycelia.eager.tape import Alias, Recording, Tape, set_aside
from mycelia.eager.tensor import Tensor, cast, wrap
from mycelia.errors import DTypeError, MyceliaError
from mycelia.ir import Function, Op, Param, Project, Purity, Value
from mycelia.types import DType, TensorType, TupleType, float64

TRIED = 6  # operands of an op for which every choice is tried


class NoWay(Exception):
    """Through what a derivative with respect to whole numbers was not found."""

    def told(self, named: Sequence[str]) -> DTypeError:
        """The same to the user, who knows weights by their names."""
        who = f"the weight{'s' * (len(named) > 1)} {', '.join(named)}" if named else "an argument"
        return DTypeError(
            f"{who} of whole numbers cannot be differentiated through {self}",
            hint="give a weight requires_grad=False if it only counts; make it a floating type if it is learned",
        )


def pull_back_whole(
    tape: Tape, start: int, stop: int, seeds: Mapping[int, Tensor], leaves: Sequence[int], again: bool
) -> list[Tensor | None]:
    """Cotangents of whole numbers at these places of a tape, None where nothing flows. With `again` they can be
    differentiated once more.
    """
    with nullcontext() if again else set_aside(), Recording() as recording:
        known = {place: recording.leaf(cast(wrap(tape[place][4], tape, place), float64)) for place in leaves}
        places = [known[place]._id for place in leaves]
        for here in range(start, stop):
            step, read, _, held, out = tape[here]
            if step is None or not any(place in known for place in read):
                continue
            before = [wrap(x, tape, place) for x, place in zip(held, read, strict=True)]
            tensors = [known.get(place, x) for x, place in zip(before, read, strict=True)]
            results = _repeated(step, tensors, [place in known for place in read], [x.dtype for x in before])
            first = here + (out.__class__ is tuple)
            known |= {first + i: found for i, found in enumerate(results) if found is not None}
        given = {known[place]._id: cast(ct, known[place].dtype) for place, ct in seeds.items() if place in known}
        end = len(recording.tape)
        if again:
            return derive_back(recording.tape, recording.start, end, given, places)
    return derive_back(recording.tape, recording.start, end, given, places)


def _repeated(step: Any, tensors: list[Tensor], moving: list[bool], dtypes: list[DType]) -> Sequence[Tensor | None]:
    """The results of a step, computed again; None for those that do not move."""
    if isinstance(step, Alias):
        return tensors
    if isinstance(step, Ready):
        return lifted(step.op, tensors, moving, dtypes)
    function = getattr(step, "whole", None)  # a compiled function, see `api.native`
    if function is None:
        raise NoWay("a function whose derivative is given, or that Python computes")
    return replayed(function, tensors, moving)


def replayed(fn: Function, operands: Sequence[Any], moving: Sequence[bool]) -> list[Any]:
    """The results of a function, op by op, at operands of which those that move are real numbers; None for results that
    do not move.
    """
    env: dict[Value, Any] = dict(zip(fn.params, operands, strict=True))
    moved = {v for v, m in zip(fn.params, moving, strict=True) if m}
    for v in fn.values():
        if v in env:
            continue
        if isinstance(v.op, Project):
            (several,) = v.inputs
            env[v], moves = env[several][v.op.index]
        elif v.closed:
            env[v], moves = v, False
        else:
            assert not isinstance(v.op, Param), f"{v} belongs to another function"
            parts = _parts(v.op, v, env, moved)
            if isinstance(v.type, TupleType):
                env[v] = parts
                continue
            ((env[v], moves),) = parts
        if moves:
            moved.add(v)
    return [env[r] if r in moved else None for r in fn.results]


def _parts(op: Op, v: Value, env: Mapping[Value, Any], moved: set[Value]) -> list[tuple[Any, bool]]:
    """The results of an op of a function, and for each whether it moves."""
    moving = [x in moved for x in v.inputs]
    found: Sequence[Any] = ()
    if any(moving):
        found = lifted(op, [env[x] for x in v.inputs], moving, [x.tensor.dtype for x in v.inputs])
    elif op.purity is Purity.ORDERED:
        raise NoWay(f"a function in which {op.name} happens")
    if any(x is not None for x in found):
        return [(x, x is not None) for x in found]
    plain = op(*[_cut(env[x], x.dtype) if m else env[x] for x, m in zip(v.inputs, moving, strict=True)])
    return [(x, False) for x in (plain if isinstance(v.type, TupleType) else (plain,))]


def lifted(op: Op, operands: Sequence[Any], moving: Sequence[bool], dtypes: Sequence[DType]) -> Sequence[Any]:
    """The results of an op at operands of which those that move are real numbers; None for results that do not move, or
    nothing at all. `dtypes` are those of the operands as they were.
    """
    if isinstance(op, transforms.Structured | p.HostCall):
        raise NoWay(op.name)
    if isinstance(op, p.Cast) and op.dtype.is_integer:
        return list(operands)  # whole numbers of another length; a gradient of whole numbers was cut, and is not here
    for real in _choices(moving, dtypes):
        taken = [_real(x) if r else _cut(x, d) for x, r, d in zip(operands, real, dtypes, strict=True)]
        try:
            kind = op.infer(*[TensorType(x.dtype, x.shape) for x in taken])
        except (MyceliaError, AssertionError):
            continue  # it does not take real numbers there
        if not kind.differentiable:
            return ()
        if isinstance(kind, TupleType):
            return [x if t.differentiable else None for x, t in zip(op(*taken), kind.elements, strict=True)]
        return [op(*taken)]
    return ()


def _choices(moving: Sequence[bool], dtypes: Sequence[DType]) -> Iterator[tuple[bool, ...]]:
    """Which operands to take as real numbers: as many as can be of those that move, and as few as can be of the others;
    floating ones are so anyway.
    """
    whole = [i for i, d in enumerate(dtypes) if not d.is_inexact]
    if len(whole) > TRIED:
        options = [{i: moving[i] for i in whole}, dict.fromkeys(whole, True)]
    else:
        options = [dict(zip(whole, some, strict=True)) for some in product((True, False), repeat=len(whole))]
        options.sort(key=lambda o: (sum(moving[i] and not o[i] for i in o), sum(o[i] and not moving[i] for i in o)))
    for option in options:
        real = tuple(option.get(i, d.is_inexact) for i, d in enumerate(dtypes))
        if any(m and r for m, r in zip(moving, real, strict=True)):
            yield real


def _real(x: Any) -> Any:
    return x if x.dtype.is_inexact else p.cast(x, float64)


def _cut(x: Any, dtype: DType) -> Any:
    """An operand as it was: whole numbers that were made real are whole again."""
    return x if x.dtype is dtype else p.cast(p.stop_gradient(x), dtype)
