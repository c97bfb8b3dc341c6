"""Running one op now, on arrays: by NumPy when they are small, by a native kernel when they are large.

`native` is set by the runtime: it turns a function of the graph IR into a callable on arrays (a tuple of arrays comes
back), or says None when it would not gain by it. It is asked once for each op and each set of types.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from mycelia.eager.generic import named
from mycelia.eager.pullback import OpPullback, pullback_of, way_back
from mycelia.eager.quiet import quietly
from mycelia.errors import ArgumentError, MyceliaError, OutOfMemory
from mycelia.ir import Function, Op, Value
from mycelia.primitives import Contract
from mycelia.sizes import NeedsSize
from mycelia.types import Array, TensorType, TupleType, Type, type_of

native: Callable[[Function], Callable[..., Sequence[Array]] | None] | None = None
native_for_all: Callable[[Function], Callable[..., Sequence[Array]] | None] | None = None  # of symbolic sizes
LARGE = 1 << 15  # elements, in all inputs and results together, from which a native kernel is asked for: set with it
FULL = frozenset("fd")  # the codes of element types that NumPy computes with as they are
SPECIALISATIONS = 64  # kernels of one op, each for its types: shapes that are new all the time are NumPy's from then on
MEMORY = 4096  # signatures remembered for one op; a program that shows more of them has no pattern to remember


class _Mode(threading.local):
    """Whether this thread is writing a graph down.

    Then even what depends on nothing becomes a part of the graph, `lift` says which value of the graph stands for
    a tensor from outside (as a constant, if it is None), and `changing` is told of a tensor that is about to hold
    something else.
    """

    capturing: bool = False
    lift: Callable[[Any], Value] | None = None
    changing: Callable[[Any], None] | None = None
    held: Any = None  # reads and writes tensors of the library's own, such as the state of the random generator
    asked: list[Value] | None = None  # what must hold in a graph that is written by calling a function
    drawn: list[Any] | None = None  # streams that were drawn from meanwhile, each with its counter before
    concrete: BaseException | None = None  # a number was asked for that is not there yet, whoever has caught that
    lanes: tuple[Any, ...] = ()  # of each `vmap` around: which example it is, for random numbers of its own


mode = _Mode()


def must(known: Value) -> None:
    """What is a mistake where it does not hold: whoever writes the graph down finds out when it has run."""
    if mode.held is not None:
        mode.held.must(known)
    elif mode.asked is not None:
        mode.asked.append(known)


class Concrete(BaseException):  # which no program catches by accident
    """A number was asked for that exists only when the program runs. Capturing catches it and finds another way.

    A manager whose `__exit__` says True, `except:` and a `return` in a `finally` catch even this, so it is noted.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        mode.concrete = self


FOREIGN = (ValueError, TypeError, IndexError, MemoryError)  # what NumPy raises


def explained(op: Op, arrays: tuple[Any, ...], error: Exception) -> Exception:
    """What an error of NumPy means to the user; an error that is ours already says it."""
    if isinstance(error, MyceliaError):
        return error
    given = {f"operand {i}": type_of(a) for i, a in enumerate(arrays)}
    if isinstance(error, MemoryError):
        return OutOfMemory(
            f"there is not enough memory for the result of {op.name}", given=given, hint="use smaller sizes"
        )
    return ArgumentError(
        f"{op.name} cannot be computed: {error}", given=given, hint="check the sizes that it was given"
    )


