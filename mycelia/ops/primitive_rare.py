"""Operations as objects that few programs need: a table of names, their attributes, and what a call means."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia.api import grad
from mycelia.checks import truth
from mycelia.eager import Tensor, as_dtype, cast
from mycelia.ops import (
    arithmetic,
    arrangement,
    boxes,
    choice,
    comparison,
    creation,
    ctc,
    decompositions,
    joining,
    linalg,
    loss,
    math,
    movement,
    normalization,
    numbers,
    pooling,
    reduction,
    sampling,
    scattering,
    state,
    statistics,
    windows,
)
from mycelia.ops.arguments import axis_of, tensor
from mycelia.ops.primitive import declare, uninterrupted
from mycelia.ops.updates import UPDATES

__all__: list[str] = []


def _running_product(x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """The running product along an axis: without the element itself, or from the end."""
    x = tensor(x)
    place = axis_of(x, axis)
    if reverse:
        return movement.reverse(_running_product(movement.reverse(x, [place]), place, exclusive), [place])
    if exclusive and x.shape[place]:
        one = creation.ones_like(x[(slice(None),) * place + (slice(0, 1),)])
        shorter = x[(slice(None),) * place + (slice(0, x.shape[place] - 1),)]
        x = joining.cat([one, shorter], place)
    return reduction.cumprod(x, place)


def _product_or_zero(x: Any, y: Any) -> Tensor:
    """The product, and 0 where the second factor is, whatever the first one is."""
    x, y = tensor(x), tensor(y)
    return choice.where(y == 0, creation.zeros_like(x * 0 + y), x * y)


def _quotient_or_zero(x: Any, y: Any) -> Tensor:
    """The quotient, and 0 where the divisor is."""
    y = tensor(y)
    nothing = y == 0
    out = x / choice.where(nothing, creation.ones_like(y), y)
    return choice.where(nothing, creation.zeros_like(out), out)


def _inverted(x: Any) -> Any:
    """Where each number of a permutation stands in it."""
    if isinstance(x, tuple | list):
        places = [0] * len(x)
        for place, value in enumerate(x):
            places[value] = place
        return tuple(places)
    x = tensor(x)
    return choice.tensor_scatter_update(
        creation.zeros_like(x), x.reshape(x.size, 1), creation.arange(0, x.size, 1, dtype=x.dtype)
    )


def _logit(x: Any, eps: float = -1.0) -> Tensor:
    """log(x / (1 - x)), of numbers kept `eps` from 0 and 1 unless it is negative."""
    return math.logit(x, None if eps < 0 else eps)


def _lp_norm(x: Any, axis: Any, p: int = 2, keep_dims: bool = False, epsilon: float = 1e-12) -> Tensor:
    """The p-norm along axes, not below a bound."""
    found = linalg.vector_norm(x, p, axis, keep_dims)
    return arithmetic.maximum(found, tensor(epsilon).astype(found.dtype))


def _max_with_places(
    x: Any, kernel_size: Any, strides: Any = None, pads: Any = 0, dilation: Any = (1, 1), ceil_mode: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of a plane, and where it is in the plane read flat."""
    found: tuple[Tensor, Tensor] = pooling.max_pool2d(x, kernel_size, strides, pads, dilation, True, ceil_mode)
    return found


