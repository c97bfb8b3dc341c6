"""Activations as cells: thin names over the functions in `ops`."""

from __future__ import annotations

from typing import Any

from mycelia import checks, ops
from mycelia.eager import Parameter, Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.cell import Cell
from mycelia.types import float32


class ReLU(Cell):
    """x where it is positive, else 0.

    >>> ReLU()(Tensor([-1.0, 2.0])).asnumpy()
    array([0., 2.], dtype=float32)
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(x)


class ReLU6(Cell):
    """x kept between 0 and 6.

    >>> ReLU6()(Tensor([-1.0, 7.0])).asnumpy()
    array([0., 6.], dtype=float32)
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu6(x)


class LeakyReLU(Cell):
    """x where it is positive, else alpha times x.

    >>> LeakyReLU(0.5)(Tensor([-1.0, 2.0])).asnumpy()
    array([-0.5,  2. ], dtype=float32)
    """

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        return ops.leaky_relu(x, self.alpha)


class ELU(Cell):
    """x where it is positive, else alpha (exp(x) - 1).

    >>> ELU()(Tensor([0.0, 2.0])).asnumpy()
    array([0., 2.], dtype=float32)
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        return ops.elu(x, self.alpha)


class GELU(Cell):
    """x times the probability that a normal number is below x; by its approximation with tanh unless told otherwise.

    >>> GELU(approximate=False)(Tensor([0.0])).asnumpy()
    array([0.], dtype=float32)
    """

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = "tanh" if approximate else "none"

    def construct(self, x: Tensor) -> Tensor:
        return ops.gelu(x, self.approximate)


class Tanh(Cell):
    """The hyperbolic tangent.

    >>> Tanh()(Tensor([0.0])).asnumpy()
    array([0.], dtype=float32)
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x)


class Sigmoid(Cell):
    """1 / (1 + exp(-x)).

    >>> Sigmoid()(Tensor([0.0])).asnumpy()
    array([0.5], dtype=float32)
    """

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.sigmoid(input_x)


class LogSigmoid(Cell):
    """The logarithm of the sigmoid.

    >>> LogSigmoid()(Tensor([100.0])).item() > -1e-6
    True
    """

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.logsigmoid(input_x)


class SiLU(Cell):
    """x times its sigmoid.

    >>> SiLU()(Tensor([0.0])).asnumpy()
    array([0.], dtype=float32)
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.silu(x)


class Mish(Cell):
    """x times the tanh of its softplus.

    >>> Mish()(Tensor([0.0])).asnumpy()
    array([0.], dtype=float32)
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.mish(x)


class Softmax(Cell):
    """Exponentials along an axis, divided by their sum.

    >>> Softmax()(Tensor([0.0, 0.0])).asnumpy()
    array([0.5, 0.5], dtype=float32)
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, input: Tensor) -> Tensor:
        return ops.softmax(input, self.axis)

    def extend_repr(self) -> str:
        return f"axis={self.axis}"


class LogSoftmax(Cell):
    """The logarithm of softmax.

    >>> LogSoftmax()(Tensor([0.0])).asnumpy()
    array([0.], dtype=float32)
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.log_softmax(x, self.axis)

    def extend_repr(self) -> str:
        return f"axis={self.axis}"


class SeLU(Cell):
    """The exponential line with the scale that keeps mean and variance of a signal from layer to layer.

    >>> SeLU()(Tensor([0.0])).asnumpy()
    array([0.], dtype=float32)
    """

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.selu(input_x)


class CELU(Cell):
    """x where it is positive, else alpha (exp(x / alpha) - 1).

    >>> CELU()(Tensor([0.0, 2.0])).asnumpy()
    array([0., 2.], dtype=float32)
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = checks.number(self.cls_name, "alpha", alpha)
        if not alpha:
            raise ArgumentError("alpha of CELU divides, and is not 0", hint="for example 1.0")

    def construct(self, x: Tensor) -> Tensor:
        return ops.celu(x, self.alpha)


class FastGelu(Cell):
    """x times the sigmoid of 1.702 x, which is near GELU.

    >>> FastGelu()(Tensor([0.0])).asnumpy()
    array([0.], dtype=float32)
    """

    def construct(self, x: Tensor) -> Tensor:
        return x * ops.sigmoid(x * 1.702)  # type: ignore[no-any-return]


class HSwish(Cell):
    """x times its hard sigmoid.

    >>> HSwish()(Tensor([-4.0, 4.0])).asnumpy()
    array([-0.,  4.], dtype=float32)
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardswish(x)


class HSigmoid(Cell):
    """A line from 0 at -3 to 1 at 3, and constant beyond.

    >>> HSigmoid()(Tensor([-4.0, 0.0, 4.0])).asnumpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardsigmoid(input)


class Hardtanh(Cell):
    """x kept between two bounds.

    >>> Hardtanh()(Tensor([-4.0, 0.5])).asnumpy()
    array([-1. ,  0.5], dtype=float32)
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        if not min_val < max_val:
            raise ArgumentError(f"min_val {min_val} of Hardtanh is not below max_val {max_val}", hint="exchange them")
        self.min_val, self.max_val = min_val, max_val

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardtanh(x, self.min_val, self.max_val)


