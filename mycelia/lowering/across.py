"""Kernels that read across memory, in tiles (loop tiling, cache blocking): a transposition is one.

A row of the result that is read with large steps touches a line of the cache for each element, and the next row touches
the same lines again, which are gone by then:

    for i: for j:  y[i, j] = x[j, i]                a line of x for each j, of which 4 bytes are used
    for I, J: for i in I: for j in J: the same      64 lines of x, which stay until all their bytes were used
"""

from __future__ import annotations

from mycelia.cost import LINE, LINES_KEPT
from mycelia.loops import Index, Kernel, Store, Variable, index
from mycelia.loops.index import Atom
from mycelia.lowering.nest import Nest
from mycelia.sizes import Dim, hint, known_equal

WIDTH = 64  # elements of a row that belong to a tile: whole vectors of any type


def in_tiles(kernel: Kernel) -> Kernel:
    """The kernel, with a row and its column run in tiles if an operand is read across memory."""
    found = _crossing(kernel)
    if found is None:
        return kernel
    row, column, height = found
    rows, high = _parts(row, height)
    columns, wide = _parts(column, WIDTH)
    new: dict[Atom, Index] = {
        row: index(rows) * height + index(high),
        column: index(columns) * WIDTH + index(wide),
    }
    return Nest(kernel).substitute(new, {row: (rows,), column: (columns, high, wide)}).kernel


def _crossing(kernel: Kernel) -> tuple[Variable, Variable, int] | None:
    """A row and the column that some operand lies the other way round for, and how many rows share its lines; None
    where nothing is known to be gained. Loops that only store, each where it stands, may run in any order.
    """
    if len(kernel.sweeps) != 1 or not kernel.rows or kernel.scratch:
        return None
    (sweep,) = kernel.sweeps
    if len(sweep.columns) != 1 or sweep.folds or sweep.after or not all(isinstance(a, Store) for a in sweep.actions):
        return None
    (column,) = sweep.columns
    nest = Nest(kernel)
    hidden = {v for at in nest.indices() for a, _ in at.terms if not isinstance(a, Variable) for v in _loops(a)}
    if column in hidden or column.within is not None or hint(column.extent) <= LINES_KEPT:
        return None
    if not set(kernel.read()).isdisjoint(kernel.written()):
        return None  # what is read may have to be read before it is written
    for action in sweep.actions:
        for x in action.value.walk():
            if x.kind == "load":
                buffer, at = x.attribute
                height = LINE // buffer.type.dtype.itemsize
                row = next((v for v in kernel.rows if known_equal(at.coefficient(v), 1)), None)
                plain = row is not None and row not in hidden and row.within is None
                if row and plain and hint(row.extent) > 1 and abs(hint(at.coefficient(column))) >= height:
                    return row, column, height
    return None


def _loops(atom: Atom) -> set[Variable]:
    """The loop variables under an atom that is none."""
    return Index(0, ((atom, 1),)).variables()


def _parts(loop: Variable, width: int) -> tuple[Variable, Variable]:
    """A loop as the loop over blocks and the loop over one block, the last of which may be cut short."""
    extent: Dim = loop.extent
    if isinstance(extent, int) and extent % width == 0:
        return Variable(extent // width), Variable(width)
    blocks = Variable((extent + (width - 1)) // width)
    return blocks, Variable(width, within=(blocks, extent))
