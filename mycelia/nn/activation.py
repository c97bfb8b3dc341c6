"""Activations as cells: thin names over the functions in `ops`."""

from __future__ import annotations

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.nn.cell import Cell


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
}


def get_activation(name: str) -> Cell:
    """The activation that goes by this name.

    >>> get_activation("relu")
    ReLU()
    """
    if name not in ACTIVATIONS:
        raise ArgumentError(f"no activation is called {name!r}", hint=f"known are {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[name]()
