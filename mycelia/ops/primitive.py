"""Operations as objects: `ops.Concat(axis=1)((x, y))`. Attributes are given once, tensors at each call.

Each is a name for a function of this package; the table says which attributes it takes and what a call means.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Signature
from types import MappingProxyType
from typing import Any

from mycelia import checks
from mycelia import primitives as p
from mycelia.eager import Tensor, as_dtype
from mycelia.errors import ArgumentError, CallError
from mycelia.names import FOREIGN, translated
from mycelia.ops import (
    activation,
    arithmetic,
    choice,
    communication,
    comparison,
    convolution,
    creation,
    joining,
    linalg,
    loss,
    math,
    movement,
    normalization,
    numbers,
    order,
    pooling,
    random,
    reduction,
    scattering,
    state,
    trigonometry,
)
from mycelia.ops.arguments import axis_of, tensor

__all__ = ["Primitive"]

NOTHING: Mapping[str, Any] = MappingProxyType({})
NOTED = (
    "primitive_target", "stage", "in_strategy", "out_strategy", "recompute", "fusion", "input_names", "output_names",
)  # fmt: skip


class Primitive:
    """An operation with its attributes, called on tensors.

    >>> ReduceSum(keep_dims=True)(Tensor([[1.0, 2.0]]), 1).tolist()
    [[3.0]]
    """

    call: Callable[..., Any]
    meant: Callable[..., Any]  # the function that `call` is another name for
    attributes: dict[str, Any]
    takes: Signature | None = None  # the attributes, in order, with their defaults; of a user's own there are none
    only: frozenset[str] = frozenset()  # attributes of MindSpore that can only be what they are by default here
    notes: Mapping[str, Any] = NOTHING  # what is said about where and how it runs; it changes no number
    instance_name = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if self.takes is None:
            self._name(*args, **kwargs)
            return
        try:
            bound = self.takes.bind(*args, **kwargs)
        except TypeError:
            raise ArgumentError(
                f"{type(self).__name__} takes {str(self.takes)[1:-1] or 'no attributes'}",
                given={"args": args} | kwargs,
                hint="attributes are given here, and tensors when it is called",
            ) from None
        bound.apply_defaults()
        for name in self.only:
            known = self.takes.parameters[name].default
            checks.only(type(self).__name__, name, bound.arguments[name], known, f"leave {name} out")
        self.attributes = {k: v for k, v in bound.arguments.items() if k not in self.only}

    def _name(self, name: str | None = None) -> None:
        """An operation of the user's, which has a name and attributes; what it computes its class says."""
        self.attributes = {}
        self.name = checks.text("Primitive", "name", type(self).__name__ if name is None else name)

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes by name.

        >>> ReduceSum(keep_dims=True).attrs
        {'keep_dims': True}
        """
        return {**self.attributes, **self.notes}

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Give an attribute another value, or note a new one of an operation of one's own.

        >>> Primitive("add").add_prim_attr("axis", 1).attrs
        {'axis': 1}
        >>> ReduceSum().add_prim_attr("keep_dims", True)(Tensor([[1.0, 2.0]]), 1).tolist()
        [[3.0]]
        """
        if name in NOTED:
            return self._note(name, value)
        if self.takes is not None and name not in self.takes.parameters:
            raise ArgumentError(
                f"{type(self).__name__} knows its attributes: {', '.join(self.takes.parameters) or 'none'}",
                given={"name": name},
                hint=f"besides, {', '.join(NOTED)} are noted",
            )
        if name in self.only and self.takes is not None:
            known = self.takes.parameters[name].default
            checks.only(type(self).__name__, name, value, known, f"leave {name} out")
        else:
            self.attributes = {**self.attributes, name: value}
        return self

    def _note(self, name: str, value: Any) -> Primitive:
        self.notes = {**self.notes, name: value}
        return self

    def set_device(self, device_target: str) -> Primitive:
        """Wish that it runs on the processor: there it runs.

        >>> ReduceSum().set_device("CPU").attrs["primitive_target"]
        'CPU'
        """
        checks.choice(type(self).__name__, "device_target", device_target, ("CPU",))
        return self._note("primitive_target", device_target)

    def set_stage(self, stage: int) -> Primitive:
        """Note the stage of a pipeline that it belongs to. With one device there is one.

        >>> ReduceSum().set_stage(0).attrs["stage"]
        0
        """
        return self._note("stage", checks.whole(type(self).__name__, "stage", stage, least=0))

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Primitive:
        """Note how inputs and results are to be spread over devices. With one device all is on it.

        >>> ReduceSum().shard(((1, 1),)).attrs["in_strategy"]
        ((1, 1),)
        """
        for name, value in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
            if value is not None and not isinstance(value, tuple):
                raise CallError(f"{name} is a tuple with a layout for each tensor, not a {type(value).__name__}")
            if value is not None:
                self._note(name, value)
        return self

    def recompute(self, mode: bool = True) -> Primitive:
        """Wish that its result is computed again on the way back. What one operation leaves is planned here anyway.

        >>> ReduceSum().recompute().attrs["recompute"]
        True
        """
        return self._note("recompute", checks.truth(type(self).__name__, "mode", mode))

    def set_prim_instance_name(self, instance_name: str) -> Primitive:
        """Give it a name of its own.

        >>> ReduceSum().set_prim_instance_name("rows").instance_name
        'rows'
        """
        self.instance_name = checks.text(type(self).__name__, "instance_name", instance_name)
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        """Forget an attribute of an operation of one's own.

        >>> Primitive("add").add_prim_attr("axis", 1).del_prim_attr("axis").attrs
        {}
        """
        if name in self.notes:
            self.notes = {n: v for n, v in self.notes.items() if n != name}
            return self
        if self.takes is not None or name not in self.attributes:
            raise ArgumentError(f"there is no attribute {name!r} to forget", given={"attributes": self.attributes})
        del self.attributes[name]
        return self

    def init_prim_io_names(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Note what an operation calls its inputs and results.

        >>> op = Primitive("add")
        >>> op.init_prim_io_names(["x", "y"], ["sum"])
        >>> op.input_names, op.output_names
        (['x', 'y'], ['sum'])
        """
        self.add_prim_attr("input_names", list(inputs)).add_prim_attr("output_names", list(outputs))
        self.input_names, self.output_names = list(inputs), list(outputs)

    def __call__(self, *inputs: Any) -> Any:
        if self.takes is None:
            raise ArgumentError(
                f"{self.name} has no rule", hint="define __call__ in its class, or use ops.Custom for an operator"
            )
        try:
            return type(self).call(*inputs, **self.attributes)
        except FOREIGN as error:
            own = translated(error, type(self).meant, inputs, self.attributes, type(self).__name__)
            if own is error:
                raise
            raise own from None

    @staticmethod
    def __interpreted__(machine: Any, op: Primitive, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A call inside a captured program; one of the user's own is what its class says."""
        if type(op).takes is None:
            return machine.call(machine.lookup(type(op), "__call__"), (op, *args), options)
        items = machine.whole(machine.whole(op, ("attr", "attributes")))
        return machine.call(type(op).meant, args, {**dict(zip(items[::2], items[1::2], strict=True)), **options})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.attributes.items())})"


