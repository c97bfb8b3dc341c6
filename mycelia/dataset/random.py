"""Randomness of transforms: one generator per (seed, epoch, sample, op), so that no worker count changes a result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

Generator = np.random.Generator


@dataclass(slots=True)
class Key:
    """Where a random number is drawn: the generator is made when first asked for, since most ops never ask."""

    seed: int
    epoch: int
    sample: int
    op: int
    generator: Generator | None = field(default=None, repr=False)

    def draw(self) -> Generator:
        """The generator of this place.

        >>> bool(Key(1, 0, 5, 2).draw().integers(100) == Key(1, 0, 5, 2).draw().integers(100))
        True
        """
        if self.generator is None:
            self.generator = generator_for(self.seed, self.epoch, self.sample, self.op)
        return self.generator


@dataclass(slots=True)
class _Given:
    """A generator that somebody put in place by hand."""

    generator: Generator

    def draw(self) -> Generator:
        return self.generator


@dataclass(slots=True)
class _Global:
    """What is drawn from outside every pipeline."""

    generator: Generator


_place: ContextVar[Key | _Given | None] = ContextVar("mycelia.dataset.random", default=None)
_outside = _Global(np.random.default_rng())


class _Words(ISeedSequence):
    """Four words that are the state of a generator; NumPy's own seeding costs ten times the drawing that follows."""

    def __init__(self, words: np.ndarray[Any, Any]) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray[Any, Any]:
        return self.words


def generator_for(*place: int) -> Generator:
    """The generator that belongs to a place, given as whole numbers; equal places give equal draws.

    >>> bool(generator_for(3, 1).random() == generator_for(3, 1).random())
    True
    """
    low = high = len(place)
    for part, (a, b) in zip(place, _ODD, strict=False):
        low += part * a
        high += part * b
    low = _mix(low & _MASK)
    high = _mix((high ^ low) & _MASK)
    words = np.array([low, high, low ^ 0x6A09E667F3BCC908, high | 1], np.uint64)
    seeds: Any = _Words(words)  # NumPy's annotations name only its own seed sequence
    return np.random.Generator(np.random.PCG64(seeds))


_MASK = (1 << 64) - 1


def _mix(x: int) -> int:
    """SplitMix64's finaliser: every bit of the input reaches every bit of the output."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


_ODD = tuple((_mix(2 * i) | 1, _mix(2 * i + 1) | 1) for i in range(32))  # one pair of multipliers per part of a place


def current() -> Generator:
    """The generator that a random transform draws from now.

    Inside a pipeline it belongs to (seed, epoch, sample, op); outside it is one that `config.set_seed` seeds.

    >>> with seeded(np.random.default_rng(0)):
    ...     int(current().integers(1000))
    850
    """
    place = _place.get()
    return _outside.generator if place is None else place.draw()


@contextmanager
def seeded(generator: Generator) -> Iterator[Generator]:
    """Within the block, `current()` is `generator`.

    >>> with seeded(np.random.default_rng(0)) as rng:
    ...     current() is rng
    True
    """
    token = _place.set(_Given(generator))
    try:
        yield generator
    finally:
        _place.reset(token)


def enter(key: Key | None) -> None:
    """From here on this thread draws at `key`; the engine calls it before every op on every sample.

    >>> enter(Key(0, 0, 0, 0)); a = current().random(); enter(Key(0, 0, 0, 0)); b = current().random(); enter(None)
    >>> a == b
    True
    """
    _place.set(key)


def seed_outside(seed: int | None) -> None:
    """Seed the generator that transforms use when they are called outside a pipeline.

    >>> seed_outside(3); a = current().random(); seed_outside(3); bool(a == current().random())
    True
    """
    _outside.generator = np.random.default_rng(seed)
