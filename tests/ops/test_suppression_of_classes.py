"""Boxes of several classes without those that overlap better ones: recorded results of MindSpore 2.10."""

import numpy as np

import mycelia as ms
from mycelia import Tensor, ops
from tests.each import each

BOXES = Tensor([[[[0, 0, 0.5, 0.5]], [[0, 0.05, 0.5, 0.55]], [[0.5, 0.5, 1, 1.2]], [[0.6, 0.6, 0.9, 0.9]]]])
SCORES = Tensor([[[0.2, 0.7, 0.1], [0.1, 0.8, 0.1], [0.3, 0.6, 0.1], [0.05, 0.9, 0.05]]])


def test_boxes_whose_corners_are_in_no_order_overlap_nothing():
    boxes = Tensor([[70, 70, 45, 75, 0.6], [69, 70, 45, 76, 0.5], [30, 33, 43, 29, 0.1], [30.0, 30, 30, 30, 0.01]])
    each(lambda limit: _all(ops.NMSWithMask(limit)(boxes)[2]), [(limit, (limit,)) for limit in (0.0, 0.1, 0.7)])


def _all(kept):
    assert kept.all()


def test_the_best_of_all_classes_are_kept():
    def kept(attributes, side):
        op = ops.CombinedNonMaxSuppression(**attributes)
        given = (Tensor(2, ms.int32), Tensor(5, ms.int32), Tensor(0.5), Tensor(0.15))
        boxes, scores, classes, count = op(BOXES, SCORES, *given)
        corners = [[0.6, 0.6, 0.9, 0.9], [0, 0.05, 0.5, 0.55], [0.5, 0.5, 1, side], [0, 0, 0.5, 0.5], [0] * 4]
        np.testing.assert_allclose(boxes.asnumpy(), [corners], 1e-6)
        np.testing.assert_allclose(scores.asnumpy(), [[0.9, 0.8, 0.3, 0.2, 0]], 1e-6)
        assert classes.tolist() == [[1, 1, 0, 0, 0]]
        assert (count.tolist(), count.dtype) == ([4], ms.int32)

    each(kept, [("usual", ({}, 1)), ("padded", ({"pad_per_class": True}, 1)), ("whole", ({"clip_boxes": False}, 1.2))])
