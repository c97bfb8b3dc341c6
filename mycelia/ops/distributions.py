"""Random numbers of rarer distributions, and classes drawn as samples. What is drawn has no gradient in what it was
drawn by, but for `gumbel_softmax` and `rrelu`, which are functions of a tensor and of noise.

Gamma and Poisson numbers are drawn by rejection (Marsaglia and Tsang; Hörmann's PTRS), without a loop: sixteen
candidates for each number, of which the first that is accepted counts. That none is has a probability below 1e-12.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import number as number_of
from mycelia.checks import truth, whole
from mycelia.eager import Tensor, as_dtype, cast, created, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops import random
from mycelia.ops.activation import softmax
from mycelia.ops.arguments import axis_of, extents, floated, number, tensor
from mycelia.ops.numbers import lgamma
from mycelia.ops.order import order_of
from mycelia.primitives.family import broadcast_shapes
from mycelia.types import bool_, float32, float64, int32, int64

__all__ = [
    "choice_with_mask",
    "gamma",
    "gumbel_softmax",
    "log_uniform_candidate_sampler",
    "multinomial_with_replacement",
    "random_gamma",
    "random_poisson",
    "rrelu",
    "standard_laplace",
    "uniform_candidate_sampler",
]
CANDIDATES = 16


def _sources(seed: random.Source, count: int) -> list[tuple[Tensor, Tensor]]:
    """Keys and counters of several draws from one seed, or from one draw of the session."""
    key, counter = random.drawn(seed)
    others = [p.random_bits(key, wrap(np.array([i, 0xFFFFFFFE], np.uint32)), (2,)) for i in range(1, count)]
    return [(k, counter) for k in (key, *others)]


def _first_of(accepted: Tensor, values: Tensor) -> Tensor:
    """The first of the candidates on axis 0 that is accepted."""
    before = p.cumsum(cast(accepted, int32), 0)
    chosen = p.logical_and(accepted, p.equal(before, 1))
    return p.reduce_sum(p.select(chosen, values, number(0, values)), (0,))


# --------------------------------------------------------------------------------------------------- gamma and Poisson


def gamma_noise(shape: tuple[int, ...], alpha: Tensor, seed: random.Source) -> Tensor:
    """Gamma numbers of rate 1, in double precision."""
    alpha = p.stop_gradient(cast(alpha, float64))
    one, two, three = _sources(seed, 3)
    small = p.less(alpha, 1.0)
    d = p.select(small, alpha + 1.0, alpha) - 1.0 / 3.0
    c = 1.0 / p.sqrt(d * 9.0)
    x = p.normal(*one, (CANDIDATES, *shape), float64)
    u = 1.0 - p.uniform(*two, (CANDIDATES, *shape), float64)
    root = 1.0 + c * x
    v = root * root * root
    inside = p.greater(v, 0.0)
    logs = p.log(p.select(inside, v, number(1, v)))
    good = p.logical_and(inside, p.less(p.log(u), 0.5 * x * x + d * (1.0 - v + logs)))
    found = d * _first_of(good, v)
    lift = (1.0 - p.uniform(*three, shape, float64)) ** (1.0 / p.select(small, alpha, number(1, alpha)))
    return p.select(small, found * lift, found)


def _positive(name: str, what: str, x: Any) -> Tensor:
    x = floated(x)
    random.must_hold(p.reduce_all(p.greater(x, 0)), f"{what} of {name} is above 0", x.shape)
    return x


def random_gamma(shape: Any, alpha: Any, seed: int | None = None) -> Tensor:
    """Numbers of a gamma distribution with rate 1: so many for each `alpha`, whose axes come last.

    >>> random_gamma((4,), Tensor([0.5, 1.5]), seed=1).shape
    (4, 2)
    """
    alpha = _positive("random_gamma", "alpha", alpha)
    return cast(gamma_noise((*extents(shape), *alpha.shape), alpha, seed), alpha.dtype)


def gamma(shape: Any, alpha: Any, beta: Any, seed: int | None = None) -> Tensor:
    """Numbers of a gamma distribution with shape `alpha` and rate `beta`; the axes of both come last.

    >>> gamma((4,), Tensor([0.5, 1.5]), Tensor(2.0), seed=1).shape
    (4, 2)
    """
    alpha, beta = _positive("gamma", "alpha", alpha), _positive("gamma", "beta", beta)
    wide = broadcast_shapes(alpha.shape, beta.shape)
    drawn = gamma_noise((*extents(shape), *wide), alpha, seed)
    return cast(drawn / p.stop_gradient(cast(beta, float64)), alpha.dtype)


def random_poisson(shape: Any, rate: Any, seed: int | None = None, dtype: Any = float32) -> Tensor:
    """Numbers of a Poisson distribution: so many for each rate, whose axes come last.

    >>> random_poisson((4,), Tensor([5.0, 10.0]), seed=1).shape
    (4, 2)
    """
    rate = floated(rate)
    random.must_hold(p.reduce_all(p.greater_equal(rate, 0)), "rate of random_poisson is at least 0", rate.shape)
    return cast(poisson_noise((*extents(shape), *rate.shape), cast(rate, float64), seed), as_dtype(dtype))


def poisson_noise(shape: tuple[int, ...], rate: Tensor, seed: random.Source) -> Tensor:
    """Poisson numbers: those of a rate below 10 by their distribution function, others by rejection."""
    rate = p.stop_gradient(rate)
    one, two, three = _sources(seed, 3)
    low = p.minimum(rate, 10.0)
    u = p.uniform(*one, shape, float64)
    term = p.exp(-low)
    total, count = term, cast(p.greater_equal(u, term), float64)
    for k in range(1, 64):
        term = term * low / float(k)
        total = total + term
        count = count + cast(p.greater_equal(u, total), float64)
    high = p.maximum(rate, 10.0)
    b = 0.931 + 2.53 * p.sqrt(high)
    a = -0.059 + 0.02483 * b
    edge = 0.9277 - 3.6224 / (b - 2.0)
    v = p.uniform(*two, (CANDIDATES, *shape), float64) - 0.5
    w = 1.0 - p.uniform(*three, (CANDIDATES, *shape), float64)
    us = 0.5 - p.abs(v)
    k = p.floor((2.0 * a / p.maximum(us, 1e-300) + b) * v + high + 0.43)
    quick = p.logical_and(p.greater_equal(us, 0.07), p.less_equal(w, edge))
    inside = p.logical_and(p.greater_equal(k, 0.0), p.logical_or(p.greater_equal(us, 0.013), p.less_equal(w, us)))
    safe = p.maximum(k, 0.0)
    left = p.log(w) + p.log(1.1239 + 1.1328 / (b - 3.4)) - p.log(a / p.maximum(us * us, 1e-300) + b)
    slow = p.logical_and(inside, p.less_equal(left, safe * p.log(high) - high - lgamma(safe + 1.0)))
    far = _first_of(p.logical_or(quick, slow), safe)
    return p.select(p.less(rate, 10.0), count, far)


def standard_laplace(shape: Any, seed: int | None = None) -> Tensor:
    """Numbers of a Laplace distribution with mean 0 and scale 1.

    >>> standard_laplace((2, 3), seed=1).shape
    (2, 3)
    """
    return random.laplace(shape, wrap(np.zeros((), np.float32)), wrap(np.ones((), np.float32)), seed)


# -------------------------------------------------------------------------------------------------------------- noise


def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """A softmax of scores with Gumbel's noise, at a temperature: one class, drawn softly. If `hard`, 1 at the class
    that was drawn and 0 elsewhere, with the gradient of the soft one.

    >>> gumbel_softmax(Tensor([[0.0, 100.0]]), hard=True).tolist()
    [[0.0, 1.0]]
    """
    x = floated(logits)
    heat = number_of("gumbel_softmax", "tau", tau, above=0)
    axis = axis_of(x, dim)
    u = p.maximum(random.rand(x.shape, dtype=float32), 1e-20)
    soft = softmax((x - cast(p.log(-p.log(u)), x.dtype)) * (1.0 / heat), axis)
    if not truth("gumbel_softmax", "hard", hard):
        return soft
    places = created(p.Iota(int64, x.shape, axis))
    best = p.equal(places, p.expand_dims(cast(p.arg_max(soft, axis), int64), (axis,)))
    return cast(best, x.dtype) + (soft - p.stop_gradient(soft))


def rrelu(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """X above zero, and below it x times a slope that is drawn evenly between two bounds, for each element.

    >>> rrelu(Tensor([-1.0, 2.0]), 0.5, 0.5).tolist()
    [-0.5, 2.0]
    """
    x = floated(input)
    low, high = (number_of("rrelu", n, b, least=0, most=1) for n, b in (("lower", lower), ("upper", upper)))
    if low > high:
        raise ArgumentError("lower of rrelu is at most upper", given={"lower": lower, "upper": upper})
    slope = cast(random.rand(x.shape, dtype=float32) * (high - low) + low, x.dtype)
    return p.select(p.greater_equal(x, 0), x, x * slope)


# --------------------------------------------------------------------------------------------------- classes as samples


def choice_with_mask(input_x: Any, count: int = 256, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """So many of the places where a mask holds, at random and each once, as rows; and which of them there are.

    >>> places, there = choice_with_mask(Tensor([[False, True]]), 2)
    >>> places.tolist(), there.tolist()
    ([[0, 1], [0, 0]], [True, False])
    """
    mask = tensor(input_x)
    if mask.dtype is not bool_ or mask.ndim == 0:
        raise ArgumentError("choice_with_mask takes a mask with axes", given={"mask": mask})
    wanted = whole("choice_with_mask", "count", count, least=1)
    flat = p.reshape(mask, (mask.size,))
    noise = random.rand(mask.size, seed=seed)
    ranked = order_of(p.select(flat, noise, noise + 2.0), 0, False)
    places = p.pad(p.take(ranked, 0, 0, min(wanted, mask.size)), (0,), (max(0, wanted - mask.size),))
    there = p.less(created(p.Iota(int64, (wanted,), 0)), p.reduce_sum(cast(flat, int64)))
    columns = []
    for extent in reversed(mask.shape):
        columns.append(p.expand_dims(p.remainder(places, extent), (1,)))
        places = p.floor_divide(places, extent)
    rows = cast(p.concat(columns[::-1], 1), int32)
    return p.select(p.broadcast(p.expand_dims(there, (1,)), rows.shape), rows, 0), there


def multinomial_with_replacement(x: Any, seed: Any, offset: Any, numsamples: int, replacement: bool = False) -> Tensor:
    """Positions, each drawn as likely as its weight says; a seed and an offset of 0 leave the choice to the session.

    >>> multinomial_with_replacement(Tensor([[0.0, 9.0]]), 2, 5, 3, True).tolist()
    [[1, 1, 1]]
    """
    key = (int(seed) << 32) + int(offset)
    repeated = truth("multinomial_with_replacement", "replacement", replacement)
    return cast(random.multinomial(x, numsamples, repeated, key or None), int64)


def _sampled(
    name: str, chances: Any, true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn with the chances that each has, and how often the right and the drawn ones are expected."""
    right = tensor(true_classes)
    whole(name, "num_true", num_true, least=1)
    if right.ndim != 2 or right.shape[1] != num_true or not right.dtype.is_integer:
        raise ShapeError(f"{name} takes whole numbers of classes (N, {num_true}), not {right.dtype} {right.shape}")
    count, top = whole(name, "num_sampled", num_sampled, least=1), whole(name, "range_max", range_max, least=1)
    if truth(name, "unique", unique) and count > top:
        raise ArgumentError(f"{name}: {count} different classes cannot be drawn from {top}")
    table = chances(np.arange(top))
    found = random.multinomial(wrap(table), count, not unique, seed or None)

    def expected(classes: Tensor) -> Tensor:
        chance = cast(chances(cast(classes, float64)), float32)
        return 1.0 - (1.0 - chance) ** count if unique else chance * float(count)

    return cast(found, right.dtype), expected(right), expected(found)


