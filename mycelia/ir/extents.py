"""The names of sizes in a type."""

from __future__ import annotations

from mycelia.sizes import Name, names
from mycelia.types import SequenceType, TensorType, TupleType, Type


def type_names(t: Type) -> frozenset[Name]:
    """The names of sizes in a type.

    >>> from mycelia.sizes import Scope
    >>> from mycelia.types import float32
    >>> n = Scope().name("n")
    >>> type_names(TensorType(float32, (n, 3))) == n.names(), type_names(TensorType(float32, (2, 3)))
    (True, frozenset())
    """
    if t.static:
        return frozenset()
    if isinstance(t, TensorType):
        return frozenset(name for n in t.shape for name in names(n))
    if isinstance(t, TupleType):
        return frozenset(name for e in t.elements for name in type_names(e))
    return type_names(t.element) if isinstance(t, SequenceType) else frozenset()
