"""What lanes of a vector read and write: which indices change along them, and which stores fill memory together."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from mycelia.codegen import scalar
from mycelia.codegen.scalar import i32, i64
from mycelia.loops import Buffer, Datum, Index, Quotient, Remainder, Store, Update, Variable, mention_index
from mycelia.loops.index import Atom
from mycelia.types import DType


def reads(atom: Atom, buffers: set[Buffer]) -> bool:
    """Whether an atom depends on what stands in one of these buffers."""
    found: dict[Buffer, None] = {}
    mention_index(Index(0, ((atom, 1),)), found)
    return not buffers.isdisjoint(found)


def index_variables(atom: object) -> set[Variable]:
    """The loop variables under one atom."""
    if isinstance(atom, Variable):
        return {atom}
    if isinstance(atom, Quotient | Remainder):
        return atom.index.variables()
    assert isinstance(atom, Datum), f"{atom} is no atom"
    return atom.value.variables()


def mask_of(lanes: Sequence[int]) -> ir.Constant:
    """Which lanes of two vectors are taken, as LLVM wants to know it."""
    return ir.Constant(ir.VectorType(i32, len(lanes)), list(lanes))


def every_other(b: ir.IRBuilder, first: ir.Value, dtype: DType, lanes: int) -> ir.Value:
    """Elements with one between any two: out of two vectors, the second of which ends at the last of them."""
    second = b.gep(first, [i64(lanes - 1)], inbounds=True, source_etype=scalar.memory_type(dtype))
    both = [b.load(place, typ=scalar.memory_type(dtype, lanes), align=dtype.itemsize) for place in (first, second)]
    return b.shuffle_vector(*both, mask_of([2 * n + (n >= lanes // 2) for n in range(lanes)]))


def write_pair(b: ir.IRBuilder, place: ir.Value, dtype: DType, left: ir.Value, right: ir.Value) -> None:
    """Store the elements of two vectors in turn."""
    lanes = scalar.lanes_of(left)
    plain = scalar.memory_type(dtype, lanes)
    both = [x if x.type == plain else scalar.to_memory(b, x, dtype) for x in (left, right)]
    for n in range(2):
        woven = [n * lanes // 2 + i // 2 + i % 2 * lanes for i in range(lanes)]
        at = b.gep(place, [i64(n * lanes)], inbounds=True, source_etype=scalar.memory_type(dtype))
        b.store(b.shuffle_vector(*both, mask_of(woven)), at, align=dtype.itemsize)


def pairs_of(actions: Sequence[Store | Update], v: Variable) -> list[tuple[int, int]]:
    """Pairs of stores, by their numbers, of which one writes the even and one the odd elements of the same stretch of
    memory: the gradient of a pooling does. Only where no other store of the loop comes near that stretch.
    """
    if not isinstance(v.extent, int) or v.within is not None:
        return []
    at = [(n, a) for n, a in enumerate(actions) if isinstance(a, Store) and _every_other(a.offset, v)]
    pairs = [(n, m) for n, a in at for m, b in at if a.buffer is b.buffer and (b.offset - a.offset) == Index(1)]
    stretches = [(actions[n].buffer, actions[n].offset) for n, _ in pairs]
    taken = [n for pair in pairs for n in pair]
    alone = len(set(taken)) == len(taken) and all(
        n in taken or a.buffer not in {b for b, _ in stretches} for n, a in enumerate(actions)
    )
    apart = all(
        x is not y or _apart(o, q, 2 * v.extent) for i, (x, o) in enumerate(stretches) for y, q in stretches[:i]
    )
    return pairs if alone and apart else []


def _every_other(at: Index, v: Variable) -> bool:
    step = at.coefficient(v)
    plain = all(atom is v or v not in index_variables(atom) for atom, _ in at.terms)
    return plain and isinstance(step, int) and step == 2


def _apart(a: Index, b: Index, length: int) -> bool:
    """Whether stretches of this length, which begin at two indices, are known not to meet."""
    gap = a - b
    return not gap.terms and isinstance(gap.constant, int) and abs(gap.constant) >= length