def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int = 1, num_sampled: int = 5, unique: bool = True, range_max: int = 5, seed: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn with the chance log((c + 2) / (c + 1)) / log(range_max + 1), small numbers more often; and how
    often the right and the drawn ones are expected. A seed of 0 leaves the choice to the session.

    >>> [t.shape for t in log_uniform_candidate_sampler(Tensor([[1], [3]]), 1, 3)]
    [(3,), (2, 1), (3,)]
    """
    whole("log_uniform_candidate_sampler", "range_max", range_max, least=1)

    def chances(c: Any) -> Any:
        log = p.log if isinstance(c, Tensor) else np.log
        return log((c + 2.0) / (c + 1.0)) * (1.0 / math.log(range_max + 1.0))

    name = "log_uniform_candidate_sampler"
    return _sampled(name, chances, true_classes, num_true, num_sampled, unique, range_max, seed)


def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0,
    remove_accidental_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Classes drawn evenly below `range_max`, and how often the right and the drawn ones are expected. A seed of 0
    leaves the choice to the session.

    >>> [t.shape for t in uniform_candidate_sampler(Tensor([[1], [3]]), 1, 3, False, 4)]
    [(3,), (2, 1), (3,)]
    """
    name = "uniform_candidate_sampler"
    whole(name, "range_max", range_max, least=1)
    right = tensor(true_classes)
    wanted = whole(name, "num_sampled", num_sampled, least=1)

    def chances(c: Any) -> Any:
        return c * 0.0 + 1.0 / range_max

    if not truth(name, "remove_accidental_hits", remove_accidental_hits):
        return _sampled(name, chances, right, num_true, wanted, unique, range_max, seed)
    classes = np.unique(right.numbers())
    rest = np.setdiff1d(np.arange(range_max), classes)
    if (unique and len(rest) < wanted) or not len(rest):
        raise ArgumentError(f"{name}: {wanted} classes cannot be drawn from the {len(rest)} that are not right ones")
    _, of_right, of_drawn = _sampled(name, chances, right, num_true, wanted, unique, range_max, seed)
    at = random.multinomial(wrap(np.ones(len(rest))), wanted, not unique, seed or None)
    return cast(p.gather(wrap(rest), at, 0), right.dtype), of_right, of_drawn
