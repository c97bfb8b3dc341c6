"""Operations as objects that hardly a program names: a table of names, their attributes, and what a call means."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from math import pi, prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import truth, whole
from mycelia.eager import Parameter, Tensor, as_dtype, assign, cast, created, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops import (
    activation,
    arithmetic,
    boxes,
    choice,
    decompositions,
    linalg,
    movement,
    numbers,
    pictures,
    random,
    statistics,
    updates,
)
from mycelia.ops.arguments import axis_of, floated, number, sizes, tensor
from mycelia.ops.primitive import declare
from mycelia.types import bool_, float32, int32, uint8

__all__: list[str] = []


def _seed(seed: int, seed2: int) -> int | None:
    return (seed << 32) + seed2 if seed or seed2 else None


# ------------------------------------------------------------------------------------------------------------- numbers


def _packed(x: Any, threshold: Any) -> Tensor:
    """Eight answers to "is it above the threshold" in each number, the first of them the highest bit."""
    x = tensor(x)
    if not x.ndim or x.shape[-1] % 8:
        raise ShapeError(f"CompareAndBitpack takes rows of eight, or sixteen, ..., not shape {x.shape}")
    above = x if x.dtype is bool_ else p.greater(x, cast(tensor(threshold), x.dtype))
    eights = p.reshape(cast(above, int32), (*x.shape[:-1], x.shape[-1] // 8, 8))
    weights = wrap(np.array([128, 64, 32, 16, 8, 4, 2, 1], np.int32))
    return cast(p.reduce_sum(eights * weights, (x.ndim,)), uint8)


def _running_logsumexp(x: Any, axis: Any, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """The logarithm of the running sum of exponentials: without the element itself, or from the end."""
    x = floated(x)
    place = axis_of(x, int(axis.item()) if isinstance(axis, Tensor) else axis)
    if truth("CumulativeLogsumexp", "reverse", reverse):
        return movement.reverse(_running_logsumexp(movement.reverse(x, [place]), place, exclusive), [place])
    if truth("CumulativeLogsumexp", "exclusive", exclusive):
        low = [1 if a == place else 0 for a in range(x.ndim)]
        least = float(np.finfo(x.dtype.numpy).min) if x.dtype.numpy.kind == "f" else -3.3895314e38
        x = p.pad(p.take(x, place, 0, x.shape[place] - 1), low, [0] * x.ndim, least)
    return statistics.logcumsumexp(x, place)


def _reordered(x: Any, src_format: str = "NHWC", dst_format: str = "NCHW") -> Tensor:
    """What is said for the axes in one order, in another order."""
    x = tensor(x)
    if sorted(src_format) != sorted(dst_format) or len(set(src_format)) != 4 or x.shape[:1] != (4,):
        raise ArgumentError(
            "DataFormatVecPermute takes four numbers, or pairs of them, and two orders of the same four axes",
            given={"shape": x.shape, "src_format": src_format, "dst_format": dst_format},
        )
    return p.gather(x, wrap(np.array([src_format.index(axis) for axis in dst_format], np.int64)), 0)


def _ranges(starts: Any, limits: Any, deltas: Any, Tsplits: Any) -> tuple[Tensor, Tensor]:
    """Rows of numbers in steps, joined to one, and where each begins and the last ends."""
    given = [np.atleast_1d(tensor(t).asnumpy()) for t in (starts, limits, deltas)]
    if (given[2] == 0).any():
        raise ArgumentError("RaggedRange: a step is not 0")
    rows = [np.arange(a, b, s).astype(given[0].dtype) for a, b, s in zip(*given, strict=True)]
    ends = np.cumsum([0, *[row.size for row in rows]])
    return wrap(ends.astype(as_dtype(Tsplits).numpy)), wrap(np.concatenate(rows))


def _three_diagonals(superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Tensor:
    """The product of a matrix of three diagonals and another: the last element above, the first below are not in it."""
    above, middle, below, x = (tensor(t) for t in (superdiag, maindiag, subdiag, rhs))
    rows = x.ndim - 2
    extent = x.shape[rows]
    if any(t.shape != (*x.shape[:rows], 1, extent) for t in (above, middle, below)):
        raise ShapeError(f"diagonals (..., 1, {extent}) are taken beside a matrix of shape {x.shape}")
    above, middle, below = (p.reshape(t, (*x.shape[:rows], extent, 1)) for t in (above, middle, below))
    none, one = [0] * x.ndim, [1 if a == rows else 0 for a in range(x.ndim)]
    later = p.pad(p.take(x, rows, 1, extent), none, one)
    sooner = p.pad(p.take(x, rows, 0, extent - 1), one, none)
    return above * later + middle * x + below * sooner


def _least_squares(matrix: Any, rhs: Any, l2_regularizer: Any, fast: bool = True) -> Tensor:
    """What solves equations with the least squares left over, weighed with the squares of the solution if `fast`."""
    a, b = tensor(matrix), tensor(rhs)
    if not truth("MatrixSolveLs", "fast", fast):
        return linalg.matmul(decompositions.pinv(a), b)
    turned = decompositions.adjoint(a)
    extent = a.shape[-1]
    unit = wrap(np.eye(extent, dtype=a.dtype.numpy)) * cast(tensor(l2_regularizer), a.dtype)
    return decompositions.matrix_solve(linalg.matmul(turned, a) + unit, linalg.matmul(turned, b))


# -------------------------------------------------------------------------------------------------- sparse, and classes


def coalesced(x_indices: Any, x_values: Any, x_shape: Any) -> tuple[Tensor, Tensor, Tensor]:
    """A sparse tensor, positions (axes, elements), in which each position occurs once: what was there is added up.

    >>> [t.tolist() for t in coalesced(Tensor([[0, 0, 1], [1, 1, 2]]), Tensor([1.0, 5.0, 4.0]), Tensor([3, 3]))]
    [[[0, 1], [1, 2]], [6.0, 4.0], [3, 3]]
    """
    at, values, shape = tensor(x_indices), tensor(x_values), tensor(x_shape)
    if at.ndim != 2 or values.shape != at.shape[1:] or shape.shape != at.shape[:1]:
        raise ShapeError("positions (axes, elements), values and a shape belong together",
                         given={"indices": at.shape, "values": values.shape, "shape": shape.shape})  # fmt: skip
    places, which = np.unique(at.asnumpy(), axis=1, return_inverse=True)
    zeros = created(p.Full(0, values.dtype, (places.shape[1],)))
    return wrap(places), p.scatter_add(zeros, wrap(which.reshape(-1).astype(np.int64)), values, 0), shape


def _sliced(indices: Any, values: Any, shape: Any, start: Any, size: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The elements of a sparse tensor that lie in a block, and their positions in it."""
    at, given = tensor(indices), tensor(values)
    first, extent, whole_ = (tensor(t).asnumpy() for t in (start, size, shape))
    extent = np.minimum(extent, whole_ - first)
    places = at.asnumpy()
    inside = np.flatnonzero(((places >= first) & (places < first + extent)).all(1))
    chosen = wrap(inside.astype(np.int64))
    return p.gather(at, chosen, 0) - cast(tensor(start), at.dtype), p.gather(given, chosen, 0), wrap(extent)