def declare(names: dict[str, Any], name: str, signature: str, call: Callable[..., Any]) -> None:
    """A class of this name among the names of a module: its attributes as a signature, in which `!` marks a default
    that is the only choice, and what a call on tensors means.
    """
    doc = (inspect.getdoc(call) or f"The operation {name}").split("\n")[0]
    only = frozenset(re.findall(r"(\w+)=[^,!]+!", signature))
    takes = _signature(signature.replace("!", ""))
    body = {"__doc__": doc, "call": staticmethod(_plain(call)), "meant": staticmethod(call), "__module__": __name__}
    names[name] = type(name, (Primitive,), {**body, "name": name, "takes": takes, "only": only, "__signature__": takes})
    names["__all__"].append(name)


def uninterrupted(update: Callable[..., Any]) -> Callable[..., Any]:
    """An update that may be asked to lock what it changes: it is never interrupted, locked or not."""

    def call(x: Any, indices: Any, updates: Any, use_locking: bool) -> Any:
        checks.truth("an update", "use_locking", use_locking)
        return update(x, indices, updates)

    call.__doc__ = (update.__doc__ or "").split("\n")[0]
    return call


def _define(name: str, signature: str, call: Callable[..., Any]) -> None:
    declare(globals(), name, signature, call)


@cache
def _signature(text: str) -> Signature:
    return inspect.signature(eval(f"lambda {text}: None"))


def _plain(call: Callable[..., Any]) -> Callable[..., Any]:
    """The function under a name of its own, so that its examples run once."""
    return lambda *inputs, **attributes: call(*inputs, **attributes)


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axis: Any = (), keep_dims: bool = False) -> Any:
        return function(x, axis, keep_dims)

    call.__doc__ = (function.__doc__ or "").split("\n")[0]
    return call


