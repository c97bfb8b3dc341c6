"""Operations on tensors: our own functions, run by Python on stand-ins that hold values of the graph.

They are pure functions of their arguments, declared so once: `PURE` names the packages. What they do to a tensor that
they are given is seen on the stand-in, and becomes a write to the store.
"""

from __future__ import annotations

import functools
import operator
from collections import OrderedDict
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.capture.holding import written_in
from mycelia.capture.joining import WRITTEN, Joining
from mycelia.capture.machine import DATA, MOST_OPERATIONS, TOO_LARGE, distributes
from mycelia.capture.values import Break, Either, HostNumber, Number, UserError, alternatives, is_plain
from mycelia.capture.world import is_tensor
from mycelia.eager import Concrete, Parameter, Tensor, assign
from mycelia.eager.convert import scalar
from mycelia.eager.dispatch import mode
from mycelia.eager.indexing import getpart
from mycelia.eager.operators import STRAIGHT
from mycelia.eager.promotion import common_with_number
from mycelia.eager.tensor import wrap
from mycelia.eager.views import Repeated, put_back
from mycelia.ir import Value, constant
from mycelia.ir.region import innermost
from mycelia.sizes import NeedsSize, Sym
from mycelia.types import _BY_NUMPY, DType, TensorType, bool_, int64

PURE = ("mycelia.ops.", "mycelia.eager.", "mycelia.primitives.", "mycelia.numpy.", "mycelia.scipy.")
NOT_PURE = (  # these are read as any program is: composites, and what makes or takes sparse tensors
    "mycelia.ops.composite", "mycelia.ops.sparse", "mycelia.eager.trace", "mycelia.eager.tape", "mycelia.eager.random",
)  # fmt: skip
OURS = (*PURE, "mycelia.names.", "mycelia.api.fused")  # where such functions and their wrappers are written
NUMBERS = (HostNumber, Number)
CONVERSIONS = {float: float, int: int, bool: bool}


class StoreDraws:
    """What the session's random generator asks for while a program is captured: see `mycelia.eager.random`."""

    def __init__(self, machine: Tensors) -> None:
        self.machine = machine

    def read(self, x: Tensor) -> Tensor:
        stand_in = Tensor.__new__(Tensor)
        stand_in._data, stand_in._tape = self.machine.value(x), None
        return stand_in

    def write(self, x: Tensor, new: Tensor) -> None:
        self.machine.store.write(x, DATA, new._data)

    def positions(self, index: Value, extent: Any) -> None:
        """Positions that only the running program knows: they are checked when it runs."""
        self.machine.asked(index, extent)

    def must(self, known: Value) -> None:
        """Something that is a mistake where it does not hold: it is checked when the program runs."""
        self.machine.asked(known, None)


def pairs_of(out: Any, made: Any) -> Iterator[tuple[Tensor, Any]]:
    """The tensors that an operation gave, each with what stands for it."""
    if type(out) is Tensor:
        yield out, made
    elif isinstance(out, tuple):
        for a, b in zip(out, made, strict=True):
            yield from pairs_of(a, b)


