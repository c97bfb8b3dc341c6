"""Loops over memory, written by hand: what functions of ours are made of that LLVM's optimiser then improves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from mycelia.codegen.scalar import i32, i64

pointer = ir.PointerType()


class LoopWriter:
    """Writes instructions one after the other, where the builder stands."""

    def __init__(self, b: ir.IRBuilder) -> None:
        self.b = b

    def at(self, base: ir.Value, offset: ir.Value, kind: ir.Type) -> ir.Value:
        return self.b.gep(base, [offset], inbounds=True, source_etype=kind)

    def load(self, base: ir.Value, offset: ir.Value, kind: ir.Type = i64) -> ir.Value:
        size = kind.width // 8 if isinstance(kind, ir.IntType) else 8
        return self.b.load(self.at(base, offset, kind), typ=kind, align=size)

    def least(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.select(self.b.icmp_signed("<", x, y), x, y)

    def shuffled(self, x: ir.Value, y: ir.Value, order: Sequence[int] | range) -> ir.Value:
        return self.b.shuffle_vector(x, y, ir.Constant(ir.VectorType(i32, len(order)), list(order)))

    def transposed(self, rows: Sequence[ir.Value]) -> list[ir.Value]:
        """A square of numbers whose rows are vectors, mirrored: blocks of 1, 2, 4 … change places (Eklundh)."""
        rows, n = list(rows), len(rows)
        d = 1
        while d < n:
            for i in (i for i in range(n) if not i & d):
                x, y = rows[i], rows[i + d]
                rows[i] = self.shuffled(x, y, [k if not k & d else n + k - d for k in range(n)])
                rows[i + d] = self.shuffled(x, y, [k + d if not k & d else n + k for k in range(n)])
            d *= 2
        return rows

    def loop(self, first: ir.Value, end: ir.Value, step: ir.Value, body: Callable[[ir.Value], None]) -> None:
        """`for i in range(first, end, step): body(i)`."""

        def turn(i: ir.Value, _: Sequence[ir.Value]) -> list[ir.Value]:
            body(i)
            return []

        self.carried(first, end, step, [], turn)

    def carried(
        self, first: ir.Value, end: ir.Value, step: ir.Value, start: Sequence[ir.Value],
        body: Callable[[ir.Value, Sequence[ir.Value]], Sequence[ir.Value]],
    ) -> list[ir.Value]:  # fmt: skip
        """The same with values that each turn gives to the next; what the last one gives."""
        b, before = self.b, self.b.block
        head, inner, done = (b.append_basic_block(n) for n in ("head", "turn", "done"))
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(i64)
        i.add_incoming(first, before)
        held = [b.phi(s.type) for s in start]
        for h, s in zip(held, start, strict=True):
            h.add_incoming(s, before)
        b.cbranch(b.icmp_signed("<", i, end), inner, done)
        b.position_at_end(inner)
        made = body(i, held)
        i.add_incoming(b.add(i, step, flags=("nsw",)), b.block)
        for h, m in zip(held, made, strict=True):
            h.add_incoming(m, b.block)
        b.branch(head)
        b.position_at_end(done)
        return held