_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "ReduceSum": lambda x, axis, keep: reduction.sum(x, axis, keep, dtype=tensor(x).dtype),
    "ReduceMean": reduction.mean,
    "ReduceMax": reduction.amax,
    "ReduceMin": reduction.amin,
    "ReduceProd": lambda x, axis, keep: reduction.prod(x, axis, keep, tensor(x).dtype),
    "ReduceAll": reduction.all,
    "ReduceAny": reduction.any,
}
for _name, _function in _REDUCTIONS.items():
    _define(
        _name, "keep_dims=False, skip_mode=False!" if _name == "ReduceSum" else "keep_dims=False", _reduction(_function)
    )


# names that are functions of tensors and nothing else
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Abs": math.abs, "Neg": math.neg, "Sign": math.sign, "Sqrt": math.sqrt, "Rsqrt": math.rsqrt, "Square": math.square,
    "Reciprocal": math.reciprocal, "Inv": numbers.inv, "Exp": math.exp, "Expm1": math.expm1, "Log": math.log,
    "Log1p": math.log1p, "Sin": trigonometry.sin, "Cos": trigonometry.cos, "Tan": trigonometry.tan,
    "Asin": trigonometry.asin, "ACos": trigonometry.acos, "Atan": trigonometry.atan, "Sinh": trigonometry.sinh,
    "Cosh": trigonometry.cosh, "Tanh": trigonometry.tanh, "Asinh": trigonometry.asinh, "Acosh": trigonometry.acosh,
    "Atanh": trigonometry.atanh, "Erf": math.erf, "Erfc": math.erfc, "Floor": math.floor,
    "Ceil": math.ceil, "Round": math.round, "Rint": math.round, "Trunc": math.trunc, "IsNan": math.isnan,
    "IsInf": math.isinf, "IsFinite": math.isfinite, "LogicalNot": math.logical_not, "Invert": math.bitwise_not,
    "Add": arithmetic.add, "TensorAdd": arithmetic.add, "Sub": arithmetic.sub, "Mul": arithmetic.mul,
    "Div": arithmetic.div, "RealDiv": arithmetic.div, "FloorDiv": arithmetic.floor_divide,
    "FloorMod": arithmetic.remainder, "Mod": arithmetic.fmod, "Pow": arithmetic.pow, "Atan2": arithmetic.atan2,
    "Maximum": arithmetic.maximum, "Minimum": arithmetic.minimum, "LogicalAnd": arithmetic.logical_and,
    "LogicalOr": arithmetic.logical_or, "LogicalXor": arithmetic.logical_xor, "Greater": comparison.greater,
    "GreaterEqual": comparison.greater_equal, "Less": comparison.less, "LessEqual": comparison.less_equal,
    "Equal": comparison.equal, "NotEqual": comparison.not_equal, "Lerp": arithmetic.lerp, "Xlogy": arithmetic.xlogy,
    "BitwiseAnd": arithmetic.bitwise_and, "BitwiseOr": arithmetic.bitwise_or, "BitwiseXor": arithmetic.bitwise_xor,
    "ReLU": activation.relu, "ReLU6": activation.relu6, "Sigmoid": activation.sigmoid, "HSwish": activation.hardswish,
    "HSigmoid": activation.hardsigmoid, "Mish": activation.mish, "Softplus": activation.softplus,
    "Softsign": activation.softsign, "SeLU": activation.selu, "PReLU": activation.prelu,
    "GeLU": lambda x: activation.gelu(x, "tanh"), "SiLU": activation.silu,
    "Cast": state.cast, "Shape": state.shape, "DType": state.dtype, "Size": state.size, "Rank": state.rank,
    "Identity": state.identity, "Depend": state.depend, "Assign": state.assign, "AssignAdd": state.assign_add,
    "AssignSub": state.assign_sub, "AddN": state.addn, "Print": state.print_,
    "ScalarToTensor": creation.scalar_to_tensor,
    "TupleToArray": state.tuple_to_array, "Reshape": movement.reshape, "Transpose": movement.transpose,
    "ExpandDims": movement.expand_dims, "Tile": movement.tile, "Slice": movement.slice,
    "StridedSlice": movement.strided_slice, "ZerosLike": creation.zeros_like,
    "OnesLike": creation.ones_like, "Zeros": creation.zeros, "Ones": creation.ones, "Fill": creation.fill,
    "Eye": lambda n, m, dtype: creation.eye(n, m, dtype), "LinSpace": creation.linspace, "Select": choice.select,
    "GatherNd": choice.gather_nd, "GatherD": choice.gather_elements, "MaskedFill": choice.masked_fill,
    "MaskedSelect": choice.masked_select, "ScatterNd": choice.scatter_nd, "Unique": order.unique,
    "TensorScatterUpdate": choice.tensor_scatter_update, "TensorScatterAdd": choice.tensor_scatter_add,
    "UnsortedSegmentSum": choice.unsorted_segment_sum, "BiasAdd": linalg.bias_add, "L2Loss": loss.l2_loss,
    "SigmoidCrossEntropyWithLogits": loss.sigmoid_cross_entropy_with_logits,
    "SoftmaxCrossEntropyWithLogits": loss.softmax_cross_entropy_with_logits,
}  # fmt: skip
_MORE = {
    "BiasAdd": "data_format='NCHW'!",
    "StridedSlice": "begin_mask=0!, end_mask=0!, ellipsis_mask=0!, new_axis_mask=0!, shrink_axis_mask=0!",
}
for _name, _function in _FUNCTIONS.items():
    _define(_name, _MORE.get(_name, ""), _function)


