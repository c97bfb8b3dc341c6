"""Products by our own tiles: for element types that the library has not, on operands however they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mycelia.cost import LONG
from mycelia.ir import Value
from mycelia.loops import Axis, Buffer, Invoke, LibraryCall, Note, Operand, TileKind, Tiles
from mycelia.lowering.body import View
from mycelia.lowering.shared import Shared
from mycelia.options import Options
from mycelia.primitives.product_types import in_short_units, summed_in
from mycelia.sizes import Dim, Hints, evaluated, hint
from mycelia.types import DType, float32


def tile_kind(lhs: DType, rhs: DType, out: DType, options: Options) -> TileKind | None:
    """The function for a product of these operands; None where sums would not be of the type of the result. Sums take
    24 vector registers of 32, or 12 of 16.
    """
    if summed_in(out, lhs, rhs) is not out:
        return None
    width = options.target.vector_bytes
    return TileKind(lhs, rhs, out, 12 if width == 64 else 6, 2, width // out.itemsize)


def in_library(out: DType, x: DType, y: DType, shared: Shared) -> bool:
    """Whether the library multiplies operands of these types well on this processor."""
    units = shared.options.target.short_units
    return all(d is float32 for d in (out, x, y)) or in_short_units(units, out, x, y)


def is_refused(call: LibraryCall, shared: Shared) -> bool:
    """Whether the library was asked for this call, and had nothing but plain loops."""
    return bool(shared.refused) and evaluated(call, Hints()) in shared.refused


def slow(v: Value, work: Dim, shared: Shared) -> None:
    """Note that plain loops compute a product, if that is much work."""
    if hint(work) >= LONG:
        kinds = " and ".join(str(x.type) for x in v.inputs)
        text = f"plain loops compute {v.type}, a product of {kinds}: much slower than float32 would be"
        shared.notes.append(Note(text, v.location))


def tiled_contraction(
    kind: TileKind,
    parts: Sequence[str],
    letters: Sequence[str],
    size: dict[str, Dim],
    lhs: View,
    rhs: View,
    out: Buffer,
) -> Invoke | None:
    """A contraction with letters in the parts batch, rows, columns and summed; None where loops are better, which is
    where one side has a single row.
    """
    steps_of = (lhs.strides, rhs.strides, out.strides)
    strides = [dict(zip(names, steps, strict=True)) for names, steps in zip(letters, steps_of, strict=True)]

    def axis(c: str) -> Axis:
        return Axis(size[c], *(steps.get(c, 0) for steps in strides))

    batch, rows, columns, summed = ([axis(c) for c in part if size[c] != 1] for part in parts)
    call = Tiles(kind, _falling(batch), _falling(rows), _falling(columns), tuple(summed))
    operands = [Operand(lhs.buffer, lhs.offset), Operand(rhs.buffer, rhs.offset)]
    if not rows or not columns:
        return None
    if hint(call.rows[-1].out) < hint(call.columns[-1].out):  # the columns of a tile are vectors of the result
        call, operands = turned(call), operands[::-1]
    return Invoke(call, tuple(operands), (Operand(out),))


def _falling(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """The axes as they lie in the result, the innermost last."""
    return tuple(sorted(axes, key=lambda a: -hint(a.out)))


def turned(call: Tiles) -> Tiles:
    """The same product with its operands exchanged."""

    def other(axes: Sequence[Axis]) -> tuple[Axis, ...]:
        return tuple(replace(a, lhs=a.rhs, rhs=a.lhs) for a in axes)

    kind = replace(call.kind, lhs=call.kind.rhs, rhs=call.kind.lhs)
    return Tiles(kind, other(call.batch), other(call.columns), other(call.rows), other(call.summed))
