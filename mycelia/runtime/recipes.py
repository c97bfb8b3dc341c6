"""Recipes of library calls, and calls made ready: a description becomes primitives and the pointers they want."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache, cached_property, lru_cache, singledispatch
from math import prod

from mycelia import onednn
from mycelia.codegen.records import Execution, list_of_words
from mycelia.cost import (
    GENERAL_COLUMNS,
    GENERAL_FROM,
    GENERAL_IN_COLUMNS,
    GENERAL_SIDE,
    SHARED_CALL,
)
from mycelia.degradations import fault
from mycelia.frozen import frozen
from mycelia.loops import ConvolutionCall, FourierCall, LibraryCall, Matmul, RoutineCall, Strided, Tiles
from mycelia.onednn import DataType, Prepared
from mycelia.runtime.fourier import transformed
from mycelia.runtime.own_routines import SizedRoutine, sized
from mycelia.runtime.tables import Tabled
from mycelia.runtime.tiles import tiled
from mycelia.sizes import Hints, evaluated
from mycelia.threads.openmp import at_most
from mycelia.types import Array, DType

ROOM = -1  # not an operand: memory that belongs to the call


@frozen
class PreparedCall:
    """Primitives to execute one after the other, each with `(operand, bytes)` for every port, and the room needed."""

    primitives: tuple[tuple[Prepared, tuple[tuple[int, int], ...]], ...]
    room: int

    @cached_property
    def words(self) -> Array:
        """What machine code is told."""
        return list_of_words(
            [
                Execution(
                    p.primitive, p.stream, p.args, tuple((k.memory, *w) for k, w in zip(p.ports, where, strict=True))
                )
                for p, where in self.primitives
            ]
        )


Ready = PreparedCall | Tabled | SizedRoutine


def prepared(calls: Iterable[LibraryCall], threads: int) -> list[Ready]:
    """Calls made ready, each once for all programs: they take turns. It remembers how many threads it was made for."""
    return [_ready(call, threads) for call in calls]


def _ready(call: LibraryCall, threads: int) -> Ready:
    if isinstance(call, RoutineCall):
        return sized(call, threads)
    return _tabled(call, threads) if isinstance(call, Tiles | FourierCall) else _bound(call, team(call, threads))


def team(call: Matmul | ConvolutionCall, threads: int) -> int:
    """How many threads share a call: little work is done before a second one has begun."""
    return threads if call.multiplications >= SHARED_CALL else 1


@lru_cache(maxsize=64)  # the tables of a large product or transform are megabytes
def _tabled(call: Tiles | FourierCall, threads: int) -> Tabled:
    return tiled(call, threads) if isinstance(call, Tiles) else transformed(call, threads)


@lru_cache(maxsize=256)  # of which code for its sizes takes 60 KB each; programs keep what they use
def _bound(call: LibraryCall, threads: int) -> PreparedCall:
    with at_most(threads):
        made = bind(call)
    for primitive, _ in made.primitives:
        primitive.settle()
    return made


def decided(call: LibraryCall, threads: int) -> LibraryCall:
    """The call with what is fastest at the sizes that the program is written at, for all sizes: so other processes, and
    other sizes, need not look for it.
    """
    if not isinstance(call, ConvolutionCall) or call.packed is not None:
        return call
    with at_most(threads):
        return replace(call, packed=_winner(evaluated(call, Hints()), threads))


def refused(call: LibraryCall, threads: int) -> bool:
    """Whether the library has nothing for a call but its reference code, hundreds of times slower than ours; or cannot
    prepare it, which is a fault.
    """
    try:
        (made,) = prepared([decided(call, threads)], threads)
    except onednn.Refused:
        return True
    except onednn.OneDnnError as error:
        fault(f"a {type(call).__name__} is computed by code of ours, because the library could not prepare it", error)
        return True
    return isinstance(made, PreparedCall) and any(primitive.reference for primitive, _ in made.primitives)


@singledispatch
def bind(call: object) -> PreparedCall:
    """Prepare a library call."""
    raise AssertionError(f"no library for {call}")


@lru_cache(maxsize=256)
def _layout(layout: Strided) -> onednn.Layout:
    """The layout as the library knows it, described to it once: many calls have it."""
    return onednn.Layout(layout.shape, _named(layout.dtype), layout.strides)


@cache
def _named(dtype: DType) -> DataType:
    return DataType.named(dtype.numpy.name)


def forget() -> None:
    """Describe layouts to the library anew, for whoever writes down what it is told."""
    _layout.cache_clear()


def one(prepared: Prepared, operands: int) -> PreparedCall:
    """A call that is one primitive, whose ports are the operands in order and perhaps a scratchpad."""
    where = [(i, 0) for i in range(operands)]
    if prepared.scratch:
        where.append((ROOM, 0))
    return PreparedCall(((prepared, tuple(where)),), prepared.scratch)


@bind.register
def _(call: Matmul) -> PreparedCall:
    lhs, rhs, out = (_layout(x) for x in (call.lhs, call.rhs, call.out))
    if not call.bias and onednn.may_be_of_any_size(lhs, rhs, out) and _fast_at_any_size(call):
        return one(onednn.matmul_of_any_size(lhs, rhs, out), 3)
    prepared = onednn.matmul(lhs, rhs, out, bias=call.bias)
    return one(prepared, 3 + call.bias)


def _fast_at_any_size(call: Matmul) -> bool:
    """Whether code that is told its sizes when it runs is as fast. It depends on the call alone, so a product has the
    same bits in all programs, and whenever it is computed.
    """
    rows, columns, terms = *call.out.shape[-2:], call.lhs.shape[-1]
    if call.multiplications < SHARED_CALL:  # it does not remember for how many threads it was made
        return False
    if len(call.out.shape) > 2:
        in_columns = call.lhs.strides[-1] != 1 and rows * columns * terms >= GENERAL_IN_COLUMNS
        return in_columns or any(_has_gaps(x) for x in (call.lhs, call.rhs, call.out))
    if min(rows, columns, terms) < GENERAL_SIDE or call.multiplications < GENERAL_FROM:
        return False
    return call.rhs.strides[-1] == 1 or columns >= GENERAL_COLUMNS * terms


def _has_gaps(x: Strided) -> bool:
    """Whether there is something else between elements: such batches the library multiplies by that code anyway."""
    return sum((n - 1) * step for n, step in zip(x.shape, x.strides, strict=True)) + 1 != prod(x.shape)


@bind.register
def _(call: ConvolutionCall) -> PreparedCall:
    """The best implementation among plain and packed operands; packing and unpacking happen in the call's own room."""
    plain = _plain(call)
    main = _best(call, plain)
    room = 0
    before: list[tuple[Prepared, tuple[tuple[int, int], ...]]] = []
    after: list[tuple[Prepared, tuple[tuple[int, int], ...]]] = []
    where: list[tuple[int, int]] = []
    for i, (port, given) in enumerate(zip(main.ports, plain, strict=False)):
        if port.layout.plain == given:
            where.append((i, 0))
            continue
        where.append((ROOM, room))
        if i < 2:  # an input that is packed; the bias is plain
            before.append((onednn.reorder(given, port.layout), ((i, 0), (ROOM, room))))
        else:
            after.append((onednn.reorder(port.layout, given), ((ROOM, room), (i, 0))))
        room += -(-port.bytes // 64) * 64
    return _in_turn([*before, (main, tuple(where)), *after], room)


def _in_turn(primitives: list[tuple[Prepared, tuple[tuple[int, int], ...]]], room: int) -> PreparedCall:
    """Primitives one after the other: those that want a scratchpad, repacking of int8 weights too, share one."""
    shared = [(p, (*where, (ROOM, room)) if p.scratch else where) for p, where in primitives]
    return PreparedCall(tuple(shared), room + max(p.scratch for p, _ in primitives))


def _plain(call: ConvolutionCall) -> list[onednn.Layout]:
    """The operands as they lie in memory: two inputs, the bias, the output."""
    plain = [_layout(layout) for layout in _operands(call)]
    weight = _operands(call).index(call.w)
    plain[weight] = plain[weight].grouped(call.window.groups)
    if call.bias:
        channels = call.out.shape[1:2]
        plain.insert(2, _layout(Strided(channels, (1,), call.out.dtype)))
    return plain


def _best(call: ConvolutionCall, plain: list[onednn.Layout]) -> Prepared:
    """The fastest kind of implementation: what was decided, where the library has that at these sizes."""
    if call.packed is not None:
        made = _variant(call, call.packed)
        if made is not None and not made.reference:
            return made
    variants = _variants(call)
    return variants[_fastest(variants, plain)]


@lru_cache(maxsize=1024)
def _winner(call: ConvolutionCall, threads: int) -> tuple[int, ...]:
    """Which operands it pays to pack, with so many threads."""
    return _fastest(_variants(call), _plain(call))


def _variants(call: ConvolutionCall) -> dict[tuple[int, ...], Prepared]:
    """What the library offers, by the operands that are packed; weights always are."""
    weight = _operands(call).index(call.w)
    choices: list[tuple[int, ...]] = [(), (0,), (2,), (0, 2)]
    tries = {packed: _variant(call, packed) for packed in choices if weight not in packed}
    made = {packed: t for packed, t in tries.items() if t is not None}
    if not made:
        raise onednn.Refused("oneDNN refuses this convolution", given={"call": call})
    return made


def _fastest(variants: dict[tuple[int, ...], Prepared], plain: list[onednn.Layout]) -> tuple[int, ...]:
    return min(variants, key=lambda packed: _rank(variants[packed], plain))


def _operands(call: ConvolutionCall) -> list[Strided]:
    """The layouts of the operands in the order of the call: two inputs, one output."""
    orders = {"forward": (call.x, call.w, call.out), "input": (call.out, call.w, call.x)}
    return list(orders.get(call.direction, (call.x, call.out, call.w)))


def _variant(call: ConvolutionCall, packed: tuple[int, ...]) -> Prepared | None:
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
    packs = sum(s.layout.plain != given for s, given in zip(prepared.ports, plain, strict=False))
    return kind + 0.4 * packs
