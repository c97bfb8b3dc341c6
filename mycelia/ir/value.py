"""Values: the nodes of the graph.

A value is an op applied to other values. Values are immutable and interned: building the same expression twice
gives the same object. Therefore common subexpressions are shared by construction, unreachable values vanish by
construction, and `a is b` decides structural equality. What is ordered, and what may not end, is one object within
one function only: see `mycelia.ir.region`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from operator import attrgetter, is_not
from typing import TYPE_CHECKING, Any, ClassVar

from mycelia.errors import Location, caller
from mycelia.interning import Interned
from mycelia.ir.purity import Purity
from mycelia.ir.region import innermost
from mycelia.types import DType, Shape, TensorType, Type

if TYPE_CHECKING:
    from mycelia.ir.op import Op

serials = count()
_type_of = attrgetter("type")
_interned = Interned["Value"]()


def _same(one: Op | Param, other: Op | Param) -> bool:
    """Whether equal ops are the same."""
    return one is other or type(one) is Param or one.exactly(other)  # type: ignore[union-attr,arg-type]  # of one class


def _there(key: tuple[object, ...], op: Op | Param) -> Value | None:
    """The value of this key, if its op is the same as this one."""
    found = _interned.get(key)
    return found if found is None or _same(found.op, op) else None


# Arithmetic on values is looked up here. `mycelia.primitives` fills it; `mycelia.ir` knows no operation by name.
operators: dict[str, Callable[..., Any]] = {}


class _Here(threading.local):
    """Where new values come from: asked from the user's frame while capturing, copied while transforming."""

    location: Location | None = None
    ask: bool = False
    again: Callable[[Value], None] | None = None  # is told of values that are asked for once more


_here = _Here()


@contextmanager
def watched(again: Callable[[Value], None]) -> Iterator[None]:
    """Inside the block, `again` is told of every value that is asked for and was there already."""
    before, _here.again = _here.again, again
    try:
        yield
    finally:
        _here.again = before


class located:
    """New values inside the block are said to come from `location`."""

    __slots__ = ("before", "location")

    def __init__(self, location: Location | None) -> None:
        self.location = location

    def __enter__(self) -> _Here:
        self.before = _here.location, _here.ask
        _here.location, _here.ask = self.location, False
        return _here

    def __exit__(self, *_: object) -> None:
        _here.location, _here.ask = self.before


@contextmanager
def asking() -> Iterator[None]:
    """New values inside the block come from the line of the user's file that is running."""
    before = _here.location, _here.ask
    _here.ask = True
    try:
        yield
    finally:
        _here.location, _here.ask = before