def _std_and_mean(x: Any, axis: Any = (), unbiased: bool = True, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean along axes."""
    return reduction.std_mean(x, axis, int(unbiased), keep_dims)


def _searched(sequence: Any, values: Any, sorter: Any = None, dtype: Any = "int64", right: bool = False) -> Tensor:
    """Where values would go in sequences that are in order."""
    return cast(statistics.searchsorted(sequence, values, right=right, sorter=sorter), as_dtype(dtype))


def _sparse_cross_entropy(logits: Any, labels: Any, is_grad: bool = False) -> Tensor:
    """The mean cross entropy of the softmax of scores, against the numbers of the right classes, or its gradient."""
    if truth("SparseSoftmaxCrossEntropyWithLogits", "is_grad", is_grad):
        return grad(lambda x: loss.cross_entropy(x, labels))(logits)
    return loss.cross_entropy(logits, labels)


def _index_added(x: Any, indices: Any, y: Any, axis: int) -> Tensor:
    """A parameter, from now on with slices added at positions of an axis."""
    return scattering.inplace_index_add(x, indices, y, axis)


def _inverse_of(x: Any, adjoint: bool = False) -> Tensor:
    """The inverse of square matrices, or of the transposed ones."""
    return decompositions.inverse(decompositions.adjoint(x) if adjoint else x)


def _triangular(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False) -> Tensor:
    """The X for which matrix @ X is the right side, where the matrix is triangular."""
    return decompositions.triangular_solve(rhs, matrix, not lower, adjoint)[0]


def _eigen(x: Any, compute_v: bool = False) -> tuple[Tensor, Tensor]:
    """Eigenvalues of square matrices, and eigenvectors where they are wanted, else no number."""
    values, vectors = decompositions.eig(x)
    return values, vectors if truth("Eig", "compute_v", compute_v) else creation.zeros((0,), vectors.dtype)


def _nuclear(x: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The sum of the singular values."""
    return linalg.matrix_norm(x, "nuc", (0, 1) if dim is None else dim, keepdim)


_GRID = "interpolation_mode='bilinear', padding_mode='zeros', align_corners=False"
_LOCKED, _FREE = "use_locking=True", "use_locking=False"
_TABLE: dict[str, tuple[str, Callable[..., Any]]] = {
    "Addcdiv": ("", arithmetic.addcdiv),
    "Addcmul": ("", arithmetic.addcmul),
    "AffineGrid": ("align_corners=False", sampling.affine_grid),
    "ApproximateEqual": ("tolerance=1e-05", numbers.approximate_equal),
    "BartlettWindow": ("periodic=True, dtype='float32'", windows.bartlett_window),
    "BatchToSpaceND": ("block_shape, crops", lambda x, block_shape, crops:
        arrangement.batch_to_space_nd(x, block_shape, crops)),
    "BlackmanWindow": ("periodic=True, dtype='float32'", windows.blackman_window),
    "BoundingBoxDecode": (
        "max_shape, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0), wh_ratio_clip=0.016",
        boxes.bounding_box_decode,
    ),
    "BoundingBoxEncode": ("means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0)", boxes.bounding_box_encode),
    "CTCGreedyDecoder": ("merge_repeated=True", ctc.ctc_greedy_decoder),
    "Eig": ("compute_v=False", _eigen),
    "CTCLoss": (
        "preprocess_collapse_repeated=False, ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False",
        ctc.ctc_loss_of_scores,
    ),
    "CTCLossV2": ("blank=0, reduction='none', zero_infinity=False", ctc.ctc_loss),
    "ChannelShuffle": ("group", lambda x, group: arrangement.channel_shuffle(x, group)),
    "CheckValid": ("", boxes.check_valid),
    "Cross": ("dim=-65530", lambda x, y, dim: arrangement.cross(x, y, None if dim == -65530 else dim)),
    "Cholesky": ("upper=False", decompositions.cholesky),
    "CholeskyInverse": ("upper=False", decompositions.cholesky_inverse),
    "CholeskySolve": ("upper=False", decompositions.cholesky_solve),
    "CropAndResize": ("method='bilinear', extrapolation_value=0.0", sampling.crop_and_resize),
    "CumProd": ("exclusive=False, reverse=False", _running_product),
    "Cummax": ("axis", statistics.cummax),
    "Cummin": ("axis", statistics.cummin),
    "Digamma": ("", numbers.digamma),
    "DivNoNan": ("", _quotient_or_zero),
    "Eps": ("", numbers.eps),
    "Erfinv": ("", numbers.erfinv),
    "FastGeLU": ("", numbers.fast_gelu),
    "Fmax": ("", numbers.fmax),
    "Gcd": ("", numbers.gcd),
    "Ger": ("", arrangement.ger),
    "Geqrf": ("", decompositions.geqrf),
    "GridSampler2D": (_GRID, sampling.grid_sampled),
    "GridSampler3D": (_GRID, sampling.grid_sampled),
    "HammingWindow": ("periodic=True, alpha=0.54, beta=0.46, dtype='float32'", windows.hamming_window),
    "Heaviside": ("", numbers.heaviside),
    "Hypot": ("", arithmetic.hypot),
    "IOU": ("mode='iou'", boxes.iou),
    "InTopK": ("k", statistics.intopk),
    "IndexAdd": ("axis, use_lock=True!, check_index_bound=True!", _index_added),
    "IndexFill": ("", choice.index_fill),
    "InplaceAdd": ("indices", scattering.inplace_add),
    "InplaceIndexAdd": ("axis", scattering.inplace_index_add),
    "InplaceSub": ("indices", scattering.inplace_sub),
    "InplaceUpdate": ("indices", scattering.inplace_update),
    "InvertPermutation": ("", _inverted),
    "IsClose": ("rtol=1e-05, atol=1e-08, equal_nan=False", comparison.isclose),
    "LRN": ("depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region='ACROSS_CHANNELS'", normalization.lrn),
    "Lcm": ("", numbers.lcm),
    "LeftShift": ("", arithmetic.bitwise_left_shift),
    "Lgamma": ("", numbers.lgamma),
    "LogMatrixDeterminant": ("", decompositions.log_matrix_determinant),
    "LogSpace": ("steps=10, base=10, dtype='float32'", creation.logspace),
    "Logit": ("eps=-1.0", _logit),
    "LuSolve": ("", decompositions.lu_solve),
    "LuUnpack": ("unpack_data=True, unpack_pivots=True", decompositions.lu_unpack),
    "LpNorm": ("axis, p=2, keep_dims=False, epsilon=1e-12", _lp_norm),
    "MatrixBandPart": ("", arrangement.matrix_band_part),
    "MatrixDeterminant": ("", decompositions.det),
    "MatrixExp": ("", decompositions.matrix_exp),
    "MatrixInverse": ("adjoint=False", _inverse_of),
    "MatrixPower": ("n", arrangement.matrix_power),
    "MatrixSolve": ("adjoint=False", decompositions.matrix_solve),
    "MatrixTriangularSolve": ("lower=True, adjoint=False", _triangular),
    "MaxPoolWithArgmaxV2": (
        "kernel_size, strides=None, pads=0, dilation=(1, 1), ceil_mode=False, argmax_type=None!", _max_with_places
    ),
    "MirrorPad": ("mode='REFLECT'", arrangement.mirror_pad),
    "MulNoNan": ("", _product_or_zero),
    "Mvlgamma": ("p", numbers.mvlgamma),
    "NMSWithMask": ("iou_threshold=0.5", boxes.nms_with_mask),
    "NextAfter": ("", numbers.nextafter),
    "NonZero": ("", choice.nonzero),
    "NuclearNorm": ("dim=None, keepdim=False", _nuclear),
    "Orgqr": ("", decompositions.orgqr),
    "Ormqr": ("left=True, transpose=False", decompositions.ormqr),
    "Pdist": ("p=2.0", statistics.pdist),
    "PopulationCount": ("", numbers.population_count),
    "Qr": ("full_matrices=False", lambda x, full_matrices: decompositions.qr(
        x, "complete" if full_matrices else "reduced")),
    "ROIAlign": ("pooled_height, pooled_width, spatial_scale, sample_num=2, roi_end_mode=1", sampling.roi_align),
    "ReduceStd": ("axis=(), unbiased=True, keep_dims=False", _std_and_mean),
    "Renorm": ("p, dim, maxnorm", lambda x, p, dim, maxnorm: statistics.renorm(x, p, dim, maxnorm)),
    "ReverseSequence": ("seq_dim, batch_dim=0", arrangement.reverse_sequence),
    "RightShift": ("", arithmetic.bitwise_right_shift),
    "ScatterDiv": (_FREE, uninterrupted(scattering.scatter_div)),
    "ScatterMax": (_FREE, uninterrupted(scattering.scatter_max)),
    "ScatterMin": (_FREE, uninterrupted(scattering.scatter_min)),
    "ScatterMul": (_FREE, uninterrupted(scattering.scatter_mul)),
    "ScatterNdAdd": (_FREE, uninterrupted(scattering.scatter_nd_add)),
    "ScatterNdDiv": (_FREE, uninterrupted(scattering.scatter_nd_div)),
    "ScatterNdMax": (_FREE, uninterrupted(scattering.scatter_nd_max)),
    "ScatterNdMin": (_FREE, uninterrupted(scattering.scatter_nd_min)),
    "ScatterNdMul": (_FREE, uninterrupted(scattering.scatter_nd_mul)),
    "ScatterNdSub": (_FREE, uninterrupted(scattering.scatter_nd_sub)),
    "ScatterSub": (_FREE, uninterrupted(scattering.scatter_sub)),
    "ScatterUpdate": (_LOCKED, uninterrupted(scattering.scatter_update)),
    "SearchSorted": ("dtype='int64', right=False", _searched),
    "Sinc": ("", numbers.sinc),
    "SpaceToBatchND": ("block_shape, paddings", lambda x, block_shape, paddings:
        arrangement.space_to_batch_nd(x, block_shape, paddings)),
    "SparseSoftmaxCrossEntropyWithLogits": ("is_grad=False", _sparse_cross_entropy),
    "SquareSumAll": ("", lambda x, y: (reduction.sum(math.square(x)), reduction.sum(math.square(y)))),
    "SquaredDifference": ("", lambda x, y: math.square(arithmetic.sub(x, y))),
    "StopGradient": ("", state.stop_gradient),
    "Svd": ("full_matrices=False, compute_uv=True", decompositions.svd),
    "TensorScatterDiv": ("", scattering.tensor_scatter_div),
    "TensorScatterMax": ("", scattering.tensor_scatter_max),
    "TensorScatterMin": ("", scattering.tensor_scatter_min),
    "TensorScatterMul": ("", scattering.tensor_scatter_mul),
    "TensorScatterSub": ("", choice.tensor_scatter_sub),
    "TensorShape": ("", arrangement.dyn_shape),
    "Tril": ("diagonal=0", creation.tril),
    "TrilIndices": ("row, col, offset=0, dtype='int32'", arrangement.tril_indices),
    "Triu": ("diagonal=0", creation.triu),
    "TriuIndices": ("row, col, offset=0, dtype='int32'", arrangement.triu_indices),
    "TruncateDiv": ("", numbers.truncate_div),
    "TruncateMod": ("", numbers.truncate_mod),
    "UniqueConsecutive": ("return_inverse=False, return_counts=False, dim=None", statistics.unique_consecutive),
    "UnsortedSegmentMax": ("", scattering.unsorted_segment_max),
    "UnsortedSegmentMin": ("", scattering.unsorted_segment_min),
    "UnsortedSegmentProd": ("", scattering.unsorted_segment_prod),
    "Xdivy": ("", numbers.xdivy),
}  # fmt: skip
for _name, (_attributes, _function) in {**_TABLE, **UPDATES}.items():
    declare(globals(), _name, _attributes, _function)
