"""How parameters begin: constants, and random numbers scaled by the number of connections."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia.eager import Tensor, as_dtype, default_generator, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.types import Array, float32

__all__ = [
    "Constant",
    "Dirac",
    "HeNormal",
    "HeUniform",
    "Identity",
    "Initializer",
    "Normal",
    "One",
    "Orthogonal",
    "Sparse",
    "TruncatedNormal",
    "Uniform",
    "VarianceScaling",
    "XavierNormal",
    "XavierUniform",
    "Zero",
    "initializer",
]


class Initializer:
    """What fills an array with the numbers that a parameter begins with.

    A kind of one's own gives the numbers for a shape:

    >>> class Thirds(Initializer):
    ...     def draw(self, shape):
    ...         return np.full(shape, 1 / 3)
    >>> initializer(Thirds(), (2,)).asnumpy()
    array([0.33333334, 0.33333334], dtype=float32)
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def draw(self, shape: tuple[int, ...]) -> Array:
        """Numbers for a parameter of this shape."""
        raise ArgumentError(
            f"{type(self).__name__} does not say which numbers it gives", hint="define draw(shape), or _initialize(arr)"
        )

    def _initialize(self, arr: Array) -> None:
        """Fill an array: what MindSpore's initialisers define."""
        arr[...] = self.draw(arr.shape)

    def __call__(self, arr: Array) -> None:
        """Fill `arr`."""
        self._initialize(arr)


class Constant(Initializer):
    """One value, or an array of values, everywhere.

    >>> initializer(Constant(3), (2,)).asnumpy()
    array([3., 3.], dtype=float32)
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def draw(self, shape: tuple[int, ...]) -> Array:
        return np.broadcast_to(np.asarray(self.value), shape)


class Zero(Constant):
    """Zeros.

    >>> initializer(Zero(), (2,)).asnumpy()
    array([0., 0.], dtype=float32)
    """

    def __init__(self) -> None:
        super().__init__(0)


class One(Constant):
    """Ones.

    >>> initializer("ones", (2,)).asnumpy()
    array([1., 1.], dtype=float32)
    """

    def __init__(self) -> None:
        super().__init__(1)


class Uniform(Initializer):
    """Uniform between -scale and scale.

    >>> bool(np.abs(initializer(Uniform(0.5), (100,)).asnumpy()).max() <= 0.5)
    True
    """

    def __init__(self, scale: float = 0.07) -> None:
        self.scale = scale

    def draw(self, shape: tuple[int, ...]) -> Array:
        return fresh().uniform(-self.scale, self.scale, shape)


class Normal(Initializer):
    """Normal with standard deviation `sigma` around `mean`.

    >>> round(float(initializer(Normal(0.1), (10000,)).asnumpy().std()), 2)
    0.1
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        self.sigma, self.mean = sigma, mean

    def draw(self, shape: tuple[int, ...]) -> Array:
        return fresh().normal(self.mean, self.sigma, shape)


