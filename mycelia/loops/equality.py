"""When two kernels, or two programs, are the same: up to the names of what is known by itself (alpha-equivalence).

Buffers, loop variables, folds and names of sizes are objects of their own: `==` of two kernels asks whether they use
the same ones. `equal` asks whether there is a one-to-one pairing of them under which everything else is equal, field by
field. It knows no class by its fields, so that a new field is compared from the first day.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from mycelia.loops.expr import Buffer, Expr, Fold
from mycelia.loops.index import Atom, Index, Variable
from mycelia.loops.kernel import Kernel
from mycelia.sizes import Name, Sym

OWN = {Buffer: ("name", "type", "strides"), Fold: ("combine", "dtype"), Variable: ("extent", "within", "low", "high"),
       Name: ("text", "low", "high", "most")}  # fmt: skip


def equal(a: Any, b: Any) -> bool:
    """Whether two kernels, programs or parts of them are the same but for the objects that they use.

    >>> from mycelia.loops import Sweep
    >>> equal(Kernel((Variable(3),), ()), Kernel((Variable(3),), ())), equal(Variable(3), Variable(4))
    (True, False)
    """
    return _Pairs().same(a, b)


class _Pairs:
    """What stands for what. Pairs that were tried in vain are taken back."""

    def __init__(self) -> None:
        self.forth: dict[int, Any] = {}
        self.back: dict[int, Any] = {}
        self.trail: list[tuple[Any, Any]] = []

    def same(self, a: Any, b: Any) -> bool:
        if type(a) is not type(b):
            return False
        if isinstance(a, Expr):
            return self._expressions(a, b)
        if type(a) in OWN:
            return self._paired(a, b) if self._knows(a, b) else self._pair(a, b)
        if isinstance(a, Index):
            return self._sums(a, b)
        if isinstance(a, Atom):
            names = {n for c in type(a).__mro__ for n in getattr(c, "__slots__", ())} - {"uid", "__weakref__"}
            return all(self.same(getattr(a, n), getattr(b, n)) for n in names)
        if isinstance(a, Sym):
            return self.same(a.terms, b.terms)
        if isinstance(a, Kernel):
            return self._kernels(a, b)
        return self._plain(a, b)

    def _plain(self, a: Any, b: Any) -> bool:
        if isinstance(a, np.ndarray):
            return bool(a.dtype == b.dtype) and a.shape == b.shape and a.tobytes() == b.tobytes()
        if isinstance(a, tuple | list):
            return len(a) == len(b) and all(map(self.same, a, b))
        if isinstance(a, dict):
            return self.same(tuple(a.items()), tuple(b.items()))
        if isinstance(a, frozenset):
            return len(a) == len(b) and all(any(self._tried(x, y) for y in b) for x in a)
        if is_dataclass(a):
            return all(self.same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.compare)
        return bool(a == b) or (isinstance(a, float) and repr(a) == repr(b))

    def _knows(self, a: Any, b: Any) -> bool:
        return id(a) in self.forth or id(b) in self.back

    def _paired(self, a: Any, b: Any) -> bool:
        return self.forth.get(id(a)) is b and self.back.get(id(b)) is a

    def _pair(self, a: Any, b: Any) -> bool:
        self.forth[id(a)], self.back[id(b)] = b, a
        self.trail.append((a, b))
        return all(self.same(getattr(a, n), getattr(b, n)) for n in OWN.get(type(a), ()))

    def _expressions(self, a: Expr, b: Expr) -> bool:
        left, right = a.walk(), b.walk()  # of equal ones in the same order
        return len(left) == len(right) and all(map(self._expression, left, right))

    def _expression(self, a: Expr, b: Expr) -> bool:
        if self._knows(a, b):
            return self._paired(a, b)
        if a.kind != b.kind or a.dtype is not b.dtype or len(a.args) != len(b.args):
            return False
        if not all(map(self._paired, a.args, b.args)):
            return False
        if a.kind == "const" and repr(a.attribute) != repr(b.attribute):
            return False
        if a.kind != "const" and not self.same(a.attribute, b.attribute):
            return False
        return self._pair(a, b)

    def _sums(self, a: Index, b: Index) -> bool:
        """Terms are in an order of their own: each must have one on the other side."""
        if len(a.terms) != len(b.terms) or not self.same(a.constant, b.constant):
            return False
        left = list(b.terms)
        for term in a.terms:
            found = next((i for i, other in enumerate(left) if self._tried(term, other)), None)
            if found is None:
                return False
            del left[found]
        return True

    def _tried(self, a: Any, b: Any) -> bool:
        mark = len(self.trail)
        if self.same(a, b):
            return True
        while len(self.trail) > mark:
            x, y = self.trail.pop()
            self.forth.pop(id(x), None)
            self.back.pop(id(y), None)
        return False

    def _kernels(self, a: Kernel, b: Kernel) -> bool:
        """Loop variables, folds, expressions and scratch mean something inside a kernel only."""
        outer = dict(self.forth), dict(self.back)
        found = all(self.same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
        mine = (Expr, Fold, Variable)
        inner = [(x, y) for x, y in self.trail if id(x) not in outer[0] and (isinstance(x, mine) or x in a.scratch)]
        for x, y in inner:
            self.forth.pop(id(x), None)
            self.back.pop(id(y), None)
        return found