def _hits(true_classes: Any, sampled_candidates: Any, num_true: int = 1) -> tuple[Tensor, Tensor, Tensor]:
    """Which samples are classes of an example: rows, numbers of samples, and the lowest weight for each."""
    classes, sampled = tensor(true_classes).asnumpy(), tensor(sampled_candidates).asnumpy()
    if classes.ndim != 2 or classes.shape[1] != whole("ComputeAccidentalHits", "num_true", num_true, least=1):
        raise ShapeError(f"{num_true} classes for each example are taken, not shape {classes.shape}")
    rows, _, ids = np.nonzero(classes[:, :, None] == sampled)
    weights = np.full(rows.shape, np.finfo(np.float32).min, np.float32)
    return wrap(rows.astype(np.int32)), wrap(ids.astype(np.int64)), wrap(weights)


# ------------------------------------------------------------------------------------------------------- random numbers


def _cauchy(size: Any, median: float, sigma: float) -> Tensor:
    """Numbers of Cauchy's distribution."""
    u = random.rand(*sizes(size))
    return p.tan((u - 0.5) * pi) * sigma + median


def _log_normal(x: Any, mean: float, std: float) -> Tensor:
    """Numbers whose logarithms are normal, as many as a tensor has."""
    x = floated(x)
    return p.exp(random.randn_like(x) * std + mean)