class Arithmetic:
    """Python's operators, spelled with the primitives."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return operators["add"](self, other)

    def __radd__(self, other: Any) -> Any:
        return operators["add"](other, self)

    def __sub__(self, other: Any) -> Any:
        return operators["subtract"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return operators["subtract"](other, self)

    def __mul__(self, other: Any) -> Any:
        return operators["multiply"](self, other)

    def __rmul__(self, other: Any) -> Any:
        return operators["multiply"](other, self)

    def __truediv__(self, other: Any) -> Any:
        return operators["divide"](self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return operators["divide"](other, self)

    def __neg__(self) -> Any:
        return operators["negative"](self)


class Value(Arithmetic):
    """An op applied to values, with its type known from birth."""

    __slots__ = ("__weakref__", "closed", "inputs", "known", "location", "mark", "op", "serial", "type")

    op: Op | Param
    inputs: tuple[Value, ...]
    type: Type
    location: Location | None
    closed: bool  # depends on no parameter and may move: its number is known, see `interpret.constant`
    known: Any
    serial: int  # grows with every value that is made: what was there before a moment has a smaller one
    mark: int  # tells equal values apart that are not one, see `mycelia.ir.region`

    def __new__(cls, op: Op | Param, inputs: tuple[Value, ...] = ()) -> Value:
        purity = op.purity
        if purity is not Purity.TOTAL:
            return cls._marked(op, inputs, purity)  # type: ignore[arg-type]  # parameters are total
        key = (op, inputs)
        found = _there(key, op)
        if found is None:
            return cls._made(key, op, inputs, 0)
        found._also_from_here()
        return found

    @classmethod
    def _marked(cls, op: Op, inputs: tuple[Value, ...], purity: Purity) -> Value:
        """A value that is one object within one region only; an effect of it, if it is ordered."""
        region = innermost()
        if region is None:
            assert purity is Purity.PARTIAL, f"{op} has an effect, and there is no function that could keep it"
            mark = 0
        else:
            mark = region.mark(purity)
        key = (op, inputs, mark)
        made = _there(key, op)
        if made is None:
            made = cls._made(key, op, inputs, mark)
        else:
            made._also_from_here()
        if purity is Purity.ORDERED:
            region.effects.append(made)  # type: ignore[union-attr]  # there is one, see above
        return made

    @classmethod
    def _made(
        cls, key: tuple[object, ...], op: Op | Param, inputs: tuple[Value, ...], mark: int, kind: Type | None = None
    ) -> Value:
        made = object.__new__(cls)
        made.op, made.inputs, made.known, made.serial, made.mark = op, inputs, None, next(serials), mark
        made.location = caller() if _here.ask else _here.location
        if type(op) is Param:
            made.type, made.closed = op.type, False
        else:
            made.type = kind or op.infer(*map(_type_of, inputs))  # type: ignore[union-attr]
            made.closed = op.purity is Purity.TOTAL
            for x in inputs:
                if not x.closed:
                    made.closed = False
                    break
            made.closed = made.closed and made.type.static and op.static  # type: ignore[union-attr]
        kept = _interned.keep(key, made)
        return kept if _same(kept.op, op) else made

    def _also_from_here(self) -> None:
        """Equal values are one: whoever asks last is told of his own line."""
        if _here.again is not None:
            _here.again(self)
        if not _here.ask:
            self.location = _here.location or self.location
        elif self.location is None:
            self.location = caller()

    @staticmethod
    def apply(op: Op, inputs: tuple[Any, ...]) -> Any:
        """The op on values; several results come as a tuple."""
        return op.results(Value(op, inputs))

    def again(self, inputs: tuple[Value, ...]) -> Value:
        """The same op on these inputs, in the function that is being made: an effect of that, if it is ordered."""
        if inputs != self.inputs:
            return self._on(inputs)
        if self.op.purity is Purity.TOTAL:
            return self
        region = innermost()
        here = region is not None and region.number and self.unclosed  # what is being written stays as it is
        return self if here else Value(self.op, inputs)

    def _on(self, inputs: tuple[Value, ...]) -> Value:
        """The same op on other inputs: where those have the very same types, the result has."""
        op = self.op
        if op.purity is not Purity.TOTAL or any(map(is_not, map(_type_of, inputs), map(_type_of, self.inputs))):
            return Value(op, inputs)
        key = (op, inputs)
        found = _there(key, op)
        if found is None:
            return Value._made(key, op, inputs, 0, self.type)
        found._also_from_here()
        return found

    @property
    def unclosed(self) -> bool:
        """Whether it belongs to a function that is still being written, and nowhere else."""
        return self.mark < 0 or (self.mark > 0 and self.op.purity is Purity.PARTIAL)

    @property
    def tensor(self) -> TensorType:
        """The type of a value that is known to be a tensor."""
        assert isinstance(self.type, TensorType), f"{self.type} is not a tensor"
        return self.type

    @property
    def shape(self) -> Shape:
        return self.tensor.shape

    @property
    def dtype(self) -> DType:
        return self.tensor.dtype

    def __repr__(self) -> str:
        return f"<{self.op}: {self.type}>"


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a function. Scope 0 means: of the closed function it stands in. Others are being built."""

    slot: int
    type: Type
    scope: int = 0
    purity: ClassVar[Purity] = Purity.TOTAL
    cheap: ClassVar[bool] = False
    name: ClassVar[str] = "param"

    def __str__(self) -> str:
        return f"param[{self.slot}]"


_scopes = count(1)


def fresh_params(types: tuple[Type, ...]) -> tuple[Value, ...]:
    """Parameters that no other function has, for a function that is being built."""
    scope = next(_scopes)
    return tuple(Value(Param(slot, t, scope)) for slot, t in enumerate(types))
