"""Operations as objects that are loaded when one is asked for: names, their attributes, and what a call means."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import choice as one_of
from mycelia.checks import truth, whole
from mycelia.eager import Parameter, Tensor, as_dtype, assign, cast, created, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops import (
    choice,
    convolution,
    diagonals,
    distributions,
    grids,
    joining,
    margins,
    order,
    pooling,
    random,
    rare,
    sampling,
    statistics,
)
from mycelia.ops.arguments import floated, number, per_axis, sizes, tensor
from mycelia.ops.primitive import declare
from mycelia.ops.recurrence import walk
from mycelia.ops.resizing import cubic
from mycelia.ops.updates import SPARSE_UPDATES
from mycelia.types import float32, int32, int64

__all__: list[str] = []


def _seed(seed: int, seed2: int) -> int | None:
    return (seed << 32) + seed2 if seed or seed2 else None


# -------------------------------------------------------------------------------------------------------------- images


def _columns(x: Any, ksizes: Any, strides: Any = 1, dilations: Any = 1, pads: Any = 0) -> Tensor:
    """The windows of images as columns: (N, C, window, windows)."""
    x = tensor(x)
    window = per_axis("ksizes", ksizes, 2)
    out = sampling.unfold(x, window, dilations, pads, strides)
    return p.reshape(out, (*x.shape[:2], prod(window), out.shape[2]))


def _transposed(
    out_backprop: Any, filter: Any, input_sizes: Any, out_channel: int, kernel_size: Any, pad_mode: str = "valid",
    pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1,
) -> Tensor:  # fmt: skip
    """What a convolution sends back to its input, which has the shape `input_sizes`."""
    dout, w = floated(out_backprop), floated(filter)
    shape = sizes(input_sizes)
    window, steps = per_axis("kernel_size", kernel_size, 2), per_axis("stride", stride, 2)
    gaps = per_axis("dilation", dilation, 2)
    if w.shape != (out_channel, shape[1] // group, *window) or len(shape) != 4:
        raise ShapeError(f"a weight of shape {w.shape} does not fit", given={"out_channel": out_channel})
    pads = convolution.paddings(
        pad_mode.lower(), pad if pad_mode.lower() == "pad" else 0, shape[2:], window, steps, gaps
    )
    return p.ConvInputGrad(steps, pads, gaps, group, shape)(dout, w)


def _grown(mode: str) -> Callable[..., Tensor]:
    def call(x: Any, output_size: Any = None, scales: Any = None, align_corners: bool = False) -> Tensor:
        x = tensor(x)
        if x.ndim != 5:
            raise ShapeError(f"volumes (N, C, D, H, W) are resized, not shape {x.shape}")
        if (output_size is None) == (scales is None):
            raise ArgumentError("either output_size or scales says how large the result is")
        return pooling.interpolate(x, output_size, scales, mode, align_corners)

    call.__doc__ = f"Volumes of another size, {mode}."
    return call


def _max_places(
    x: Any, ksize: Any, strides: Any, pads: Any, dilation: Any = (1, 1, 1), ceil_mode: bool = False,
    argmax_type: Any = "int64",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The largest element of each window of space, and where it is in the space read flat."""
    found, places = pooling.max_pool3d(x, ksize, strides, pads, dilation, ceil_mode, True)
    return found, cast(places, as_dtype(argmax_type))


def _unpooled(rank: int) -> Callable[..., Tensor]:
    def call(x: Any, argmax: Any, ksize: Any, strides: Any = 0, pads: Any = 0, output_shape: Any = ()) -> Tensor:
        stride = None if strides == 0 else strides
        return grids.unpooled(f"MaxUnpool{rank}D", rank, x, argmax, ksize, stride, pads, output_shape or None)

    call.__doc__ = "Elements back where pooling found them; elsewhere are zeros."
    return call


