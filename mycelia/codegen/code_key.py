"""What makes two kernels the same code: everything but the names of their buffers and loop variables."""

from __future__ import annotations

from mycelia.codegen.extents import numbers_of
from mycelia.loops import Buffer, Datum, Expr, Fold, Index, Kernel, Quotient, Remainder, Store, Variable
from mycelia.sizes import Dim, low


def code_key(kernel: Kernel, streamed: frozenset[Buffer] = frozenset()) -> str:
    """A text that is equal exactly for kernels with equal code."""
    return _Names(kernel, streamed).text()


class _Names:
    """The names of everything in the text: sizes are numbered in the order of the kernel's table."""

    def __init__(self, kernel: Kernel, streamed: frozenset[Buffer]) -> None:
        self.kernel = kernel
        self.buffers = {b: f"b{i}" for i, b in enumerate(kernel.buffers())}
        self.buffers |= {b: f"s{i}" for i, b in enumerate(kernel.scratch)}
        self.streamed = streamed
        self.variables: dict[Variable, str] = {}
        self.folds: dict[Fold, str] = {}
        self.numbers: dict[Expr, int] = {}
        self.lines: list[str] = []
        self.order = kernel.term_order()
        self.sizes = {n: f"n{i}" for i, n in enumerate(numbers_of(kernel))}

    def size(self, n: Dim) -> str:
        return str(n) if isinstance(n, int) else self.sizes[n]

    def text(self) -> str:
        for b, name in self.buffers.items():
            self.lines.append(f"{name} {b.type.dtype} {b.type.size if name[0] == 's' else ''} {b in self.streamed}")
        self.lines.append("rows " + ",".join(self.variable(v) for v in self.kernel.rows))
        for sweep in self.kernel.sweeps:
            self.lines.append("sweep " + ",".join(self.variable(v) for v in sweep.columns))
            for f, e in sweep.folds:
                self.folds[f] = f"f{len(self.folds)}"
                self.lines.append(f"fold {f.combine} {f.dtype} {self.expression(e)}")
            for kind, actions in (("act", sweep.actions), ("after", sweep.after)):
                for a in actions:
                    how = "=" if isinstance(a, Store) else a.combine
                    value = self.expression(a.value)
                    self.lines.append(f"{kind} {self.buffers[a.buffer]}[{self.index(a.offset)}] {how} {value}")
        return "\n".join(self.lines)

    def variable(self, v: Variable) -> str:
        if v not in self.variables:
            within = f"/{self.size(v.within[1])}@{self.variable(v.within[0])}" if v.within else ""
            self.variables[v] = f"v{len(self.variables)}<{self.size(v.extent)}{within}"
        return self.variables[v]

    def index(self, at: Index) -> str:
        terms = [f"{self.size(c)}*{self.atom(a)}" for a, c in self.order.terms(at)]
        return "+".join([self.size(at.constant), *terms])

    def atom(self, a: object) -> str:
        if isinstance(a, Variable):
            return self.variable(a)
        if isinstance(a, Quotient):
            return f"({self.index(a.index)})//{self.size(a.divisor)}@{low(a.index.low) >= 0}"
        if isinstance(a, Remainder):
            return f"({self.index(a.index)})%{self.size(a.divisor)}@{low(a.index.low) >= 0}"
        assert isinstance(a, Datum), f"{a} is no atom"
        return f"[{self.expression(a.value)}]"

    def expression(self, root: Expr) -> int:
        for e in root.walk():
            if e in self.numbers:
                continue
            if e.kind == "load":
                what = f"{self.buffers[e.attribute[0]]}[{self.index(e.attribute[1])}]"
            elif e.kind == "position":
                what = self.index(e.attribute)
            elif e.kind == "folded":
                what = self.folds[e.attribute]
            else:
                what = repr(e.attribute)
            args = ",".join(str(self.numbers[a]) for a in e.args)
            self.lines.append(f"{len(self.numbers)} {e.kind} {e.dtype} ({args}) {what}")
            self.numbers[e] = len(self.numbers)
        return self.numbers[root]
