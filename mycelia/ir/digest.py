"""What a function is known by in other processes: a number that is equal for equal functions, and for no others.

Values are numbered in the order in which they are computed, and names of sizes in the order in which they are met, so
nothing depends on what else a process has done. Locations are not part of it: a line that moves changes no program.
What this page does not know has no digest: a Python function that is called, an op that somebody else has written (its
rules may change while its name stays). Then nothing is kept, which is slower and never wrong.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from mycelia.ir.function import Function
from mycelia.ir.op import Op
from mycelia.ir.value import Value
from mycelia.sizes import Name, Scope, Size, Sym
from mycelia.types import DType, FrameType, SequenceType, TensorType, TupleType, Type, frame_fields

OURS = __name__.partition(".")[0] + "."


class Unknown(Exception):
    """Something that means nothing in another process."""


def digest(fn: Function) -> str | None:
    """The number of a function, in hexadecimal; None for what has none.

    >>> from mycelia.types import float32
    >>> x = TensorType(float32, (3,))
    >>> one, two, other = (Function.build(f, x) for f in (lambda x: x, lambda y: y, lambda x: (x, x)))
    >>> digest(one) == digest(two), digest(one) == digest(other)
    (True, False)
    """
    writer = _Writer()
    try:
        writer.function(fn)
        writer.sizes()
    except Unknown:
        return None
    return sha256("\n".join(writer.lines).encode()).hexdigest()


class _Writer:
    """Lines that say all about a function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.functions: dict[Function, int] = {}
        self.names: dict[Name, int] = {}
        self.frames: dict[str, None] = {}
        self.types: dict[Type, str] = {}

    def function(self, fn: Function) -> int:
        """Write a function, after those inside it; its number."""
        if fn in self.functions:
            return self.functions[fn]
        numbers: dict[Value, int] = {}
        lines = [f"fn {' '.join(map(self.type, fn.types))}"]
        for p in fn.params:
            numbers[p] = len(numbers)
        for v in fn.values():
            if v in numbers:
                continue
            op = v.op
            if not isinstance(op, Op) or not type(op).__module__.startswith(OURS):
                raise Unknown(f"{op} is not ours")
            attributes = [f"{name}={self.attribute(a)}" for name, a in op.attributes().items()]
            typed = "" if v.type.static else self.type(v.type)
            lines.append(f"{op.name} {' '.join(attributes)} ({' '.join([str(numbers[x]) for x in v.inputs])}) {typed}")
            numbers[v] = len(numbers)
        for kind, several in (("effects", fn.effects), ("return", fn.results)):
            lines.append(f"{kind} {' '.join([str(numbers[r]) for r in several])}")
        self.lines += lines
        self.functions[fn] = len(self.functions)
        return self.functions[fn]

    def attribute(self, a: Any) -> str:
        kind = type(a)
        if kind in (int, float, bool, str, complex) or a is None:
            return repr(a)
        if kind is tuple:
            return f"({','.join(map(self.attribute, a))})"
        if kind is Sym:
            return self.size(a)
        if kind is DType:
            return str(a.short)
        if isinstance(a, Type):
            return self.type(a)
        if kind is Function:
            return f"fn{self.function(a)}"
        if kind is np.ndarray:
            return f"{a.dtype.name}{a.shape}{sha256(np.ascontiguousarray(a).tobytes()).hexdigest()}"
        raise Unknown(f"{a!r} means nothing elsewhere")

    def type(self, t: Type) -> str:
        found = self.types.get(t) if t.static else None
        if found is None:
            found = self._type(t)
            if t.static:
                self.types[t] = found
        return found

    def _type(self, t: Type) -> str:
        if isinstance(t, TensorType):
            return f"{t.dtype.short}[{','.join(map(self.size, t.shape))}]"
        if isinstance(t, TupleType):
            return f"tuple<{','.join(map(self.type, t.elements))}>"
        if isinstance(t, SequenceType):
            return f"seq<{self.type(t.element)}>"
        if isinstance(t, FrameType):
            if t.name not in self.frames:
                self.frames[t.name] = None
                self.lines.append(f"frame {t.name!r} {' '.join(map(self.type, frame_fields(t)))}")
            return f"frame<{t.name!r}>"
        raise Unknown(f"{t} means nothing elsewhere")

    def size(self, n: Size) -> str:
        if not isinstance(n, Sym):
            return str(n)
        terms = ["*".join([str(c), *map(self._atom, m)]) for m, c in n.terms]
        return "+".join(sorted(terms))

    def _atom(self, a: Any) -> str:
        if isinstance(a, Name):
            return f"n{self.names.setdefault(a, len(self.names))}"
        return f"({self.size(a.over)})//({self.size(a.under)})"

    def sizes(self) -> None:
        """Write what is known of sizes: bounds, the numbers that the function is written at, what it relies on."""
        scopes: dict[int, Scope] = {}
        done = 0
        while done < len(self.names):  # what is said of one may mention others
            name = list(self.names)[done]
            done += 1
            most = "" if name.most is None else self.size(name.most)
            self.lines.append(f"size {name.low} {name.high} {name.scope.hints.get(name)} {most}")
            if id(name.scope) not in scopes:
                scopes[id(name.scope)] = name.scope
                for guard in name.scope.guards:
                    self.lines.append(f"guard {self.size(guard.size)} {guard.relation} {guard.answer}")