class Real:
    """An object that one of our functions is given as it is."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing


class Tensors(Joining):
    """Calls of functions of our own library."""

    @functools.cached_property
    def for_generators(self) -> StoreDraws:
        return StoreDraws(self)

    def is_pure(self, fn: Any) -> bool:
        """Whether a function is one of ours that only its arguments matter to."""
        if type(fn) is not FunctionType:
            return False
        module = fn.__module__ or ""
        return module.startswith(PURE) and not module.startswith(NOT_PURE) and written_in(fn).startswith(OURS)

    def counted(self) -> None:
        """One more operation, of which a program may have so many."""
        self.operations += 1
        if self.operations > MOST_OPERATIONS:
            self.refuse(TOO_LARGE)

    def native(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of one of our own functions, on stand-ins."""
        if fn is assign and not kwargs and len(args) == 2 and self.assigned_straight(*args):
            return args[0]
        self.counted()
        stand_ins: dict[int, tuple[Any, Tensor, Any]] = {}
        unclear = [a for a in (*args, *kwargs.values()) if a.__class__ is Either]
        for a in unclear:
            if (apart := self.of_two_types(a)) is not None:
                return self.decide(apart, lambda: self.native(fn, args, kwargs), lambda: self.native(fn, args, kwargs))
        chosen = [x for a in unclear for x in alternatives(a) if is_tensor(x)] if unclear else []
        given = [self.lowered(a, stand_ins) for a in args]
        named = {k: self.lowered(v, stand_ins) for k, v in kwargs.items()}
        before, noted = (mode.capturing, mode.lift, mode.changing, mode.held), mode.concrete
        mode.capturing, mode.lift, mode.changing, mode.held = True, None, None, self.for_generators
        around = innermost()
        effects = 0 if around is None else len(around.effects)
        self.located()
        try:
            out = fn(*given, **named)
        except (Concrete, Repeated) as reason:
            mode.concrete = noted
            raise Break(str(reason), self.here()) from None
        except RecursionError:
            raise
        except Exception as error:
            if isinstance(error, AttributeError) and any(error.obj is t for _, t, _ in stand_ins.values()):
                raise Break(str(error), self.here()) from None
            raise UserError(error) from None
        finally:
            mode.capturing, mode.lift, mode.changing, mode.held = before
        new = [] if around is None else around.effects[effects:]
        if new and any(not isinstance(e.op, p.Positions) for e in new):
            self.check_effects()
        originals = {id(t): original for original, t, _ in stand_ins.values()}
        for original, stand_in, data in stand_ins.values():
            if stand_in._data is not data:
                self.written(original, as_value(stand_in._data))
                if type(original) is Parameter:
                    originals[id(stand_in._data)] = original  # what it holds now is read from it
        made = self.raised(out, originals)
        ambiguous = dict.fromkeys(originals, chosen) if chosen else {}
        for t, x in pairs_of(out, made):
            self.sharing.tell(t, x, originals, ambiguous)
        return made

    def of_two_types(self, x: Any) -> Value | None:
        """The condition on which a tensor of one type or one of another is meant; None where there is none."""
        x = self.joined(x)
        if not isinstance(x, Either) or not all(map(is_tensor, alternatives(x))):
            return None
        return x.cond

    def written(self, x: Any, value: Any) -> None:
        """A tensor holds another value from now on, and with it all that share memory."""
        if id(x) in self.stand_ins:
            self.refuse("a tensor of an earlier turn is written to")
        self.store.write(x, DATA, value)
        sharing = self.sharing
        if not sharing.shared(x):
            return
        if id(x) in sharing.unclear:
            self.refuse("a write that may be seen by one of two tensors")
        before, noted = (mode.capturing, mode.lift, mode.changing, mode.held), mode.concrete
        mode.capturing, mode.lift, mode.changing, mode.held = True, None, None, self.for_generators
        try:
            for link in sharing.upwards(x):
                put = link.put or functools.partial(put_back, link.how)
                self.share(link.base, put(wrap(self.value(link.base)), wrap(self.value(link.view))))
            below = [link for link in sharing.downwards(sharing.root(x)) if self.store.knows(link.view)]
            if self.path and len(below) > WRITTEN:
                self.refuse("a write under a condition that many tensors share")
            for link in below:
                self.share(link.view, link.how(wrap(self.value(link.base))))
        except NeedsSize:
            self.refuse("a view whose size is not known is written to")
        except Repeated:
            self.refuse("a view that has elements more than once is written to")
        finally:
            mode.capturing, mode.lift, mode.changing, mode.held = before
            mode.concrete = noted

    def share(self, x: Any, new: Tensor) -> None:
        if id(x) in self.stand_ins or id(x) in self.sharing.unclear:
            self.refuse("a write that may be seen by a tensor of an earlier turn, or by one of two")
        self.store.write(x, DATA, as_value(new._data))

    def lowered(self, x: Any, stand_ins: dict[int, tuple[Any, Tensor, Any]]) -> Any:
        """A value of the interpreter as our functions take it."""
        x = self.joined(x)
        kind = type(x)
        if kind is Tensor or kind is Parameter:
            if id(x) not in stand_ins:
                data = known_data(self.value(x))
                t = object.__new__(kind)
                if kind is Parameter:
                    t._marks = {}
                else:
                    t._tape = None
                t._data, t._kin = data, None
                stand_ins[id(x)] = x, t, data
            return stand_ins[id(x)][1]
        if kind is Real:
            return x.thing
        if kind is tuple:
            return tuple([self.lowered(v, stand_ins) for v in x])
        if kind is list:
            return [self.lowered(v, stand_ins) for v in self.whole(x)]
        if kind is dict or kind is OrderedDict:
            items = self.whole(x)
            return kind(zip(items[::2], [self.lowered(v, stand_ins) for v in items[1::2]], strict=True))
        if kind is slice:
            return slice(*[self.lowered(v, stand_ins) for v in (x.start, x.stop, x.step)])
        if isinstance(x, HostNumber):
            return self.store.world.constant(x)
        if isinstance(x, Number):
            return self.tensor_of_number(x)
        if kind is np.ndarray and not self.store.is_fresh(x):
            return self.store.world.content(x)
        if isinstance(x, tuple) and hasattr(kind, "_fields"):
            return tuple.__new__(kind, [self.lowered(v, stand_ins) for v in x])
        if is_plain(x) or isinstance(x, type | Sym):
            return x
        if isinstance(x, Either):
            self.refuse("a value of one type or another is given to an operation")
        self.refuse(f"a {kind.__name__} is given to an operation")

    def tensor_of_number(self, x: Number) -> Any:
        self.refuse("a number that only the running program knows is given to an operation")

    def raised(self, out: Any, originals: dict[int, Any]) -> Any:
        """What one of our functions gave, as a value of the interpreter."""
        if id(out) in originals:
            return originals[id(out)]
        kind = type(out)
        if kind is Tensor:
            if out._data.__class__ is np.ndarray and self.store.world.is_looked_into(out._data):
                self.refuse("a tensor shares the memory of an array")
            held = originals.get(id(out._data))
            return self.store.tensor(as_value(out._data) if held is None else self.value(held))
        if kind is tuple:
            return tuple([self.raised(v, originals) for v in out])
        if kind is list:
            return self.store.container(list, tuple([self.raised(v, originals) for v in out]))
        if isinstance(out, tuple) and hasattr(kind, "_fields"):
            return tuple.__new__(kind, [self.raised(v, originals) for v in out])
        if is_plain(out) or isinstance(out, type | Sym):
            return out
        if isinstance(out, np.generic):
            self.refuse(f"a {kind.__name__} comes from an operation")
        self.refuse(f"a {kind.__name__} comes from an operation")

    # ------------------------------------------------------------------------------------------------------ operators

    def tensor_operator(self, name: str, x: Any, y: Any) -> Any:
        """A binary operator of which one operand is a tensor; a number takes part in the type that eager gives it."""
        op = self.straight_ops.get(name)
        if op is not None:
            made = self.straight(op, x, y)
            if made is not None:
                return made
        for v in (x, y):
            if v.__class__ is Either and (apart := self.of_two_types(v)) is not None:
                return self.decide(
                    apart, lambda: self.tensor_operator(name, x, y), lambda: self.tensor_operator(name, x, y)
                )
        pair = [x, y]
        for i, v in enumerate(pair):
            if isinstance(v, NUMBERS):
                pair[i] = self.operand(name, v, pair[1 - i], i)
        return self.native(OPERATORS[name], tuple(pair), {})

    @functools.cached_property
    def straight_ops(self) -> dict[str, Any]:
        """Operators that are one op, unless somebody has put others on tensors; see `straight`."""
        return {name: operator.op for name, operator in STRAIGHT.items() if operator.holds()}

    def straight(self, op: Any, x: Any, y: Any) -> Tensor | None:
        """An operator that is one op of the graph: what the long way gives, for operands of one floating type of which
        only the running program knows the numbers. None for others, and for a mistake, which the long way tells.
        """
        pair = [self.value(v) if is_tensor(v) else v for v in (x, y)]
        dtype = next(v.dtype for v in pair if type(v) is Value)
        if dtype.kind != "f":
            return None
        for v in pair:
            if type(v) is not float and (type(v) is not Value or v.closed or v.dtype is not dtype):
                return None
        self.located()
        try:
            made = Value(op, tuple([Value(full_of(v, dtype)) if type(v) is float else v for v in pair]))
        except Exception:
            return None
        self.counted()
        return self.store.tensor(made)

    def assigned_straight(self, x: Any, y: Any) -> bool:
        """`assign(x, y)`, if both are tensors of one type of which only the running program knows the numbers."""
        if not is_tensor(x) or not is_tensor(y):
            return False
        old, new = self.value(x), self.value(y)
        if old.closed or new.closed or old.type != new.type:
            return False
        self.counted()
        self.located()
        if new is not old:
            self.written(x, new)
        return True

    def operand(self, name: str, number: Any, other: Any, place: int) -> Any:
        """A number beside a tensor, as a tensor without axes of the type in which they meet."""
        kind = self.number_kind(number)
        if not is_tensor(other) or kind is None or name in ("lshift", "rshift", "matmul"):
            return self.plain(number)
        if name in ("pow", "ipow") and (kind is not float or place == 0):
            return self.plain(number)  # a small whole exponent is a product
        dtype = common_with_number(self.value(other).dtype, kind)
        if isinstance(number, HostNumber):
            if kind is int and not fits(number.sample, dtype):
                return self.plain(number)
            made = self.store.world.tensor_of(number, TensorType(dtype, ()))
        else:
            if not dtype.is_float and not (fits(number.low, dtype) and fits(number.high, dtype)):
                self.refuse("a number may not fit the element type")
            made = p.cast(number.value, dtype)
        return self.store.tensor(made)

    def index_part(self, i: Any, size: int | None) -> Any:
        """A part of an index: a number that is known later is a tensor without axes."""
        if isinstance(i, HostNumber) and type(i.sample) is int and size is not None:
            try:
                place = self.store.world.compute(_place, i, size)
            except IndexError:
                return self.plain(i)
            return self.store.tensor(self.store.world.tensor_of(place, TensorType(int64, ())))
        if isinstance(i, Number) and i.kind is int and size is not None and i.low >= 0:
            return self.store.tensor(i.value)
        return self.plain(i) if isinstance(i, HostNumber | Number) else i

    @distributes
    def get_part(self, x: Tensor, index: Any) -> Any:
        """`x[index]`."""
        parts = index if type(index) is tuple else (index,)
        take = getpart if any(isinstance(i, HostNumber | Number) for i in parts) else operator.getitem
        return self.native(take, (x, self.as_index(x, index)), {})

    def set_part(self, x: Tensor, index: Any, value: Any) -> None:
        """`x[index] = value`."""
        if isinstance(value, HostNumber | Number):
            kind = self.number_kind(value)
            dtype = self.value(x).dtype
            if (kind is float and not dtype.is_float) or dtype is bool_:
                value = self.plain(value)
            else:
                value = self.operand("add", value, x, 1)
        self.native(operator.setitem, (x, self.as_index(x, index), value), {})

    def as_index(self, x: Tensor, index: Any) -> Any:
        shape = self.value(x).shape
        parts = index if type(index) is tuple else (index,)
        if not any(isinstance(i, HostNumber | Number) for i in parts):
            return index
        ahead = [i for i, q in enumerate(parts) if isinstance(q, HostNumber | Number)]
        before = parts[: ahead[0]]
        simple = (
            all(type(q) is slice or type(q) is int for q in before) and len(ahead) == 1 and len(parts) <= len(shape)
        )
        if not simple or not all(isinstance(q, int | slice | HostNumber | Number) for q in parts):
            return self.plain(index)
        made = [self.index_part(q, shape[i]) for i, q in enumerate(parts)]
        return tuple(made) if type(index) is tuple else made[0]

    def convert(self, fn: Any, x: Tensor) -> Any:
        """`float(x)`, `int(x)` of a tensor: known, or only when the program runs."""
        value = self.value(x)
        if value.closed and value.tensor.size == 1:
            return self.real(fn, constant(value).item())
        return self.native(fn, (x,), {})


