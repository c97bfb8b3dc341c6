"""Random tensors. A seed makes a call repeatable by itself, a generator is a stream of its own; without
either it draws from the session's generator.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from typing import Any

from mycelia import primitives as p
from mycelia.eager import Generator, Tensor, as_dtype, cast, default_generator, seeded
from mycelia.eager.dispatch import must
from mycelia.errors import ArgumentError
from mycelia.ir import Value
from mycelia.ops.arguments import extents, floated, method, number, pair, tensor
from mycelia.ops.order import order_of
from mycelia.primitives.family import broadcast_shapes
from mycelia.types import DType, float32, float64, int32, int64

__all__ = [
    "bernoulli",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "laplace",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "shuffle",
    "standard_normal",
    "truncated_normal",
    "uniform",
]


Source = int | Generator | None  # a seed, a stream, or that of the session


def _source(seed: int | None, generator: Generator | None) -> Source:
    if seed is not None and generator is not None:
        raise ArgumentError("random numbers come from a seed or from a generator", given={"seed": seed})
    return seed if generator is None else generator


def drawn(source: Source) -> tuple[Tensor, Tensor]:
    """The key and the counter of a draw."""
    if source is None:
        return default_generator.draw()
    return source.draw() if isinstance(source, Generator) else seeded(source)


def _uniform(shape: tuple[int, ...], dtype: DType, source: Source) -> Tensor:
    return p.uniform(*drawn(source), shape, dtype)


def _normal(shape: tuple[int, ...], dtype: DType, source: Source) -> Tensor:
    return p.normal(*drawn(source), shape, dtype)


def rand(*size: Any, dtype: Any = None, seed: int | None = None, generator: Generator | None = None) -> Tensor:
    """Numbers evenly from 0 up to, and without, 1.

    >>> rand(2, 3, seed=1).shape
    (2, 3)
    """
    return _uniform(extents(*size), float32 if dtype is None else as_dtype(dtype), _source(seed, generator))


def rand_like(input: Any, seed: int | None = None, *, dtype: Any = None, generator: Generator | None = None) -> Tensor:
    """Numbers evenly from 0 up to 1, in the shape of another tensor.

    >>> rand_like(Tensor([1.0, 2.0])).shape
    (2,)
    """
    x = floated(input)
    return rand(x.shape, dtype=x.dtype if dtype is None else dtype, seed=seed, generator=generator)


def uniform(shape: Any, minval: Any, maxval: Any, seed: int | None = None, dtype: Any = float32) -> Tensor:
    """Numbers evenly from `minval` up to, and without, `maxval`; integers if dtype is.

    >>> bool((uniform((4,), Tensor(2.0), Tensor(3.0)) >= 2.0).all())
    True
    """
    wanted = as_dtype(dtype)
    if wanted.is_integer:
        return randint(minval, maxval, shape, seed, dtype=wanted)
    low, high = (cast(tensor(x), wanted) for x in (minval, maxval))
    span = high - low
    return low + span * _uniform(broadcast_shapes(extents(shape), span.shape), wanted, seed)


def randn(*size: Any, dtype: Any = None, seed: int | None = None, generator: Generator | None = None) -> Tensor:
    """Numbers of the standard normal distribution.

    >>> randn(2, 3).shape
    (2, 3)
    """
    return _normal(extents(*size), float32 if dtype is None else as_dtype(dtype), _source(seed, generator))


def randn_like(input: Any, seed: int | None = None, *, dtype: Any = None, generator: Generator | None = None) -> Tensor:
    """Numbers of the standard normal distribution, in the shape of another tensor; float32 unless asked.

    >>> randn_like(Tensor([1.0, 2.0])).shape
    (2,)
    """
    return randn(tensor(input).shape, dtype=dtype, seed=seed, generator=generator)


def standard_normal(shape: Any, seed: int | None = None) -> Tensor:
    """Numbers of the standard normal distribution.

    >>> standard_normal((2,)).shape
    (2,)
    """
    return _normal(extents(shape), float32, seed)


def normal(
    shape: Any, mean: Any, stddev: Any, seed: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Numbers of a normal distribution.

    >>> normal((2,), 0.0, 1.0).shape
    (2,)
    """
    center, spread = pair(mean, stddev)
    center, spread = floated(center), floated(spread)
    wanted = broadcast_shapes(extents(shape), center.shape, spread.shape)
    return center + spread * _normal(wanted, center.dtype, _source(seed, generator))