def _any_whole(shape: Any, dtype: Any) -> Tensor:
    """Whole numbers of a type, each as likely."""
    kind = as_dtype(dtype)
    half = 1 << 15
    wide = sizes(shape)
    parts = [cast(random.randint(0, 2 * half, wide), kind) for _ in range(kind.numpy.itemsize // 2)]
    found = parts[0]
    for part in parts[1:]:
        found = found * (2 * half) + part
    return found


def _truncated(shape: Any, mean: Any, stdevs: Any, min: Any, max: Any, seed: int, seed2: int) -> Tensor:
    """Normal numbers between two bounds; of one row of numbers each, or of all the same."""
    wide = sizes(shape)
    numbers = [floated(t) for t in (mean, stdevs, min, max)]
    around, spread, low, high = (p.reshape(t, (t.size, *(1,) * (len(wide) - 1))) for t in numbers)
    ends = [(p.erf((bound - around) / spread * 0.5**0.5) + 1.0) * 0.5 for bound in (low, high)]
    u = cast(random.rand(*wide, seed=_seed(seed, seed2)), numbers[0].dtype)
    share = ends[0] + (ends[1] - ends[0]) * u
    drawn = around + spread * (2.0**0.5) * random._erfinv(share * 2.0 - 1.0)
    return p.minimum(p.maximum(drawn, low), high)


# --------------------------------------------------------------------------------------------------------- what is left


def _asserted(condition: Any, input_data: Any, summarize: int = 3) -> None:
    """Nothing, or an error that shows tensors where a condition does not hold."""
    whole("Assert", "summarize", summarize, least=1)
    if not (condition.item() if isinstance(condition, Tensor) else condition):
        shown = [tensor(t).asnumpy().reshape(-1)[:summarize] for t in input_data]
        raise RuntimeError("assert failed\n" + "\n".join(f"input data: {a}" for a in shown))


def _mask(shape: Any, keep_prob: Any, Seed0: int = 0, Seed1: int = 0) -> Tensor:
    """Which elements of a shape are kept, as bits: 16 bytes for every 128 elements."""
    wide = sizes(shape)
    bits = cast(random.rand((prod(wide) + 127) // 128 * 128, seed=_seed(Seed0, Seed1)), float32)
    return _packed(p.less(bits, cast(tensor(keep_prob), float32)), True)


def _masked(x: Any, mask: Any, keep_prob: Any) -> Tensor:
    """The elements that bits keep, divided by the share of those that are kept; 0 for the others."""
    x, bits = tensor(x), cast(tensor(mask), int32)
    spread = p.shift_right(p.reshape(bits, (bits.size, 1)), wrap(np.arange(7, -1, -1, dtype=np.int32)))
    kept = p.greater(arithmetic.bitwise_and(spread, 1), 0)
    kept = p.reshape(p.take(p.reshape(kept, (kept.size,)), 0, 0, x.size), x.shape)
    return p.select(kept, x / cast(tensor(keep_prob), x.dtype), p.zeros_like(x))


def _lars(
    weight: Any, gradient: Any, norm_weight: Any, norm_gradient: Any, weight_decay: Any, learning_rate: Any,
    epsilon: float = 1e-5, hyperpara: float = 0.001, use_clip: bool = False,
) -> Tensor:  # fmt: skip
    """A gradient as long as the weights; the two norms are those of squares, added up."""
    w, g, lengths_w, lengths_g, decay, rate = (
        tensor(t) for t in (weight, gradient, norm_weight, norm_gradient, weight_decay, learning_rate)
    )
    long, steep = p.sqrt(lengths_w), p.sqrt(lengths_g)
    trust = long * hyperpara / (steep + long * decay + epsilon)
    if truth("LARSUpdate", "use_clip", use_clip):
        trust = p.minimum(p.maximum(trust / rate, number(0, trust)), number(1, trust))
    return (g + w * decay) * trust


def _put_away(x: Any, indices: Any, updates: Any) -> Any:
    """A parameter with numbers added at positions; the parameter is changed."""
    found = choice.tensor_scatter_add(x, indices, updates)
    if isinstance(x, Parameter):
        assign(x, found)
    return found


def _added_along(x: Any, indices: Any, update: Any, axis: int = 0) -> Tensor:
    """A tensor with numbers added at positions along an axis."""
    return choice.tensor_scatter_elements(x, indices, update, axis, "add")


def _as_tuple(x: Any) -> tuple[Any, ...]:
    """The numbers of a tensor of one axis."""
    return tuple(tensor(x).tolist())


_SPARSE = "Steps for some rows, those that are named twice with the sum of their gradients: all that was changed."


def _as_it_is(x: Any) -> Any:
    """A tensor as it is: sizes are known when a program runs, whatever was said of them before."""
    return tensor(x)


_TABLE: dict[str, tuple[str, Callable[..., Any]]] = {
    "AdjustHue": ("", pictures.adjusted_hue),
    "AdjustSaturation": ("", pictures.adjusted_saturation),
    "Assert": ("summarize=3", _asserted),
    "BatchToSpace": ("block_size, crops", pictures.to_space),
    "Cauchy": ("size, median=0.0, sigma=1.0", _cauchy),
    "Coalesce": ("", coalesced),
    "CombinedNonMaxSuppression": ("pad_per_class=False, clip_boxes=True", boxes.non_max_of_classes),
    "CompareAndBitpack": ("", _packed),
    "ComputeAccidentalHits": ("num_true=1", _hits),
    "ConvertToDynamic": ("is_dynamic_rank=False", lambda x, is_dynamic_rank: _as_it_is(x)),
    "CumulativeLogsumexp": ("exclusive=False, reverse=False", _running_logsumexp),
    "DataFormatVecPermute": ("src_format='NHWC', dst_format='NCHW'", _reordered),
    "Dilation2D": ("stride, dilation, pad_mode='SAME', data_format='NCHW'!", pictures.dilated),
    "DropoutDoMask": ("", _masked),
    "DropoutGenMask": ("Seed0=0, Seed1=0", _mask),
    "Expand": ("", lambda x, shape: movement.broadcast_to(x, sizes(shape))),
    "ExtractImagePatches": ("ksizes, strides, rates, padding='VALID'", lambda x, ksizes, strides, rates, padding:
        pictures.patches("ExtractImagePatches", 2, x, ksizes, strides, rates, padding)),
    "ExtractVolumePatches": ("kernel_size, strides, padding", lambda x, kernel_size, strides, padding:
        pictures.patches("ExtractVolumePatches", 3, x, kernel_size, strides, 1, padding)),
    "FastGelu": ("", numbers.fast_gelu),
    "Fills": ("", lambda x, value: created(p.Full(0, tensor(x).dtype, tensor(x).shape)) + value),
    "FusedSparseFtrl": ("lr, l1, l2, lr_power, use_locking=False!", updates._rows(3, updates._sparse_ftrl, _SPARSE)),
    "FusedSparseProximalAdagrad": ("use_locking=False!", updates._rows(2, updates._proximal_adagrad, _SPARSE)),
    "GpuConvertToDynamicShape": ("", _as_it_is),
    "LARSUpdate": ("epsilon=1e-05, hyperpara=0.001, use_clip=False", _lars),
    "LerpScalar": ("", arithmetic.lerp),
    "Load": ("", lambda variable, after=None: _as_it_is(variable)),
    "LogNormalReverse": ("mean=1.0, std=2.0", _log_normal),
    "LogSoftmaxExt": ("", lambda x, dim=None, dtype=None: activation.log_softmax(
        x if dtype is None else cast(tensor(x), as_dtype(dtype)), -1 if dim is None else dim)),
    "MatrixLogarithm": ("", decompositions.matrix_log),
    "MatrixSolveLs": ("fast=True", _least_squares),
    "NonDeterministicInts": ("dtype='int64'", _any_whole),
    "NonMaxSuppressionV3": ("", boxes.non_max),
    "NonMaxSuppressionWithOverlaps": ("", boxes.non_max_with_overlaps),
    "ParameterizedTruncatedNormal": ("seed=0, seed2=0", _truncated),
    "RaggedRange": ("Tsplits", _ranges),
    "RandpermV2": ("seed=0, offset=0, dtype='int64'", lambda n, seed, offset, dtype: random.randperm(
        int(n.item()) if isinstance(n, Tensor) else n, seed, offset, as_dtype(dtype))),
    "ResizeLinear1D": ("coordinate_transformation_mode='align_corners'", pictures.resized_line),
    "ScatterAddWithAxis": ("axis=0", _added_along),
    "ScatterNonAliasingAdd": ("", _put_away),
    "SelectView": ("", lambda x, index, axis: movement.squeeze(p.take(
        tensor(x), axis_of(tensor(x), axis), index % tensor(x).shape[axis], index % tensor(x).shape[axis] + 1),
        axis_of(tensor(x), axis))),
    "SpaceToBatch": ("block_size, paddings", pictures.to_batch),
    "SparseGatherV2": ("", choice.gather),
    "SparseSlice": ("", _sliced),
    "TensorToTuple": ("", _as_tuple),
    "TransposeExtView": ("", lambda x, dim0, dim1: movement.swapaxes(x, dim0, dim1)),
    "TransposeView": ("", movement.transpose),
    "TridiagonalMatMul": ("", _three_diagonals),
}  # fmt: skip
for _name, (_attributes, _function) in _TABLE.items():
    declare(globals(), _name, _attributes, _function)
