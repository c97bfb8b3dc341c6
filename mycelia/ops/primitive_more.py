"""Operations as objects that hardly any program needs: a table of names, their attributes, and what a call means."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import choice as one_of
from mycelia.checks import share, whole
from mycelia.eager import Tensor, as_dtype, cast, created
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops import (
    activation,
    choice,
    creation,
    joining,
    linalg,
    loss,
    math,
    methods_rare,
    normalization,
    numbers,
    order,
    pooling,
    random,
    reduction,
    scattering,
    special,
    state,
    statistics,
)
from mycelia.ops.arguments import floated, sizes, tensor
from mycelia.ops.primitive import declare
from mycelia.types import bool_, int32, int64

__all__: list[str] = ["mixed_precision_cast", "pows", "scalar_to_array", "tuple_len"]


# ---------------------------------------------------------------------------------------------------- functions of old


def pows(input: Any, exponent: Any) -> Tensor:
    """A tensor to the power of a number.

    >>> pows(Tensor([1.0, 2.0]), 2).tolist()
    [1.0, 4.0]
    """
    return tensor(input) ** exponent


def tuple_len(x: Sequence[Any]) -> int:
    """How many elements a tuple has.

    >>> tuple_len((1, 2))
    2
    """
    if not isinstance(x, tuple):
        raise ArgumentError(f"tuple_len takes a tuple, not {type(x).__name__}")
    return len(x)


def scalar_to_array(input_x: Any) -> Tensor:
    """A number as a tensor without axes.

    >>> scalar_to_array(2.0).item()
    2.0
    """
    if not isinstance(input_x, int | float):
        raise ArgumentError(f"scalar_to_array takes a number, not {type(input_x).__name__}")
    return Tensor(input_x)


def mixed_precision_cast(dst_dtype: Any, x: Any) -> Any:
    """Floating tensors, also in tuples, lists and dictionaries, as another floating type; all else as it is.

    >>> mixed_precision_cast("float16", (Tensor([1.0]), 2))[0].dtype
    float16
    """
    if isinstance(x, Tensor):
        return cast(x, as_dtype(dst_dtype)) if x.dtype.is_float else x
    if isinstance(x, dict):
        return {k: mixed_precision_cast(dst_dtype, v) for k, v in x.items()}
    return type(x)(mixed_precision_cast(dst_dtype, v) for v in x) if isinstance(x, tuple | list) else x


# ------------------------------------------------------------------------------------------------------- for the table


def _random_choice(x: Any, count: int = 256, seed: int = 0, seed2: int = 0) -> tuple[Tensor, Tensor]:
    """So many of the places where a mask holds, at random and each once; and which of them there are."""
    mask = tensor(x)
    if mask.dtype is not bool_ or mask.ndim == 0:
        raise ArgumentError("RandomChoiceWithMask takes a mask with axes", given={"mask": mask})
    wanted = whole("RandomChoiceWithMask", "count", count, least=1)
    flat = p.reshape(mask, (mask.size,))
    drawn = random.rand(mask.size, seed=(seed * 2**16 + seed2) or None)
    ranked = order.order_of(p.select(flat, drawn, drawn + 2.0), 0, False)
    missing = max(0, wanted - mask.size)
    places = p.pad(p.take(ranked, 0, 0, min(wanted, mask.size)), (0,), (missing,))
    there = p.less(created(p.Iota(int64, (wanted,), 0)), p.reduce_sum(cast(flat, int64)))
    columns = []
    for extent in reversed(mask.shape):
        columns.append(p.expand_dims(p.remainder(places, extent), (1,)))
        places = p.floor_divide(places, extent)
    rows = cast(p.concat(columns[::-1], 1), int32)
    return p.select(p.broadcast(p.expand_dims(there, (1,)), rows.shape), rows, 0), there


def _nll(logits: Any, labels: Any, weight: Any, reduction: str = "mean", ignore_index: int = -100) -> Any:
    """The losses of logarithms of probabilities, and the sum of the weights of the labels."""
    found = loss.nll_loss(logits, labels, weight, ignore_index, reduction)
    at, kept = tensor(labels), tensor(labels) != ignore_index
    used = p.select(kept, p.gather(tensor(weight), p.maximum(at, 0), 0), p.full(0.0, tensor(weight).dtype, ()))
    return found, p.reduce_sum(used)


def _batch_norm(
    x: Any, scale: Any, bias: Any, mean: Any, variance: Any, is_training: bool = False, epsilon: float = 1e-5,
    momentum: float = 0.1, data_format: str = "NCHW",
) -> tuple[Tensor, ...]:  # fmt: skip
    """A batch with the mean and variance of each channel taken out; the mean and the variance, twice."""
    one_of("BatchNorm", "data_format", data_format, ("NCHW", "NHWC"))
    x = tensor(x)
    moved = x if data_format == "NCHW" or x.ndim < 3 else p.moveaxis(x, x.ndim - 1, 1)
    out = normalization.batch_norm(moved, mean, variance, scale, bias, is_training, momentum, epsilon)
    out = out if moved is x else p.moveaxis(out, 1, x.ndim - 1)
    if not is_training:
        return out, *(tensor(t).value() for t in (mean, variance, mean, variance))
    axes = tuple(a for a in range(moved.ndim) if a != 1)
    wide = floated(moved)
    centre = p.mean(wide, axes)
    around = p.mean(wide * wide, axes) - centre * centre
    return out, centre, around, centre, around


def _pooled(
    x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW"
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of a plane, and where it is in the plane read flat."""
    one_of("MaxPoolWithArgmax", "pad_mode", pad_mode.lower(), ("valid",))
    found, places = pooling.max_pool2d(x, kernel_size, strides, 0, 1, True, False)
    return found, cast(places, int32)


