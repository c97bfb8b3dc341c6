"""Calls of operations that are loaded when asked for: what MindSpore is asked, and what Mycelia must answer alike.

A case is a function of a tensor, and the shape of the tensor, whose numbers are all different. They are calls of
MindSpore where that was loaded before, and of Mycelia otherwise.
"""

import sys
from importlib import import_module

import numpy as np

_framework = import_module("mindspore" if "mindspore" in sys.modules else "mycelia")
ops, Tensor = _framework.ops, _framework.Tensor


def _whole(*numbers):
    return Tensor(np.array(numbers, np.int32))


def _single(*numbers):
    return Tensor(np.array(numbers, np.float32))


BOXES = [
    [0.1, 0.1, 0.9, 0.7], [0.0, 0.2, 1.0, 1.0], [0.8, 0.9, 0.1, 0.2], [-0.2, 0.3, 0.5, 1.3], [0.5, 0.5, 0.5, 0.5]
]  # fmt: skip


def _cropped(method):
    return lambda x: ops.crop_and_resize(x, _single(*BOXES), _whole(0, 1, 1, 0, 1), (3, 4), method, 7.0)


CASES = {
    "adaptive_avg_pool1d": (lambda x: ops.adaptive_avg_pool1d(x, 4), (2, 3, 8)),
    "adaptive_avg_pool3d": (lambda x: ops.adaptive_avg_pool3d(x, (2, None, 3)), (1, 2, 4, 3, 7)),
    "adaptive_max_pool1d": (lambda x: ops.adaptive_max_pool1d(x, 4), (2, 3, 8)),
    "adaptive_max_pool2d": (lambda x: ops.adaptive_max_pool2d(x, (3, 2), True), (1, 2, 5, 7)),
    "adaptive_max_pool3d": (lambda x: ops.adaptive_max_pool3d(x, (2, 3, 3), True), (1, 2, 4, 3, 7)),
    "AvgPool3D_sides": (
        lambda x: ops.AvgPool3D(3, 2, "pad", (1, 0, 1, 1, 0, 1), count_include_pad=False)(x),
        (1, 2, 5, 4, 5),
    ),
    "AvgPool3D_same": (lambda x: ops.AvgPool3D(3, 2, "same", count_include_pad=False)(x), (1, 1, 5, 4, 5)),
    "AvgPool3D_ceil": (lambda x: ops.AvgPool3D(3, 2, "pad", 1, ceil_mode=True)(x), (1, 1, 5, 4, 5)),
    "AvgPool3D_divisor": (lambda x: ops.AvgPool3D((2, 2, 3), 2, "pad", 1, divisor_override=5)(x), (1, 1, 5, 4, 5)),
    "MaxPool3D_sides": (lambda x: ops.MaxPool3D(3, 2, "pad", (1, 0, 1, 1, 0, 1))(x), (1, 2, 5, 4, 5)),
    "MaxPool3D_ceil": (lambda x: ops.MaxPool3D(3, 2, "pad", 1, ceil_mode=True)(x), (1, 1, 5, 4, 5)),
    **{
        f"crop_and_resize_{method}": (_cropped(method), (2, 6, 7, 2))
        for method in ("bilinear", "nearest", "bilinear_v2")
    },
    "lp_pool1d": (lambda x: ops.lp_pool1d(x * x + 1, 3, 2, 1), (2, 3, 8)),
    "lp_pool2d": (lambda x: ops.lp_pool2d(x * x + 1, 2, 2), (1, 3, 4, 6)),
    "max_unpool1d": (lambda x: ops.max_unpool1d(x, Tensor(np.array([[[1, 2, 4]]])), 2), (1, 1, 3)),
    "max_unpool2d": (
        lambda x: ops.max_unpool2d(x, Tensor(np.array([[[[1, 7], [12, 14]]]])), 2, output_size=(4, 5)),
        (1, 1, 2, 2),
    ),
    "fractional_max_pool2d": (
        lambda x: ops.fractional_max_pool2d(
            x, 2, (3, 4), return_indices=True, _random_samples=_single(*[[[0.9, 0.2]]])
        ),
        (1, 1, 6, 7),
    ),
    "fractional_max_pool3d": (
        lambda x: ops.fractional_max_pool3d(
            x, 2, (2, 3, 3), return_indices=True, _random_samples=_single(*[[[0.9, 0.2, 0.6]]])
        ),
        (1, 1, 5, 6, 7),
    ),
    "gaussian_nll_loss": (lambda x: ops.gaussian_nll_loss(x, x * 0.5 + 1, x * x + 0.5, full=True), (3, 4)),
    "gaussian_nll_loss_rows": (
        lambda x: ops.gaussian_nll_loss(x, x * 0.5 + 1, x[:, :1] * 0 + 2, reduction="none"),
        (3, 4),
    ),
    "hinge_embedding_loss": (lambda x: ops.hinge_embedding_loss(x, _single(*[[1, -1, 1], [-1, 1, -1]]), 0.75), (2, 3)),
    "multi_margin_loss": (
        lambda x: ops.multi_margin_loss(x, Tensor(np.array([1, 0])), 2, 1, _single(*[1, 2, 3])),
        (2, 3),
    ),
    "multilabel_margin_loss": (lambda x: ops.multilabel_margin_loss(x, _whole(*[[1, 0, -1], [2, -1, 0]])), (2, 3)),
    "multilabel_soft_margin_loss": (
        lambda x: ops.multilabel_soft_margin_loss(x, _single(*[[1, 0, 1], [0, 0, 1]])),
        (2, 3),
    ),
    "matrix_diag": (
        lambda x: ops.matrix_diag(
            x, _whole(*[-1, 1]), Tensor(np.int32(3)), Tensor(np.int32(4)), Tensor(np.float32(9)), "LEFT_RIGHT"
        ),
        (2, 3, 3),
    ),
    "matrix_diag_part": (
        lambda x: ops.matrix_diag_part(x, _whole(*[-2, 1]), Tensor(np.float32(9)), "RIGHT_RIGHT"),
        (2, 4, 3),
    ),
    "matrix_set_diag": (lambda x: ops.matrix_set_diag(x, x[:, :2, :3] * 2, _whole(*[0, 1]), "LEFT_LEFT"), (2, 3, 4)),
    "deformable_conv2d": (
        lambda x: ops.deformable_conv2d(
            x,
            Tensor(np.arange(8, dtype=np.float32).reshape(2, 1, 2, 2)),
            Tensor(np.sin(np.arange(240, dtype=np.float32)).reshape(1, 12, 4, 5) * 1.3),
            (2, 2),
            (1, 1, 1, 1),
            (0, 0, 0, 0),
        ),
        (1, 1, 5, 6),
    ),
    "col2im": (lambda x: ops.col2im(x, _whole(*[5, 4]), [2, 2], [1, 1], [0, 0], [1, 1]), (1, 2, 4, 12)),
    "sparse_segment_mean": (lambda x: ops.sparse_segment_mean(x, _whole(*[0, 2, 1]), _whole(*[0, 0, 2])), (3, 2)),
    "interpolate_bicubic": (lambda x: ops.interpolate(x, (5, 3), mode="bicubic", align_corners=True), (1, 2, 4, 6)),
    "interpolate_nearest_exact": (lambda x: ops.interpolate(x, (5, 3), mode="nearest-exact"), (1, 2, 4, 6)),
    "Conv2DTranspose": (
        lambda x: ops.Conv2DTranspose(3, 3, "same", stride=2)(
            x, Tensor(np.arange(54, dtype=np.float32).reshape(3, 2, 3, 3)), (1, 2, 6, 6)
        ),
        (1, 3, 3, 3),
    ),
    "Im2Col": (lambda x: ops.Im2Col(2, 1, 2, 1)(x), (1, 2, 4, 5)),
    "Median": (lambda x: ops.Median(False, 1, True)(x), (3, 5)),
    "EmbeddingLookup": (lambda x: ops.EmbeddingLookup()(x, _whole(*[[5, 2], [8, 6]]), 4), (4, 2)),
    "MaxPool3DWithArgmax": (lambda x: ops.MaxPool3DWithArgmax(2, 2, 0)(x), (1, 2, 4, 4, 4)),
    "UpsampleTrilinear3D": (lambda x: ops.UpsampleTrilinear3D()(x, [3, 4, 5], None), (1, 1, 2, 3, 4)),
    "SparseTensorDenseMatmul": (
        lambda x: ops.SparseTensorDenseMatmul(adjoint_st=True)(_whole(*[[0, 1], [2, 3]]), _single(*[2, 5]), (3, 4), x),
        (3, 2),
    ),
    "LSTM": (
        lambda x: ops.LSTM(2, 3, 1, True, False, 0.0)(
            x,
            Tensor(np.ones((1, 2, 3), np.float32)),
            Tensor(np.ones((1, 2, 3), np.float32)),
            Tensor(np.sin(np.arange(84, dtype=np.float32)).reshape(84, 1, 1)),
        )[:3],
        (4, 2, 2),
    ),
}


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of a shape, all different."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7) * (1 + np.arange(count) % 7)).reshape(shape).astype(np.float32)
