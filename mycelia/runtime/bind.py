"""Library calls made ready: a description becomes prepared primitives and the pointers they want."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, singledispatch

from mycelia.codegen.invoke import Execution, list_of_words
from mycelia.loops import Convolution, LibraryCall, Matmul, Tiles
from mycelia.loops import Layout as Strided
from mycelia.runtime import onednn
from mycelia.runtime.onednn import DataType, Prepared
from mycelia.runtime.threads import at_most
from mycelia.runtime.tiles import Tiled, tiled
from mycelia.types import Array

ROOM = -1  # not an operand: memory that belongs to the call


@dataclass(frozen=True)
class Bound:
    """Primitives to execute one after the other, each with `(operand, bytes)` for every slot, and the room needed."""

    primitives: tuple[tuple[Prepared, tuple[tuple[int, int], ...]], ...]
    room: int

    @cached_property
    def words(self) -> Array:
        """What machine code is told."""
        return list_of_words(
            [
                Execution(
                    p.primitive, p.stream, p.args, tuple((k.memory, *w) for k, w in zip(p.slots, where, strict=True))
                )
                for p, where in self.primitives
            ]
        )


def prepared(call: LibraryCall, threads: int) -> Bound | Tiled:
    """A call made ready, once for all programs: they take turns. It remembers how many threads it was made for."""
    return _tiled(call, threads) if isinstance(call, Tiles) else _bound(call, threads)


_tiled = lru_cache(maxsize=64)(tiled)  # the tables of a large product are megabytes


@lru_cache(maxsize=1024)
def _bound(call: LibraryCall, threads: int) -> Bound:
    with at_most(threads):
        return bind(call)


def refused(call: LibraryCall, threads: int) -> bool:
    """Whether the library has nothing for a call but its reference code, hundreds of times slower than ours."""
    try:
        made = prepared(call, threads)
    except onednn.Refused:
        return True
    return isinstance(made, Bound) and any(primitive.reference for primitive, _ in made.primitives)


@singledispatch
def bind(call: object) -> Bound:
    """Prepare a library call."""
    raise AssertionError(f"no library for {call}")


def _layout(layout: Strided) -> onednn.Layout:
    return onednn.Layout(layout.shape, DataType.named(layout.dtype.numpy.name), layout.strides)


def one(prepared: Prepared, operands: int) -> Bound:
    """A call that is one primitive, whose slots are the operands in order and perhaps a scratchpad."""
    where = [(i, 0) for i in range(operands)]
    scratch = prepared.bytes("scratchpad")
    if scratch:
        where.append((ROOM, 0))
    return Bound(((prepared, tuple(where)),), scratch)


@bind.register
def _(call: Matmul) -> Bound:
    lhs, rhs, out = (_layout(x) for x in (call.lhs, call.rhs, call.out))
    prepared = onednn.matmul(lhs, rhs, out, bias=call.bias)
    return one(prepared, 3 + call.bias)


@bind.register
def _(call: Convolution) -> Bound:
    """The best implementation among plain and packed operands; packing and unpacking happen in the call's own room."""
    plain = [_layout(layout) for layout in _operands(call)]
    weight = _operands(call).index(call.w)
    plain[weight] = plain[weight].grouped(call.window.groups)
    if call.bias:
        channels = call.out.shape[1:2]
        plain.insert(2, _layout(Strided(channels, (1,), call.out.dtype)))
    main = _best(call, plain, weight)
    room = 0
    before: list[tuple[Prepared, tuple[tuple[int, int], ...]]] = []
    after: list[tuple[Prepared, tuple[tuple[int, int], ...]]] = []
    where: list[tuple[int, int]] = []
    for i, (slot, given) in enumerate(zip(main.slots, plain, strict=False)):
        if slot.layout.plain == given:
            where.append((i, 0))
            continue
        where.append((ROOM, room))
        if i < 2:  # an input that is packed; the bias is plain
            before.append((onednn.reorder(given, slot.layout), ((i, 0), (ROOM, room))))
        else:
            after.append((onednn.reorder(slot.layout, given), ((ROOM, room), (i, 0))))
        room += -(-slot.bytes // 64) * 64
    if scratch := main.bytes("scratchpad"):
        where.append((ROOM, room))
    return Bound((*before, (main, tuple(where)), *after), room + scratch)


_winners: dict[object, tuple[int, ...]] = {}  # which operands it pays to pack, for convolutions that differ in size


def _best(call: Convolution, plain: list[onednn.Layout], weight: int) -> Prepared:
    """The fastest kind of implementation. What has won for other sizes is taken without looking further."""
    kind = (call.direction, call.x.shape[1], call.out.shape[1], call.w, call.window, call.bias, call.out.dtype)
    if kind in _winners:
        again = _variant(call, _winners[kind])
        if again is not None and not again.reference:
            return again
    choices: list[tuple[int, ...]] = [(), (0,), (2,), (0, 2)]
    tries = {packed: _variant(call, packed) for packed in choices if weight not in packed}
    made = {packed: t for packed, t in tries.items() if t is not None}
    if not made:
        raise onednn.Refused("oneDNN refuses this convolution", given={"call": call})
    _winners[kind] = min(made, key=lambda packed: _rank(made[packed], plain))
    return made[_winners[kind]]


def _operands(call: Convolution) -> list[Strided]:
    """The layouts of the operands in the order of the call: two inputs, one output."""
    orders = {"forward": (call.x, call.w, call.out), "input": (call.out, call.w, call.x)}
    return list(orders.get(call.direction, (call.x, call.out, call.w)))


def _variant(call: Convolution, packed: tuple[int, ...]) -> Prepared | None:
    """The primitive with weights, and the operands numbered in `packed`, laid out as oneDNN likes them."""
    layouts = [_layout(layout) for layout in _operands(call)]
    free = [onednn.Layout.chosen(layout.dims, layout.dtype) for layout in layouts]
    weight = _operands(call).index(call.w)
    a, b, c = (free[i] if i in packed or i == weight else layouts[i] for i in range(3))
    before, after = (tuple(p[side] for p in call.window.padding) for side in (0, 1))
    window = onednn.Window(call.window.strides, call.window.dilation, before, after)
    groups = call.window.groups
    try:
        if call.direction == "forward":
            return onednn.convolution(a, b, c, window, groups=groups, bias=call.bias)
        if call.direction == "input":
            return onednn.convolution_source_gradient(c, b, a, window, groups=groups)
        return onednn.convolution_weights_gradient(a, c, b, window, groups=groups)
    except onednn.Refused:
        return None


def _rank(prepared: Prepared, plain: list[onednn.Layout]) -> float:
    """Lower is faster: generated code, then matrix products, then plain loops; each repacking costs a little."""
    name = prepared.implementation
    kind = 9 if name.startswith("ref") else 3 if "gemm:" in name else 1 if name.startswith("brg") else 0
    packs = sum(s.layout.plain != given for s, given in zip(prepared.slots, plain, strict=False))
    return kind + 0.4 * packs
