"""Contractions: a batched matrix product for the library, or loops where those are better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from mycelia.cost import called_from
from mycelia.frozen import frozen
from mycelia.ir import Value
from mycelia.loops import (
    Buffer,
    Fold,
    Index,
    Invoke,
    Kernel,
    Launch,
    Matmul,
    Operand,
    Store,
    Strided,
    Sweep,
    Update,
    Variable,
    binary,
    cast,
    const,
    folded,
    index,
    load,
)
from mycelia.loops.expr import Expr
from mycelia.loops.index import Atom
from mycelia.lowering.body import Body, View
from mycelia.lowering.kernels import down_several_rows, in_blocks
from mycelia.lowering.plain import copy
from mycelia.lowering.steps import lower_step
from mycelia.lowering.tiles import in_library, is_refused, slow, tile_kind, tiled_contraction
from mycelia.primitives import Contract
from mycelia.primitives.product_types import summed_in
from mycelia.sizes import Dim, comes_from_data, hint, known_equal
from mycelia.types import TensorType, float32

Sizes = dict[str, Dim]  # of each letter

CONFLICT = 256  # elements: columns a multiple of this apart share cache lines
GAP = 16
COLUMNS = 512  # of the result that loops keep at hand


@frozen
class _Axes:
    """Letters of a contraction by their part in the matrix product."""

    batch: str
    rows: str
    columns: str
    summed: str


def _axes(op: Contract) -> _Axes:
    both = [c for c in op.lhs if c in op.rhs]
    return _Axes(
        "".join(c for c in op.out if c in both),
        "".join(c for c in op.out if c in op.lhs and c not in op.rhs),
        "".join(c for c in op.out if c in op.rhs and c not in op.lhs),
        "".join(c for c in both if c not in op.out),
    )


@lower_step.register
def _(op: Contract, v: Value, body: Body) -> None:
    if not v.tensor.empty:
        _contract(op, v, body.memory[v], body)


def contract_with_bias(op: Contract, v: Value, out: Buffer, body: Body) -> None:
    """A contraction with a bias for each column, which the call adds."""
    _contract(op, v, out, body, body.dense(v.inputs[2]))


def _contract(op: Contract, v: Value, out: Buffer, body: Body, bias: Buffer | None = None) -> None:
    axes, (x, y) = _axes(op), v.inputs[:2]
    size = {**dict(zip(op.lhs, x.shape, strict=True)), **dict(zip(op.rhs, y.shape, strict=True))}
    lhs, rhs = body.view(x), body.view(y)
    work = prod(size.values())
    unknown = any(map(comes_from_data, size.values()))  # a library would have to be asked while the program runs
    small = hint(work) < called_from(body.shared.options.target) or known_equal(work, 0)
    if bias is None and (small or unknown or not axes.columns or not axes.rows):
        body.steps.append(_loops(op, axes, size, lhs, rhs, out))
        return
    if in_library(out.type.dtype, x.dtype, y.dtype, body.shared):
        mark = len(body.steps)
        call = _library_call(op, axes, size, x, y, lhs, rhs, out, body, bias)
        if bias is not None or not is_refused(call, body.shared):
            return
        del body.steps[mark:]
    kind = tile_kind(x.dtype, y.dtype, out.type.dtype, body.shared.options)
    parts, letters = (axes.batch, axes.rows, axes.columns, axes.summed), (op.lhs, op.rhs, op.out)
    step = kind and tiled_contraction(kind, parts, letters, size, lhs, rhs, out)
    if not kind:
        slow(v, work, body.shared)
    body.steps.append(step or _loops(op, axes, size, lhs, rhs, out))


def _library_call(
    op: Contract, axes: _Axes, size: Sizes, x: Value, y: Value, lhs: View, rhs: View, out: Buffer, body: Body,
    bias: Buffer | None,
) -> Matmul:  # fmt: skip
    columns_last = _ends_with(op.out, axes.columns, size, out)
    if bias is None and not columns_last and _ends_with(op.out, axes.rows, size, out):
        x, y, lhs, rhs = y, x, rhs, lhs  # the transposed product lies in memory as the library writes it
        op, axes = Contract(op.rhs, op.lhs, op.out, op.dtype), replace(axes, rows=axes.columns, columns=axes.rows)
    result = out
    steps = dict(zip(op.out, out.strides, strict=True))
    if not _runs_on(axes.rows, size, steps) or not _ends_with(op.out, axes.columns, size, out):
        steps = _dense(axes.batch + axes.rows + axes.columns, size)
        result = body.shared.buffer(out.type, tuple(steps[c] for c in op.out))
    left = _operand(body, x, lhs, op.lhs, size, (axes.batch, axes.rows, axes.summed))
    conflicts = hint(_step(axes.summed, size, left[1])) % CONFLICT == 0
    if conflicts and known_equal(_step(axes.rows, size, left[1]), 1) and x.dtype == float32:  # others are packed anyway
        left = _padded(body, x, op.lhs, size, axes)
    right = _operand(body, y, rhs, op.rhs, size, (axes.batch, axes.summed, axes.columns))
    call = Matmul(
        Strided(*_matrix(axes.batch, (axes.rows, axes.summed), size, left[1]), x.dtype),
        Strided(*_matrix(axes.batch, (axes.summed, axes.columns), size, right[1]), y.dtype),
        Strided(*_matrix(axes.batch, (axes.rows, axes.columns), size, steps), out.type.dtype),
        bias is not None,
    )
    added = (Operand(bias),) if bias is not None else ()
    body.steps.append(Invoke(call, (left[0], right[0], *added), (Operand(result),)))
    if result is not out:
        body.steps.append(copy(result, out))
    return call


def _ends_with(letters: str, part: str, size: Sizes, out: Buffer) -> bool:
    """Whether the innermost axes of the result in memory are those of a part, in order."""
    wide = [c for c in part if not known_equal(size[c], 1)]
    steps = dict(zip(letters, out.strides, strict=True))
    return not wide or (known_equal(steps[wide[-1]], 1) and _runs_on(part, size, steps))


def _dense(order: str, size: Sizes) -> Sizes:
    """The step of each letter in a tensor with its axes in this order."""
    steps: Sizes = {}
    step: Dim = 1
    for c in reversed(order):
        steps[c] = step
        step *= size[c]
    return steps


def _operand(
    body: Body, x: Value, view: View, letters: str, size: Sizes, parts: Sequence[str]
) -> tuple[Operand, Sizes]:
    """The operand and the step of each letter; copied when its axes do not run on as the product needs."""
    steps = dict(zip(letters, view.strides, strict=True))
    if all(_runs_on(part, size, steps) for part in parts[1:]) and _unit(parts[1:], size, steps):
        return Operand(view.buffer, view.offset), steps
    dense = _dense("".join(parts), size)
    strides = tuple(dense[c] for c in letters)
    return Operand(body.dense(x, strides)), dense


def _padded(body: Body, x: Value, letters: str, size: Sizes, axes: _Axes) -> tuple[Operand, Sizes]:
    """A transposed left operand whose columns would all fall into the same few lines of the cache: copied with a gap
    after each, which costs a tenth of what the library loses otherwise.
    """
    rows = prod(size[c] for c in axes.rows)
    within = _dense(axes.rows, size)
    across = {c: step * (rows + GAP) for c, step in _dense(axes.batch + axes.summed, size).items()}
    steps = {**within, **across}
    return Operand(body.dense(x, tuple(steps[c] for c in letters))), steps


def _runs_on(part: str, size: Sizes, steps: Sizes) -> bool:
    """Whether the axes of a part are one axis in memory."""
    wide = [c for c in part if not known_equal(size[c], 1)]
    return all(known_equal(steps[a], steps[b] * size[b]) for a, b in pairwise(wide))


def _unit(parts: Sequence[str], size: Sizes, steps: Sizes) -> bool:
    """Whether one of the two matrix axes has neighbours in memory, and none is repeated."""
    inner = [steps[part[-1]] for part in parts if part and prod(size[c] for c in part) > 1]
    return not inner or (any(known_equal(s, 1) for s in inner) and not any(known_equal(s, 0) for s in inner))


def _matrix(batch: str, parts: tuple[str, str], size: Sizes, steps: Sizes) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    shape = [size[c] for c in batch] + [prod(size[c] for c in part) for part in parts]
    strides = [steps.get(c, 0) for c in batch] + [_step(part, size, steps) for part in parts]
    rows, columns = shape[-2:]
    if rows == 1:  # the step of an axis of one element is free: say what the library likes best
        strides[-2] = max(columns * strides[-1], 1)
    if columns == 1:
        strides[-1] = 1  # (1, rows) would be as true, and oneDNN then has nothing but its reference loops
    return tuple(shape), tuple(strides)


def _step(part: str, size: Sizes, steps: Sizes) -> Dim:
    wide = [c for c in part if not known_equal(size[c], 1)]
    return steps[wide[-1]] if wide else 1


def _loops(op: Contract, axes: _Axes, size: Sizes, lhs: View, rhs: View, out: Buffer) -> Launch:
    """Each row of the result gathers multiples of the rows of the right operand; without columns, it is a sum."""
    if _turned_is_better(op, axes, size, lhs, rhs):
        op, axes = Contract(op.rhs, op.lhs, op.out, op.dtype), replace(axes, rows=axes.columns, columns=axes.rows)
        lhs, rhs = rhs, lhs
    variables = {c: Variable(n) for c, n in size.items()}
    at = {c: index(v) if not known_equal(v.extent, 1) else Index(0) for c, v in variables.items()}

    def element(view: View, letters: str) -> Expr:
        offset = Index(view.offset)
        for c, stride in zip(letters, view.strides, strict=True):
            offset = offset + at[c] * stride
        return Expr("load", (), view.buffer.type.dtype, (view.buffer, offset))

    dtype = out.type.dtype
    wide = summed_in(dtype, lhs.buffer.type.dtype, rhs.buffer.type.dtype)
    product = binary("mul", cast(element(lhs, op.lhs), wide), cast(element(rhs, op.rhs), wide))
    rows = [variables[c] for c in axes.batch + axes.rows if not known_equal(size[c], 1)]
    columns = [variables[c] for c in axes.columns if not known_equal(size[c], 1)]
    summed = [variables[c] for c in axes.summed if not known_equal(size[c], 1)]
    target = Index(0)
    for c, stride in zip(op.out, out.strides, strict=True):
        target = target + at[c] * stride
    work = prod(size.values()) if rows else 0
    if not columns or any(known_equal(n, 0) for n in size.values()):
        fold = Fold("add", wide)
        if any(known_equal(n, 0) for n in size.values()):
            return Launch(_zero(rows + columns, out, target), 0)
        sweep = Sweep(tuple(summed), ((fold, product),), (), (Store(out, target, cast(folded(fold), dtype)),))
        return Launch(Kernel(tuple(rows) or (Variable(1),), (sweep,)), work)
    last = columns[-1]
    rows += columns[:-1]
    block, column, width = in_blocks(last, COLUMNS)
    here: dict[Atom, Index] = {last: index(block) * width + index(column)}
    total = Buffer.dense("scratch0", TensorType(wide, (width,)))
    product = product.substitute(here)
    result = cast(load(total, (index(column),)), dtype)
    sweeps = (
        Sweep((column,), (), (Store(total, index(column), const(0, wide)),)),
        Sweep((*summed, column), (), (Update(total, index(column), "add", product),)),
        Sweep((column,), (), (Store(out, target.substitute(here), result),)),
    )
    return Launch(down_several_rows(Kernel((*rows, block), sweeps, (total,))), prod(size.values()))


def _turned_is_better(op: Contract, axes: _Axes, size: Sizes, lhs: View, rhs: View) -> bool:
    """Whether the product of a matrix and a vector should change its operands: a matrix whose terms lie side by side is
    summed row by row, from the left; one whose other axis does is gathered, from the right. Otherwise every element
    would come from a cache line of its own, 40 times slower.
    """
    rows, columns = (any(not known_equal(size[c], 1) for c in part) for part in (axes.rows, axes.columns))
    if rows == columns:
        return False
    letters, view = (op.lhs, lhs) if rows else (op.rhs, rhs)
    steps = [(abs(hint(s)), c) for c, s in zip(letters, view.strides, strict=True) if not known_equal(size[c], 1)]
    inner = min((s, c) for s, c in steps if c not in axes.batch)[1]
    return (inner in axes.summed) == columns


def _zero(loops: list[Variable], out: Buffer, target: Index) -> Kernel:
    loops = loops or [Variable(1)]
    sweep = Sweep((loops[-1],), (), (Store(out, target, const(0, out.type.dtype)),))
    return Kernel(tuple(loops[:-1]), (sweep,))
