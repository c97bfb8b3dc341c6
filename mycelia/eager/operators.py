"""Python's operators on tensors.

The common case (two arrays of one element type, or an array and a Python number) goes straight to NumPy. Everything
else, a mistake included, takes the long way through the op, which promotes, infers, and says what is wrong.
"""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from types import NoneType
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.cost import BLAS_UP_TO
from mycelia.eager.convert import as_array, scalar
from mycelia.eager.dispatch import FULL, LARGE, Aligned, ready
from mycelia.eager.promotion import common, common_with_number, floating
from mycelia.eager.quiet import quiet_context
from mycelia.eager.tape import open_tapes
from mycelia.eager.tensor import Tensor, cast, wrap
from mycelia.eager.writing import writing, written
from mycelia.errors import CallError
from mycelia.frozen import frozen
from mycelia.ir import Value
from mycelia.sizes import Sym
from mycelia.types import DType, bool_, int8

NUMBERS: frozenset[Any] = frozenset((float, int, bool))
BOTH, LEFT, RIGHT = (True, True), (True, False), (False, True)
FLOAT = frozenset("efd")  # the codes of NumPy's own floating types
TENSORS: set[Any] = {Tensor}  # and its subclasses that behave alike, see `Parameter`

OPERANDS = (Tensor, float, int, complex, Sym)
ARRAYS = (np.ndarray, list, tuple)

_new = object.__new__
_ndarray = np.ndarray
_run = quiet_context().run  # a second thread that is here at the same moment takes the long way


def operand(x: Any) -> Tensor | float | int | bool | complex | Sym | None:
    """`x` as an operand: a tensor, or a Python number; None if it is neither."""
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, OPERANDS):
        return x
    if isinstance(x, ARRAYS):
        return wrap(as_array(x))
    return wrap(x) if isinstance(x, Value) else None


def together(x: Any, y: Any, widen: Callable[[DType], DType] | None = None) -> tuple[Tensor, Tensor] | None:
    """Two operands as tensors of one element type; None if one of them is no operand."""
    a, b = operand(x), operand(y)
    if a is None or b is None:
        return None
    if isinstance(a, Tensor):
        dtype = common(a.dtype, b.dtype) if isinstance(b, Tensor) else common_with_number(a.dtype, _kind(b))
    elif isinstance(b, Tensor):
        dtype = common_with_number(b.dtype, _kind(a))
    else:
        a, b = wrap(as_array(a)), wrap(as_array(b))
        dtype = common(a.dtype, b.dtype)
    if widen is not None:
        dtype = widen(dtype)
    return _as(a, dtype), _as(b, dtype)


def _kind(number: Any) -> type:
    return int if isinstance(number, Sym) else type(number)


def _as(x: Tensor | float | int | bool | complex | Sym, dtype: DType) -> Tensor:
    if isinstance(x, Sym):
        return wrap(p.full(x, dtype, ()))
    return cast(x, dtype) if isinstance(x, Tensor) else wrap(scalar(x, dtype.numpy))


def long_way(
    function: Callable[[Any, Any], Any], widen: Callable[[DType], DType] | None = None
) -> Callable[[Any, Any], Any]:
    """A binary operator by promotion and the op."""

    def method(self: Any, other: Any) -> Any:
        pair = together(self, other, widen)
        return _no_operands(self, other) if pair is None else function(*pair)

    return method


HOPELESS = (str, bytes, NoneType, dict, set, frozenset)  # the other operand has no way to combine these with tensors


def _no_operands(x: Any, y: Any) -> Any:
    """What to give for operands of which one is none: it may know better; an error if it is known not to."""
    wrong = next((v for v in (x, y) if type(v) in HOPELESS), NotImplemented)
    if wrong is NotImplemented:
        return wrong
    forgotten = wrong is None
    raise CallError(
        f"a tensor and {'None' if forgotten else f'a {type(wrong).__name__}'} cannot be combined by an operator",
        given={"left": _told(x), "right": _told(y)},
        hint="did a function forget to return its result?" if forgotten else "make a tensor or a number of it first",
    )


def _told(x: Any) -> str:
    return f"a {type(x).__name__} of shape {x.shape}" if isinstance(x, Tensor) else repr(x)[:60]


def short_way(
    compute: Callable[[Any, Any], Any],
    op: Any,
    slow: Callable[[Any, Any], Any],
    fits: Callable[[Any, Any], bool] | None = None,
) -> Callable[[Any, Any], Any]:
    """A binary operator that tries NumPy first, on arrays that fit."""
    step, aligned = ready(op), Aligned(op)

    def method(self: Any, other: Any) -> Any:
        a = self._data
        out: Any = None
        kind = other.__class__
        try:
            if kind is Tensor or kind in TENSORS:
                b = other._data
                if a.dtype is b.dtype and (a.size <= LARGE if fits is None else fits(a, b)):
                    if writing:
                        written(a)
                        written(b)
                    out = _run(compute, a, b)
            elif kind in NUMBERS and a.dtype.char in FLOAT and a.size <= LARGE:
                b = scalar(other, a.dtype)
                if writing:
                    written(a)
                out = _run(compute, a, b)
        except (AttributeError, ValueError, RuntimeError, TypeError):
            pass  # a graph value has no size; what is a mistake is told below
        if out.__class__ is not _ndarray:
            if out is None:
                return slow(self, other)
            out = np.asarray(out)
        t = _new(Tensor)
        t._data, t._kin, t._tape = out, None, None
        if not open_tapes:
            return t
        tape, its = self._tape, None if kind in NUMBERS else other._tape
        if tape is None:
            if its is None:
                return t
            tape, places, needed = its, (-1, other._id), RIGHT
        elif its is None:
            places, needed = (self._id, -1), LEFT
        elif its is tape:
            places, needed = (self._id, other._id), BOTH
        else:
            return op(self, other)  # two tapes, of which at most one is open
        if tape.open:
            t._tape, t._id = tape, len(tape)
            straight = a.shape == b.shape and a.dtype.char in FULL
            tape.append((aligned if straight else step, places, needed, (a, b), out))
        return t

    return method


