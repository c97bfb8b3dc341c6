"""Recurse: functions that call themselves and one another, by name.

The residuals of one activation go into a frame, which its caller keeps among its own residuals; so the types of
residuals stay finite. Everything is differentiated as a whole: all parameters and results that can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import ArgumentError, BranchError
from mycelia.frozen import frozen
from mycelia.ir import Back, Function, Lowered, Mistake, Purity, Sample, Value, interpret
from mycelia.primitives.control.frame import MakeFrame, OpenFrame
from mycelia.primitives.control.map import each, zeros_for
from mycelia.primitives.control.naming import callees, calls, mark_of, renamed, variant
from mycelia.primitives.control.stack import on_deep_stack
from mycelia.transforms import Structured, jvp, parted, placed, vjp
from mycelia.types import FrameType, TensorType, TupleType, Type, cotangent_type, float64

Definitions = tuple[tuple[str, Function], ...]
_scope: ContextVar[dict[str, Function] | None] = ContextVar("the definitions that are being interpreted", default=None)


def smooth(types: Sequence[Type]) -> tuple[bool, ...]:
    """Which of these types can be differentiated.

    >>> from mycelia.types import int64
    >>> smooth([TensorType(float64, ()), TensorType(int64, ())])
    (True, False)
    """
    return tuple(t.differentiable for t in types)


def cotangent_types(types: Sequence[Type]) -> tuple[Type, ...]:
    """The types of the cotangents of those that can be differentiated.

    >>> cotangent_types([TensorType(float64, ()), FrameType("f")])
    (TensorType(dtype=float64, shape=()), FrameType(name='f~'))
    """
    return tuple(cotangent_type(t) for t in types if t.differentiable)


@frozen
class NamedCall(Structured):
    """A call of the function called `callee` among the definitions of the recursion in which this stands."""

    callee: str
    result_types: tuple[Type, ...]
    native: ClassVar[Lowered] = Lowered.STEP
    ordered: bool = False  # whether the function that is called has effects; that is not seen here
    alone: ClassVar[Purity] = Purity.PARTIAL

    @cached_property
    def purity(self) -> Purity:  # type: ignore[override]  # of the call, not of the class
        """What may be done with it: it may not end, and what the callee does is seen."""
        return Purity.ORDERED if self.ordered else self.alone

    def infer(self, *inputs: Type) -> TupleType:
        return TupleType(self.result_types)

    def reference(self, *inputs: Any) -> Any:
        definitions = _scope.get()
        assert definitions is not None, f"{self.callee} is called outside a recursion"
        return interpret(definitions[self.callee], *inputs)

    def pullback(
        self, live: Sequence[bool], wanted: Sequence[bool], inputs: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Back]:
        frame = FrameType(self.callee)
        *outs, held = NamedCall(variant(self.callee, "forward"), (*self.result_types, frame), self.ordered)(*inputs)
        types = tuple(x.type for x in inputs)
        backward = NamedCall(variant(self.callee, "backward"), cotangent_types(types), self.ordered)

        def back(cts: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(placed(smooth(types), backward(held, *_filled(outs, cts))))

        return tuple(outs), back

    def pushforward(self, tangents: Sequence[Any], inputs: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Any]]:
        results = (*self.result_types, *cotangent_types(self.result_types))
        outs = NamedCall(variant(self.callee, "tangent"), results, self.ordered)(*inputs, *_filled(inputs, tangents))
        n = len(self.result_types)
        return outs[:n], placed(smooth(self.result_types), outs[n:])

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        return each(self, size, [_of_one(x) if m else x.type for x, m in zip(inputs, mapped, strict=True)], inputs)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        return ()


def _filled(values: Sequence[Value], derivatives: Sequence[Any]) -> list[Value]:
    """A derivative for each value that can have one, zero where there is none."""
    both = zip(values, derivatives, strict=True)
    return [zeros_for(v) if d is None else d for v, d in both if v.type.differentiable]


def _of_one(x: Value) -> Type:
    """The type of a mapped operand for one example."""
    if isinstance(x.type, TensorType):
        return x.type.with_shape(x.shape[1:])
    element = getattr(x.type, "element", None)
    assert isinstance(element, FrameType), "a sequence is given to a recursive call inside vmap: its form is not known"
    return element


@frozen
class Recurse(Structured):
    """The definition called `entry`, where definitions call one another with `NamedCall`."""

    definitions: Definitions
    entry: str
    native: ClassVar[Lowered] = Lowered.STEP
    alone: ClassVar[Purity] = Purity.PARTIAL
    straight: ClassVar[bool] = False

    def __post_init__(self) -> None:
        known = dict(self.definitions)
        for callee in {self.entry}.union(*map(callees, known.values())):
            if callee not in known:
                raise ArgumentError(
                    f"{callee} is called, but it is not among the definitions",
                    given={"definitions": ", ".join(known)},
                )
        for fn in known.values():
            for call in calls(fn):
                _check(call, known)

    @cached_property
    def fn(self) -> Function:
        return dict(self.definitions)[self.entry]

    def infer(self, *inputs: Type) -> TupleType:
        _agree(self.entry, inputs, self.fn.types)
        return TupleType(self.fn.result_types)

    def reference(self, *inputs: Any) -> Any:
        if _scope.get() is None:
            return on_deep_stack(lambda: self._interpreted(*inputs))
        return self._interpreted(*inputs)

    def _interpreted(self, *inputs: Any) -> Any:
        before = _scope.set(dict(self.definitions))
        try:
            return interpret(self.fn, *inputs)
        finally:
            _scope.reset(before)

    def pullback(
        self, live: Sequence[bool], wanted: Sequence[bool], inputs: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Back]:
        mark = mark_of(self.definitions)  # frames are known everywhere by name, so names must tell what is meant
        names = {name: variant(name, mark=mark) for name, _ in self.definitions}
        plain = {names[name]: renamed(fn, tuple(names.items())) for name, fn in self.definitions}
        forward, backward = dict(plain), dict[str, Function]()
        for name, fn in plain.items():
            if any(smooth(fn.types)) and any(smooth(fn.result_types)):
                forward[variant(name, "forward")], backward[variant(name, "backward")] = _framed(name, fn)
        entry = names[self.entry]
        *outs, frame = _recurse(forward, variant(entry, "forward"))(*inputs)
        way_back = _recurse(backward, variant(entry, "backward"))

        def back(cts: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(placed(smooth(self.fn.types), way_back(frame, *_filled(outs, cts))))

        return tuple(outs), back

    def pushforward(self, tangents: Sequence[Any], inputs: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Any]]:
        both = dict(self.definitions)
        both.update((variant(name, "tangent"), jvp(fn)) for name, fn in self.definitions)
        outs = _recurse(both, variant(self.entry, "tangent"))(*inputs, *_filled(inputs, tangents))
        n = len(self.fn.results)
        return outs[:n], placed(smooth(self.fn.result_types), outs[n:])

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        return each(self, size, self.fn.types, inputs)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        scalar = TensorType(float64, ())
        again = NamedCall("power", (scalar,))
        base = Function.build(lambda x, n: (p.sin(x),), scalar, scalar)
        step = Function.build(lambda x, n: (x * again(x * 0.9, n - 1.0)[0],), scalar, scalar)
        power = Function.build(lambda x, n: p.Cond(base, step)(p.less(n, p.lift(1.0, n)), x, n), scalar, scalar)
        yield Sample(cls((("power", power),), "power"), (np.array(1.2), np.array(4.5)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        scalar = TensorType(float64, ())
        lost = Function.build(lambda x: NamedCall("nobody", (scalar,))(x), scalar)
        wide = Function.build(lambda x: NamedCall("wide", (scalar,))(p.broadcast(x, (2,))), scalar)
        same = Function.build(lambda x: (x,), scalar)
        yield Mistake(lambda: cls((("lost", lost),), "lost"), ArgumentError, "nobody is called, but it is not among")
        yield Mistake(
            lambda: cls((("wide", wide),), "wide"), BranchError, "wide is called with operands of other types"
        )
        yield Mistake(lambda: cls((("same", same),), "same")(p.zeros(float64, (2,))), BranchError, "of other types")


def _recurse(definitions: dict[str, Function], entry: str) -> Recurse:
    """The recursion that starts at `entry`, with only what it needs."""
    needed, stack = {entry}, [entry]
    while stack:
        new = callees(definitions[stack.pop()]) - needed
        needed |= new
        stack.extend(new)
    return Recurse(tuple((name, definitions[name]) for name in sorted(needed)), entry)


def _framed(name: str, fn: Function) -> tuple[Function, Function]:
    """Forward: results and a frame of the residuals. Backward: from that frame and cotangents to cotangents."""
    parts = parted(vjp(fn), len(fn.params), len(fn.results))
    outs = parts.forward.results
    held = parts.kept(parts.forward.params, outs)
    frame = MakeFrame(name)(*held) if held else Value(MakeFrame(name))
    forward = parts.forward.with_results((*outs[: len(fn.results)], frame))
    fields = tuple(v.type for v in held)

    def back(frame: Value, *cts: Value) -> tuple[Value, ...]:
        return parts.backward(*OpenFrame(fields)(frame), *cts)

    return forward, Function.build(back, FrameType(name), *cotangent_types(fn.result_types))


def _check(call: Value, definitions: dict[str, Function]) -> None:
    """Complain unless a call fits the function that it calls."""
    assert isinstance(call.op, NamedCall), f"{call} is no call"
    callee = definitions[call.op.callee]
    _agree(call.op.callee, tuple(x.type for x in call.inputs), callee.types)
    assert call.op.ordered or callee.purity is not Purity.ORDERED, f"a call hides the effects of {call.op.callee}"
    if call.op.result_types != callee.result_types:
        raise BranchError(
            f"{call.op.callee} gives other results than its caller expects",
            given={
                "given": ", ".join(map(str, callee.result_types)),
                "expected": ", ".join(map(str, call.op.result_types)),
            },
            at=call.location,
        )


def _agree(name: str, operands: tuple[Type, ...], types: tuple[Type, ...]) -> None:
    if operands != types:
        raise BranchError(
            f"{name} is called with operands of other types",
            given={"operands": ", ".join(map(str, operands)), "parameters": ", ".join(map(str, types))},
        )
