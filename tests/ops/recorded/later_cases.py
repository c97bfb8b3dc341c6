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


def _csr():
    return _framework.CSRTensor(_whole(0, 1, 3), _whole(1, 0, 2), _single(1.0, 2.0, 3.0), (2, 3))


SELDOM = {
    "AdjustHue": (lambda x: ops.AdjustHue()(x + 3, _framework.Tensor(np.float32(0.3))), (2, 2, 3)),
    "AdjustSaturation": (lambda x: ops.AdjustSaturation()(x + 3, _framework.Tensor(np.float32(0.7))), (2, 2, 3)),
    "BatchToSpace": (lambda x: ops.BatchToSpace(2, [[0, 1], [1, 0]])(x), (4, 2, 2, 3)),
    "Coalesce": (
        lambda x: ops.Coalesce()(Tensor(np.array([[0, 2, 0, 1], [1, 0, 1, 1]])), x, Tensor(np.array([3, 2])))[1], (4,)
    ),
    "CompareAndBitpack": (lambda x: ops.CompareAndBitpack()(x, Tensor(np.float32(0.1))), (2, 16)),
    "ComputeAccidentalHits": (
        lambda x: ops.ComputeAccidentalHits(2)(Tensor(np.array([[1, 2], [0, 4], [3, 3]])), Tensor(np.arange(5))), (1,)
    ),
    **{
        f"CumulativeLogsumexp_{e}_{r}": (
            lambda x, e=e, r=r: ops.CumulativeLogsumexp(bool(e), bool(r))(x, Tensor(np.int32(1)))[:, 1:3], (2, 4)
        )
        for e in (0, 1) for r in (0, 1)
    },
    "DataFormatVecPermute": (lambda x: ops.DataFormatVecPermute()(_whole(1, 2, 3, 4)), (1,)),
    "DataFormatVecPermute_back": (
        lambda x: ops.DataFormatVecPermute("NCHW", "NHWC")(Tensor(np.arange(8).reshape(4, 2))), (1,)
    ),
    "Dilation2D_valid": (lambda x: ops.Dilation2D(1, 1, "valid")(x, _single(*W32)), (1, 2, 4, 5)),
    "Dilation2D_same": (lambda x: ops.Dilation2D(2, (1, 2), "same")(x, _single(*W32)), (1, 2, 4, 5)),
    "Expand": (lambda x: ops.Expand()(x, Tensor(np.array([2, 3]))), (2, 1)),
    "ExtractImagePatches": (
        lambda x: ops.ExtractImagePatches([1, 1, 2, 2], [1, 1, 2, 1], [1, 1, 1, 2], "VALID")(x), (1, 2, 4, 5)
    ),
    "ExtractVolumePatches": (lambda x: ops.ExtractVolumePatches(2, 1, "SAME")(x), (1, 2, 3, 4, 5)),
    "FastGelu": (lambda x: ops.FastGelu()(x), (3,)),
    "Fills": (lambda x: ops.Fills()(x, 2.0), (2, 2)),
    "LARSUpdate": (
        lambda x: ops.LARSUpdate()(x, x * 2, (x * x).sum(), (x * x * 4).sum(), Tensor(np.float32(0.1)),
                                   Tensor(np.float32(0.2))), (3,)
    ),
    "LerpScalar": (lambda x: ops.LerpScalar()(x, x * x, 0.3), (4,)),
    "LogSoftmaxExt": (lambda x: ops.LogSoftmaxExt()(x, 1), (2, 3)),
    "MatrixLogarithm": (
        lambda x: ops.MatrixLogarithm()(Tensor(np.array([[2, 1], [0, 3]], np.complex64))).real(), (1,)
    ),
    "MatrixSolveLs": (
        lambda x: ops.MatrixSolveLs()(x, _single([1.0], [2.0], [3.0]), Tensor(np.float64(0.5))), (3, 2)
    ),
    "MatrixSolveLs_slow": (
        lambda x: ops.MatrixSolveLs(False)(x, _single([1.0], [2.0], [3.0]), Tensor(np.float64(0.0))), (3, 2)
    ),
    "NonMaxSuppressionWithOverlaps": (
        lambda x: ops.NonMaxSuppressionWithOverlaps()(
            _single([1.0, 0.6, 0.1, 0.0], [0.6, 1.0, 0.7, 0.2], [0.1, 0.7, 1.0, 0.3], [0.0, 0.2, 0.3, 1.0]),
            _single(0.3, 0.9, 0.8, -1.0), _whole(3)[0], Tensor(np.float32(0.5)), Tensor(np.float32(0.0))), (1,)
    ),
    "NonMaxSuppressionV3": (
        lambda x: ops.NonMaxSuppressionV3()(
            _single([1.0, 2, 3, 4], [1, 3, 3, 4], [1, 3, 4, 4], [1, 1, 4, 4], [1, 1, 3, 4]),
            _single(0.4, 0.5, 0.72, 0.9, 0.45), _whole(5)[0], Tensor(np.float32(0.5)), Tensor(np.float32(0.0))), (1,)
    ),
    "RaggedRange": (
        lambda x: ops.RaggedRange(_framework.int64)(_whole(2, 5, 8, 9), _whole(3, 5, 12, 3), _whole(1, 1, 2, -2)), (1,)
    ),
    "ResizeLinear1D": (lambda x: ops.ResizeLinear1D()(x, (7,)), (1, 2, 4)),
    "ResizeLinear1D_half": (lambda x: ops.ResizeLinear1D("half_pixel")(x, (7,)), (1, 2, 4)),
    "ScatterAddWithAxis": (
        lambda x: ops.ScatterAddWithAxis(1)(x, _whole([0, 2], [1, 1]), _single([1.0, 2.0], [3.0, 4.0])), (2, 3)
    ),
    "SelectView": (lambda x: ops.SelectView()(x, 1, 0), (3, 2)),
    "SpaceToBatch": (lambda x: ops.SpaceToBatch(2, [[0, 0], [1, 1]])(x), (1, 2, 4, 2)),
    "SparseSlice": (
        lambda x: ops.SparseSlice()(
            Tensor(np.array([[0, 1], [1, 2], [1, 3], [2, 2]])), x, Tensor(np.array([3, 4])), Tensor(np.array([0, 1])),
            Tensor(np.array([2, 3]))), (4,)
    ),
    "TridiagonalMatMul": (
        lambda x: ops.TridiagonalMatMul()(_single([1.0, 2, 3]), _single([4.0, 5, 6]), _single([7.0, 8, 9]), x), (3, 2)
    ),
    "add_layer_norm": (lambda x: ops.add_layer_norm(x, x * x, _single(1.0, 2, 3), _single(0.0, 1, 2)), (2, 3)),
    "add_rms_norm": (lambda x: ops.add_rms_norm(x, x * x, _single(1.0, 2, 3)), (2, 3)),
    "i0": (lambda x: ops.i0(x), (4,)),
    "row_stack": (lambda x: ops.row_stack([x, x * 2]), (3,)),
    "top_k": (lambda x: ops.top_k(x, 2), (2, 4)),
    "upsample": (lambda x: ops.upsample(x, size=(3, 5), mode="bilinear", align_corners=True), (1, 1, 2, 3)),
    "tensor_range": (lambda x: ops.tensor_range(1, 8, 3), (1,)),
    "tensor_slice": (lambda x: ops.tensor_slice(x, (0, 1), (2, 2)), (2, 4)),
    "tensor_expm1": (lambda x: ops.tensor_expm1(x), (3,)),
    "tensor_muls": (lambda x: ops.tensor_muls(x, 3.0), (3,)),
    "rotary_half": (lambda x: ops.rotary_position_embedding(x, ops.cos(x), ops.sin(x), 0), (1, 1, 2, 4)),
    "rotary_pairs": (lambda x: ops.rotary_position_embedding(x, ops.cos(x), ops.sin(x), 1), (1, 1, 2, 4)),
    "moe_token_permute": (lambda x: ops.moe_token_permute(x, _whole([1, 0], [2, 1], [0, 2])), (3, 2)),
    "csr_div": (lambda x: ops.csr_div(_csr(), x + 4).values, (2, 3)),
    "csr_mm": (lambda x: ops.csr_mm(_csr(), x), (3, 2)),
    "clamp_": (lambda x: ops.clamp_(x * 1, -0.5, 0.5), (4,)),
    "put_": (lambda x: ops.put_(x * 1, Tensor(np.array([1, 2])), _single(5.0, 6.0)), (4,)),
    "zero_": (lambda x: ops.zero_(x * 1), (4,)),
    "tanh_": (lambda x: ops.tanh_(x * 1), (4,)),
    "erfinv_": (lambda x: ops.erfinv_(x * 0.2), (4,)),
}  # fmt: skip
"""Names that hardly a program asks for."""
W32 = [[[0.0, 1.0], [2.0, -1.0], [0.5, 0.25]], [[1.0, 0.0], [0.0, 3.0], [-2.0, 0.75]]]
CASES |= SELDOM


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of a shape, all different."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7) * (1 + np.arange(count) % 7)).reshape(shape).astype(np.float32)