def _divisible(a: Any, b: Any) -> bool:
    return a.dtype.char in FLOAT and a.size <= LARGE


def _matrices(a: Any, b: Any) -> bool:
    """BLAS is good for these element types, and for all but the largest products."""
    return a.dtype.char in FULL and a.ndim == 2 and b.ndim == 2 and a.size * b.shape[1] <= BLAS_UP_TO


def swapped(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operator as the right operand sees it."""

    def reflected(self: Any, other: Any) -> Any:
        return method(other, self)

    return reflected


def compared(
    compute: Callable[[Any, Any], Any], function: Callable[[Any, Any], Any], otherwise: Any
) -> Callable[[Any, Any], Any]:
    """A comparison, of which nothing is recorded. What cannot be compared gives `otherwise`."""

    def method(self: Any, other: Any) -> Any:
        a = self._data
        if a.__class__ is _ndarray:
            b = None
            if other.__class__ in TENSORS:
                b = other._data
            elif other.__class__ in NUMBERS and a.dtype.char in FLOAT:
                b = scalar(other, a.dtype)
            if b.__class__ is _ndarray and a.dtype is b.dtype and a.size <= LARGE and a.dtype.kind != "c":
                if writing:
                    written(a)
                    written(b)
                try:
                    return wrap(np.asarray(compute(a, b)))
                except ValueError:
                    pass  # told properly below
        pair = together(self, other)
        if pair is None:
            return _no_operands(self, other) if otherwise is NotImplemented else otherwise
        return function(*pair)

    return method


def _logical(of_bools: Callable[[Any, Any], Any], function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Arithmetic in which bools have a meaning of their own."""

    def apply(x: Tensor, y: Tensor) -> Any:
        return of_bools(x, y) if x.dtype is bool_ else function(x, y)

    return apply


def _power(self: Any, other: Any) -> Any:
    """A small whole exponent means a product."""
    if type(other) is int and 0 < other <= 16:
        product: Any = None
        square, rest = self, other
        while rest:
            if rest & 1:
                product = square if product is None else product * square
            rest >>= 1
            square = square * square if rest else square
        return +product if other == 1 else product
    pair = together(self, other)
    if pair is None:
        return _no_operands(self, other)
    x, y = pair
    if x.dtype is bool_:
        return cast(p.power(cast(x, int8), cast(y, int8)), bool_)
    return p.power(x, y)


@frozen
class Straight:
    """An operator that is one op, where its operands are of one floating type."""

    op: Any
    methods: tuple[tuple[str, Any], ...]  # as they were put on Tensor, where somebody may have put others

    def holds(self) -> bool:
        """Whether the operator of tensors is still this one."""
        return all(getattr(Tensor, name) is method for name, method in self.methods)


STRAIGHT: dict[str, Straight] = {}


def _install() -> None:
    """Put the operators on Tensor."""
    ops = {"add": p.Add(), "sub": p.Subtract(), "mul": p.Multiply(), "truediv": p.Divide()}
    add = long_way(_logical(p.logical_or, p.add))
    multiply = long_way(_logical(p.logical_and, p.multiply))
    subtract, divide, product = long_way(p.subtract), long_way(p.divide, floating), long_way(p.matmul)
    binary = {
        "add": (short_way(np.add, ops["add"], add), add),
        "sub": (short_way(np.subtract, ops["sub"], subtract), subtract),
        "mul": (short_way(np.multiply, ops["mul"], multiply), multiply),
        "truediv": (short_way(np.true_divide, ops["truediv"], divide, _divisible), divide),
        "pow": (_power, _power),
        "matmul": (short_way(np.matmul, p.Contract("MK", "KN", "MN"), product, _matrices), product),
    }
    functions = {
        "floordiv": p.floor_divide,
        "mod": p.remainder,
        "and": p.logical_and,
        "or": p.logical_or,
        "xor": p.logical_xor,
        "lshift": p.shift_left,
        "rshift": p.shift_right,
    }
    binary |= {name: (long_way(f), long_way(f)) for name, f in functions.items()}
    for name, (method, slow) in binary.items():
        setattr(Tensor, f"__{name}__", method)
        setattr(Tensor, f"__r{name}__", swapped(slow))
    for name, op in ops.items():
        both = (f"__{name}__", f"__r{name}__")
        STRAIGHT[name] = Straight(op, tuple([(n, getattr(Tensor, n)) for n in both]))
    comparisons = {
        "lt": p.less,
        "le": p.less_equal,
        "gt": p.greater,
        "ge": p.greater_equal,
        "eq": p.equal,
        "ne": p.not_equal,
    }
    for name, f in comparisons.items():
        otherwise = {"eq": False, "ne": True}.get(name, NotImplemented)
        setattr(Tensor, f"__{name}__", compared(getattr(python, name), f, otherwise))
    for name, unary in {"neg": p.negative, "abs": p.abs, "invert": p.logical_not}.items():
        setattr(Tensor, f"__{name}__", lambda self, unary=unary: unary(self))
    setattr(Tensor, "__pos__", lambda self: self.alias())  # noqa: B010  # as with the others


_install()
