"""Complex numbers become pairs of real ones: kernels, libraries and back ends meet no others.

A complex tensor that enters or leaves a function is a real one with a further axis of two, at the end: so it lies in
memory, at NumPy as well as here. Inside, its parts are two values, which the ops compute by their rules `in_parts`.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from mycelia import primitives as p
from mycelia.errors import DTypeError
from mycelia.ir import Function, Op, Pair, Param, Project, Value, inner_functions, located, region
from mycelia.primitives.control.frame import MakeFrame
from mycelia.primitives.control.sequence import OfStructures
from mycelia.primitives.pairs import as_complex, as_pairs, paired, paired_frame
from mycelia.transforms import Structured
from mycelia.types import Array, SequenceType, TensorType, TupleType, Type


def has_complex(fn: Function) -> bool:
    """Whether something in a function is complex.

    >>> from mycelia.types import complex64, float32
    >>> [has_complex(Function.build(lambda x: x, TensorType(d, (3,)))) for d in (float32, complex64)]
    [False, True]
    """
    seen: set[int] = set()
    stack = [fn]
    while stack:
        for v in stack.pop().values():
            if _is_complex(v.type):
                return True
            for inner in inner_functions(v.op):
                if id(inner) not in seen:
                    seen.add(id(inner))
                    stack.append(inner)
    return False


def _is_complex(t: Type) -> bool:
    if isinstance(t, TensorType):
        return t.dtype.is_complex
    if isinstance(t, TupleType):
        return any(map(_is_complex, t.elements))
    return isinstance(t, SequenceType) and _is_complex(t.element)


def in_pairs(fn: Function) -> Function:
    """The function where every complex tensor that enters or leaves it has a further axis, of its two parts.

    >>> from mycelia.types import complex64
    >>> doubled = in_pairs(Function.build(lambda x: x + x, TensorType(complex64, (3,))))
    >>> str(doubled.types[0]), str(doubled.result_types[0])
    ('f32[3, 2]', 'f32[3, 2]')
    """
    done: dict[int, tuple[Function, Function]] = {}

    def changed(inner: Function) -> Function:
        if id(inner) not in done:
            done[id(inner)] = inner, _Body(inner, changed).function()
        return done[id(inner)][1]

    return changed(fn)


def _called(op: p.HostCall, v: Value) -> p.HostCall:
    """A call of Python that is given pairs, and gives them; the function itself sees complex numbers."""
    takes = tuple(_is_complex(x.type) for x in v.inputs)
    if not any(takes) and not any(map(_is_complex, op.result_types)):
        return op
    types = tuple(t for t in map(paired, op.result_types) if isinstance(t, TensorType))
    return p.HostCall(_in_pairs(op.callee, takes, op.result_types), types, op.stateful)


@lru_cache(maxsize=1024)
def _in_pairs(callee: p.Callee, takes: tuple[bool, ...], gives: tuple[TensorType, ...]) -> p.Callee:
    def python(*arrays: Array) -> tuple[Array, ...]:
        given = [as_complex(x) if c else x for x, c in zip(arrays, takes, strict=True)]
        return tuple(as_pairs(x) if x.dtype.kind == "c" else x for x in callee(given, gives))

    return p.Callee(python, callee.name, callee.raises)


class _Body:
    """One function on its way: what stands for each of its values. A complex one is `Pair`, or both in one tensor."""

    def __init__(self, fn: Function, changed: Any) -> None:
        self.fn, self.changed = fn, changed
        self.new: dict[Value, Any] = {}
        self.joined: dict[Value, Value] = {}

    def function(self) -> Function:
        params = tuple(Value(Param(slot, paired(q.type))) for slot, q in enumerate(self.fn.params))
        with region(closed=True) as inside:
            for old, new in zip(self.fn.params, params, strict=True):
                self.known(old, new)
            for v in self.fn.values():
                if type(v.op) is not Param:
                    with located(v.location):
                        self.visit(v, v.op)
            results = tuple(map(self.whole, self.fn.results))
        return Function(params, results, tuple(inside.effects))

    def known(self, v: Value, new: Value) -> None:
        """`new` stands for `v`, both parts in one."""
        if isinstance(v.type, TensorType) and v.type.dtype.is_complex:
            last = len(v.shape)
            self.joined[v] = new
            self.new[v] = Pair(*[p.reshape(p.take(new, last, i, i + 1), v.shape) for i in range(2)])
        else:
            self.new[v] = new

    def whole(self, v: Value) -> Value:
        """What stands for `v`, in one."""
        found = self.new[v]
        if not isinstance(found, Pair):
            return found  # type: ignore[no-any-return]  # a value
        if v not in self.joined:
            last = len(v.shape)
            self.joined[v] = p.concat([p.expand_dims(part, (last,)) for part in found], last)
        return self.joined[v]

    def visit(self, v: Value, op: Any) -> None:
        if isinstance(op, Project):
            (several,) = v.inputs
            found = self.new[several]
            part = found[op.index] if isinstance(found, tuple) else Value(op, (found,))
            if isinstance(part, Pair):
                self.new[v] = part
            else:
                self.known(v, part)
        elif isinstance(op, Structured | OfStructures | p.HostCall):
            inputs = tuple(map(self.whole, v.inputs))
            same = _called(op, v) if isinstance(op, p.HostCall) else self.about(op)
            self.known(v, v.again(inputs) if same is op else Value(same, inputs))
        elif not _is_complex(v.type) and not any(_is_complex(x.type) for x in v.inputs):
            self.new[v] = v.again(tuple([self.new[x] for x in v.inputs]))
        elif type(op).on_pairs is not Op.on_pairs:
            self.known(v, op.on_pairs(*map(self.whole, v.inputs)))
        elif type(op).in_parts is Op.in_parts:
            raise DTypeError(
                f"{op.name} cannot be compiled for complex numbers",
                given={"result": v.type, **{f"operand {i}": x.type for i, x in enumerate(v.inputs)}},
                hint="compute it from real and imaginary parts: ops.real, ops.imag, ops.complex",
                at=v.location,
            )
        else:
            self.new[v] = op.in_parts(*[self.new[x] for x in v.inputs])

    def about(self, op: Op) -> Op:
        """An op on structures, whose functions and types are in pairs too."""
        changes: dict[str, Any] = {}
        for f in fields(op):
            old = getattr(op, f.name)
            if (made := self.attribute(old)) is not old:
                changes[f.name] = made
        if isinstance(op, MakeFrame):
            changes["frame"] = paired_frame(op.frame)
        return replace(op, **changes) if changes else op

    def attribute(self, old: Any) -> Any:
        if isinstance(old, Function):
            return self.changed(old)
        if isinstance(old, Type):
            return paired(old)
        if isinstance(old, tuple):
            made = tuple(map(self.attribute, old))
            return old if all(a is b for a, b in zip(old, made, strict=True)) else made
        return old