def _flattened(x: Any) -> Tensor:
    """All axes but the first as one."""
    return movement.flatten(x)


def _gathered(x: Any, indices: Any, axis: int, batch_dims: int = 0) -> Tensor:
    """Slices along an axis, at positions."""
    return choice.gather(x, indices, axis, batch_dims)


def _multiplied(x: Any, y: Any, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """The matrix product, of matrices that may be transposed first."""
    a = movement.swapaxes(x, -1, -2) if transpose_a else x
    return linalg.matmul(a, movement.swapaxes(y, -1, -2) if transpose_b else y)


def _parts(x: Any, axis: int = 0, output_num: int = 1) -> tuple[Tensor, ...]:
    """So many equal parts along an axis."""
    x = tensor(x)
    if x.shape[axis] % output_num:
        raise ArgumentError(f"an axis of {x.shape[axis]} has no {output_num} equal parts")
    return joining.split(x, x.shape[axis] // output_num, axis)


def _unstacked(x: Any, axis: int = 0, num: int | None = None) -> tuple[Tensor, ...]:
    """The slices along an axis, without it; there are `num`, if that is said."""
    slices = joining.unstack(x, axis)
    if num is not None and num != len(slices):
        raise ArgumentError(f"axis {axis} has {len(slices)} slices, and not {num}")
    return slices


def _largest(x: Any, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The k largest elements along the last axis, and where they are."""
    return order.topk(x, k, -1, True, sorted)


def _kept(x: Any, keep_prob: float = 0.5, Seed0: int = 0, Seed1: int = 0) -> tuple[Tensor, Tensor]:
    """The tensor after dropout, and what was kept: 1 where an element was, else 0."""
    x = tensor(x)
    seed = (Seed0 << 32) + Seed1 if Seed0 or Seed1 else None
    kept = random.dropout(creation.ones_like(x), 1.0 - keep_prob, seed=seed)
    return x * kept, (kept > 0).astype(x.dtype)


def _padded(x: Any, paddings: Any = ()) -> Tensor:
    """Zeros around: (before, after) for each axis."""
    return joining.pad(x, [n for pair in reversed(tuple(paddings)) for n in pair])


def _convolved(
    x: Any, weight: Any, out_channel: int, kernel_size: Any, mode: int = 1, pad_mode: str = "valid", pad: Any = 0,
    stride: Any = 1, dilation: Any = 1, group: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution in a plane."""
    w = tensor(weight)
    if w.shape[0] != out_channel or mode != 1:
        raise ArgumentError(
            f"a weight of shape {w.shape} does not fit", given={"out_channel": out_channel, "mode": mode}
        )
    return convolution.conv2d(x, w, None, stride, pad_mode, pad if pad_mode == "pad" else 0, dilation, group)


def _pooled(pool: Callable[..., Tensor], **options: Any) -> Callable[..., Tensor]:
    def call(x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid") -> Tensor:
        x = tensor(x)
        window, steps = ((n, n) if isinstance(n, int) else tuple(n)[-2:] for n in (kernel_size, strides))
        pads = convolution.paddings(pad_mode.lower(), 0, x.shape[2:], window, steps, (1, 1))
        return pool(x, window, steps, pads, **options)

    return call


def _place_first(extreme: Callable[..., tuple[Tensor, Tensor]]) -> Callable[..., tuple[Tensor, Tensor]]:
    def pair(x: Any, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
        """Where an extreme element along an axis is, and the element: the method of the same name turns them round."""
        value, place = extreme(x, axis, keep_dims)
        return place, value

    return pair


def _at(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda x, axis, output_type: function(x, axis).astype(output_type)


Sides = tuple[tuple[int, ...], tuple[int, ...], convolution.Padding]


def _space(x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, pad: Any) -> Sides:
    """Windows, steps and padding along the three axes of space."""
    window, steps = ((n, n, n) if isinstance(n, int) else tuple(n)[-3:] for n in (kernel_size, strides))
    mode = checks.text("a pooling", "pad_mode", pad_mode).lower()
    return window, steps, convolution.paddings(mode, pad, x.shape[2:], window, steps, (1, 1, 1))


def _means_of_space(
    x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", pad: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int = 0,
) -> Tensor:  # fmt: skip
    """The mean of each window of space."""
    x = tensor(x)
    ceiled, counted = (
        checks.truth("AvgPool3D", name, flag)
        for name, flag in (("ceil_mode", ceil_mode), ("count_include_pad", count_include_pad))
    )
    divisor = checks.whole("AvgPool3D", "divisor_override", divisor_override)
    return pooling.averages(x, *_space(x, kernel_size, strides, pad_mode, pad), ceiled, counted, divisor)


def _largest_of_space(
    x: Any, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", pad_list: Any = 0,
    ceil_mode: bool | None = None,
) -> Tensor:  # fmt: skip
    """The largest element of each window of space."""
    x = tensor(x)
    ceiled = ceil_mode is not None and checks.truth("MaxPool3D", "ceil_mode", ceil_mode)
    return pooling.largest(x, *_space(x, kernel_size, strides, pad_mode, pad_list), ceiled)


def _not_finite(x: Any) -> Tensor:
    """1 if an element is infinite or nan, else 0; for finding out whether a loss scale was too large."""
    return reduction.any(math.logical_not(math.isfinite(x))).astype("float32").reshape(1)


def _updated(x: Tensor, indices: Any, updates: Any) -> Tensor:
    """A parameter, from now on with other slices at positions that are rows."""
    return state.updated(x, choice.tensor_scatter_update(x, indices, updates))


def _normalised(
    x: Any, gamma: Any, beta: Any, begin_norm_axis: int = 1, begin_params_axis: int = 1, epsilon: float = 1e-7
) -> tuple[Tensor, Tensor, Tensor]:
    """Mean zero and variance one over the axes from one on, then scaled and shifted; with the means and variances."""
    x = tensor(x)
    axes = tuple(range(axis_of(x, begin_norm_axis), x.ndim))
    spread, center = reduction.var_mean(x, axes, 0, True)
    normal = (x - center) * math.rsqrt(spread + epsilon)
    params = axis_of(x, begin_params_axis)
    gamma, beta = (movement.reshape(t, x.shape[params:]) for t in (gamma, beta))
    return normal * gamma + beta, center, spread


def _running(x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """The running sum along an axis: without the element itself, or from the end."""
    x = tensor(x)
    place = axis_of(x, axis)
    if reverse:
        return movement.reverse(_running(movement.reverse(x, [place]), place, exclusive), [place])
    out = reduction.cumsum(x, place, x.dtype)
    return _moved_on(out, place) if exclusive else out


def _moved_on(x: Tensor, axis: int) -> Tensor:
    """Everything one place further along an axis, with zero in front."""
    low = [int(a == axis) for a in range(x.ndim)]
    return p.pad(p.take(x, axis, 0, x.shape[axis] - 1), low, [0] * x.ndim, 0) if x.shape[axis] else x


def _whole(shape: Any, low: Any, high: Any, seed: int = 0, seed2: int = 0) -> Tensor:
    """Whole numbers evenly from `low` up to, and without, `high`."""
    return random.randint(low, high, shape, seed or seed2 or None, dtype="int32")


def _drawn(shape: Any, seed: int = 0, seed2: int = 0) -> Tensor:
    """Numbers of the standard normal distribution."""
    return random.standard_normal(shape, (seed << 32) + seed2 if seed or seed2 else None)


_define("Flatten", "", _flattened)
_define("Gather", "batch_dims=0", _gathered)
_define("MatMul", "transpose_a=False, transpose_b=False", _multiplied)
_define("BatchMatMul", "transpose_a=False, transpose_b=False", _multiplied)
_define("Split", "axis=0, output_num=1", _parts)
_define("TopK", "sorted=True", _largest)
_define("Dropout", "keep_prob=0.5, Seed0=0, Seed1=0", _kept)
_define("Pad", "paddings", _padded)
_define("Concat", "axis=0", joining.cat)
_define("Stack", "axis=0", joining.stack)
_define("Unstack", "axis=0, num=None", _unstacked)
_define("Squeeze", "axis=()", movement.squeeze)
_define("BroadcastTo", "shape", lambda x, shape: movement.broadcast_to(x, shape))
_define("ReverseV2", "axis", movement.reverse)
_define("OneHot", "axis=-1", choice.one_hot)
_define("Softmax", "axis=-1", activation.softmax)
_define("LogSoftmax", "axis=-1", activation.log_softmax)
_define("Elu", "alpha=1.0", activation.elu)
_define("Sort", "axis=-1, descending=False", order.sort)
_define("CumSum", "exclusive=False, reverse=False", _running)
_define("ArgMaxWithValue", "axis=0, keep_dims=False", _place_first(reduction.max))
_define("ArgMinWithValue", "axis=0, keep_dims=False", _place_first(reduction.min))
_define("Argmax", "axis=-1, output_type='int32'", _at(reduction.argmax))
_define("Argmin", "axis=-1, output_type='int32'", _at(reduction.argmin))
_define("L2Normalize", "axis=0, epsilon=0.0001", normalization.l2_normalize)
_define("SmoothL1Loss", "beta=1.0, reduction='none'", loss.smooth_l1_loss)
_define("BinaryCrossEntropy", "reduction='mean'", loss.binary_cross_entropy)
_define("BCEWithLogitsLoss", "reduction='mean'", loss.binary_cross_entropy_with_logits)
_define("KLDivLoss", "reduction='mean'", loss.kl_div)
_define("Meshgrid", "indexing='xy'", lambda inputs, indexing: creation.meshgrid(*inputs, indexing=indexing))
_define("StandardNormal", "seed=0, seed2=0", _drawn)
_define("UniformReal", "seed=0, seed2=0", lambda shape, seed, seed2: random.rand(shape, seed=seed or seed2 or None))
_define("Range", "maxlen=1000000", creation.range)
_define(
    "ResizeNearestNeighbor", "size, align_corners=False!, half_pixel_centers=False!",
    lambda x, size: pooling.interpolate(x, size),
)  # fmt: skip
_define("AdaptiveAvgPool2D", "output_size", pooling.adaptive_avg_pool2d)
_define(
    "Conv2D",
    "out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, dilation=1, group=1, data_format='NCHW'!",
    _convolved,
)
_define("MaxPool", "kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW'!", _pooled(p.max_pool))
_define(
    "AvgPool", "kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW'!",
    _pooled(p.avg_pool, count_padding=False),
)  # fmt: skip
_define(
    "MaxPool3D", "kernel_size=1, strides=1, pad_mode='VALID', pad_list=0, ceil_mode=None, data_format='NCDHW'!",
    _largest_of_space,
)  # fmt: skip
_define(
    "AvgPool3D",
    "kernel_size=1, strides=1, pad_mode='valid', pad=0, ceil_mode=False, count_include_pad=True, "
    "divisor_override=0, data_format='NCDHW'!",
    _means_of_space,
)
_define("FloatStatus", "", _not_finite)
_define("GatherV2", "", _gathered)
_define("ScatterNdUpdate", "use_locking=True", uninterrupted(_updated))
_define("ScatterAdd", "use_locking=False", uninterrupted(scattering.scatter_add))
_define("DepthToSpace", "block_size", pooling.depth_to_space)
_define("SpaceToDepth", "block_size", pooling.space_to_depth)
_define("ScalarToArray", "", lambda x: Tensor(x))
_define("LayerNorm", "begin_norm_axis=1, begin_params_axis=1, epsilon=1e-07", _normalised)
_define("UniformInt", "seed=0, seed2=0", _whole)
_define("Gelu", "", lambda x: activation.gelu(x, "tanh"))
_define("Einsum", "equation", lambda operands, equation: linalg.einsum(equation, *operands))
_define("AllReduce", f"op='sum', group={p.WORLD!r}", communication.all_reduce)
_define("ScalarCast", "", lambda x, dtype: as_dtype(dtype).numpy.type(x).item())

ReduceSum: type[Primitive] = globals()["ReduceSum"]
