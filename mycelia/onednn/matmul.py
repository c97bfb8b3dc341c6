"""Products of matrices and of batches of matrices, on any strides."""

from __future__ import annotations

from functools import lru_cache

from mycelia.onednn.constants import TOLD_LATER, Arg, DataType
from mycelia.onednn.layout import Layout
from mycelia.onednn.library import library
from mycelia.onednn.post_ops import PostOp, attributes
from mycelia.onednn.prepared import Prepared, Primitive, describe_primitive, post_op_operands


def matmul(lhs: Layout, rhs: Layout, out: Layout, *, bias: bool = False, post_ops: tuple[PostOp, ...] = ()) -> Prepared:
    """out[…, m, n] = Σₖ lhs[…, m, k] · rhs[…, k, n] (+ bias[n]); ports: lhs, rhs, (bias), out, (operandᵢ).

    Batch axes of `lhs` and `rhs` broadcast when their size is 1 or their stride is 0. Raises `Refused` when oneDNN
    has no implementation.

    >>> import numpy as np
    >>> x, y, out = np.ones((2, 3), "f"), np.ones((3, 4), "f"), np.empty((2, 4), "f")
    >>> matmul(Layout.of(x), Layout.of(y), Layout.of(out)).run(x, y, out)
    >>> out[0]
    array([3., 3., 3., 3.], dtype=float32)
    """
    lhs, rhs = _unbroadcast(lhs), _unbroadcast(rhs)
    per_column = Layout.rows((1,) * (len(out.dims) - 1) + out.dims[-1:], out.dtype) if bias else None
    attr = attributes(post_ops)
    lib = library()
    descriptor = describe_primitive(
        "dnnl_matmul_primitive_desc_create",
        lib.engine,
        lhs.address,
        rhs.address,
        per_column.address if per_column else None,
        out.address,
        attr.address,
        asked={"lhs": lhs, "rhs": rhs, "out": out, "bias": bias, "post_ops": post_ops},
    )
    made = Primitive(descriptor)
    operands: list[tuple[str, int, Layout | None]] = [("lhs", Arg.source, lhs), ("rhs", Arg.weights, rhs)]
    if per_column:
        operands.append(("bias", Arg.bias, per_column))
    operands.append(("out", Arg.out, out))
    operands += [(name, arg, None) for name, arg in post_op_operands(post_ops)]
    return Prepared(made, operands)


def matmul_of_any_size(lhs: Layout, rhs: Layout, out: Layout) -> Prepared:
    """The product lhs @ rhs of float32 matrices, or of batches of them, by code that is told their sizes when it runs;
    ports: lhs, rhs, out.

    One primitive serves all sizes, and a new one costs a few objects of a few hundred bytes. One made for its sizes
    takes a hundred times as long to make, and 60 KB.

    >>> import numpy as np
    >>> for n in (3, 5):
    ...     x, y, out = np.ones((2, n), "f"), np.ones((n, 4), "f"), np.empty((2, 4), "f")
    ...     matmul_of_any_size(Layout.of(x), Layout.of(y), Layout.of(out)).run(x, y, out)
    ...     out[0]
    array([3., 3., 3., 3.], dtype=float32)
    array([5., 5., 5., 5.], dtype=float32)
    """
    made = _general(len(out.dims), tuple([_inner(layout) for layout in (lhs, rhs, out)]))
    return Prepared(made, [("lhs", Arg.source, lhs), ("rhs", Arg.weights, rhs), ("out", Arg.out, out)])


def may_be_of_any_size(lhs: Layout, rhs: Layout, out: Layout) -> bool:
    """Whether there is such code: for float32, where matrices lie in rows or columns that do not overlap, the result in
    rows, and no axis is repeated.

    >>> lhs, rhs, out = (Layout.rows(shape, DataType.f32) for shape in ((2, 5, 7), (2, 7, 3), (2, 5, 3)))
    >>> one = Layout.rows((1, 7, 3), DataType.f32)
    >>> may_be_of_any_size(lhs, rhs, out), may_be_of_any_size(lhs, one, out)
    (True, False)
    """
    if any(
        x.dtype != DataType.f32 or x.dims[:-2] != out.dims[:-2] or 0 in (x.strides or (0,)) for x in (lhs, rhs, out)
    ):
        return False
    return _in_rows(out) and all(_in_rows(x) or _in_rows(x, -1, -2) for x in (lhs, rhs))


def _in_rows(x: Layout, across: int = -2, along: int = -1) -> bool:
    assert x.strides is not None, "oneDNN may not choose what it is told when it runs"
    return x.strides[along] == 1 and x.strides[across] >= x.dims[along]


def _inner(layout: Layout) -> int:
    """The axis of matrices whose elements are neighbours."""
    return len(layout.dims) - (1 if _in_rows(layout) else 2)


@lru_cache(maxsize=32)
def _general(rank: int, inner: tuple[int, ...]) -> Primitive:
    """The product of matrices in which these axes, of lhs, rhs and out, have neighbours in memory."""
    unknown = (TOLD_LATER,) * rank
    lhs, rhs, out = (Layout(unknown, DataType.f32, (*unknown[:axis], 1, *unknown[axis + 1 :])) for axis in inner)
    given = (library().engine, lhs.address, rhs.address, None, out.address, attributes(()).address)
    asked: dict[str, object] = {"lhs": lhs, "rhs": rhs, "out": out}
    made = Primitive(describe_primitive("dnnl_matmul_primitive_desc_create", *given, asked=asked), shared=True)
    assert not made.scratch, "a product of any size does not know how large a scratchpad it wants"
    return made


def _unbroadcast(operand: Layout) -> Layout:
    """A batch axis that repeats one matrix (stride 0), said in oneDNN's way: an axis of size 1."""
    if operand.strides is None or 0 not in operand.strides:
        return operand
    batch = len(operand.dims) - 2
    repeats = [axis < batch and step == 0 for axis, step in enumerate(operand.strides)]
    return Layout(
        tuple(1 if r else d for d, r in zip(operand.dims, repeats, strict=True)),
        operand.dtype,
        tuple(1 if r else s for s, r in zip(operand.strides, repeats, strict=True)),
    )