class TruncatedNormal(Initializer):
    """Normal, but nothing farther from `mean` than `a` and `b` standard deviations: what falls outside is drawn again.

    >>> bool(np.abs(initializer(TruncatedNormal(0.1), (1000,)).asnumpy()).max() <= 0.2)
    True
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        if not a < b:
            raise ArgumentError("a normal cut off at a and b needs a < b", given={"a": a, "b": b})
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def draw(self, shape: tuple[int, ...]) -> Array:
        return self.mean + self.sigma * truncated(shape, self.a, self.b)


class XavierUniform(Initializer):
    """Uniform such that signals keep their variance both ways: within gain * sqrt(6 / (inputs + outputs)).

    >>> bool(np.abs(initializer("xavier_uniform", (3, 3)).asnumpy()).max() <= 1)
    True
    """

    def __init__(self, gain: float = 1) -> None:
        self.gain = gain

    def draw(self, shape: tuple[int, ...]) -> Array:
        limit = self.gain * math.sqrt(6 / sum(fans(shape)))
        return fresh().uniform(-limit, limit, shape)


class XavierNormal(Initializer):
    """Normal such that signals keep their variance both ways: sigma is gain * sqrt(2 / (inputs + outputs)).

    >>> initializer(XavierNormal(), (3, 4)).shape
    (3, 4)
    """

    def __init__(self, gain: float = 1) -> None:
        self.gain = gain

    def draw(self, shape: tuple[int, ...]) -> Array:
        return fresh().normal(0, self.gain * math.sqrt(2 / sum(fans(shape))), shape)


class He(Initializer):
    """The family for layers before rectifiers: variance gain² / fan."""

    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        self.mode, self.gain = mode, gain(nonlinearity, negative_slope)

    def sigma(self, shape: tuple[int, ...]) -> float:
        """The standard deviation for this shape."""
        return self.gain / math.sqrt(chosen_fan(shape, self.mode))


class HeUniform(He):
    """Uniform such that a rectifier after the layer keeps the variance of signals.

    >>> bool(np.abs(initializer(HeUniform(), (4, 6)).asnumpy()).max() <= 1)
    True
    """

    def draw(self, shape: tuple[int, ...]) -> Array:
        limit = math.sqrt(3) * self.sigma(shape)
        return fresh().uniform(-limit, limit, shape)


class HeNormal(He):
    """Normal such that a rectifier after the layer keeps the variance of signals.

    >>> initializer("he_normal", (4, 6)).shape
    (4, 6)
    """

    def draw(self, shape: tuple[int, ...]) -> Array:
        return fresh().normal(0, self.sigma(shape), shape)


class VarianceScaling(Initializer):
    """Random numbers whose variance is scale / fan, from one of three distributions.

    >>> initializer(VarianceScaling(distribution="uniform"), (4, 6)).shape
    (4, 6)
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None:
        if distribution not in ("uniform", "untruncated_normal", "truncated_normal"):
            raise ArgumentError(
                f"{distribution!r} is no distribution here",
                hint='choose "uniform", "untruncated_normal" or "truncated_normal"',
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def draw(self, shape: tuple[int, ...]) -> Array:
        sigma = math.sqrt(self.scale / chosen_fan(shape, self.mode))
        if self.distribution == "uniform":
            return fresh().uniform(-math.sqrt(3) * sigma, math.sqrt(3) * sigma, shape)
        if self.distribution == "untruncated_normal":
            return fresh().normal(0, sigma, shape)
        return sigma / SIGMA_WITHIN_TWO * truncated(shape, -2.0, 2.0)


class Identity(Initializer):
    """The identity matrix.

    >>> initializer(Identity(), (2, 2)).asnumpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def draw(self, shape: tuple[int, ...]) -> Array:
        if len(shape) != 2:
            raise ShapeError(f"the identity is a matrix; a parameter of shape {shape} is none")
        return np.eye(*shape)


class Orthogonal(Initializer):
    """A matrix (all axes but the first taken as one) whose shorter side is orthonormal, times `gain`.

    >>> q = initializer(Orthogonal(), (3, 5)).asnumpy()
    >>> bool(np.allclose(q @ q.T, np.eye(3), atol=1e-6))
    True
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def draw(self, shape: tuple[int, ...]) -> Array:
        if len(shape) < 2:
            raise ShapeError(f"an orthogonal parameter has two axes or more, not shape {shape}")
        rows, columns = shape[0], math.prod(shape[1:])
        q, r = np.linalg.qr(fresh().normal(size=(max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diag(r))  # uniform over all orthogonal matrices
        return self.gain * (q if rows >= columns else q.T).reshape(shape)


class Sparse(Initializer):
    """Normal numbers in a matrix, of which a share `sparsity` in each column is zero.

    >>> int((initializer(Sparse(0.5), (10, 3)).asnumpy() == 0).sum())
    15
    """

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        self.sparsity, self.sigma = sparsity, sigma

    def draw(self, shape: tuple[int, ...]) -> Array:
        if len(shape) != 2:
            raise ShapeError(f"a sparse parameter is a matrix; shape {shape} is none")
        source = fresh()
        numbers = source.normal(0, self.sigma, shape)
        order = source.random(shape).argsort(axis=0)
        return np.where(order < math.ceil(self.sparsity * shape[0]), 0, numbers)


class Dirac(Initializer):
    """A convolution that changes nothing, in each of `groups` groups of channels.

    >>> initializer(Dirac(), (1, 1, 3)).asnumpy().tolist()
    [[[0.0, 1.0, 0.0]]]
    """

    def __init__(self, groups: int = 1) -> None:
        self.groups = groups

    def draw(self, shape: tuple[int, ...]) -> Array:
        if not 3 <= len(shape) <= 5 or shape[0] % self.groups:
            raise ShapeError(
                f"shape {shape} is no convolution weight in {self.groups} groups",
                hint="it has 3 to 5 axes, and groups divide the first",
            )
        weight = np.zeros(shape)
        each = shape[0] // self.groups
        centre = tuple(extent // 2 for extent in shape[2:])
        for group in range(self.groups):
            for channel in range(min(each, shape[1])):
                weight[(group * each + channel, channel, *centre)] = 1
        return weight


def initializer(init: Any, shape: Sequence[int] | int | None = None, dtype: Any = float32) -> Tensor:
    """A tensor of this shape and type that begins as `init` says: an Initializer, its name, a number, or a tensor.

    >>> initializer("zeros", (2,))
    Tensor(shape=[2], dtype=Float32, value= [ 0.00000000e+00,  0.00000000e+00])
    """
    if isinstance(init, Tensor):
        if shape is not None and tuple(shape if isinstance(shape, Sequence) else (shape,)) != init.shape:
            raise ShapeError(f"a tensor of shape {init.shape} cannot begin a parameter of shape {shape}")
        return Tensor(init, dtype=dtype)
    if shape is None:
        raise ArgumentError("an initial value needs a shape", given={"init": init}, hint="initializer(init, shape)")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(s, int | np.integer) and s >= 0 for s in sizes):
        raise ShapeError(f"a parameter cannot have shape {sizes}", hint="sizes are whole numbers from 0")
    numbers = np.zeros(sizes, as_dtype(dtype).numpy)
    filler(init)(numbers)
    return wrap(numbers)


def filler(init: Any) -> Callable[[Array], object]:
    """What fills an array, from what a person may write: an Initializer, a name, or a number.

    >>> filler("xavier_uniform").__class__.__name__
    'XavierUniform'
    """
    if isinstance(init, Initializer):
        return init
    if isinstance(init, str):
        kind = NAMED.get(init.lower().replace("_", ""))
        if kind is None:
            raise ArgumentError(f"no initializer is called {init!r}", hint=f"known are {', '.join(sorted(NAMED))}")
        return kind()
    if isinstance(init, int | float):
        return Constant(init)
    raise ArgumentError(
        f"{type(init).__name__} does not say how a parameter begins",
        given={"init": init},
        hint='write for example "normal", Normal(0.02), or a number',
    )


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs one output sees, and how many outputs one input reaches: weights are (out, in, *window).

    >>> fans((16, 6, 5, 5))
    (150, 400)
    """
    if len(shape) < 2:
        raise ShapeError(
            f"inputs and outputs cannot be told from shape {tuple(shape)}", hint="a weight has two axes or more"
        )
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def chosen_fan(shape: Sequence[int], mode: str) -> float:
    """The count that the variance is divided by.

    >>> chosen_fan((2, 6), "fan_avg")
    4.0
    """
    inputs, outputs = fans(shape)
    counts = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}
    if mode not in counts:
        raise ArgumentError(f"{mode!r} is no way to count connections", hint=f"choose one of {', '.join(counts)}")
    return counts[mode]


def gain(nonlinearity: str, slope: float = 0) -> float:
    """What a weight must be scaled by so that the nonlinearity after it keeps the variance.

    >>> gain("tanh"), round(gain("relu"), 4)
    (1.6666666666666667, 1.4142)
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + slope * slope))
    known = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2)}
    known |= {f"conv{n}d{t}": 1.0 for n in (1, 2, 3) for t in ("", "_transpose")}
    if nonlinearity not in known:
        raise ArgumentError(
            f"no gain is known for {nonlinearity!r}", hint=f"choose one of {', '.join(sorted(known))}, leaky_relu"
        )
    return known[nonlinearity]


