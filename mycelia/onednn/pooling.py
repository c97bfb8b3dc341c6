"""Maxima and averages over a moving window, and their gradients.

Logical dims are (N, C, spatial…). The maximum in training keeps a workspace, which its gradient reads.
"""

from __future__ import annotations

from mycelia.onednn.constants import Algorithm, Arg, Propagation
from mycelia.onednn.layout import Layout
from mycelia.onednn.library import Owned, dims, library
from mycelia.onednn.post_ops import attributes
from mycelia.onednn.prepared import Prepared, describe_primitive, prepare
from mycelia.onednn.window import Window

MAX = Algorithm.pooling_max
AVERAGE = Algorithm.pooling_average
AVERAGE_WITH_PADDING = Algorithm.pooling_average_with_padding


def pooling(
    kind: Algorithm, source: Layout, out: Layout, kernel: tuple[int, ...], window: Window, *, training: bool
) -> Prepared:
    """The maximum or the average of each window; ports: source, out, (workspace of a maximum in training).

    >>> import numpy as np
    >>> x, y = np.arange(16, dtype="f").reshape(1, 1, 4, 4), np.empty((1, 1, 2, 2), "f")
    >>> pooling(MAX, Layout.of(x), Layout.of(y), (2, 2), Window.moving((2, 2)), training=False).run(x, y)
    >>> y[0, 0]
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """
    operands = [("source", Arg.source), ("out", Arg.out), *_workspace(kind, training)]
    return prepare(_forward(kind, source, out, kernel, window, training), operands)


def pooling_gradient(kind: Algorithm, source: Layout, out: Layout, kernel: tuple[int, ...], window: Window) -> Prepared:
    """The cotangent of the source; ports: out_gradient, source_gradient, (workspace), laid out as out and source.

    >>> import numpy as np
    >>> dx, dy = np.empty((1, 1, 4, 4), "f"), np.ones((1, 1, 2, 2), "f")
    >>> pooling_gradient(AVERAGE, Layout.of(dx), Layout.of(dy), (2, 2), Window.moving((2, 2))).run(dy, dx)
    >>> float(dx[0, 0, 3, 3])
    0.25
    """
    hint, attr = _forward(kind, source, out, kernel, window, True), attributes(())
    strides, dilations = window.steps
    descriptor = describe_primitive(
        "dnnl_pooling_backward_primitive_desc_create",
        library().engine,
        kind,
        source.address,
        out.address,
        strides,
        dims(kernel),
        dilations,
        *window.padding,
        hint.address,
        attr.address,
        asked={"kind": kind.name, "source": source, "out": out, "kernel": kernel, "window": window},
    )
    operands = [("out_gradient", Arg.out_gradient), ("source_gradient", Arg.source_gradient)]
    return prepare(descriptor, operands + _workspace(kind, True))


def _workspace(kind: Algorithm, training: bool) -> list[tuple[str, Arg]]:
    return [("workspace", Arg.workspace)] if kind == MAX and training else []


def _forward(
    kind: Algorithm, source: Layout, out: Layout, kernel: tuple[int, ...], window: Window, training: bool
) -> Owned:
    attr = attributes(())
    strides, dilations = window.steps
    return describe_primitive(
        "dnnl_pooling_forward_primitive_desc_create",
        library().engine,
        Propagation.forward_training if training else Propagation.forward_inference,
        kind,
        source.address,
        out.address,
        strides,
        dims(kernel),
        dilations,
        *window.padding,
        attr.address,
        asked={"kind": kind.name, "source": source, "out": out, "kernel": kernel, "window": window},
    )
