"""Convolutions over one to three spatial axes, and their two gradients.

Logical dims are always (N, C, spatial…) for images and (O, I, spatial…) for weights, I counted within a group; the
physical order is what each `Layout` says. Weights given as `Layout.chosen` are packed by oneDNN: read the packing from
the port and `reorder` into it (from `weights.grouped(groups)`). Channels-last images want chosen weights: with weights
in plain order O, I, spatial… or O, spatial…, I oneDNN has nothing but its reference loops (see `Prepared.reference`).
"""

from __future__ import annotations

from mycelia.onednn.constants import Algorithm, Arg, Propagation
from mycelia.onednn.layout import Layout
from mycelia.onednn.library import Owned, library
from mycelia.onednn.post_ops import PostOp, attributes
from mycelia.onednn.prepared import Prepared, describe_primitive, post_op_operands, prepare
from mycelia.onednn.window import Window


def convolution(
    source: Layout,
    weights: Layout,
    out: Layout,
    window: Window,
    *,
    groups: int = 1,
    bias: bool = False,
    post_ops: tuple[PostOp, ...] = (),
) -> Prepared:
    """The sum over the window and the input channels; ports: source, weights, (bias), out, (operandᵢ).

    >>> import numpy as np
    >>> x, w, y = np.ones((1, 2, 4, 4), "f"), np.ones((3, 2, 3, 3), "f"), np.empty((1, 3, 2, 2), "f")
    >>> convolution(Layout.of(x), Layout.of(w), Layout.of(y), Window.moving((1, 1))).run(x, w, y)
    >>> float(y[0, 0, 0, 0])
    18.0
    """
    descriptor = _forward(source, weights.grouped(groups), out, window, bias, post_ops)
    bias_slot = [("bias", Arg.bias)] if bias else []
    operands = [
        ("source", Arg.source),
        ("weights", Arg.weights),
        *bias_slot,
        ("out", Arg.out),
        *post_op_operands(post_ops),
    ]
    return prepare(descriptor, operands)


def convolution_source_gradient(
    source: Layout, weights: Layout, out: Layout, window: Window, *, groups: int = 1
) -> Prepared:
    """The cotangent of the source; ports: out_gradient, weights, source_gradient, laid out as out and source.

    >>> import numpy as np
    >>> dx, w, dy = np.empty((1, 2, 4, 4), "f"), np.ones((3, 2, 3, 3), "f"), np.ones((1, 3, 2, 2), "f")
    >>> convolution_source_gradient(Layout.of(dx), Layout.of(w), Layout.of(dy), Window.moving((1, 1))).run(dy, w, dx)
    >>> float(dx[0, 0, 1, 1])
    12.0
    """
    weights = weights.grouped(groups)
    hint, attr = _hint(source, weights, out, window), attributes(())
    descriptor = describe_primitive(
        "dnnl_convolution_backward_data_primitive_desc_create",
        library().engine,
        Algorithm.convolution_direct,
        source.address,
        weights.address,
        out.address,
        *window.steps,
        *window.padding,
        hint.address,
        attr.address,
        asked={"source": source, "weights": weights, "out": out, "window": window},
    )
    operands = [
        ("out_gradient", Arg.out_gradient),
        ("weights", Arg.weights),
        ("source_gradient", Arg.source_gradient),
    ]
    return prepare(descriptor, operands)


def convolution_weights_gradient(
    source: Layout, weights: Layout, out: Layout, window: Window, *, groups: int = 1, bias: bool = False
) -> Prepared:
    """The cotangent of the weights and of the bias; ports: source, out_gradient, weights_gradient, (bias_gradient).

    >>> import numpy as np
    >>> x, dw, dy = np.ones((1, 2, 4, 4), "f"), np.empty((3, 2, 3, 3), "f"), np.ones((1, 3, 2, 2), "f")
    >>> convolution_weights_gradient(Layout.of(x), Layout.of(dw), Layout.of(dy), Window.moving((1, 1))).run(x, dy, dw)
    >>> float(dw[0, 0, 0, 0])
    4.0
    """
    weights = weights.grouped(groups)
    hint, attr, per_channel = _hint(source, weights, out, window), attributes(()), _per_channel(out)
    descriptor = describe_primitive(
        "dnnl_convolution_backward_weights_primitive_desc_create",
        library().engine,
        Algorithm.convolution_direct,
        source.address,
        weights.address,
        per_channel.address if bias else None,
        out.address,
        *window.steps,
        *window.padding,
        hint.address,
        attr.address,
        asked={"source": source, "weights": weights, "out": out, "window": window, "bias": bias},
    )
    bias_slot = [("bias_gradient", Arg.bias_gradient)] if bias else []
    operands = [
        ("source", Arg.source),
        ("out_gradient", Arg.out_gradient),
        ("weights_gradient", Arg.weights_gradient),
        *bias_slot,
    ]
    return prepare(descriptor, operands)


def _forward(
    source: Layout, weights: Layout, out: Layout, window: Window, bias: bool, post_ops: tuple[PostOp, ...]
) -> Owned:
    attr, per_channel = attributes(post_ops), _per_channel(out)
    return describe_primitive(
        "dnnl_convolution_forward_primitive_desc_create",
        library().engine,
        Propagation.forward_training,
        Algorithm.convolution_direct,
        source.address,
        weights.address,
        per_channel.address if bias else None,
        out.address,
        *window.steps,
        *window.padding,
        attr.address,
        asked={"source": source, "weights": weights, "out": out, "window": window, "post_ops": post_ops},
    )


def _hint(source: Layout, weights: Layout, out: Layout, window: Window) -> Owned:
    """The forward descriptor that oneDNN wants to see beside a gradient; its layouts do not bind the gradient's."""
    free_source, free_weights, free_out = (Layout.chosen(x.dims, x.dtype) for x in (source, weights, out))
    return _forward(free_source, free_weights, free_out, window, False, ())


def _per_channel(out: Layout) -> Layout:
    return Layout.rows((out.dims[1],), out.dtype)