def _fractional(rank: int) -> Callable[..., tuple[Tensor, Tensor]]:
    def call(x: Any, random_samples: Any, ksize: Any, output_shape: Any) -> tuple[Tensor, Tensor]:
        name = "FractionalMaxPool3DWithFixedKsize" if rank == 3 else "FractionalMaxPoolWithFixedKsize"
        return grids.fractional(name, rank, x, ksize, output_shape, None, True, random_samples)

    call.__doc__ = "The largest elements of windows at distances that vary, and where they are."
    return call


# ------------------------------------------------------------------------------------------------------------- elements


def _dimension(x: Any, src_format: str = "NHWC", dst_format: str = "NCHW") -> Tensor:
    """The number of an axis in one order of axes, as its number in another."""
    if sorted(src_format) != sorted(dst_format) or len(set(src_format)) != 4:
        raise ArgumentError("DataFormatDimMap takes two orders of the same four axes", given={"src_format": src_format})
    x = tensor(x)
    table = wrap(np.array([src_format.index(axis) for axis in dst_format], np.int64))
    return cast(p.gather(table, p.remainder(cast(x, int64), 4), 0), x.dtype)


def _looked_up(input_params: Any, input_indices: Any, offset: int) -> Tensor:
    """The rows of a table at positions that begin with an offset; zeros for positions that it does not have."""
    table, at = tensor(input_params), cast(tensor(input_indices), int64) - whole("EmbeddingLookup", "offset", offset)
    there = p.logical_and(p.greater_equal(at, 0), p.less(at, table.shape[0]))
    rows = p.gather(table, p.minimum(p.maximum(at, 0), table.shape[0] - 1), 0)
    wide = p.broadcast(p.reshape(there, (*at.shape, *(1,) * (table.ndim - 1))), rows.shape)
    return p.select(wide, rows, number(0, rows))


def _equal_count(x: Any, y: Any) -> Tensor:
    """How many elements of two tensors are equal, as a tensor of one element."""
    x, y = tensor(x), tensor(y)
    return p.reshape(p.reduce_sum(cast(p.equal(x, y), x.dtype)), (1,))


def _put(x1: Any, x2: Any, indices: Sequence[Any], accumulate: int = 0) -> Tensor:
    """A tensor with other numbers at positions, or with numbers added there."""
    one_of("IndexPut", "accumulate", accumulate, (0, 1))
    return tensor(x1).index_put(tuple(indices), tensor(x2), bool(accumulate))


def _median(
    x: Any, global_median: bool = False, axis: int = 0, keep_dims: bool = False, ignore_nan: bool = False
) -> Any:
    """The middle element along an axis, the lower of two, and where it is; or that of all, and 0."""
    x = tensor(x)
    middle = statistics.nanmedian if truth("Median", "ignore_nan", ignore_nan) else order.median
    if not truth("Median", "global_median", global_median):
        return middle(x, axis, keep_dims)
    found, _ = middle(p.reshape(x, (x.size,)), 0)
    return found, created(p.Full(0, int64, ()))


def _edit_distance(
    hypothesis_indices: Any, hypothesis_values: Any, hypothesis_shape: Any, truth_indices: Any, truth_values: Any,
    truth_shape: Any, normalize: bool = True,
) -> Tensor:  # fmt: skip
    """How many elements are inserted, deleted or replaced to make one sequence of another: for each pair of sequences,
    which are the last axes of two sparse tensors; by the length of the right one, if that is asked for.
    """
    from_sparse = [
        _sequences(i, v) for i, v in ((hypothesis_indices, hypothesis_values), (truth_indices, truth_values))
    ]
    shapes = [tuple(int(e) for e in tensor(s).tolist()) for s in (hypothesis_shape, truth_shape)]
    lead = tuple(max(a, b) for a, b in zip(shapes[0][:-1], shapes[1][:-1], strict=True))
    out = np.zeros(lead, np.float32)
    for place in np.ndindex(*lead):
        said, right = (found.get(place, []) for found in from_sparse)
        distance = _levenshtein(said, right)
        if normalize:
            distance = distance / len(right) if right else float("inf") if distance else 0.0
        out[place] = distance
    return wrap(out)