class Ready:
    """An op as eager mode meets it again and again: what it returned for these types, and how to go back."""

    __slots__ = ("aligned", "backs", "kinds", "natives", "op", "pullbacks", "shared", "static")

    def __init__(self, op: Op) -> None:
        self.op, self.static = op, op.static
        self.natives = 0  # how many kernels there are
        self.shared: dict[tuple[Any, ...], Callable[..., Sequence[Array]] | None] = {}  # for all sizes of a class
        self.kinds: dict[tuple[Any, ...], tuple[Type, Callable[..., Any]]] = {}
        self.pullbacks: dict[tuple[Any, ...], OpPullback] = {}
        self.backs: dict[tuple[Any, ...], Callable[..., Sequence[Any]]] = {}  # of ops with one result
        self.aligned: dict[tuple[bool, ...], Callable[..., Sequence[Any]]] = {}  # of those, where all shapes are equal

    def run(self, arrays: tuple[Any, ...]) -> tuple[Any, Type]:
        """The result, an array or a tuple of them, and its type."""
        key = signature(arrays)
        known = self.kinds.get(key)
        if known is None:
            known = self._meet(key, arrays)
        kind, function = known
        try:
            out = quietly(function, *arrays)
        except FOREIGN as error:
            raise explained(self.op, arrays, error) from None
        if kind.__class__ is TensorType:
            return typed(out, kind), kind
        assert isinstance(kind, TupleType), f"{self.op.name} gives a {kind}, which eager mode does not hold"
        return tuple(typed(o, k) for o, k in zip(out, kind.elements, strict=True)), kind  # type: ignore[arg-type]  # tensors

    def _meet(self, key: tuple[Any, ...], arrays: tuple[Any, ...]) -> tuple[Type, Callable[..., Any]]:
        """Infer the type, which is where a mistake is reported, and choose who computes."""
        types = tuple(type_of(a) for a in arrays)
        kind = self.op.infer(*types)
        function = self._native(types, kind) or self.op.reference
        if len(self.kinds) >= MEMORY:
            self.kinds.clear()
        self.kinds[key] = kind, function
        return kind, function

    def pullback(self, needed: tuple[bool, ...], live: tuple[bool, ...], arrays: tuple[Any, ...]) -> OpPullback:
        """How cotangents go back through the op, at these types."""
        key = (needed, live, *signature(arrays))
        pullback = self.pullbacks.get(key)
        if pullback is None:
            if len(self.pullbacks) >= MEMORY:
                self.pullbacks.clear()
            types = tuple(getattr(a, "type", None) or type_of(a) for a in arrays)
            found = pullback_of(self.op, types, needed, live)
            pullback = self.pullbacks[key] = self._natively(found, types, needed, live)
        return pullback

    def _native(self, types: tuple[TensorType, ...], kind: Type) -> Callable[..., Any] | None:
        """The op as a native kernel."""
        kernel = self._kernel(Function.build(self.op, *types), ("there", types), self._forward) if native else None
        if kernel is None or isinstance(kind, TupleType):
            return kernel
        return lambda *arrays: kernel(*arrays)[0]

    def _forward(self, *types: Type) -> Function:
        return Function.build(self.op, *types)

    def _natively(
        self, pullback: OpPullback, types: tuple[Any, ...], needed: tuple[bool, ...], live: tuple[bool, ...]
    ) -> OpPullback:
        """The pullback, run by a native kernel where it has to do with large arrays."""

        def back(*types: Type) -> Function:
            return way_back(self.op, types, needed, live)[0]

        kernel = self._kernel(pullback.function, ((needed, live), types), back)
        if kernel is None:
            return pullback

        def compiled(*arrays: Any) -> Sequence[Any]:
            got = iter(kernel(*[np.asarray(a) for a in arrays]))
            return [next(got) if flows else None for flows in pullback.flows]

        # a kernel is for the types that it was compiled for
        return replace(pullback, compiled=compiled, any_type=False)

    def _kernel(
        self, fn: Function, about: tuple[Any, tuple[Any, ...]], build: Callable[..., Function]
    ) -> Callable[..., Sequence[Array]] | None:
        """A native kernel for a function of large operands, if there is one, and there are not too many already: one
        for all sizes of a class, else one for these types. `build` makes the function for other types.
        """
        if native is None or not all(isinstance(t, TensorType) for t in (*fn.types, *fn.result_types)):
            return None
        if self.op.native is None and any(t.dtype.is_complex for t in fn.types if isinstance(t, TensorType)):
            return None  # NumPy goes through both parts at once
        elements = sum(t.size for t in (*fn.types, *fn.result_types) if isinstance(t, TensorType))
        if elements < LARGE and _multiplications(fn) < 4 * LARGE:
            return None
        kernel = self._for_all(about, build)
        if kernel is None and self.natives < SPECIALISATIONS:
            kernel = native(fn)
            self.natives += kernel is not None
        return kernel

    def _for_all(
        self, about: tuple[Any, tuple[Any, ...]], build: Callable[..., Function]
    ) -> Callable[..., Sequence[Array]] | None:
        """A kernel for all sizes of a class, made once; None if there is none."""
        what, types = about
        found = named(types) if native_for_all is not None else None
        if found is None or native_for_all is None:
            return None
        key = (what, found[0])
        if key not in self.shared:
            try:
                self.shared[key] = native_for_all(build(*found[1]))
            except (NeedsSize, MyceliaError):  # it has numbers among its attributes that fit one shape
                self.shared[key] = None
        return self.shared[key]

    def pull(self, needed: tuple[bool, ...], ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        if ct.__class__ is tuple:
            live = tuple([c is not None for c in ct])
            cts = [c for c in ct if c is not None]
            return self.pullback(needed, live, inputs).compiled(*cts, *out, *inputs)
        back = self.aligned.get(needed)
        if back is not None and out.size <= LARGE and out.dtype.char in FULL and _aligned(out, inputs):
            return back(ct, out, *inputs)
        key = (needed, *signature(inputs))
        back = self.backs.get(key)
        if back is None:
            if len(self.backs) >= MEMORY:
                self.backs.clear()
            pullback = self.pullback(needed, ALONE, inputs)
            back = self.backs[key] = pullback.compiled
            if pullback.any_type and out.size <= LARGE and _aligned(out, inputs):
                self.aligned[needed] = back
        return back(ct, out, *inputs)

    def derive(self, needed: tuple[bool, ...], ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        held = tuple([x._data for x in inputs])
        if ct.__class__ is tuple:
            live = tuple([c is not None for c in ct])
            return self.pullback(needed, live, held).replay([c for c in ct if c is not None] + [*out, *inputs])
        return self.pullback(needed, ALONE, held).replay([ct, out, *inputs])


class Aligned(Ready):
    """An op on small arrays of one shape and one full type: nothing else is asked on the way back."""

    __slots__ = ()

    def pull(self, needed: tuple[bool, ...], ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        back = self.aligned.get(needed)
        return super().pull(needed, ct, out, inputs) if back is None else back(ct, out, *inputs)


def _multiplications(fn: Function) -> int:
    """How many numbers the products of a function multiply. Of larger ones NumPy's library makes threads of its own,
    which go on waiting awake, and take the processor from ours for some milliseconds.
    """
    total = 0
    for v in fn.values():
        if isinstance(v.op, Contract):
            x, y = v.inputs
            total += prod(
                {**dict(zip(v.op.lhs, x.shape, strict=True)), **dict(zip(v.op.rhs, y.shape, strict=True))}.values()
            )
    return total


ALONE = (True,)  # an op with one result, whose cotangent is known
_ready: dict[tuple[type, Op], Ready] = {}


def ready(op: Op) -> Ready:
    """The op with its memory. Equal ops share one, if their attributes are of the same classes: where 1 is right, True
    may be refused.
    """
    key = op.__class__, op
    found = _ready.get(key)
    if found is None or (found.op is not op and not found.op.exactly(op)):
        if len(_ready) >= MEMORY:
            _ready.clear()
        found = _ready[key] = Ready(op)
    return found


def signature(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the type of a result depends on, in a form that is quick to make."""
    if len(arrays) == 2:
        x, y = arrays
        return x.dtype, x.shape, y.dtype, y.shape
    if len(arrays) == 1:
        return arrays[0].dtype, arrays[0].shape
    return tuple([part for x in arrays for part in (x.dtype, x.shape)])


def _aligned(out: Any, inputs: tuple[Any, ...]) -> bool:
    """Whether the operands have the shape and the element type of the result."""
    shape, dtype = out.shape, out.dtype
    if len(inputs) == 2:
        x, y = inputs
        return bool(x.shape == shape and y.shape == shape and x.dtype is dtype and y.dtype is dtype)
    return all(x.shape == shape and x.dtype is dtype for x in inputs)


def typed(out: Any, kind: TensorType) -> Array:
    """A result as an array of exactly the type that was inferred."""
    if out.__class__ is not np.ndarray:
        out = np.asarray(out)
    dtype = kind.dtype.numpy
    return out if out.dtype is dtype else quietly(out.astype, dtype)  # type: ignore[no-any-return]