def fresh() -> np.random.Generator:
    """A NumPy stream for one use, which the seed and the number of earlier draws decide.

    >>> from mycelia.api import set_seed
    >>> set_seed(3)
    >>> first = fresh().random()
    >>> set_seed(3)
    >>> first == fresh().random()
    True
    """
    key, counter = default_generator.draw()
    return np.random.default_rng([*key.tolist(), *counter.tolist()])


def truncated(shape: tuple[int, ...], low: float, high: float) -> Array:
    """Standard normal numbers between `low` and `high`.

    >>> bool(truncated((100,), -1.0, 1.0).max() <= 1)
    True
    """
    source = fresh()
    numbers = source.normal(size=shape)
    while (outside := (numbers < low) | (numbers > high)).any():
        numbers[outside] = source.normal(size=int(outside.sum()))
    return numbers


SIGMA_WITHIN_TWO = 0.87962566103423978  # of a normal whose tails beyond two deviations are cut off
NAMED: dict[str, Callable[[], Initializer]] = {
    kind.__name__.lower(): kind
    for kind in (Zero, One, Uniform, Normal, TruncatedNormal, XavierUniform, XavierNormal, HeUniform, HeNormal)
}
NAMED |= {"zeros": Zero, "ones": One, "identity": Identity, "orthogonal": Orthogonal}
NAMED |= {"variancescaling": VarianceScaling, "dirac": Dirac}


def filled(arr: Array, num: Any) -> Array:
    """An array with other numbers in it, for a `_initialize` of one's own; it is returned.

    >>> filled(np.zeros((2,)), 3.0)
    array([3., 3.])
    """
    arr[...] = num
    return arr