def _sequences(indices: Any, values: Any) -> dict[tuple[int, ...], list[Any]]:
    """The sequences of a sparse tensor, by all axes but the last."""
    found: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(tensor(indices).tolist(), tensor(values).tolist(), strict=True):
        found.setdefault(tuple(place[:-1]), []).append(value)
    return found


def _levenshtein(x: Sequence[Any], y: Sequence[Any]) -> float:
    row = list(range(len(y) + 1))
    for i, a in enumerate(x, 1):
        last, row = row, [i]
        for j, b in enumerate(y, 1):
            row.append(min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b)))
    return float(row[-1])


def _no_repeat(state_seq: Any, log_probs: Any, ngram_size: int = 1) -> Tensor:
    """Scores (batch, beams, words), the smallest number where a word would repeat `ngram_size` words of the beam."""
    said, scores = tensor(state_seq), floated(log_probs)
    n = whole("NoRepeatNGram", "ngram_size", ngram_size, least=1)
    length = said.shape[-1]
    if said.shape[:-1] != scores.shape[:-1] or length < n:
        raise ShapeError("NoRepeatNGram takes words (..., length) and scores (..., words)", given={"length": length})
    said = cast(said, int64)
    tail = p.take(said, said.ndim - 1, length - n + 1, length)
    out = scores
    worst = number(float(np.finfo(scores.dtype.numpy).min), scores)
    names = created(p.Iota(int64, scores.shape, scores.ndim - 1))
    for i in range(length - n + 1):
        head = p.take(said, said.ndim - 1, i, i + n - 1)
        same = p.reduce_all(p.equal(head, tail), (said.ndim - 1,)) if n > 1 else None
        word = p.take(said, said.ndim - 1, i + n - 1, i + n)
        banned = p.equal(names, p.broadcast(word, scores.shape))
        if same is not None:
            banned = p.logical_and(banned, p.broadcast(p.expand_dims(same, (said.ndim - 1,)), scores.shape))
        out = p.select(banned, worst, out)
    return out


# -------------------------------------------------------------------------------------------------------------- sparse


def _dense_of(indices: Any, values: Any, sparse_shape: Any) -> Tensor:
    """The whole tensor of numbers at places; numbers at the same place are added."""
    return choice.scatter_nd(indices, values, sizes(sparse_shape))


def _sparse_add(x1_indices: Any, x1_values: Any, x1_shape: Any, x2: Any) -> Tensor:
    """A sparse tensor and a dense one, added."""
    return _dense_of(x1_indices, x1_values, x1_shape) + tensor(x2)


def _sparse_matmul(
    indices: Any, values: Any, sparse_shape: Any, dense: Any, adjoint_st: bool = False, adjoint_dt: bool = False
) -> Tensor:
    """The matrix product of a sparse matrix and a dense one, of which each may be transposed first."""
    left, right = _dense_of(indices, values, sparse_shape), tensor(dense)
    left = p.adjoint(left) if adjoint_st else left
    return p.matmul(left, p.adjoint(right) if adjoint_dt else right)


# ------------------------------------------------------------------------------------------------------------- networks


