"""Convolutions by our own tiles. In an image with its margins around it, window and place are steps in memory: so a
convolution is a matrix product whose right operand is read more than once, and never laid out as columns (im2col).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import gcd, prod

from mycelia.frozen import frozen
from mycelia.ir import Value
from mycelia.loops import Axis, Buffer, Index, Invoke, Operand, TileKind, Tiles
from mycelia.lowering.body import Body, View
from mycelia.lowering.plain import offset_of, stored, zero
from mycelia.lowering.values import full_index
from mycelia.primitives.convolution import Convolution
from mycelia.sizes import Dim, hint
from mycelia.types import TensorType

PLACES = 512  # of one image from which its product stands for itself; fewer, and those of all images stand side by side


def forward(op: Convolution, x: Value, w: Value, out: Buffer, kind: TileKind, body: Body) -> None:
    """y[n, o, p]: rows are output channels, columns are places, terms are channels and window."""
    shape = out.type.shape
    image, weight = _seen(op, x, w.shape[2:], shape[2:], body), body.view(w)
    each = w.shape[0] // op.groups
    group = Axis(op.groups, weight.strides[0] * each, image.strides[1] * w.shape[1], out.strides[1] * each)
    images = Axis(x.shape[0], 0, image.strides[0], out.strides[0])
    rows = [Axis(each, weight.strides[0], 0, out.strides[1])]
    places = _zipped(shape[2:], 0, _times(image.strides[2:], op.strides), out.strides[2:])
    window = _zipped(w.shape[2:], weight.strides[2:], _times(image.strides[2:], op.dilation), 0)
    summed = [Axis(w.shape[1], weight.strides[1], image.strides[1], 0), *window]
    body.steps.append(_invoke(kind, group, images, rows, places, summed, (weight, image), out))


def weight_gradient(op: Convolution, x: Value, ct: Value, out: Buffer, kind: TileKind, body: Body) -> None:
    """dw[o, c, k]: rows are output channels, columns are channels and window, terms are images and places."""
    shape = out.type.shape
    image, cotangent = _seen(op, x, shape[2:], ct.shape[2:], body), body.view(ct)
    each = shape[0] // op.groups
    group = Axis(op.groups, cotangent.strides[1] * each, image.strides[1] * shape[1], out.strides[0] * each)
    rows = [Axis(each, cotangent.strides[1], 0, out.strides[0])]
    window = _zipped(shape[2:], 0, _times(image.strides[2:], op.dilation), out.strides[2:])
    columns = [Axis(shape[1], 0, image.strides[1], out.strides[1]), *window]
    places = _zipped(ct.shape[2:], cotangent.strides[2:], _times(image.strides[2:], op.strides), 0)
    summed = [Axis(x.shape[0], cotangent.strides[0], image.strides[0], 0), *places]
    body.steps.append(_invoke(kind, group, None, rows, columns, summed, (cotangent, image), out))


def input_gradient(op: Convolution, ct: Value, w: Value, out: Buffer, kind: TileKind, body: Body) -> None:
    """dx[n, c, q]: rows are channels, columns are places of the image, terms are output channels and those elements of
    the window that reach the place. With strides, places fall into classes that different elements reach.
    """
    shape = out.type.shape
    axes = zip(shape[2:], w.shape[2:], ct.shape[2:], op.strides, op.dilation, op.padding, strict=True)
    classes = [list(_classes(n, k, s, d, before)) for n, k, _, s, d, (before, _) in axes]
    if any(not c.window for of_axis in classes for c in of_axis):
        body.steps.append(zero(out, out.type))  # places that the window steps over
    if not all(any(c.window for c in of_axis) for of_axis in classes):
        return
    reach = [
        (-min(c.first_read for c in of_axis if c.window), max(c.last_read for c in of_axis if c.window) - (n - 1))
        for of_axis, n in zip(classes, ct.shape[2:], strict=True)
    ]
    cotangent, weight = _with_margins(ct, reach, body), body.view(w)
    each = w.shape[0] // op.groups
    group = Axis(op.groups, weight.strides[0] * each, cotangent.strides[1] * each, out.strides[1] * w.shape[1])
    images = Axis(shape[0], 0, cotangent.strides[0], out.strides[0])
    rows = [Axis(w.shape[1], weight.strides[1], 0, out.strides[1])]
    for chosen in product(*classes):
        if not all(c.window for c in chosen):
            continue
        steps = (weight.strides[2:], cotangent.strides[2:], out.strides[2:])
        places = [Axis(c.places, 0, y, o * c.stride) for c, y, o in zip(chosen, *steps[1:], strict=True)]
        window = [
            Axis(c.window, k * c.window_step, -y * c.read_step, 0) for c, k, y in zip(chosen, *steps[:2], strict=True)
        ]
        summed = [Axis(each, weight.strides[0], cotangent.strides[1], 0), *window]
        at = [sum(getattr(c, f) * s for c, s in zip(chosen, t, strict=True)) for f, t in zip(FIRST, steps, strict=True)]
        moved = replace(weight, offset=weight.offset + at[0]), replace(cotangent, offset=cotangent.offset + at[1])
        body.steps.append(_invoke(kind, group, images, rows, places, summed, moved, out, at[2]))


FIRST = ("first_window", "first_of_cotangent", "first_place")


@frozen
class _Class:
    """Places q of an axis with one remainder of (q + before) by the stride, and the elements of the window that reach
    them: place u and element t meet at `first_of_cotangent + u - t * read_step`.
    """

    first_place: int
    places: Dim
    stride: int
    first_window: int
    window: int
    window_step: int
    first_of_cotangent: int
    read_step: int

    @property
    def first_read(self) -> int:
        return self.first_of_cotangent - (self.window - 1) * self.read_step

    @property
    def last_read(self) -> Dim:
        return self.first_of_cotangent + self.places - 1


def _classes(extent: Dim, window: int, stride: int, dilation: int, before: int) -> Iterator[_Class]:
    for rest in range(stride):
        first = (rest - before) % stride
        if first >= extent:
            continue
        reaching = [k for k in range(window) if (k * dilation - rest) % stride == 0]
        start = reaching[0] if reaching else 0
        shared = gcd(dilation, stride)
        yield _Class(
            first,
            -(-(extent - first) // stride),
            stride,
            start,
            len(reaching),
            stride // shared,
            (first + before - start * dilation) // stride,
            dilation // shared,
        )


def _seen(op: Convolution, x: Value, window: Sequence[Dim], places: Sequence[Dim], body: Body) -> View:
    """The image from the first element that the window sees at its first place."""
    moves = zip(places, op.strides, window, op.dilation, x.shape[2:], op.padding, strict=True)
    reach = [(before, (p - 1) * s + (k - 1) * d - before - (n - 1)) for p, s, k, d, n, (before, _) in moves]
    image = _with_margins(x, reach, body)
    begin = sum(before * step for (before, _), step in zip(reach, image.strides[2:], strict=True))
    return replace(image, offset=image.offset - begin)


def _with_margins(x: Value, reach: Sequence[tuple[Dim, Dim]], body: Body) -> View:
    """An image with as many zeros around it as are read: itself where that is none, else a copy. It begins at the
    image's own first element.
    """
    margins = [(max(low, 0), max(high, 0)) for low, high in reach]
    if not any(low or high for low, high in margins):
        return body.view(x)
    space = [low + n + high for n, (low, high) in zip(x.shape[2:], margins, strict=True)]
    around = body.shared.buffer(TensorType(x.dtype, (*x.shape[:2], *space)))
    begin = sum(low * step for (low, _), step in zip(margins, around.strides[2:], strict=True))
    body.steps.append(zero(around, around.type))
    variables, at = full_index(x.shape)
    inside = offset_of(at, around.strides) + Index(begin)
    body.steps.append(stored(variables, around, inside, body.element(x, at)))
    return View(around, begin, x.shape, around.strides)


def _invoke(
    kind: TileKind, group: Axis, images: Axis | None, rows: Sequence[Axis], columns: Sequence[Axis],
    summed: Sequence[Axis], operands: tuple[View, View], out: Buffer, first: Dim = 0,
) -> Invoke:  # fmt: skip
    batch = [group]
    if images is not None and hint(prod(a.extent for a in columns)) >= PLACES:
        batch = [images, group]
    elif images is not None:
        columns = [images, *columns]
    call = Tiles(kind, *(tuple(a for a in axes if a.extent != 1) for axes in (batch, rows, columns, summed)))
    return Invoke(call, tuple(Operand(v.buffer, v.offset) for v in operands), (Operand(out, first),))


def _zipped(
    extents: Sequence[Dim], lhs: Sequence[Dim] | int, rhs: Sequence[Dim], out: Sequence[Dim] | int
) -> list[Axis]:
    """Axes from their extents and steps; a number stands for itself on each."""
    left, right = (s if isinstance(s, Sequence) else [s] * len(extents) for s in (lhs, out))
    return [Axis(*steps) for steps in zip(extents, left, rhs, right, strict=True)]


def _times(steps: Sequence[Dim], factors: Sequence[int]) -> list[Dim]:
    return [s * f for s, f in zip(steps, factors, strict=True)]
