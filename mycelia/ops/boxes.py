"""Boxes of detection, given by two corners (x, y, x, y): how much they overlap, and one told by another."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log
from typing import Any

from mycelia import primitives as p
from mycelia.checks import choice, share, whole
from mycelia.eager import Tensor, cast, created
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ir import Function
from mycelia.ops.arguments import floated, number, pair, tensor
from mycelia.ops.choice import masked_select
from mycelia.ops.creation import full
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
    both = area + p.transpose(area) - common
    over = p.logical_and(p.greater(common, both * limit), p.greater(both, 0.0))  # corners in no order overlap nothing
    return ordered, created(p.Iota(int32, (count,), 0)), _kept(over)


def _kept(over: Tensor) -> Tensor:
    """Which of some boxes, the best first, are kept, told which overlap too much."""
    count = over.shape[0]
    places = created(p.Iota(int32, (count,), 0))
    later = p.greater(created(p.Iota(int32, (count, count), 1)), created(p.Iota(int32, (count, count), 0)))
    first = created(p.Full(True, bool_, (count,)))
    (kept,) = p.Scan(_suppressing(count), 0, 1, False, count)(first, p.logical_and(over, later), places)
    return kept


@cache
def _suppressing(count: int) -> Function:
    """One step: a box that is kept takes out those that it overlaps."""

    def turn(kept: Any, over: Any, place: Any) -> tuple[Any, ...]:
        here = p.gather(kept, place, 0)
        return (p.logical_and(kept, p.logical_not(p.logical_and(over, here))),)

    flags = TensorType(bool_, (count,))
    return Function.build(turn, flags, flags, TensorType(int32, ()))


def non_max_with_overlaps(
    overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any, score_threshold: Any
) -> Tensor:
    """The numbers of boxes with scores above a threshold, the best first, without those that overlap a better one that
    is kept by more than another threshold: at most so many.

    >>> over = Tensor([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> non_max_with_overlaps(over, Tensor([0.5, 0.9, 0.7]), 5, 0.5, 0.0).tolist()
    [1, 2]
    """
    over, rated = floated(overlaps), floated(scores)
    if over.ndim != 2 or rated.ndim != 1 or over.shape != (rated.size, rated.size):
        raise ShapeError(f"overlaps (n, n) and n scores are taken, not shapes {over.shape} and {rated.shape}")
    order = order_of(rated, 0, True)
    ordered = p.gather(p.gather(over, order, 0), order, 1)
    good = p.greater(p.gather(rated, order, 0), cast(tensor(score_threshold), rated.dtype))
    too_much = p.greater(ordered, cast(tensor(overlap_threshold), over.dtype))
    kept = p.logical_and(_kept(too_much), good)
    found = masked_select(cast(order, int32), kept)
    most = int(max_output_size.item()) if isinstance(max_output_size, Tensor) else max_output_size
    return found[: max(whole("non-maximum suppression", "max_output_size", most, least=-(1 << 31)), 0)]


def non_max_of_classes(
    boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any, iou_threshold: Any,
    score_threshold: Any, pad_per_class: bool = False, clip_boxes: bool = True,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Non-maximum suppression of boxes (batch, n, 1 or classes, 4) by their scores (batch, n, classes), class by class;
    of each example the best ones of all classes: boxes, scores, classes, and how many there are. Others are zeros.

    >>> corners = Tensor([[[[0.0, 0.0, 0.5, 0.5]], [[0.0, 0.0, 0.5, 0.6]], [[0.6, 0.6, 1.0, 1.0]]]])
    >>> rated = Tensor([[[0.5, 0.1], [0.9, 0.2], [0.0, 0.7]]])
    >>> found, best, kinds, count = non_max_of_classes(corners, rated, 2, 3, 0.5, 0.05)
    >>> best.tolist(), kinds.tolist(), count.tolist()
    ([[0.8999999761581421, 0.699999988079071, 0.20000000298023224]], [[0.0, 1.0, 1.0]], [3])
    """
    x, rated = floated(boxes), floated(scores)
    if x.ndim != 4 or rated.ndim != 3 or x.shape[2] not in (1, rated.shape[2]) or x.shape[3] != 4:
        raise ShapeError(f"boxes (batch, n, 1 or classes, 4) and scores are taken, not {x.shape} and {rated.shape}")
    each = whole("CombinedNonMaxSuppression", "max_output_size_per_class", _count(max_output_size_per_class), least=1)
    total = whole("CombinedNonMaxSuppression", "max_total_size", _count(max_total_size), least=1)
    kinds = rated.shape[2]
    room = min(total, each * kinds) if pad_per_class else total
    rows = []
    for example in range(x.shape[0]):
        parts = []
        for kind in range(kinds):
            own, by = x[example, :, kind if x.shape[2] > 1 else 0], rated[example, :, kind]
            kept = non_max(own, by, each, iou_threshold, score_threshold)
            corners, best = p.gather(own, kept, 0), p.gather(by, kept, 0)
            parts.append((corners, best, full(best.shape, kind, dtype=x.dtype)))
        corners, best, kind_of = (p.concat(list(column), 0) for column in zip(*parts, strict=True))
        order = order_of(best, 0, True)[:room]
        corners = p.gather(corners, order, 0)
        if clip_boxes:
            corners = p.minimum(p.maximum(corners, number(0, x)), number(1, x))
        rows.append((corners, p.gather(best, order, 0), p.gather(kind_of, order, 0)))
    counts = [row[1].shape[0] for row in rows]
    filled = [[_filled(part, room) for part in row] for row in rows]
    found = [p.concat([p.expand_dims(row[i], (0,)) for row in filled], 0) for i in range(3)]
    return found[0], found[1], found[2], tensor(counts).astype(int32)


def _count(given: Any) -> Any:
    return int(given.item()) if isinstance(given, Tensor) else given


def _filled(rows: Tensor, count: int) -> Tensor:
    """Rows, and behind them zeros, so many in all."""
    missing = full((count - rows.shape[0], *rows.shape[1:]), 0, dtype=rows.dtype)
    return p.concat([rows, missing], 0) if missing.shape[0] else rows


def non_max(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any) -> Tensor:
    """The numbers of boxes (n, 4), given by two corners, with scores above a threshold, the best first, without those
    that overlap a better one that is kept: the common area over that of both is above the other threshold.

    >>> corners = Tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 2.1], [5.0, 5.0, 6.0, 6.0]])
    >>> non_max(corners, Tensor([0.5, 0.9, 0.7]), 5, 0.5, 0.0).tolist()
    [1, 2]
    """
    x = floated(boxes)
    a, b, c, d = _sides("NonMaxSuppressionV3", x)
    left, right, top, bottom = p.minimum(a, c), p.maximum(a, c), p.minimum(b, d), p.maximum(b, d)
    area = (right - left) * (bottom - top)
    wide = p.minimum(right, p.transpose(right)) - p.maximum(left, p.transpose(left))
    high = p.minimum(bottom, p.transpose(bottom)) - p.maximum(top, p.transpose(top))
    common = p.maximum(wide, number(0, x)) * p.maximum(high, number(0, x))
    both = area + p.transpose(area) - common
    over = p.select(p.greater(both, 0), common / p.select(p.greater(both, 0), both, p.ones_like(both)), number(0, x))
    return non_max_with_overlaps(over, scores, max_output_size, iou_threshold, score_threshold)