def _lstm(
    x: Any, h: Any, c: Any, w: Any, input_size: int, hidden_size: int, num_layers: int, has_bias: bool,
    bidirectional: bool, dropout: float, proj_size: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Layers of an LSTM whose weights stand one behind the other in one tensor: outputs, last states, and two numbers
    that a device would keep for the way back. Of two biases the first is added, as on MindSpore's processor.
    """
    if proj_size:
        raise ArgumentError("LSTM: a projection of the state is not known here", given={"proj_size": proj_size})
    x, states, flat = floated(x), (floated(h), floated(c)), p.reshape(floated(w), (tensor(w).size,))
    ways, gates = 1 + truth("LSTM", "bidirectional", bidirectional), 4 * hidden_size
    at, weights = 0, []
    for layer in range(num_layers):
        columns = input_size if layer == 0 else hidden_size * ways
        for _ in range(ways):
            shapes: list[tuple[int, ...]] = [(gates, columns), (gates, hidden_size)]
            shapes += [(gates,), (gates,)] if has_bias else []
            found = []
            for shape in shapes:
                found.append(p.reshape(p.take(flat, 0, at, at + prod(shape)), shape))
                at += prod(shape)
            weights.append([*found[:3], found[3] * 0] if has_bias else found)  # the second bias is not added
    if at != flat.size:
        raise ShapeError(f"the weights of this LSTM are {at} numbers, and {flat.size} were given")
    last: list[tuple[Tensor, ...]] = []
    for layer in range(num_layers):
        if layer and dropout:
            x = random.dropout(x, dropout)
        outputs = []
        for way in range(ways):
            place = layer * ways + way
            first = [p.reshape(p.take(s, 0, place, place + 1), s.shape[1:]) for s in states]
            out, *new = walk("lstm", x, first, weights[place], None, way == 1)
            outputs.append(out)
            last.append(tuple(new))
        x = outputs[0] if ways == 1 else p.concat(outputs, 2)
    hn, cn = (p.concat([p.expand_dims(s[i], (0,)) for s in last], 0) for i in (0, 1))
    nothing = created(p.Full(0, float32, (1,)))
    return x, hn, cn, nothing, nothing


def _sgd(
    parameters: Any, gradient: Any, learning_rate: Any, accum: Any, momentum: Any, stat: Any, dampening: float = 0.0,
    weight_decay: float = 0.0, nesterov: bool = False,
) -> Tensor:  # fmt: skip
    """A step of gradient descent with momentum; where `stat` is above 0 the momentum begins with the gradient."""
    w, g, lr, a, m, fresh = (tensor(t) for t in (parameters, gradient, learning_rate, accum, momentum, stat))
    g = g + w * weight_decay if weight_decay else g
    moved = p.select(p.greater(fresh, 0), g, a * m + g * (1.0 - dampening))
    step = g + moved * m if nesterov else moved
    for state, value in (
        (accum, moved),
        (stat, created(p.Full(0, fresh.dtype, fresh.shape))),
        (parameters, w - step * lr),
    ):
        if isinstance(state, Parameter | Tensor):
            assign(state, cast(value, state.dtype))
    return tensor(parameters).value()


_SAMPLER = "num_true=1, num_sampled=5, unique=True, range_max=5, seed=0"
_TABLE: dict[str, tuple[str, Callable[..., Any]]] = {
    "AdaptiveAvgPool3D": ("output_size", grids.adaptive_avg_pool3d),
    "AdaptiveMaxPool2D": ("output_size", lambda x, output_size: pooling.adaptive_max_pool2d(x, output_size, True)),
    "AdaptiveMaxPool3D": ("", lambda x, output_size: grids.adaptive_max_pool3d(x, _listed(output_size), True)),
    "Bernoulli": ("seed=-1, offset=0", lambda x, p, seed, offset: random.bernoulli(
        x, p, None if seed == -1 else (seed << 32) + offset)),
    "Col2Im": ("kernel_size, dilation=1, padding=0, stride=1", lambda x, output_size, kernel_size, dilation, padding,
        stride: rare.col2im(x, output_size, kernel_size, dilation, padding, stride)),
    "Conv2DBackpropInput": (
        "out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=None!, mode=1!, stride=1, dilation=1, group=1, "
        "data_format='NCHW'!", _transposed),
    "Conv2DTranspose": (
        "out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=None!, mode=1!, stride=1, dilation=1, group=1, "
        "data_format='NCHW'!", _transposed),
    "DataFormatDimMap": ("src_format='NHWC', dst_format='NCHW'", _dimension),
    "EditDistance": ("normalize=True", _edit_distance),
    "EmbeddingLookup": ("", _looked_up),
    "EqualCount": ("", _equal_count),
    "FractionalMaxPool3DWithFixedKsize": ("ksize, output_shape, data_format='NCDHW'!", _fractional(3)),
    "FractionalMaxPoolWithFixedKsize": ("ksize, output_shape, data_format='NCHW'!", _fractional(2)),
    "Gamma": ("seed=0, seed2=0", lambda shape, alpha, beta, seed, seed2: distributions.gamma(
        shape, alpha, beta, _seed(seed, seed2))),
    "Im2Col": ("ksizes, strides=1, dilations=1, pads=0", _columns),
    "IndexPut": ("accumulate=0", _put),
    "LSTM": ("input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, proj_size=0", _lstm),
    "LogUniformCandidateSampler": (_SAMPLER, distributions.log_uniform_candidate_sampler),
    "MatrixDiagPartV3": ("align='RIGHT_LEFT'", diagonals.matrix_diag_part),
    "MatrixDiagV3": ("align='RIGHT_LEFT'", diagonals.matrix_diag),
    "MatrixSetDiagV3": ("align='RIGHT_LEFT'", diagonals.matrix_set_diag),
    "MaxPool3DWithArgmax": (
        "ksize, strides, pads, dilation=(1, 1, 1), ceil_mode=False, data_format='NCDHW'!, argmax_type='int64'",
        _max_places),
    "MaxUnpool2D": ("ksize, strides=0, pads=0, output_shape=(), data_format='NCHW'!", _unpooled(2)),
    "MaxUnpool3D": ("ksize, strides=0, pads=0, output_shape=(), data_format='NCDHW'!", _unpooled(3)),
    "Median": ("global_median=False, axis=0, keep_dims=False, ignore_nan=False", _median),
    "MultiMarginLoss": ("p=1, margin=1.0, reduction='mean'", lambda x, target, weight=None, p=1, margin=1.0,
        reduction="mean": margins.multi_margin_loss(x, target, p, margin, weight, reduction)),
    "MultilabelMarginLoss": ("reduction='mean'", margins.multilabel_margin_loss),
    "Multinomial": ("seed=0, seed2=0, dtype='int32'", lambda x, num_samples, seed, seed2, dtype: cast(
        random.multinomial(x, num_samples, True, _seed(seed, seed2)), as_dtype(dtype))),
    "MultinomialWithReplacement": ("numsamples, replacement=False", distributions.multinomial_with_replacement),
    "NoRepeatNGram": ("ngram_size=1", _no_repeat),
    "ParallelConcat": ("", lambda values: joining.cat(tuple(values), 0)),
    "Poisson": ("seed=0, seed2=0", lambda shape, mean, seed, seed2: distributions.random_poisson(
        shape, mean, _seed(seed, seed2), int32)),
    "RandomGamma": ("seed=0, seed2=0", lambda shape, alpha, seed, seed2: distributions.random_gamma(
        shape, alpha, _seed(seed, seed2))),
    "RandomPoisson": ("seed=0, seed2=0, dtype='int64'", lambda shape, rate, seed, seed2, dtype:
        distributions.random_poisson(shape, rate, _seed(seed, seed2), dtype)),
    "RandomShuffle": ("seed=0, seed2=0", lambda x, seed, seed2: random.shuffle(x, _seed(seed, seed2))),
    "ResizeBicubic": ("align_corners=False, half_pixel_centers=False", cubic),
    "SGD": ("dampening=0.0, weight_decay=0.0, nesterov=False", _sgd),
    "SparseSegmentMean": ("", rare.sparse_segment_mean),
    "SparseTensorDenseAdd": ("", _sparse_add),
    "SparseTensorDenseMatmul": ("adjoint_st=False, adjoint_dt=False", _sparse_matmul),
    "SparseToDense": ("", _dense_of),
    "StandardLaplace": ("seed=0, seed2=0", lambda shape, seed, seed2: distributions.standard_laplace(
        shape, _seed(seed, seed2))),
    "UniformCandidateSampler": (
        "num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False",
        distributions.uniform_candidate_sampler),
    "UpsampleNearest3D": ("", _grown("nearest")),
    "UpsampleTrilinear3D": ("align_corners=False", _grown("trilinear")),
    **SPARSE_UPDATES,
}  # fmt: skip


def _listed(size: Any) -> Any:
    return tuple(size.tolist()) if isinstance(size, Tensor) else size


for _name, (_attributes, _function) in _TABLE.items():
    declare(globals(), _name, _attributes, _function)