def _confused(labels: Any, predictions: Any, weights: Any = None, num_classes: int = 2, dtype: Any = "int32") -> Tensor:
    """How often each class was taken for each: rows are labels, columns predictions."""
    count = whole("ConfusionMatrix", "num_classes", num_classes, least=1)
    place = cast(tensor(labels), int64) * count + cast(tensor(predictions), int64)
    kind = as_dtype(dtype)
    ones = created(p.Full(1, kind, place.shape)) if weights is None else cast(tensor(weights), kind)
    return p.reshape(p.scatter_add(created(p.Full(0, kind, (count * count,))), place, ones, 0), (count, count))


def _thinned(dropout: Callable[..., Tensor]) -> Callable[..., tuple[Tensor, Tensor]]:
    def call(x: Any, keep_prob: float = 0.5) -> tuple[Tensor, Tensor]:
        x = tensor(x)
        if keep_prob != 1.0:
            share("Dropout", "keep_prob", keep_prob)
        kept = dropout(creation.ones_like(x), 1.0 - keep_prob)
        return x * kept, p.not_equal(kept, 0)

    call.__doc__ = "Whole channels set to zero at random, and which elements are kept."
    return call


def _segments(of: Callable[..., Tensor]) -> Callable[[Any, Any], Tensor]:
    def call(input_x: Any, segment_ids: Any) -> Tensor:
        ids = tensor(segment_ids)
        numbers_of = ids.numbers()
        if ids.ndim != 1 or numbers_of.size == 0 or (numbers_of[1:] < numbers_of[:-1]).any() or numbers_of[0] < 0:
            raise ArgumentError("numbers of segments are in order, from 0 on", given={"segment_ids": ids})
        found = of(input_x, ids, int(numbers_of[-1]) + 1)
        present = created(p.Full(0, int32, (found.shape[0],)))
        present = p.scatter_add(present, ids, created(p.Full(1, int32, ids.shape)), 0)
        there = p.reshape(p.greater(present, 0), (found.shape[0], *(1,) * (found.ndim - 1)))
        return p.select(p.broadcast(there, found.shape), found, 0)

    call.__doc__ = f"{(of.__doc__ or '').splitlines()[0]} Segments are in order."
    return call


def _segment_mean(x: Any, ids: Any, count: int) -> Tensor:
    """The mean of the slices of each segment."""
    x = tensor(x)
    total = choice.unsorted_segment_sum(x, ids, count)
    counts = choice.unsorted_segment_sum(creation.ones_like(x), ids, count)
    return total / p.maximum(counts, 1)


def _bound(right: bool) -> Callable[..., Tensor]:
    def call(sorted_x: Any, values: Any, out_type: Any = int32) -> Tensor:
        return cast(statistics.searchsorted(sorted_x, values, right=right), as_dtype(out_type))

    call.__doc__ = f"Where values would go in rows that are in order, {'behind' if right else 'before'} equal ones."
    return call


