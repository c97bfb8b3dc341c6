"""Invertible functions of numbers, and how much they stretch: the logarithms of their slopes."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mycelia import checks, ops
from mycelia.eager import Parameter, Tensor, as_dtype, cast
from mycelia.errors import ArgumentError
from mycelia.names import boundary as _boundary
from mycelia.nn.cell import Cell
from mycelia.nn.probability.distribution.base import Distribution
from mycelia.nn.probability.distribution.continuous import within
from mycelia.nn.probability.distribution.transformed import TransformedDistribution
from mycelia.types import float32

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]

QUESTIONS = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")


class Bijector(Cell):
    """The family. A subclass says `_forward` and `_inverse`, and the logarithm of the slope of one of them. Called with
    a distribution it gives that of its results; called with a name, `b("forward", x)`, it answers.

    >>> Exp()("forward", Tensor([0.0])).tolist()
    [1.0]
    """

    def __init__(
        self,
        is_constant_jacobian: bool = False,
        is_injective: bool = True,
        name: str | None = None,
        dtype: Any = None,
        param: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._constant = checks.truth("Bijector", "is_constant_jacobian", is_constant_jacobian)
        self._injective = checks.truth("Bijector", "is_injective", is_injective)
        self._name = name or self.cls_name
        self._dtype = None if dtype is None else as_dtype(dtype)
        self._parameters = dict((param or {}).get("param_dict", param or {}))

    def _held(self, value: Any) -> Any:
        """A parameter as a tensor; one that is trained stays what it is."""
        if isinstance(value, Parameter):
            return value
        held = value if isinstance(value, Tensor) else Tensor(np.asarray(value), float32)
        return held if held.dtype.is_float else cast(held, float32)

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The element type of its numbers; None if it takes all."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What it was made of."""
        return self._parameters

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether its slope is the same everywhere."""
        return self._constant

    @property
    def is_injective(self) -> bool:
        """Whether each result comes of one number."""
        return self._injective

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape that its parameters broadcast to."""
        return np.broadcast_shapes(*[np.shape(v) for v in self._parameters.values()])

    @property
    def is_scalar_batch(self) -> bool:
        """Whether all its parameters are numbers."""
        return all(isinstance(v, int | float) for v in self._parameters.values())

    def shape_mapping(self, shape: Any) -> tuple[int, ...]:
        """The shape of what it gives for numbers of a shape.

        >>> ScalarAffine([1.0, 2.0]).shape_mapping((3, 1))
        (3, 2)
        """
        return np.broadcast_shapes(tuple(shape), self.batch_shape)

    def _value(self, value: Any) -> Tensor:
        held = value if isinstance(value, Tensor) else Tensor(np.asarray(value), float32)
        if not held.dtype.is_float:
            raise ArgumentError(f"{self.name} takes floats, not {held.dtype!r}", hint="cast them to float32")
        return held

    def forward(self, value: Any) -> Tensor:
        """What it gives.

        >>> ScalarAffine(2.0, 1.0).forward(Tensor([3.0])).tolist()
        [7.0]
        """
        return self._forward(self._value(value))

    def inverse(self, value: Any) -> Tensor:
        """The number that it gives this for.

        >>> ScalarAffine(2.0, 1.0).inverse(Tensor([7.0])).tolist()
        [3.0]
        """
        return self._inverse(self._value(value))

    def forward_log_jacobian(self, value: Any) -> Tensor:
        """The logarithm of its slope at a number.

        >>> Exp().forward_log_jacobian(Tensor([3.0])).tolist()
        [3.0]
        """
        return self._forward_log_jacobian(self._value(value))

    def inverse_log_jacobian(self, value: Any) -> Tensor:
        """The logarithm of the slope of its inverse.

        >>> Exp().inverse_log_jacobian(Tensor([1.0])).tolist()
        [0.0]
        """
        return self._inverse_log_jacobian(self._value(value))

    def _forward(self, x: Tensor) -> Tensor:
        raise ArgumentError(f"{self.cls_name} does not say what it gives", hint="define _forward")

    def _inverse(self, y: Tensor) -> Tensor:
        raise ArgumentError(f"{self.cls_name} does not say how it is inverted", hint="define _inverse")

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return -self._inverse_log_jacobian(self._forward(x))

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return -self._forward_log_jacobian(self._inverse(y))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], Distribution):
            return TransformedDistribution(self, args[0])
        return super().__call__(*args, **kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        checks.choice(self.cls_name, "name", name, QUESTIONS)
        return getattr(self, name)(*args, **kwargs)


class PowerTransform(Bijector):
    """(1 + c x)^(1 / c), which is exp(x) for c = 0.

    >>> PowerTransform(0.5).forward(Tensor([2.0])).tolist()
    [4.0]
    """

    def __init__(self, power: Any = 0.0, name: str = "PowerTransform") -> None:
        super().__init__(name=name, param={"power": power})
        if np.any(np.asarray(power.asnumpy() if isinstance(power, Tensor) else power) < 0):
            raise ArgumentError("the power of a PowerTransform is not negative", given={"power": power})
        self.power = self._held(power)

    def _parts(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The power where it is not 0, where it is, and the numbers in the shape of both."""
        power = cast(self.power, x.dtype) + ops.zeros_like(x)
        plain = ops.equal(power, 0.0)
        return ops.where(plain, ops.ones_like(power), power), plain, x + ops.zeros_like(power)

    def _forward(self, x: Tensor) -> Tensor:
        power, plain, x = self._parts(x)
        return ops.exp(ops.where(plain, x, ops.log1p(ops.where(plain, ops.zeros_like(x), x * power)) / power))

    def _inverse(self, y: Tensor) -> Tensor:
        power, plain, y = self._parts(y)
        logs = ops.log(y)
        return ops.where(plain, logs, ops.expm1(logs * power) / power)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        power, plain, x = self._parts(x)
        return ops.where(plain, x, (1.0 / power - 1.0) * ops.log1p(ops.where(plain, ops.zeros_like(x), x * power)))

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return (cast(self.power, y.dtype) - 1.0) * ops.log(y)


class Exp(PowerTransform):
    """The exponential function.

    >>> Exp().inverse(Tensor([1.0])).tolist()
    [0.0]
    """

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(0.0, name)


class ScalarAffine(Bijector):
    """Scale x + shift.

    >>> ScalarAffine(2.0).forward_log_jacobian(Tensor([5.0])).shape
    (1,)
    """

    def __init__(self, scale: Any = 1.0, shift: Any = 0.0, name: str = "ScalarAffine") -> None:
        super().__init__(is_constant_jacobian=True, name=name, param={"scale": scale, "shift": shift})
        self.scale, self.shift = self._held(scale), self._held(shift)

    def _forward(self, x: Tensor) -> Tensor:
        return cast(self.scale, x.dtype) * x + cast(self.shift, x.dtype)

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - cast(self.shift, y.dtype)) / cast(self.scale, y.dtype)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return ops.log(ops.abs(cast(self.scale, x.dtype))) + ops.zeros_like(x)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return -self._forward_log_jacobian(y)


class Softplus(Bijector):
    """log(1 + exp(k x)) / k, where k is the sharpness.

    >>> round(Softplus().forward(Tensor([0.0])).item(), 4)
    0.6931
    """

    def __init__(self, sharpness: Any = 1.0, name: str = "Softplus") -> None:
        super().__init__(name=name, param={"sharpness": sharpness})
        self.sharpness = self._held(sharpness)

    def _forward(self, x: Tensor) -> Tensor:
        k = cast(self.sharpness, x.dtype)
        z = k * x
        return (ops.maximum(z, ops.zeros_like(z)) + ops.log1p(ops.exp(-ops.abs(z)))) / k

    def _inverse(self, y: Tensor) -> Tensor:
        k = cast(self.sharpness, y.dtype)
        z = k * y
        return (z + ops.log(-ops.expm1(-z))) / k

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return ops.logsigmoid(cast(self.sharpness, x.dtype) * x)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return -ops.log(-ops.expm1(-cast(self.sharpness, y.dtype) * y))


class GumbelCDF(Bijector):
    """The distribution function of Gumbel's distribution: exp(-exp(-(x - loc) / scale)).

    >>> round(GumbelCDF().forward(Tensor([0.0])).item(), 4)
    0.3679
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, name: str = "GumbelCDF") -> None:
        super().__init__(name=name, param={"loc": loc, "scale": scale})
        self.loc, self.scale = self._held(loc), self._held(scale)

    def _standard(self, x: Tensor) -> Tensor:
        return (x - cast(self.loc, x.dtype)) / cast(self.scale, x.dtype)

    def _forward(self, x: Tensor) -> Tensor:
        return ops.exp(-ops.exp(-self._standard(x)))

    def _inverse(self, y: Tensor) -> Tensor:
        return cast(self.loc, y.dtype) - cast(self.scale, y.dtype) * ops.log(-ops.log(y))

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        z = self._standard(x)
        return -z - ops.exp(-z) - ops.log(cast(self.scale, x.dtype))

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        inside = (y > 0) & (y < 1)
        there = ops.where(inside, y, ops.zeros_like(y) + 0.5)
        return within(inside, ops.log(cast(self.scale, y.dtype) / (-there * ops.log(there))), float("nan"))


class Invert(Bijector):
    """The inverse of a bijector.

    >>> Invert(ScalarAffine(2.0)).forward(Tensor([6.0])).tolist()
    [3.0]
    """

    def __init__(self, bijector: Bijector, name: str = "") -> None:
        super().__init__(bijector.is_constant_jacobian, bijector.is_injective, name or f"Invert_{bijector.name}")
        self._bijector = bijector
        self._parameters = bijector.parameters

    @property
    def bijector(self) -> Bijector:
        """What is inverted."""
        return self._bijector

    def _forward(self, x: Tensor) -> Tensor:
        return self._bijector.inverse(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._bijector.forward(y)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return self._bijector.inverse_log_jacobian(x)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return self._bijector.forward_log_jacobian(y)


_boundary(globals())