class HShrink(Cell):
    """x where it is further than `lambd` from 0, else 0.

    >>> HShrink()(Tensor([0.4, 2.0])).asnumpy()
    array([0., 2.], dtype=float32)
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = checks.number(self.cls_name, "lambd", lambd)

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardshrink(input, self.lambd)


class SoftShrink(Cell):
    """x moved towards 0 by `lambd`, and 0 where it is nearer than that.

    >>> SoftShrink()(Tensor([0.4, 2.0])).asnumpy()
    array([0. , 1.5], dtype=float32)
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = checks.number(self.cls_name, "lambd", lambd, least=0)

    def construct(self, input: Tensor) -> Tensor:
        return ops.softshrink(input, self.lambd)


class Tanhshrink(Cell):
    """x minus its hyperbolic tangent.

    >>> Tanhshrink()(Tensor([0.0])).asnumpy()
    array([0.], dtype=float32)
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanhshrink(x)


class Softsign(Cell):
    """x / (1 + |x|).

    >>> Softsign()(Tensor([1.0])).asnumpy()
    array([0.5], dtype=float32)
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.softsign(x)


class Threshold(Cell):
    """x above a threshold, else another value.

    >>> Threshold(1.0, 9.0)(Tensor([0.5, 2.0])).asnumpy()
    array([9., 2.], dtype=float32)
    """

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.threshold(input_x, self.threshold, self.value)


class GLU(Cell):
    """Half of the elements along an axis, times the sigmoid of the other half.

    >>> GLU()(Tensor([4.0, 0.0])).asnumpy()
    array([2.], dtype=float32)
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = checks.whole(self.cls_name, "axis", axis)

    def construct(self, x: Tensor) -> Tensor:
        return ops.glu(x, self.axis)


class PReLU(Cell):
    """x where it is positive, else a learned slope `w` times x; one for all, or one for each channel on axis 1.

    >>> PReLU()(Tensor([-4.0, 2.0])).asnumpy()
    array([-1.,  2.], dtype=float32)
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        self.channel = checks.whole(self.cls_name, "channel", channel, least=1)
        slopes = Tensor([w] * channel if isinstance(w, int | float) else w)
        if slopes.shape != (channel,) or not slopes.dtype.is_float:
            raise ArgumentError(
                f"w of PReLU is a floating number, or {channel} of them", given={"w": w}, hint="for example 0.25"
            )
        self.w = Parameter(slopes, name="a")

    def construct(self, x: Tensor) -> Tensor:
        return ops.prelu(x, cast(self.w, x.dtype))


class RReLU(Cell):
    """x where it is positive, else a random slope between `lower` and `upper` times x, drawn anew for each element.

    >>> RReLU(0.5, 0.5)(Tensor([-4.0, 2.0])).asnumpy()
    array([-2.,  2.], dtype=float32)
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3) -> None:
        super().__init__()
        if lower > upper:
            raise ArgumentError(f"lower {lower} of RReLU is above upper {upper}", hint="exchange them")
        self.lower, self.upper = lower, upper

    def construct(self, x: Tensor) -> Tensor:
        slopes = ops.uniform(x.shape, Tensor(self.lower, float32), Tensor(self.upper, float32)).astype(x.dtype)
        return ops.where(x > 0, x, x * slopes)


class Softmin(Cell):
    """Softmax of -x.

    >>> Softmin()(Tensor([0.0, 0.0])).asnumpy()
    array([0.5, 0.5], dtype=float32)
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.softmin(x, self.axis)


class Softmax2d(Cell):
    """Softmax over the channels of (N, C, H, W) or (C, H, W).

    >>> Softmax2d()(Tensor([[[1.0]], [[1.0]]])).shape
    (2, 1, 1)
    """

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim not in (3, 4):
            raise ShapeError(f"Softmax2d takes (N, C, H, W) or (C, H, W), not shape {x.shape}", hint="add axes")
        return ops.softmax(x, -3)


ACTIVATIONS: dict[str, type[Cell]] = {
    "softmax": Softmax,
    "logsoftmax": LogSoftmax,
    "relu": ReLU,
    "relu6": ReLU6,
    "silu": SiLU,
    "tanh": Tanh,
    "gelu": GELU,
    "elu": ELU,
    "sigmoid": Sigmoid,
    "leakyrelu": LeakyReLU,
    "logsigmoid": LogSigmoid,
    "mish": Mish,
    "softmin": Softmin,
    "softmax2d": Softmax2d,
    "rrelu": RReLU,
    "tanhshrink": Tanhshrink,
    "hardtanh": Hardtanh,
    "fast_gelu": FastGelu,
    "softsign": Softsign,
    "prelu": PReLU,
    "hswish": HSwish,
    "hsigmoid": HSigmoid,
    "softshrink": SoftShrink,
    "hshrink": HShrink,
}


def get_activation(name: str | None, prim_name: str | None = None) -> Cell | None:
    """The activation that goes by this name, for the cell that is called `prim_name`; None for none.

    >>> get_activation("relu")
    ReLU()
    """
    if name is None:
        return None
    if name not in ACTIVATIONS:
        of = f"of {prim_name} " if prim_name else ""
        raise ArgumentError(f"no activation {of}is called {name!r}", hint=f"known are {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[name]()
