"""What a family of distributions knows, and what follows from that: densities, shares, quantiles, moments, samples.

A family says things of its standard member, whose `loc` is 0 and whose `scale` is 1.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from collections.abc import Callable
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, CallError
from mycelia.frozen import frozen
from mycelia.numpy import random
from mycelia.ops.incomplete import both, either, levelled, widened
from mycelia.types import DType

Rule = Callable[..., Any]


def even(size: Any, random_state: Any) -> Tensor:
    """Numbers between 0 and 1, and neither of them, from the session's stream or from one that begins with a number.

    >>> even((2,), 3).tolist() == even((2,), 3).tolist()
    True
    """
    shape = () if size is None else size
    if random_state is None:
        drawn = random.random(shape)
    elif isinstance(random_state, random.RandomGenerator):
        drawn = random_state.random(shape)
    else:
        drawn = random.default_rng(random_state).random(shape)
    return cast(drawn, ops.ones((), "float64").dtype) * (1.0 - 2.0**-24) + 2.0**-25


def _placed(end: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
    """An end of the support, moved; one that is infinite stays where it is."""
    known = ops.isfinite(end)
    return ops.where(known, ops.where(known, end, ops.zeros_like(end)) * scale + loc, ops.stop_gradient(end))


@frozen(eq=False)
class Family:
    """A family of distributions.

    >>> from mycelia.scipy import stats
    >>> round(stats.norm.cdf(0.0).item(), 3), stats.norm.mean(2.0).item()
    (0.5, 2.0)
    """

    name: str
    shapes: tuple[str, ...]
    support_of: Rule  # the smallest and the largest number
    log: Rule  # the logarithm of the density, or of the probability
    low: Rule  # the share below
    high: Rule  # and above
    at: Rule  # where these shares are below and above
    moments: Rule  # mean, variance, skewness, and kurtosis less 3
    entropy_of: Rule | None = None
    good: Rule | None = None  # whether shapes are such; else they are positive
    log_low: Rule | None = None
    log_high: Rule | None = None
    discrete: bool = False

    # ------------------------------------------------------------------------------------------------ arguments

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Shapes, loc and scale."""
        names = (*self.shapes, "loc") if self.discrete else (*self.shapes, "loc", "scale")
        if len(args) > len(names):
            raise CallError(f"{self.name} has {len(names)} parameters, not {len(args)}", given={"parameters": names})
        found = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names or name in found:
                told = "is given twice" if name in found else "is not a parameter"
                raise CallError(f"{self.name}: {name} {told}", hint=f"its parameters are {', '.join(names)}")
            found[name] = value
        missing = [name for name in self.shapes if name not in found]
        if missing:
            raise CallError(f"{self.name} needs {', '.join(missing)}", hint=f"its parameters are {', '.join(names)}")
        return [*[found[name] for name in self.shapes], found.get("loc", 0.0), found.get("scale", 1.0)]

    def _at(self, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        values = self._given(args, kwargs)
        (v, *parameters), dtype = widened(self.name, x, *values)
        v, *parameters = levelled(v, *parameters)
        *shapes, loc, scale = parameters
        return v, shapes, loc, scale, self._sound(shapes, loc, scale), dtype

    def _sound(self, shapes: list[Tensor], loc: Tensor, scale: Tensor) -> Tensor:
        known = both(scale > 0, ops.logical_not(ops.isnan(loc)))
        if self.good is not None:
            return both(known, self.good(*shapes))
        return both(known, *[s > 0 for s in shapes])

    def _safe(self, shapes: list[Tensor], sound: Tensor) -> list[Tensor]:
        """Shapes; ones that are not sound become a half, which every family takes (or its rule knows better)."""
        return [ops.where(sound, s, 0.5 * ops.ones_like(s)) for s in shapes]

    def _inner(self, z: Tensor, shapes: list[Tensor], sound: Tensor) -> tuple[Tensor, Tensor, Any, Any]:
        """A number inside of the support, whether it is the one that was given, and the ends."""
        ends = [e if isinstance(e, Tensor) else e * ops.ones_like(z) for e in self.support_of(*shapes)]
        low, high = ends
        inside = both(z >= low, z <= high, sound) if self.discrete else both(z > low, z < high, sound)
        middle = ops.where(
            ops.isfinite(low), ops.where(ops.isfinite(high), (low + high) * 0.5, low + 1.0),
            ops.where(ops.isfinite(high), high - 1.0, ops.zeros_like(z)),
        )  # fmt: skip
        middle = ops.where(ops.isfinite(middle), middle, ops.zeros_like(z))
        middle = ops.floor(middle) if self.discrete else middle
        return ops.where(inside, z, ops.stop_gradient(middle)), inside, low, high

    # ------------------------------------------------------------------------------------------------ densities

    def _density(self, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        v, shapes, loc, scale, sound, dtype = self._at(x, args, kwargs)
        safe = self._safe(shapes, sound)
        width = ops.where(sound, scale, ops.ones_like(scale))
        z = (v - loc) / width
        inner, inside, low, high = self._inner(z, safe, sound)
        out = self.log(inner, *safe) - ops.log(width)
        nothing = ops.zeros_like(out) - python.inf
        if self.discrete:
            inside = both(inside, ops.equal(z, ops.floor(z)))
        else:
            edge = both(either(ops.equal(z, low), ops.equal(z, high)), ops.isfinite(z), sound)
            there = ops.stop_gradient(self.log(ops.where(edge, z, inner), *safe)) - ops.log(width)
            out = ops.where(edge, ops.where(ops.isnan(there), nothing, there), out)
            inside = either(inside, edge)
        out = ops.where(inside, out, nothing)
        return cast(ops.where(both(sound, ops.logical_not(ops.isnan(v))), out, nothing + python.nan), dtype)

    def _share(self, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any], above: bool, logs: bool) -> Tensor:
        v, shapes, loc, scale, sound, dtype = self._at(x, args, kwargs)
        safe = self._safe(shapes, sound)
        z = (v - loc) / ops.where(sound, scale, ops.ones_like(scale))
        z = ops.floor(z) if self.discrete else z
        inner, inside, _, high = self._inner(z, safe, sound)
        own = self.log_high if above else self.log_low
        if logs and own is not None:
            out = own(inner, *safe)
        else:
            out = (self.high if above else self.low)(inner, *safe)
            out = ops.log(out) if logs else out
        zero = ops.zeros_like(out)
        nothing, all_ = (zero - python.inf, zero) if logs else (zero, zero + 1.0)
        left, right = (all_, nothing) if above else (nothing, all_)
        beyond = z > high if self.discrete else z >= high
        out = ops.where(inside, out, ops.where(beyond, right, left))
        return cast(ops.where(both(sound, ops.logical_not(ops.isnan(v))), out, zero + python.nan), dtype)

    def logpdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the density."""
        self._kind(False, "logpmf")
        return self._density(x, args, kwargs)

    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The density."""
        self._kind(False, "pmf")
        return ops.exp(self._density(x, args, kwargs))

    def logpmf(self, k: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the probability."""
        self._kind(True, "logpdf")
        return self._density(k, args, kwargs)

    def pmf(self, k: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The probability."""
        self._kind(True, "pdf")
        return ops.exp(self._density(k, args, kwargs))

    def _kind(self, discrete: bool, other: str) -> None:
        if self.discrete is not discrete:
            what = "counts have probabilities" if self.discrete else "numbers have densities"
            raise ArgumentError(f"{self.name}: {what}", hint=f"ask for {other}")

    def cdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The share up to x."""
        return self._share(x, args, kwargs, False, False)

    def sf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The share above x."""
        return self._share(x, args, kwargs, True, False)

    def logcdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the share up to x."""
        return self._share(x, args, kwargs, False, True)

    def logsf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the share above x."""
        return self._share(x, args, kwargs, True, True)

    # ------------------------------------------------------------------------------------------------ quantiles

    def _quantile(self, q: Any, args: tuple[Any, ...], kwargs: dict[str, Any], above: bool) -> Tensor:
        v, shapes, loc, scale, sound, dtype = self._at(q, args, kwargs)
        safe = self._safe(shapes, sound)
        inside = both(v > 0, v < 1, sound)
        share = ops.where(inside, v, 0.5 * ops.ones_like(v))
        low, high = (1.0 - share, share) if above else (share, 1.0 - share)
        out = self.at(low, high, *safe) * scale + loc
        first, last = (e * ops.ones_like(v) for e in self.support_of(*safe))
        first = first - 1.0 if self.discrete else first
        first, last = (_placed(e, loc, scale) for e in ((last, first) if above else (first, last)))
        out = ops.where(inside, out, ops.where(ops.equal(v, 0.0), first, last))
        wrong = either(v < 0, v > 1, ops.isnan(v), ops.logical_not(sound))
        return cast(ops.where(wrong, ops.zeros_like(out) + python.nan, out), dtype)

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The number up to which a share q lies."""
        return self._quantile(q, args, kwargs, False)

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The number above which a share q lies."""
        return self._quantile(q, args, kwargs, True)

    def median(self, *args: Any, **kwargs: Any) -> Tensor:
        """The number up to which half lies."""
        return self.ppf(0.5, *args, **kwargs)

    def interval(self, confidence: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """The numbers between which a share lies, with as much below as above."""
        share = ops.mul(ops.sub(1.0, confidence), 0.5)
        return self.ppf(share, *args, **kwargs), self.ppf(1.0 - share, *args, **kwargs)

    def support(self, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """The smallest and the largest number."""
        v, shapes, loc, scale, sound, dtype = self._at(0.0, args, kwargs)
        ends = [_placed(e * ops.ones_like(v), loc, scale) for e in self.support_of(*self._safe(shapes, sound))]
        low, high = (cast(ops.where(sound, e, ops.zeros_like(v) + python.nan), dtype) for e in ends)
        return low, high

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **kwargs: Any) -> Tensor:
        """Numbers that are drawn: where a share lies that is drawn evenly."""
        v, _, _, _, sound, _ = self._at(0.0, args, kwargs)
        if not bool(ops.all(sound).item()):
            raise ArgumentError(f"{self.name}: nothing can be drawn with these parameters", given=dict(kwargs))
        drawn = even(v.shape if size is None else size, random_state)
        return self.ppf(drawn, *args, **kwargs) if not self.discrete else ops.cast(
            self.ppf(drawn, *args, **kwargs), "int64")  # fmt: skip

    # ------------------------------------------------------------------------------------------------- moments

    def _moments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Tensor], DType]:
        v, shapes, loc, scale, sound, dtype = self._at(0.0, args, kwargs)
        given = [m * ops.ones_like(v) for m in self.moments(*self._safe(shapes, sound))]
        mean, variance, skew, kurtosis = (ops.where(sound, m, ops.zeros_like(v) + python.nan) for m in given)
        return [mean * scale + loc, variance * scale * scale, skew, kurtosis], dtype

    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """The mean."""
        found, dtype = self._moments(args, kwargs)
        return cast(found[0], dtype)

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """The variance."""
        found, dtype = self._moments(args, kwargs)
        return cast(found[1], dtype)

    def std(self, *args: Any, **kwargs: Any) -> Tensor:
        """The standard deviation."""
        found, dtype = self._moments(args, kwargs)
        return cast(ops.sqrt(found[1]), dtype)

    def stats(self, *args: Any, moments: str = "mv", **kwargs: Any) -> Any:
        """The moments that are asked for: "m"ean, "v"ariance, "s"kewness and "k"urtosis less 3."""
        if not moments or set(moments) - set("mvsk"):
            raise ArgumentError(f"moments are m, v, s and k, not {moments!r}")
        found, dtype = self._moments(args, kwargs)
        out = tuple(cast(found["mvsk".index(m)], dtype) for m in "mvsk" if m in moments)
        return out if len(out) > 1 else out[0]

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """The differential entropy, or that of probabilities."""
        if self.entropy_of is None:
            raise ArgumentError(f"{self.name} has no entropy in closed form")
        v, shapes, _, scale, sound, dtype = self._at(0.0, args, kwargs)
        out = self.entropy_of(*self._safe(shapes, sound)) * ops.ones_like(v) + ops.log(scale)
        return cast(ops.where(sound, out, ops.zeros_like(v) + python.nan), dtype)

    def __call__(self, *args: Any, **kwargs: Any) -> Frozen:
        """The distribution of these parameters."""
        self._given(args, kwargs)
        return Frozen(self, args, kwargs)


@frozen(eq=False)
class Frozen:
    """A distribution: a family with its parameters. It answers what the family does.

    >>> from mycelia.scipy import stats
    >>> stats.norm(1.0, 2.0).mean().item()
    1.0
    """

    family: Family
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not callable(getattr(self.family, name, None)):
            raise AttributeError(f"a distribution has no attribute {name!r}")
        method = getattr(self.family, name)
        if name == "rvs":
            return lambda size=None, random_state=None: method(
                *self.args, size=size, random_state=random_state, **self.kwargs
            )
        if name == "stats":
            return lambda moments="mv": method(*self.args, moments=moments, **self.kwargs)
        return lambda *x: method(*x, *self.args, **self.kwargs)
