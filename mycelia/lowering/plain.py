"""The plainest kernels: copies, zeros, sums into place, one expression into one buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mycelia.loops import (
    Buffer,
    Copy,
    Expr,
    Index,
    Kernel,
    Launch,
    Runtime,
    Step,
    Store,
    Sweep,
    Update,
    Variable,
    cast,
    const,
    load,
)
from mycelia.lowering.across import in_tiles
from mycelia.lowering.borders import at_borders
from mycelia.lowering.nest import shape_loops
from mycelia.lowering.values import full_index
from mycelia.sizes import Dim, known_equal, same
from mycelia.types import TensorType, Type, accumulator

if TYPE_CHECKING:
    from mycelia.lowering.body import Body


def copy(source: Buffer, target: Buffer) -> Step:
    """Bring the elements of a buffer into another, whatever the strides of the two."""
    if same(source.strides, target.strides):
        return Copy(source, target)
    variables, at = full_index(source.type.shape)
    return stored(variables, target, offset_of(at, target.strides), load(source, at))


def shaped(kernel: Kernel) -> Kernel:
    """One nest of loops in its best shape, with rows that threads can share."""
    kernel = shape_loops(kernel)
    (sweep,) = kernel.sweeps
    if len(sweep.columns) < 2:
        return kernel
    return at_borders(in_tiles(Kernel(sweep.columns[:-1], (Sweep(sweep.columns[-1:], (), sweep.actions),))))


def offset_of(at: Sequence[Index], strides: Sequence[Dim]) -> Index:
    """Where an element lies, counted in elements."""
    total = Index(0)
    for i, s in zip(at, strides, strict=True):
        total = total + i * s
    return total


def add_kernel(total: Buffer, more: Buffer) -> Launch:
    """Add the elements of `more` to those of `total`."""
    variables, at = full_index(total.type.shape)
    loops = tuple(v for v in variables if not known_equal(v.extent, 1))
    update = Update(total, offset_of(at, total.strides), "add", load(more, at))
    return Launch(shaped(Kernel((), (Sweep(loops, (), (update,)),))), total.type.size)


@contextmanager
def wide_enough(out: Buffer, body: Body) -> Iterator[Buffer]:
    """A buffer to add numbers up in: `out` itself, or a wider one that is rounded into `out` at the end."""
    wide = accumulator(out.type.dtype)
    if wide is out.type.dtype:
        yield out
        return
    aside = body.shared.buffer(out.type.with_dtype(wide), out.strides)
    yield aside
    variables, at = full_index(out.type.shape)
    rounded = cast(load(aside, at), out.type.dtype)
    body.steps.append(stored(variables, out, offset_of(at, out.strides), rounded))


def zero(out: Buffer, t: Type) -> Step:
    """Set a buffer to the zero of the type it holds."""
    if not isinstance(t, TensorType):
        return Runtime("null", (), (out,))
    variables, at = full_index(t.shape)
    return stored(variables, out, offset_of(at, out.strides), const(0, t.dtype))


def stored(variables: Sequence[Variable], out: Buffer, offset: Index, value: Expr) -> Launch:
    """One expression into one buffer, over loops of all `variables`."""
    loops = tuple(v for v in variables if not known_equal(v.extent, 1))
    kernel = shaped(Kernel((), (Sweep(loops, (), (Store(out, offset, value),)),)))
    return Launch(kernel, out.type.size)
