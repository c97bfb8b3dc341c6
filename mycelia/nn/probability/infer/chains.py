"""Markov chains whose numbers have a given density: Hamiltonian Monte Carlo, and the no-U-turn sampler.

A chain moves as a body does in the potential -log p, pushed at random before each move; the gradient is compiled. While
it warms up, the step is set so that a wanted share of moves is accepted (dual averaging, Nesterov 2009), and masses are
set to the inverse variances met in windows that double, as in Stan. `NUTS` goes on until the path turns back (Hoffman
and Gelman 2014), and draws from the path by weight (Betancourt 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mycelia import checks
from mycelia.api import jit, value_and_grad
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.types import Array, float64

__all__ = ["HMC", "NUTS", "Draws"]

DIVERGED = 1000.0  # of the energy: the step was too long


@dataclass
class Draws:
    """What chains gave: `samples` (chains, draws, numbers), and how it went."""

    samples: Array
    accepted: Array = field(repr=False)  # the share of moves that were accepted, of each chain
    step_sizes: Array = field(repr=False)
    divergences: int = 0

    def effective(self) -> Array:
        """How many independent draws these are worth, of each number (initial positive sequences, Geyer 1992)."""
        chains, draws, _ = self.samples.shape
        away = self.samples - self.samples.mean(1, keepdims=True)
        size = 1 << (2 * draws - 1).bit_length()
        power = np.abs(np.fft.rfft(away, size, axis=1)) ** 2
        within = np.fft.irfft(power, size, axis=1)[:, :draws].mean(0) / draws
        variance = within[0] * draws / (draws - 1)
        between = self.samples.mean(1).var(0, ddof=1) if chains > 1 else 0.0
        whole = variance * (draws - 1) / draws + between
        rho = 1 - (variance - within) / whole
        pairs = rho[: draws - draws % 2].reshape(-1, 2, rho.shape[-1]).sum(1)
        pairs = np.minimum.accumulate(np.where(np.cumsum(pairs <= 0, 0) > 0, 0.0, pairs), 0)
        return np.asarray(chains * draws / np.maximum(2 * pairs.sum(0) - 1, 1 / np.log10(chains * draws)))

    def shrinkage(self) -> Array:
        """By how much chains that were split in halves differ: near 1, if they came to the same (Gelman and Rubin)."""
        half = self.samples.shape[1] // 2
        parts = np.concatenate([self.samples[:, :half], self.samples[:, half : 2 * half]])
        within, between = parts.var(1, ddof=1).mean(0), parts.mean(1).var(0, ddof=1)
        return np.asarray(np.sqrt((half - 1) / half + between / within))


class _Place(NamedTuple):
    """Where a chain is, how it moves, and the logarithm of the density with its gradient."""

    q: Array
    p: Array
    log: float
    slope: Array


class _Averaging:
    """Dual averaging of the logarithm of a step."""

    def __init__(self, step: float, target: float) -> None:
        self.centre, self.target = np.log(10 * step), target
        self.count, self.error, self.log, self.mean = 0, 0.0, float(np.log(step)), 0.0

    def told(self, accepted: float) -> None:
        self.count += 1
        rate = 1 / (self.count + 10)
        self.error = (1 - rate) * self.error + rate * (self.target - accepted)
        self.log = self.centre - np.sqrt(self.count) / 0.05 * self.error
        share = self.count**-0.75
        self.mean = share * self.log + (1 - share) * self.mean


class HMC:
    """Hamiltonian Monte Carlo: paths of a number of steps. `log_prob` is a function of one vector; what it gives may
    lack a constant.

    >>> draws = HMC(lambda x: -0.5 * (x * x).sum(), step_size=0.5, num_steps=5).run(np.zeros(2), 20, warmup=10, seed=1)
    >>> draws.samples.shape
    (1, 20, 2)
    """

    def __init__(
        self,
        log_prob: Callable[[Tensor], Tensor],
        step_size: float = 0.1,
        num_steps: int = 10,
        target_accept: float = 0.8,
    ) -> None:
        self.step_size = checks.number(type(self).__name__, "step_size", step_size, above=0)
        self.num_steps = checks.whole(type(self).__name__, "num_steps", num_steps, least=1)
        self.target_accept = checks.number(type(self).__name__, "target_accept", target_accept, above=0, most=1)
        self._asked = jit(value_and_grad(log_prob))
        self._dtype: Any = float64

    def run(self, start: Any, num_samples: int, warmup: int = 500, chains: int = 1, seed: int = 0) -> Draws:
        """Chains from one place, or from one for each chain, and what they gave after they warmed up."""
        first = np.asarray(start.asnumpy() if isinstance(start, Tensor) else start, np.float64)
        places = np.broadcast_to(first, (chains, first.shape[-1])) if first.ndim == 1 else first
        if places.ndim != 2 or len(places) != chains:
            raise ArgumentError("a chain starts at a vector", given={"start": first.shape, "chains": chains})
        found = [self._chain(q, num_samples, warmup, np.random.default_rng([seed, i])) for i, q in enumerate(places)]
        samples, accepted, steps, diverged = zip(*found, strict=True)
        return Draws(np.stack(samples), np.array(accepted), np.array(steps), sum(diverged))

    def _at(self, q: Array) -> tuple[float, Array]:
        log, slope = self._asked(Tensor(q, self._dtype))
        return float(log.asnumpy()), np.asarray(slope.asnumpy(), np.float64)

    def _leap(self, here: _Place, step: float, mass: Array) -> _Place:
        half = here.p + 0.5 * step * here.slope
        q = here.q + step * half / mass
        log, slope = self._at(q)
        return _Place(q, half + 0.5 * step * slope, log, slope)

    def _chain(self, q: Array, count: int, warmup: int, rng: np.random.Generator) -> tuple[Array, float, float, int]:
        mass = np.ones_like(q)
        here = _Place(q, q, *self._at(q))
        if not np.isfinite(here.log):
            raise ArgumentError("a chain starts where the density is not 0", given={"start": q, "log_prob": here.log})
        averaging = _Averaging(self._first_step(here, mass, rng), self.target_accept)
        window: list[Array] = []
        ends = _windows(warmup)
        kept, shares, diverged = np.empty((count, len(q))), [], 0
        for turn in range(warmup + count):
            warm = turn < warmup
            step = float(np.exp(averaging.log if warm or not warmup else averaging.mean)) if warmup else self.step_size
            here = here._replace(p=rng.normal(size=len(q)) * np.sqrt(mass))
            here, share, broken = self._moved(here, step, mass, rng)
            if warm:
                averaging.told(share)
                if ends and ends[0] < turn:
                    window.append(here.q)
                if turn in ends[1:]:
                    n = len(window)
                    mass = 1 / (np.var(window, 0, ddof=1) * n / (n + 5) + 1e-3 * 5 / (n + 5))
                    averaging = _Averaging(self._first_step(here, mass, rng), self.target_accept)
                    window = []
            else:
                kept[turn - warmup] = here.q
                shares.append(share)
                diverged += broken
        return kept, float(np.mean(shares)), step, diverged

    def _first_step(self, here: _Place, mass: Array, rng: np.random.Generator) -> float:
        """A step of which about half of all moves are accepted."""
        step = self.step_size
        start = here._replace(p=rng.normal(size=len(here.q)) * np.sqrt(mass))
        gain = _energy(start, mass) - _energy(self._leap(start, step, mass), mass)
        up = gain > np.log(0.5)
        for _ in range(50):
            step = step * 2 if up else step / 2
            gain = _energy(start, mass) - _energy(self._leap(start, step, mass), mass)
            if (gain > np.log(0.5)) != up:
                break
        return step

    def _moved(self, here: _Place, step: float, mass: Array, rng: np.random.Generator) -> tuple[_Place, float, bool]:
        """The place after one move, how likely it was accepted, and whether the energy ran away."""
        before, there = _energy(here, mass), here
        for _ in range(self.num_steps):
            there = self._leap(there, step, mass)
        lost = _energy(there, mass) - before
        share = float(np.exp(min(0.0, -lost)))
        return (there if rng.uniform() < share else here), share, bool(lost > DIVERGED)


def _energy(place: _Place, mass: Array) -> float:
    energy = 0.5 * float(np.sum(place.p**2 / mass)) - place.log
    return energy if np.isfinite(energy) else np.inf


def _windows(warmup: int) -> list[int]:
    """After which turns masses are set anew: windows of 25 turns that double, between a start and an end without."""
    if warmup < 150:
        return []
    first, last, size = 75, warmup - 50, 25
    ends = [first - 1]
    while ends[-1] + 1 < last:
        size = size if ends[-1] + 1 + 3 * size <= last else last - ends[-1] - 1
        ends.append(ends[-1] + size)
        size *= 2
    return ends


class _Tree(NamedTuple):
    """A path: its ends, a place drawn from it, the logarithm of its weight, and how it went."""

    left: _Place
    right: _Place
    drawn: _Place
    weight: float
    moving: Array  # the sum of what moves
    going: bool
    share: float
    steps: int
    diverged: bool


class NUTS(HMC):
    """The no-U-turn sampler: paths double until they turn back, at most `max_depth` times.

    >>> draws = NUTS(lambda x: -0.5 * (x * x).sum()).run(np.zeros(2), 20, warmup=10, seed=1)
    >>> draws.samples.shape
    (1, 20, 2)
    """

    def __init__(
        self,
        log_prob: Callable[[Tensor], Tensor],
        step_size: float = 0.1,
        max_depth: int = 10,
        target_accept: float = 0.8,
    ) -> None:
        super().__init__(log_prob, step_size, 1, target_accept)
        self.max_depth = checks.whole("NUTS", "max_depth", max_depth, least=1)

    def _moved(self, here: _Place, step: float, mass: Array, rng: np.random.Generator) -> tuple[_Place, float, bool]:
        start = _energy(here, mass)
        tree = _Tree(here, here, here, 0.0, here.p, True, 0.0, 0, False)
        for depth in range(self.max_depth):
            forward = bool(rng.integers(2))
            more = self._grown(
                tree.right if forward else tree.left, depth, step if forward else -step, start, mass, rng
            )
            share, count = tree.share + more.share, tree.steps + more.steps
            if not more.going:
                tree = tree._replace(share=share, steps=count, diverged=more.diverged)
                break
            drawn = more.drawn if np.log(rng.uniform()) < more.weight - tree.weight else tree.drawn
            tree = _joined(tree, more, forward, drawn, mass)
            if not tree.going:
                break
        return tree.drawn, tree.share / tree.steps, tree.diverged

    def _grown(
        self, place: _Place, depth: int, step: float, start: float, mass: Array, rng: np.random.Generator
    ) -> _Tree:
        """A path of two to the power of `depth` steps."""
        if depth == 0:
            there = self._leap(place, step, mass)
            lost = _energy(there, mass) - start
            broken = bool(lost > DIVERGED)
            return _Tree(there, there, there, -lost, there.p, not broken, float(np.exp(min(0.0, -lost))), 1, broken)
        first = self._grown(place, depth - 1, step, start, mass, rng)
        if not first.going:
            return first
        forward = step > 0
        second = self._grown(first.right if forward else first.left, depth - 1, step, start, mass, rng)
        if not second.going:
            share, count = first.share + second.share, first.steps + second.steps
            return first._replace(going=False, share=share, steps=count, diverged=second.diverged)
        whole = np.logaddexp(first.weight, second.weight)
        drawn = second.drawn if np.log(rng.uniform()) < second.weight - whole else first.drawn
        return _joined(first, second, forward, drawn, mass)


def _joined(one: _Tree, other: _Tree, forward: bool, drawn: _Place, mass: Array) -> _Tree:
    """Two paths as one; it goes on unless it, or one half with the next step of the other, turns back."""
    left, right = (one, other) if forward else (other, one)
    moving = left.moving + right.moving
    going = _onward(left.left.p, right.right.p, moving, mass)
    going = going and _onward(left.left.p, right.left.p, left.moving + right.left.p, mass)
    going = going and _onward(left.right.p, right.right.p, right.moving + left.right.p, mass)
    weight = float(np.logaddexp(one.weight, other.weight))
    return _Tree(
        left.left, right.right, drawn, weight, moving, going, one.share + other.share, one.steps + other.steps, False
    )


def _onward(first: Array, last: Array, moving: Array, mass: Array) -> bool:
    """Whether both ends still move apart."""
    return bool(np.dot(first / mass, moving) > 0 and np.dot(last / mass, moving) > 0)
