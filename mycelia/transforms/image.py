"""What each value of a function has become while a transform walks over it."""

from __future__ import annotations

from mycelia.ir import Project, Value
from mycelia.types import TupleType


class Image:
    """A map from old values to new ones. An op with several results may be replaced by several separate values."""

    def __init__(self) -> None:
        self.one: dict[Value, Value] = {}
        self.many: dict[Value, tuple[Value, ...]] = {}

    def inputs(self, v: Value) -> tuple[Value, ...]:
        """The new inputs of an old value."""
        return tuple([self.one[x] for x in v.inputs])

    def copy(self, v: Value) -> None:
        """Apply the same op to the new inputs."""
        if isinstance(v.op, Project):
            self.one[v] = self.results(v.inputs[0])[v.op.index]
        else:
            self.one[v] = v.again(self.inputs(v))

    def results(self, v: Value) -> tuple[Value, ...]:
        """The new results of an old value that has several."""
        if v not in self.many:
            assert isinstance(v.type, TupleType), f"{v} has one result"
            self.many[v] = tuple(Value(Project(i), (self.one[v],)) for i in range(len(v.type.elements)))
        return self.many[v]
