"""Products of matrices and of batches of matrices, on any strides."""

from __future__ import annotations

from mycelia.onednn.constants import Arg
from mycelia.onednn.layout import Layout
from mycelia.onednn.library import library
from mycelia.onednn.post_ops import PostOp, attributes
from mycelia.onednn.prepared import Prepared, describe_primitive, post_op_operands


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
    bias_slot = [("bias", Arg.bias)] if bias else []
    operands = [("lhs", Arg.source), ("rhs", Arg.weights), *bias_slot, ("out", Arg.out), *post_op_operands(post_ops)]
    return Prepared(descriptor, operands)


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