def _place(i: int, size: int) -> int:
    """An index counted from the front."""
    if not -size <= i < size:
        raise IndexError(i)
    return i % size


def fits(number: int, dtype: Any) -> bool:
    """Whether a whole number can be one of this type.

    >>> from mycelia.types import int8
    >>> fits(127, int8), fits(128, int8)
    (True, False)
    """
    if dtype.kind == "f":
        return abs(number) < 2**60
    if dtype is bool_:
        return number in (0, 1)
    info = np.iinfo(dtype.numpy)
    return bool(info.min <= number <= info.max)


def as_value(data: Any) -> Value:
    """What a stand-in holds, as a value of the graph."""
    if data.__class__ is Value:
        return data
    if data.ndim == 0:
        return p.full(data.item(), _BY_NUMPY[data.dtype], ())
    return p.constant(np.array(data))


def known_data(value: Value) -> Any:
    """Data that was given as it is: our functions look at positions that they know, and say what is wrong with them."""
    kind = type(value.op)
    return constant(value) if kind is p.Constant or (kind is p.Full and value.shape == ()) else value


def full_of(number: float, dtype: DType) -> p.Full:
    """The op that gives a Python number as eager mode meets it beside a tensor.

    >>> from mycelia.types import float16
    >>> full_of(0.1, float16).number
    0.0999755859375
    """
    key = number, dtype
    found = _numbers.get(key)
    if found is None or not number:  # 0.0 and -0.0 are equal, and not the same
        if len(_numbers) > 4096:
            _numbers.clear()
        found = _numbers[key] = p.Full(scalar(number, dtype.numpy).item(), dtype, ())
    return found


_numbers: dict[tuple[float, DType], p.Full] = {}


OPERATORS = {
    name: getattr(operator, name)
    for name in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "matmul",
        "lshift",
        "rshift",
        "and_",
        "or_",
        "xor",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "iadd",
        "isub",
        "imul",
        "itruediv",
        "ifloordiv",
        "imod",
        "ipow",
        "imatmul",
        "ilshift",
        "irshift",
        "iand",
        "ior",
        "ixor",
    ]
}
