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
from contextvars import ContextVar
from itertools import product
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia import transforms
from mycelia.eager.backward import derive_back
from mycelia.eager.dispatch import Ready
from mycelia.eager.tape import Alias, Recording, Tape, set_aside
from mycelia.eager.tensor import Tensor, cast, wrap
from mycelia.errors import DTypeError, MyceliaError
from mycelia.ir import Function, Op, Param, Project, Purity, Value, constant
from mycelia.types import DType, TensorType, TupleType, float64

Moved = tuple[Any, bool]  # a value, and whether it moves with the numbers; if so it is of real numbers
TRIED = 6  # operands of an op for which every choice is tried


_defined: ContextVar[Mapping[str, Function]] = ContextVar("the functions that call one another by name")


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
        return [x if moves else None for x, moves in lifted(step.op, tensors, moving, dtypes)]
    function = getattr(step, "whole", None)  # a compiled function, see `api.native`
    if function is None:
        raise NoWay("a function whose derivative is given, or that Python computes")
    if not function.static:
        raise NoWay("a compiled function in which a size comes out of data")
    return replayed(function, tensors, moving)


def replayed(fn: Function, operands: Sequence[Any], moving: Sequence[bool]) -> list[Any]:
    """The results of a function, op by op, at operands of which those that move are real numbers; None for results that
    do not move.
    """
    return [x if moves else None for x, moves in _walked(fn, list(zip(operands, moving, strict=True)))]


def _walked(fn: Function, operands: Sequence[Moved]) -> list[Moved]:
    """The results of a function, op by op, and for each whether it moves."""
    env: dict[Value, Any] = dict(zip(fn.params, operands, strict=True))
    for v in fn.values():
        if v in env:
            continue
        if isinstance(v.op, Project):
            env[v] = env[v.inputs[0]][v.op.index]
        elif v.closed:
            env[v] = v, False
        else:
            assert not isinstance(v.op, Param), f"{v} belongs to another function"
            parts = _parts(v.op, v, [env[x] for x in v.inputs])
            env[v] = parts if isinstance(v.type, TupleType) else parts[0]
    return [env[r] for r in fn.results]


def _parts(op: Op, v: Value, inputs: Sequence[Moved]) -> list[Moved]:
    """The results of an op of a function, and for each whether it moves."""
    moving = [m for _, m in inputs]
    found: Sequence[Moved] = ()
    if any(moving):
        if isinstance(op, transforms.Structured):
            return _taken(op, inputs)
        found = lifted(op, [x for x, _ in inputs], moving, [x.tensor.dtype for x in v.inputs])
    elif op.purity is Purity.ORDERED:
        raise NoWay(f"a function in which {op.name} happens")
    if found:
        return list(found)
    plain = op(*[_cut(x, known.dtype) if m else x for (x, m), known in zip(inputs, v.inputs, strict=True)])
    return [(x, False) for x in (plain if isinstance(v.type, TupleType) else (plain,))]


def _taken(op: Op, inputs: Sequence[Moved]) -> list[Moved]:
    """The results of an op that contains functions: the branch that is taken, and the turns one after the other."""
    if isinstance(op, p.Call):
        return _walked(op.fn, inputs)
    if isinstance(op, p.Cond):
        return _walked(op.then if _number(op, inputs[0]) else op.otherwise, inputs[1:])
    if isinstance(op, p.While) and not op.parts.y_types:
        constants, carries = inputs[: op.constants], list(inputs[op.constants :])
        turns = 0
        while _number(op, _walked(op.condition, [*constants, *carries])[0]):
            carries = _walked(op.body, [*constants, *carries])
            turns += 1
        return [*carries, (p.constant(np.int64(turns)), False)]
    if isinstance(op, p.Scan) and op.static_length is not None:
        whole = op.constants + op.carries
        constants, carries = inputs[: op.constants], list(inputs[op.constants : whole])
        rows: dict[int, list[Moved]] = {}
        for i in reversed(range(op.static_length)) if op.reverse else range(op.static_length):
            found = _walked(op.body, [*constants, *carries, *[(_row(op, x, i), m) for x, m in inputs[whole:]]])
            carries, rows[i] = found[: op.carries], found[op.carries :]
        return [*carries, *_stacked(op, [rows[i] for i in range(op.static_length)])]
    if isinstance(op, p.Map) and not op.sums:
        constants, mapped = inputs[: op.constants], inputs[op.constants :]
        each = [[(_row(op, x, i), m) for x, m in mapped] for i in range(op.size)]
        return _stacked(op, [_walked(op.body, [*constants, *one]) for one in each])
    if isinstance(op, p.Recurse):
        before = _defined.set(dict(op.definitions))
        try:
            return _walked(op.fn, inputs)
        finally:
            _defined.reset(before)
    if isinstance(op, p.NamedCall):
        return _walked(_defined.get()[op.callee], inputs)
    raise NoWay(op.name)


def _number(op: Op, told: Moved) -> Any:
    """What a branch or a loop is decided by; none is known while a program is written down."""
    x = told[0]._data if isinstance(told[0], Tensor) else told[0]
    if isinstance(x, Value) and not x.closed:
        raise NoWay(op.name)
    return constant(x) if isinstance(x, Value) else x


def _row(op: Op, x: Any, i: int) -> Any:
    if not hasattr(x, "shape"):
        raise NoWay(f"{op.name} over a sequence")
    return p.reshape(p.take(x, 0, i, i + 1), x.shape[1:])


def _stacked(op: Op, rows: Sequence[Sequence[Moved]]) -> list[Moved]:
    """Results of all turns, along a new first axis."""
    if not rows:
        raise NoWay(f"{op.name} of no turns")
    found: list[Moved] = []
    for column in zip(*rows, strict=True):
        moves = any(m for _, m in column)
        parts = [_real(x) if moves else x for x, _ in column]
        found.append((p.concat([p.reshape(x, (1, *x.shape)) for x in parts], 0), moves))
    return found


def lifted(op: Op, operands: Sequence[Any], moving: Sequence[bool], dtypes: Sequence[DType]) -> Sequence[Moved]:
    """The results of an op at operands of which those that move are real, and for each whether it moves; nothing
    if none does. `dtypes` are those of the operands as they were.
    """
    if isinstance(op, p.HostCall | transforms.Structured):
        raise NoWay(op.name)
    if isinstance(op, p.Cast) and op.dtype.is_integer:
        return [(operands[0], True)]  # whole numbers of another length; a gradient of whole numbers was cut, and is not
    for real in _choices(moving, dtypes):
        taken = [_real(x) if r else _cut(x, d) for x, r, d in zip(operands, real, dtypes, strict=True)]
        try:
            kind = op.infer(*[TensorType(x.dtype, x.shape) for x in taken])
        except (MyceliaError, AssertionError):
            continue  # it does not take real numbers there
        if not kind.differentiable:
            return ()
        if isinstance(kind, TupleType):
            return [(x, t.differentiable) for x, t in zip(op(*taken), kind.elements, strict=True)]
        return [(op(*taken), True)]
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