def _histogram_fixed(x: Any, range: Any, nbins: int = 1, dtype: Any = "int32") -> Tensor:
    """How many elements lie in each of so many equal parts of a range; those beyond it are in the outermost."""
    x, ends = floated(x), floated(range)
    low, high = ends[0], ends[1]
    part = p.floor((x - low) / (high - low) * float(whole("HistogramFixedWidth", "nbins", nbins, least=1)))
    place = p.reshape(cast(p.minimum(p.maximum(part, 0.0), float(nbins - 1)), int64), (x.size,))
    counts = p.scatter_add(created(p.Full(0, int32, (nbins,))), place, created(p.Full(1, int32, (x.size,))), 0)
    return cast(counts, as_dtype(dtype))


def _split_by(input_x: Any, size_splits: Sequence[int], split_dim: int, num_split: int) -> tuple[Tensor, ...]:
    """Parts of given sizes along an axis; -1 is what is left."""
    x, parts = tensor(input_x), list(size_splits)
    if len(parts) != num_split or parts.count(-1) > 1:
        raise ArgumentError("SplitV takes a size for each part, one of them -1 at most", given={"size_splits": parts})
    rest = x.shape[split_dim] - sum(s for s in parts if s >= 0)
    return joining.split(x, [rest if s == -1 else s for s in parts], split_dim)


def _resized(x: Any, size: Any, linear: bool, align_corners: bool, half_pixel_centers: bool) -> Tensor:
    """Images of another size, by points that begin at the first element, fit the corners, or are centres of pixels."""
    if align_corners and half_pixel_centers:
        raise ArgumentError("corners are aligned, or centres of pixels are")
    out = tensor(x)
    if out.ndim != 4:
        raise ShapeError(f"images (N, C, H, W) are resized, not shape {out.shape}")
    for axis, count in zip((2, 3), sizes(size), strict=True):
        extent = out.shape[axis]
        step = (extent - 1) / max(count - 1, 1) if align_corners else extent / count
        at = (np.arange(count) + (0.5 if half_pixel_centers else 0.0)) * step
        at = np.clip(at - 0.5 if half_pixel_centers and linear else at, 0, extent - 1)
        low = np.floor(at + 0.5 if align_corners and not linear else at).astype(np.int64)
        first = p.gather(out, Tensor(low), axis)
        if linear:
            share = Tensor((at - low).astype(out.dtype.numpy).reshape([count if a == axis else 1 for a in range(4)]))
            first = first + (p.gather(out, Tensor(np.minimum(low + 1, extent - 1)), axis) - first) * share
        out = first
    return out


def _padded(x: Any, pad_dim_size: int = 8) -> Tensor:
    """A last axis of one element, followed by zeros."""
    x = tensor(x)
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ShapeError(f"Padding takes a last axis of 1, not shape {x.shape}")
    return p.pad(x, (0,) * x.ndim, (*(0,) * (x.ndim - 1), whole("Padding", "pad_dim_size", pad_dim_size, least=1) - 1))


def _nth(input: Any, n: Any, reverse: bool = False) -> Tensor:
    """The n-th smallest element along the last axis, counted from 0; or the n-th largest."""
    x = tensor(input)
    place = int(n)
    if not 0 <= place < x.shape[-1]:
        raise ArgumentError(f"an axis of {x.shape[-1]} has no element number {place}")
    return order.sort(x, -1, reverse)[0][..., place]


def _list_difference(x: Any, y: Any, out_idx: Any = int32) -> tuple[Tensor, Tensor]:
    """The elements that another row does not have, and where they stand."""
    x, y = tensor(x), tensor(y)
    alone = p.logical_not(p.reduce_any(p.equal(p.expand_dims(x, (1,)), y), (1,)))
    places = created(p.Iota(int64, x.shape, 0))
    return choice.masked_select(x, alone), cast(choice.masked_select(places, alone), as_dtype(out_idx))


def _unravelled(indices: Any, dims: Any) -> Tensor:
    """The positions along each axis of elements that are counted through all: one row for each axis."""
    places, rows = tensor(indices), []
    for extent in reversed([int(d) for d in tensor(dims).tolist()]):
        rows.append(p.expand_dims(p.remainder(places, extent), (0,)))
        places = p.floor_divide(places, extent)
    return p.concat(rows[::-1], 0)


