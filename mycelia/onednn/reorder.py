"""Copies from one layout into another: packing weights, unpacking their gradients."""

from __future__ import annotations

from mycelia.onednn.constants import Arg
from mycelia.onednn.layout import Layout, Packed
from mycelia.onednn.library import library
from mycelia.onednn.post_ops import attributes
from mycelia.onednn.prepared import Prepared, describe_primitive, prepare


def reorder(source: Layout | Packed, out: Layout | Packed) -> Prepared:
    """out[i] = source[i] for every logical index; ports: source, out. The dtypes may differ.

    >>> import numpy as np
    >>> x, out = np.arange(6, dtype="f").reshape(2, 3), np.empty((3, 2), "f")
    >>> reorder(Layout.of(x), Layout.of(out.T)).run(x, out)
    >>> out
    array([[0., 3.],
           [1., 4.],
           [2., 5.]], dtype=float32)
    """
    lib, attr = library(), attributes(())
    descriptor = describe_primitive(
        "dnnl_reorder_primitive_desc_create",
        source.address,
        lib.engine,
        out.address,
        lib.engine,
        attr.address,
        asked={"source": source, "out": out},
    )
    return prepare(descriptor, [("source", Arg.source), ("out", Arg.out)])
