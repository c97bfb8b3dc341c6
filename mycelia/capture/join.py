"""Two values of one variable, one from each way through a branch, as one value that is chosen when the program runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia import primitives as p
from mycelia.capture.closing import closed, made_before
from mycelia.capture.stage import Stage
from mycelia.capture.unbound import Unbound
from mycelia.ir import Value
from mycelia.tree import flatten, unflatten
from mycelia.types import TensorType, Type, bool_, float32, int64

NUMBERS = {bool: TensorType(bool_, ()), int: TensorType(int64, ()), float: TensorType(float32, ())}
Build = Callable[[Sequence[Value]], Any]
Ends = tuple[dict[int, Any], dict[int, Any]]  # by the ids of tensors that a way changed: what they held at its end


class Conflict(Exception):  # a finding, which becomes a BranchError where the variable is known
    """Two values that cannot be one: what each is, in words."""

    def __init__(self, left: str, right: str) -> None:
        super().__init__(left, right)
        self.left, self.right = left, right


def described(x: Any, stage: Stage) -> str:
    """A value in words: the type of a tensor and the line it came from, or the value itself."""
    if isinstance(x, stage.world.tensor):
        value = stage.world.value(x)
        return f"{value.type}" + (f"   from {value.location}" if value.location else "")
    if isinstance(x, Unbound):
        return "no value"
    text = repr(x)
    return f"{text if len(text) < 60 else text[:57] + '...'} ({type(x).__name__})"


def number_type(x: Any) -> TensorType | None:
    """The type that a Python number has as a tensor; None for anything else."""
    return NUMBERS.get(type(x))


def as_type(number: Any, t: TensorType) -> Value:
    """A number everywhere in a tensor of this type."""
    return p.full(t.dtype.numpy.type(number).item(), t.dtype, t.shape)


class Joining:
    """The pairs of values that differ between two ways, and how to build variables from whichever is chosen."""

    def __init__(self, stage: Stage, moment: int, ends: Ends = ({}, {})) -> None:
        self.stage, self.moment, self.ends = stage, moment, ends
        self.left: list[Value] = []
        self.right: list[Value] = []

    def join(self, a: Any, b: Any, fill: bool = False) -> Build:
        """How to make one value of these two. With `fill`, one that is unbound is zero, and nobody reads it."""
        if a is b:
            return lambda outs: a
        if fill and isinstance(a, Unbound):
            a = self._zeros(b)
        elif fill and isinstance(b, Unbound):
            b = self._zeros(a)
        (these, structure), (those, other) = flatten(a), flatten(b)
        if structure != other:
            raise Conflict(described(a, self.stage), described(b, self.stage))
        builds = [self._leaf(x, y) for x, y in zip(these, those, strict=True)]
        return lambda outs: unflatten(structure, [build(outs) for build in builds])

    def _zeros(self, like: Any) -> Any:
        leaves, structure = flatten(like)
        tensor = self.stage.world.tensor
        zeros = [
            self.stage.world.wrap(p.zeros_like(self.stage.world.value(x))) if isinstance(x, tensor) else x
            for x in leaves
        ]
        return unflatten(structure, zeros)

    def _leaf(self, a: Any, b: Any) -> Build:
        if a is b:
            return lambda outs: a
        a, b = self.ends[0].get(id(a), a), self.ends[1].get(id(b), b)
        tensor = self.stage.world.tensor
        if not isinstance(a, tensor) and not isinstance(b, tensor):
            if type(a) is type(b) and self._equal(a, b):
                return lambda outs: a
            if number_type(a) is None or number_type(b) is None:
                raise Conflict(described(a, self.stage), described(b, self.stage))
        pair = self._values(a, b)
        if pair is None or pair[0].type != pair[1].type:
            raise Conflict(described(a, self.stage), described(b, self.stage))
        if pair[0] is pair[1]:
            return lambda outs: self.stage.world.wrap(pair[0])
        place = len(self.left)
        self.left.append(pair[0])
        self.right.append(pair[1])
        return lambda outs: self.stage.world.wrap(outs[place])

    def _values(self, a: Any, b: Any) -> tuple[Value, Value] | None:
        """Both as values of one type; a Python number takes the element type of a tensor."""
        types = [self._type(x) for x in (a, b)]
        if None in types:
            return None
        t = widest(*types)  # type: ignore[arg-type]  # none is None
        of = [x for x in (a, b) if isinstance(x, self.stage.world.tensor)]
        if len(of) == 1:
            other = self.stage.world.value(of[0])
            t = other.tensor.with_shape(()) if t.dtype.kind <= other.dtype.kind or other.dtype.is_float else t
        made = [self.stage.world.value(x) if isinstance(x, self.stage.world.tensor) else as_type(x, t) for x in (a, b)]
        return made[0], made[1]

    def _type(self, x: Any) -> Type | None:
        return self.stage.world.value(x).type if isinstance(x, self.stage.world.tensor) else number_type(x)

    @staticmethod
    def _equal(a: Any, b: Any) -> bool:
        try:
            return bool(a == b)
        except (ValueError, TypeError):
            return False

    def choose(
        self, predicate: Value, then: Sequence[Value] = (), otherwise: Sequence[Value] = ()
    ) -> tuple[Value, ...]:
        """The values of one of the ways, on which these effects happen."""
        if not (self.left or then or otherwise):
            return ()
        operands = made_before([*then, *otherwise, *self.left, *self.right], self.moment)
        branches = closed(operands, self.left, then), closed(operands, self.right, otherwise)
        return tuple(p.Cond(*branches)(predicate, *operands))


def widest(a: TensorType, b: TensorType) -> TensorType:
    """Of the types of two Python numbers the one that holds both."""
    order = [bool_, int64, float32]
    known = [t for t in (a, b) if t.dtype in order]
    return max(known, key=lambda t: order.index(t.dtype)) if known else a