_TABLE: dict[str, tuple[str, Callable[..., Any]]] = {
    "AccumulateNV2": ("", state.accumulate_n),
    "BatchNorm": ("is_training=False, epsilon=1e-05, momentum=0.1, data_format='NCHW'", _batch_norm),
    **{
        f"Bessel{kind[0].upper()}{kind[1:]}": ("", getattr(special, f"bessel_{kind}"))
        for kind in ("i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1")
    },
    "Bincount": ("", lambda array, size, weights: order.bincount(array, weights if tensor(weights).size else None,
        int(size))[: int(size)]),
    "Bucketize": ("boundaries", lambda x, boundaries: statistics.bucketize(x, list(boundaries), right=True)),
    "Cdist": ("p=2.0", statistics.cdist),
    "CeLU": ("alpha=1.0", activation.celu),
    "ConfusionMatrix": ("num_classes, dtype='int32'", _confused),
    "CountNonZero": ("dims=None", lambda x, dims: reduction.count_nonzero(x, dims)),
    "Dense": ("", linalg.dense),
    "Diag": ("", creation.diag),
    "DiagPart": ("", creation.diagonal),
    "Dropout2D": ("keep_prob=0.5", _thinned(random.dropout2d)),
    "Dropout3D": ("keep_prob=0.5", _thinned(random.dropout3d)),
    "EuclideanNorm": ("keep_dims=False", lambda x, axes, keep_dims: linalg.vector_norm(
        x, 2, tuple(tensor(axes).reshape(-1).tolist()), keep_dims)),
    "FillDiagonal": ("fill_value, wrap=False", methods_rare.fill_diagonal),
    "FillV2": ("", lambda shape, value: creation.full(shape, tensor(value).item(), dtype=tensor(value).dtype)),
    "Fmin": ("", numbers.fmin),
    "GLU": ("axis=-1", activation.glu),
    "HShrink": ("lambd=0.5", activation.hardshrink),
    "Histogram": ("bins=100, min=0.0, max=0.0", statistics.histc),
    "HistogramFixedWidth": ("nbins, dtype='int32'", _histogram_fixed),
    "InplaceUpdateV2": ("", lambda x, indices, v: scattering.inplace_update(x, v, indices)),
    "ListDiff": ("out_idx='int32'", _list_difference),
    "LowerBound": ("out_type='int32'", _bound(False)),
    "MaskedScatter": ("", scattering.masked_scatter),
    "MaxPoolWithArgmax": ("kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW'!", _pooled),
    "NLLLoss": ("reduction='mean', ignore_index=-100", _nll),
    "NanToNum": ("nan=None, posinf=None, neginf=None", math.nan_to_num),
    "NthElement": ("reverse=False", _nth),
    "Pack": ("axis=0", lambda x, axis: joining.stack(x, axis)),
    "Padding": ("pad_dim_size=8", _padded),
    "Quantile": ("dim=None, keep_dims=False, ignore_nan=False", lambda x, q, dim, keep_dims, ignore_nan:
        (statistics.nanquantile if ignore_nan else statistics.quantile)(x, q, dim, keep_dims)),
    "RandomChoiceWithMask": ("count=256, seed=0, seed2=0", _random_choice),
    "ResizeBilinearV2": ("align_corners=False, half_pixel_centers=False", lambda image, size, align_corners,
        half_pixel_centers: _resized(floated(image), size, True, align_corners, half_pixel_centers)),
    "ResizeNearestNeighborV2": ("align_corners=False, half_pixel_centers=False", lambda image, size, align_corners,
        half_pixel_centers: _resized(image, size, False, align_corners, half_pixel_centers)),
    "RmsNorm": ("epsilon=1e-06", normalization.rms_norm),
    "Roll": ("shifts, dims=None", joining.roll),
    "SegmentMax": ("", _segments(scattering.unsorted_segment_max)),
    "SegmentMean": ("", _segments(_segment_mean)),
    "SegmentMin": ("", _segments(scattering.unsorted_segment_min)),
    "SegmentProd": ("", _segments(scattering.unsorted_segment_prod)),
    "SegmentSum": ("", _segments(choice.unsorted_segment_sum)),
    "SoftMarginLoss": ("reduction='mean'", loss.soft_margin_loss),
    "SoftShrink": ("lambd=0.5", activation.softshrink),
    "SplitV": ("size_splits, split_dim, num_split", _split_by),
    "TensorScatterElements": ("axis=0, reduction='none'", choice.tensor_scatter_elements),
    "Trace": ("", linalg.trace),
    "Unpack": ("axis=0", joining.unstack),
    "UnravelIndex": ("", _unravelled),
    "UpperBound": ("out_type='int32'", _bound(True)),
}  # fmt: skip
for _name, (_attributes, _function) in _TABLE.items():
    declare(globals(), _name, _attributes, _function)