def truncated_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None) -> Tensor:
    """Numbers of a normal distribution, none further than two deviations from the mean.

    >>> bool((truncated_normal((100,)).abs() <= 2.0).all())
    True
    """
    edge = math.erf(2.0 / math.sqrt(2.0))
    evenly = (_uniform(extents(shape), float64, seed) * 2.0 - 1.0) * edge
    return cast(_erfinv(evenly) * (math.sqrt(2.0) * stddev) + mean, float32)


def _erfinv(y: Tensor) -> Tensor:
    """The inverse of erf, by Newton's method from a rational guess."""
    a = 0.147
    logs = p.log(1.0 - y * y)
    half = logs * 0.5 + 2.0 / (math.pi * a)
    x = p.sign(y) * p.sqrt(p.sqrt(half * half - logs * (1.0 / a)) - half)
    for _ in range(4):
        x = x - (p.erf(x) - y) * p.exp(x * x) * (math.sqrt(math.pi) / 2.0)
    return x


def laplace(shape: Any, mean: Any, lambda_param: Any, seed: int | None = None) -> Tensor:
    """Numbers of a Laplace distribution.

    >>> laplace((3,), Tensor(0.0), Tensor(1.0)).shape
    (3,)
    """
    center, scale = (floated(x) for x in pair(mean, lambda_param))
    u = _uniform(broadcast_shapes(extents(shape), center.shape, scale.shape), center.dtype, seed) - 0.5
    return center - scale * p.sign(u) * p.log1p(p.abs(u) * -2.0)


def randint(
    low: Any, high: Any, size: Any, seed: int | None = None, *, dtype: Any = None, generator: Generator | None = None
) -> Tensor:
    """Whole numbers evenly from `low` up to, and without, `high`.

    >>> randint(0, 5, (3,)).dtype
    int64
    """
    first, last = (int(x) for x in (low, high))
    if last <= first:
        raise ArgumentError(
            f"there is no whole number from {first} up to, and without, {last}", hint="the smaller bound comes first"
        )
    evenly = _uniform(extents(size), float64, _source(seed, generator))
    return cast(cast(p.floor(evenly * float(last - first)), int64) + first, int64 if dtype is None else as_dtype(dtype))


def randint_like(
    input: Any, low: int, high: int, seed: int | None = None, *, dtype: Any = None, generator: Generator | None = None
) -> Tensor:
    """Whole numbers evenly from `low` up to `high`, in the shape of another tensor.

    >>> randint_like(Tensor([1, 2]), 0, 3).shape
    (2,)
    """
    x = tensor(input)
    return randint(low, high, x.shape, seed, dtype=x.dtype if dtype is None else dtype, generator=generator)


def randperm(
    n: int, seed: int = 0, offset: int = 0, dtype: Any = int64, *, generator: Generator | None = None
) -> Tensor:
    """The numbers below n in random order; a seed or an offset other than 0 makes the call repeatable by itself.

    >>> sorted(randperm(3).tolist())
    [0, 1, 2]
    """
    chosen = (seed << 32) + offset if seed or offset else None
    return cast(order_of(_uniform(extents((n,)), float64, _source(chosen, generator)), 0, False), as_dtype(dtype))


def shuffle(x: Any, seed: int | None = None) -> Tensor:
    """The slices of the first axis in random order.

    >>> sorted(shuffle(Tensor([1, 2, 3])).tolist())
    [1, 2, 3]
    """
    x = tensor(x)
    order = order_of(_uniform((x.shape[0],), float64, seed), 0, False)
    return p.gather(x, order, 0)


@method("bernoulli")
def bernoulli(input: Any, p: Any = 0.5, seed: int | None = None, *, generator: Generator | None = None) -> Tensor:
    """One with a probability, else zero, in the shape of another tensor.

    >>> bernoulli(Tensor([1.0, 2.0]), 1.0).tolist()
    [1.0, 1.0]
    """
    x = tensor(input)
    chance = tensor(p)
    return cast(_uniform(x.shape, float32, _source(seed, generator)) < chance, x.dtype)


