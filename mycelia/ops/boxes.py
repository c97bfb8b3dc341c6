"""Boxes of detection, given by two corners (x, y, x, y): how much they overlap, and one told by another."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log
from typing import Any

from mycelia import primitives as p
from mycelia.checks import choice, share
from mycelia.eager import Tensor, cast, created
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ir import Function
from mycelia.ops.arguments import floated, number, pair, tensor
from mycelia.ops.order import order_of
from mycelia.types import TensorType, bool_, int32

__all__ = ["bounding_box_decode", "bounding_box_encode", "check_valid", "iou"]


def _sides(name: str, boxes: Tensor) -> list[Tensor]:
    """The four columns of (n, 4) boxes."""
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ShapeError(f"{name} takes boxes as rows of four numbers, not shape {boxes.shape}")
    return [p.take(boxes, 1, i, i + 1) for i in range(4)]


def _centres(name: str, boxes: Tensor) -> tuple[Tensor, ...]:
    """The centre and the extent of boxes whose sides count both ends."""
    left, top, right, bottom = _sides(name, boxes)
    return (left + right) * 0.5, (top + bottom) * 0.5, right - left + 1.0, bottom - top + 1.0


def _four(name: str, what: str, numbers: Sequence[float]) -> tuple[float, ...]:
    if not isinstance(numbers, tuple | list) or len(numbers) != 4:
        raise ArgumentError(f"{name}: {what} are four numbers", given={what: numbers})
    return tuple(float(n) for n in numbers)


def bounding_box_encode(
    anchor_box: Any, groundtruth_box: Any, means: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    stds: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
) -> Tensor:  # fmt: skip
    """Boxes told by anchors: how far the centre is, in sizes of the anchor, and the logarithms of the sizes' quotients.

    >>> bounding_box_encode(Tensor([[0.0, 0.0, 9.0, 9.0]]), Tensor([[0.0, 0.0, 9.0, 9.0]])).tolist()
    [[0.0, 0.0, 0.0, 0.0]]
    """
    anchors, boxes = (floated(t) for t in pair(anchor_box, groundtruth_box))
    px, py, pw, ph = _centres("bounding_box_encode", anchors)
    gx, gy, gw, gh = _centres("bounding_box_encode", boxes)
    told = [(gx - px) / pw, (gy - py) / ph, p.log(gw / pw), p.log(gh / ph)]
    shifts, scales = (_four("bounding_box_encode", w, n) for w, n in (("means", means), ("stds", stds)))
    return p.concat([(t - m) * (1.0 / s) for t, m, s in zip(told, shifts, scales, strict=True)], 1)


def bounding_box_decode(
    anchor_box: Any, deltas: Any, max_shape: Sequence[int], means: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    stds: Sequence[float] = (1.0, 1.0, 1.0, 1.0), wh_ratio_clip: float = 0.016,
) -> Tensor:  # fmt: skip
    """The boxes that `bounding_box_encode` told, cut to an image of `max_shape` (height, width).

    >>> bounding_box_decode(Tensor([[0.0, 0.0, 9.0, 9.0]]), Tensor([[0.0, 0.0, 0.0, 0.0]]), (20, 20)).tolist()
    [[0.0, 0.0, 9.0, 9.0]]
    """
    anchors, told = (floated(t) for t in pair(anchor_box, deltas))
    shifts, scales = (_four("bounding_box_decode", w, n) for w, n in (("means", means), ("stds", stds)))
    parts = [t * s + m for t, m, s in zip(_sides("bounding_box_decode", told), shifts, scales, strict=True)]
    most = abs(log(wh_ratio_clip))
    dx, dy = parts[:2]
    dw, dh = (p.minimum(p.maximum(t, number(-most, t)), number(most, t)) for t in parts[2:])
    px, py, pw, ph = _centres("bounding_box_decode", anchors)
    gx, gy, gw, gh = px + pw * dx, py + ph * dy, pw * p.exp(dw), ph * p.exp(dh)
    corners = [gx - gw * 0.5 + 0.5, gy - gh * 0.5 + 0.5, gx + gw * 0.5 - 0.5, gy + gh * 0.5 - 0.5]
    height, width = max_shape
    ends = (width, height, width, height)
    cut = [p.minimum(p.maximum(c, number(0, c)), number(e - 1, c)) for c, e in zip(corners, ends, strict=True)]
    return p.concat(cut, 1)


def iou(anchor_boxes: Any, gt_boxes: Any, mode: str = "iou") -> Tensor:
    """How much each box covers each anchor: the common area over that of both ("iou") or over the box's ("iof").

    >>> iou(Tensor([[0.0, 0.0, 9.0, 9.0]]), Tensor([[0.0, 0.0, 9.0, 9.0]])).tolist()
    [[1.0]]
    """
    anchors, boxes = (floated(t) for t in pair(anchor_boxes, gt_boxes))
    choice("iou", "mode", mode, ("iou", "iof"))
    a = [p.reshape(t, (1, t.size)) for t in _sides("iou", anchors)]
    b = _sides("iou", boxes)
    zero = number(0, anchors)
    wide, high = (p.maximum(p.minimum(a[i + 2], b[i + 2]) - p.maximum(a[i], b[i]) + 1.0, zero) for i in range(2))
    common = wide * high
    areas = [(s[2] - s[0] + 1.0) * (s[3] - s[1] + 1.0) for s in (a, b)]
    return common / (areas[0] + areas[1] - common if mode == "iou" else areas[1])


def check_valid(bboxes: Any, img_metas: Any) -> Tensor:
    """Whether boxes lie inside of an image: (height, width, ratio), the first two multiplied by the third.

    >>> check_valid(Tensor([[0.0, 0.0, 5.0, 5.0], [0.0, 0.0, 50.0, 5.0]]), Tensor([10.0, 10.0, 1.0])).tolist()
    [True, False]
    """
    boxes, image = tensor(bboxes), tensor(img_metas)
    boxes, image = cast(boxes, floated(boxes).dtype), cast(image, floated(boxes).dtype)
    left, top, right, bottom = _sides("check_valid", boxes)
    height, width, ratio = (p.take(image, 0, i, i + 1) for i in range(3))
    inside = p.logical_and(p.greater_equal(left, 0.0), p.greater_equal(top, 0.0))
    inside = p.logical_and(inside, p.less_equal(right, width * ratio - 1.0))
    inside = p.logical_and(inside, p.less_equal(bottom, height * ratio - 1.0))
    return p.reshape(inside, (boxes.shape[0],))


def nms_with_mask(bboxes: Any, iou_threshold: float = 0.5) -> tuple[Tensor, Tensor, Tensor]:
    """Boxes (n, 5) of corners and scores, the best first; their numbers in that order; and which of them are kept:
    those that overlap no better one that is kept by more than the threshold.

    >>> boxes = Tensor([[0.0, 0.0, 10.0, 10.0, 0.8], [1.0, 1.0, 10.0, 10.0, 0.9], [20.0, 20.0, 30.0, 30.0, 0.5]])
    >>> [t.tolist() for t in nms_with_mask(boxes, 0.5)][1:]
    [[0, 1, 2], [True, False, True]]
    """
    x = floated(bboxes)
    if x.ndim != 2 or x.shape[1] != 5:
        raise ShapeError(f"NMSWithMask takes rows of four corners and a score, not shape {x.shape}")
    limit, count = share("NMSWithMask", "iou_threshold", iou_threshold), x.shape[0]
    order = order_of(p.reshape(p.take(x, 1, 4, 5), (count,)), 0, True)
    ordered = p.gather(x, order, 0)
    left, top, right, bottom = (p.stop_gradient(p.take(ordered, 1, i, i + 1)) for i in range(4))
    area = (right - left) * (bottom - top)
    wide = p.minimum(right, p.transpose(right)) - p.maximum(left, p.transpose(left))
    high = p.minimum(bottom, p.transpose(bottom)) - p.maximum(top, p.transpose(top))
    common = p.maximum(wide, 0.0) * p.maximum(high, 0.0)
    over = p.greater(common, (area + p.transpose(area) - common) * limit)
    places = created(p.Iota(int32, (count,), 0))
    later = p.greater(created(p.Iota(int32, (count, count), 1)), created(p.Iota(int32, (count, count), 0)))
    over = p.logical_and(over, later)
    (kept,) = p.Scan(_suppressing(count), 0, 1, False, count)(created(p.Full(True, bool_, (count,))), over, places)
    return ordered, places, kept


@cache
def _suppressing(count: int) -> Function:
    """One step: a box that is kept takes out those that it overlaps."""

    def turn(kept: Any, over: Any, place: Any) -> tuple[Any, ...]:
        here = p.gather(kept, place, 0)
        return (p.logical_and(kept, p.logical_not(p.logical_and(over, here))),)

    flags = TensorType(bool_, (count,))
    return Function.build(turn, flags, flags, TensorType(int32, ()))