def multinomial(
    input: Any,
    num_samples: int,
    replacement: bool = True,
    seed: int | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Positions, each drawn as likely as its weight says; without replacement none is drawn twice.

    >>> multinomial(Tensor([0.0, 1.0]), 3).tolist()
    [1, 1, 1]
    """
    weights = cast(tensor(input), float64)
    if weights.ndim not in (1, 2):
        raise ArgumentError("multinomial takes a row of weights, or rows of them", given={"shape": weights.shape})
    likely = p.logical_and(p.reduce_all(p.greater_equal(weights, 0.0)), p.reduce_all(p.reduce_sum(weights, (-1,)) > 0))
    source = _source(seed, generator)
    if replacement:
        must_hold(likely, "multinomial takes rows of weights, none negative and not all zero", weights.shape)
        edges = p.cumsum(weights, weights.ndim - 1)
        u = _uniform((*weights.shape[:-1], num_samples), float64, source) * p.take(
            edges, weights.ndim - 1, weights.shape[-1] - 1, weights.shape[-1]
        )
        passed = p.greater_equal(p.expand_dims(u, (u.ndim,)), p.expand_dims(edges, (u.ndim - 1,)))
        return cast(p.minimum(p.reduce_sum(cast(passed, int64), (-1,)), weights.shape[-1] - 1), int32)
    must_hold(likely, "multinomial takes rows of weights, none negative and not all zero", weights.shape)
    above = p.reduce_sum(cast(p.greater(weights, 0.0), int64), (-1,))
    must_hold(
        p.reduce_all(p.greater_equal(above, num_samples)),
        f"{num_samples} different positions cannot be drawn from fewer with a weight above zero",
        weights.shape,
    )
    u = _uniform(weights.shape, float64, source)
    weighted = p.greater(weights, 0.0)  # the largest keys are a weighted draw (Efraimidis and Spirakis)
    keys = p.select(weighted, p.log(1.0 - u) / p.select(weighted, weights, number(1, weights)), number(-math.inf, u))
    return cast(p.take(order_of(keys, weights.ndim - 1, True), weights.ndim - 1, 0, num_samples), int32)


def must_hold(known: Tensor, words: str, shape: tuple[int, ...]) -> None:
    """An error where this does not hold; a program finds out when it runs."""
    if known._data.__class__ is Value:
        must(known._data)
    elif not known._data:
        raise ArgumentError(words, given={"shape": shape})


# ------------------------------------------------------------------------------------------------------------- dropout


def dropout(input: Any, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
    """Each element zero with probability p, the others scaled up such that the mean stays.

    >>> dropout(Tensor([1.0, 2.0]), 0.0).tolist()
    [1.0, 2.0]
    """
    x = floated(input)
    return _dropped(x, p, training, seed, x.shape)


def dropout1d(input: Any, p: float = 0.5, training: bool = True) -> Tensor:
    """Each channel of a sequence zero with probability p.

    >>> dropout1d(Tensor([[[1.0]]]), 0.0).tolist()
    [[[1.0]]]
    """
    return _channels(input, p, training, 1)


def dropout2d(input: Any, p: float = 0.5, training: bool = True) -> Tensor:
    """Each channel of an image zero with probability p.

    >>> dropout2d(Tensor([[[[1.0]]]]), 0.0).tolist()
    [[[[1.0]]]]
    """
    return _channels(input, p, training, 2)


def dropout3d(input: Any, p: float = 0.5, training: bool = True) -> Tensor:
    """Each channel of a volume zero with probability p.

    >>> dropout3d(Tensor([[[[[1.0]]]]]), 0.0).tolist()
    [[[[[1.0]]]]]
    """
    return _channels(input, p, training, 3)


def _channels(input: Any, rate: float, training: bool, rank: int) -> Tensor:
    x = floated(input)
    return _dropped(x, rate, training, None, (*x.shape[: x.ndim - rank], *(1,) * rank))


def _dropped(x: Tensor, rate: float, training: bool, seed: int | None, shape: tuple[int, ...]) -> Tensor:
    if not 0.0 <= rate <= 1.0:
        raise ArgumentError(f"the probability of dropping is from 0 to 1, not {rate}", hint="for example p=0.5")
    if not training or rate == 0.0:
        return x.alias()
    kept = _uniform(shape, float32, seed) >= rate
    scale = 0.0 if rate == 1.0 else 1.0 / (1.0 - rate)
    return p.select(kept, x * scale, number(0, x))
