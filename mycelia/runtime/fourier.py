"""Fourier transforms made ready: of which stages a transform consists, and the tables that they read.

A length whose primes have butterflies is transformed as it is, others by Bluestein's convolution. A short one is one
stage over the lines of a batch. A long one is the four steps of Bailey: with n = a b, element j = b j1 + j2 and result
k = k1 + a k2, transforms of length a over j1, factors exp(-2 pi i j2 k1 / n), transforms of length b over j2. Real
numbers are taken for half as many complex ones where their number is even.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, prod

import numpy as np

from mycelia.codegen.records import (
    CODES,
    HEAD,
    OUTER,
    PASSES,
    RADICES,
    STAGE,
    Pass,
    Passage,
    Size,
    StageKind,
    StageWord,
)
from mycelia.frozen import frozen
from mycelia.loops import FourierCall
from mycelia.runtime.tables import Tabled
from mycelia.types import Array

SHORT = 2048  # numbers of a transform that is one stage: twice as many vectors are half of a second cache
WORTH_A_THREAD = 1 << 17  # multiplications: about ten microseconds
INPUT, OUTPUT, ROOM = range(3)
LINE = 64  # bytes


@frozen
class Stretch:
    """Where numbers lie: an operand, some bytes further on."""

    operand: int
    nbytes: int = 0


def transformed(call: FourierCall, threads: int) -> Tabled:
    """The stages of a transform as words, their tables, and the room they need."""
    threads = threads if call.multiplications >= WORTH_A_THREAD else 1
    plan = _Plan(call.kind.dtype.numpy, call.kind.lanes, call.lines)
    n, h = call.length, call.length // 2
    source, target = Stretch(INPUT), Stretch(OUTPUT)
    match call.sort, n % 2:
        case "complex", _:
            plan.transform(n, source, target, call.inverse)
        case "real", 0:
            pairs = plan.memory(h)
            plan.transform(h, source, pairs)
            plan.elements(StageKind.split, pairs, target, h, h + 1, (2 * h, 2 * h + 2), roots(n, np.arange(h + 1)))
        case "real", _:
            wide, all_ = plan.memory(n), plan.memory(n)
            plan.elements(StageKind.widen, source, wide, n, n, (n, 2 * n))
            plan.transform(n, wide, all_)
            plan.elements(StageKind.halve, all_, target, n, h + 1, (2 * n, 2 * h + 2))
        case "half", 0:
            pairs = plan.memory(h)
            turns = roots(n, np.arange(h)).conj()
            plan.elements(StageKind.join, source, pairs, h, h, (2 * h + 2, 2 * h), turns)
            plan.transform(h, pairs, target, inverse=True)
        case _:
            wide, all_ = plan.memory(n), plan.memory(n)
            plan.elements(StageKind.mirror, source, wide, h + 1, n, (2 * h + 2, 2 * n))
            plan.transform(n, wide, all_, inverse=True)
            plan.elements(StageKind.narrow, all_, target, n, n, (2 * n, n))
    return plan.made(threads)


@dataclass
class _Plan:
    """A list of stages that grows."""

    dtype: np.dtype[np.floating]
    lanes: int
    lines: int
    stages: list[tuple[dict[StageWord, int], list[tuple[int, ...]]]] = field(default_factory=list)
    tables: dict[int, Array] = field(default_factory=dict)  # by address
    room: int = 0
    work: int = 0  # bytes of the working memory of a thread

    def memory(self, length: int) -> Stretch:
        """Room for as many complex numbers of each line."""
        found = Stretch(ROOM, self.room)
        self.room += -(-self.lines * length * 2 * self.dtype.itemsize // LINE) * LINE
        return found

    def table(self, numbers: Array) -> int:
        """Keep numbers; their address."""
        kept = np.ascontiguousarray(numbers).view(np.int64)
        self.tables[kept.ctypes.data] = kept
        return kept.ctypes.data

    def factors(self, numbers: Array) -> int:
        """Keep complex numbers in the type of the transform."""
        return self.table(numbers.astype(np.result_type(self.dtype, np.complex64)))

    def made(self, threads: int) -> Tabled:
        words = np.zeros(HEAD + STAGE * len(self.stages), np.int64)
        words[0], words[Size.threads] = len(self.stages), threads
        for n, (told, passes) in enumerate(self.stages):
            stage = words[HEAD + n * STAGE :]
            for word, number in {**told, StageWord.work: self.room, StageWord.work_bytes: self.work}.items():
                stage[word] = number
            stage[StageWord.passes] = len(passes)
            stage[len(StageWord) : len(StageWord) + len(passes) * len(Pass)] = np.array(passes, np.int64).reshape(-1)
        return Tabled(words, tuple(self.tables.values()), self.room + self.work * threads)

    # -------------------------------------------------------------------------------------------- stages

    def elements(
        self, kind: StageKind, source: Stretch, target: Stretch, length: int, columns: int, steps: tuple[int, int],
        factors: Array | None = None, swap: tuple[bool, bool] = (False, False),
    ) -> None:  # fmt: skip
        """A stage that gives elements one by one; lines are `steps` real numbers apart."""
        told = {
            **_sides(source, target),
            StageWord.kind: kind,
            StageWord.lines: self.lines,
            StageWord.columns: columns,
            StageWord.length: length,
            StageWord.source_line: steps[0],
            StageWord.target_line: steps[1],
            StageWord.swap_source: swap[0],
            StageWord.swap_target: swap[1],
            StageWord.table: 0 if factors is None else self.factors(factors),
        }
        self.stages.append((told, []))

    def transform(self, n: int, source: Stretch, target: Stretch, inverse: bool = False) -> None:
        """The stages of a transform of complex numbers."""
        if radices(n) is None:
            self.convolve(n, source, target, inverse)
        elif n > SHORT or (self.lines < self.lanes and n >= self.lanes**2):
            self.long(n, source, target, inverse)
        else:
            self.short(n, source, target, inverse)

    def short(self, n: int, source: Stretch, target: Stretch, inverse: bool) -> None:
        """Each line in one lane."""
        ways = {StageWord.fill: Passage.squares, StageWord.rest_fill: Passage.elements}
        ways |= {StageWord.drain: Passage.squares, StageWord.rest_drain: Passage.elements}
        told = {
            **_sides(source, target),
            **ways,
            StageWord.lines: 1,
            StageWord.columns: self.lines,
            StageWord.length: n,
            StageWord.source_rows: 1,
            StageWord.source_lanes: n,
            StageWord.target_rows: 1,
            StageWord.target_lanes: n,
            StageWord.swap_source: inverse,
            StageWord.swap_target: inverse,
        }
        self.columns(told, _ordered(n, first=True))

    def long(self, n: int, source: Stretch, target: Stretch, inverse: bool) -> None:
        """Columns of a matrix, then rows."""
        a = _parted(n, self.lanes)
        b, lanes = n // a, self.lanes
        panels = -(-a // lanes)
        between = self.memory(panels * lanes * b)
        turns, lane_turns = _turns(a, b, lanes)
        first, last = _ordered(a, first=True), _ordered(b, first=False)
        is_direct = len(first) > 1 and first[0] in OUTER
        self.columns(
            {
                **_sides(source, between),
                StageWord.lines: self.lines,
                StageWord.columns: b,
                StageWord.length: a,
                StageWord.source_line: n,
                StageWord.source_rows: b,
                StageWord.source_lanes: 1,
                StageWord.swap_source: inverse,
                StageWord.fill: Passage.directly if is_direct else Passage.elements,
                StageWord.rest_fill: Passage.elements,
                StageWord.target_panels: panels,
                StageWord.target_columns: b,
                StageWord.turns: self.factors(turns),
                StageWord.lane_turns: self.factors_apart(lane_turns),
            },
            first,
            {0: "first"} if is_direct else {},
        )
        ends_directly = last[-1] in OUTER
        self.columns(
            {
                **_sides(between, target),
                StageWord.lines: self.lines,
                StageWord.columns: a,
                StageWord.length: b,
                StageWord.source_panels: 1,
                StageWord.target_line: n,
                StageWord.target_rows: a,
                StageWord.target_lanes: 1,
                StageWord.drain: Passage.directly if ends_directly else Passage.elements,
                StageWord.rest_drain: Passage.elements,
                StageWord.swap_target: inverse,
            },
            last,
            {len(last) - 1: "final"} if ends_directly else {},
        )

    def factors_apart(self, numbers: Array) -> int:
        """Keep rows of complex numbers as panels have them: real parts, then imaginary ones."""
        return self.table(np.concatenate([numbers.real, numbers.imag], 1).astype(self.dtype))

    def columns(self, told: dict[StageWord, int], order: list[int], outer: dict[int, str] | None = None) -> None:
        """A stage that transforms columns by passes of these radices; `outer` are those that touch lines directly."""
        n, s = prod(order), 1
        self.work = max(self.work, -(-4 * n * self.lanes * self.dtype.itemsize // LINE) * LINE)
        passes: list[tuple[int, ...]] = []
        for place, r in enumerate(order):
            m = n // (s * r)
            sort = "last" if place == len(order) - 1 else "middle"
            code = CODES[(outer or {}).get(place, sort), r]
            factors = roots(m * r, np.arange(m)[:, None] * np.arange(1, r)) if m > 1 else np.ones(1, complex)
            passes.append((code, CODES[sort, r], m, s, self.factors(factors)))
            s *= r
        assert len(passes) <= PASSES, f"{len(passes)} passes for a transform of {n}"
        self.stages.append(({**told, StageWord.kind: StageKind.columns}, passes))

    def convolve(self, n: int, source: Stretch, target: Stretch, inverse: bool) -> None:
        """Bluestein: j k = (j^2 + k^2 - (k - j)^2) / 2, so a transform is a convolution with exp(i pi j^2 / n)."""
        size = _smooth(2 * n - 1)
        chirp = roots(2 * n, np.arange(n) ** 2)
        kernel = np.zeros(size, complex)
        kernel[:n] = chirp.conj()
        kernel[size - n + 1 :] = chirp[:0:-1].conj()
        spectrum = np.fft.fft(kernel) / size
        one, other = self.memory(size), self.memory(size)
        multiply = StageKind.multiply
        self.elements(multiply, source, one, n, size, (2 * n, 2 * size), chirp, (inverse, False))
        self.transform(size, one, other)
        self.elements(multiply, other, one, size, size, (2 * size, 2 * size), spectrum, (False, True))
        self.transform(size, one, other)
        self.elements(multiply, other, target, n, n, (2 * size, 2 * n), chirp, (True, inverse))


def _sides(source: Stretch, target: Stretch) -> dict[StageWord, int]:
    return {
        StageWord.source: source.operand,
        StageWord.source_bytes: source.nbytes,
        StageWord.target: target.operand,
        StageWord.target_bytes: target.nbytes,
    }


# ------------------------------------------------------------------------------------------------ numbers


def roots(n: int, k: Array) -> Array:
    """exp(-2 pi i k / n), to the last bit or nearly: angles are reduced as whole numbers.

    >>> (roots(4, np.arange(5)) == [1, -1j, -1, 1j, 1]).tolist()
    [True, True, True, True, True]
    """
    k = np.asarray(k, np.int64) % n
    quarters = (8 * k + n) // (2 * n)  # the nearest quarter of a circle, and what is left, at most an eighth
    angle = (4 * k - quarters * n) * (np.pi / (2 * n))
    turned = np.array([1, -1j, -1, 1j])[quarters % 4]
    return np.asarray((np.cos(angle) - 1j * np.sin(angle)) * turned)


@lru_cache(maxsize=16)
def _turns(a: int, b: int, lanes: int) -> tuple[Array, Array]:
    """Factors between the two halves of a long transform: of the first column of each block, and of those after it."""
    k = np.arange(a)
    blocks = np.arange(0, b, lanes)
    return roots(a * b, blocks[:, None] * k), roots(a * b, k[:, None] * np.arange(lanes))


def radices(n: int) -> list[int] | None:
    """Of which butterflies a transform of a length consists; None if it has a prime for which there is none.

    >>> radices(1), radices(64), radices(2048), radices(120), radices(34)
    ([], [8, 8], [8, 8, 8, 4], [8, 5, 3], None)
    """
    found = []
    for r in RADICES:
        while n % r == 0:
            found.append(r)
            n //= r
    if 2 in found and 8 in found:  # two of four have fewer operations in memory
        found.remove(2)
        found.remove(8)
        found = [4, 4, *found]
    return sorted(found, key=RADICES.index) if n == 1 else None


def _ordered(n: int, first: bool) -> list[int]:
    """The radices of a length, those that can touch lines directly at the ends; a single one first or last.

    >>> _ordered(1000, True), _ordered(40, False), _ordered(2048, True)
    ([8, 5, 5, 5], [5, 8], [8, 8, 8, 4])
    """
    found = radices(n)
    assert found is not None, f"{n} has no butterflies"
    outer = [r for r in found if r in OUTER]
    inner = [r for r in found if r not in OUTER]
    begin = 1 if first or len(outer) > 1 else 0
    return [*outer[:begin], *inner, *outer[begin:]]


def _parted(n: int, lanes: int) -> int:
    """A divisor near the square root, best one that fills vectors on both sides.

    >>> _parted(1 << 20, 8), _parted(10**6, 8), _parted(3 * 5 * 7 * 11, 8)
    (1024, 1000, 35)
    """
    found = radices(n)
    assert found is not None, f"{n} has no butterflies"
    divisors = {1}
    for prime, times in Counter(_primes(n)).items():
        divisors |= {d * prime**k for d in divisors for k in range(times + 1)}

    def price(a: int) -> tuple[float, int]:
        b = n // a
        whole = a % lanes == 0 and b % lanes == 0
        return (max(a, b) / min(a, b)) * (1 if whole else 16), -a

    return min(divisors, key=price)


def _primes(n: int) -> list[int]:
    found = []
    for p in (2, 3, 5, 7, 11, 13):
        while n % p == 0:
            found.append(p)
            n //= p
    return found


def _smooth(least: int) -> int:
    """The smallest number from `least` on that has no primes but 2, 3 and 5, and is a multiple of 8 where it is long.

    >>> _smooth(2 * 1009 - 1), _smooth(13)
    (2048, 15)
    """
    best = inf
    even = 8 if least > 64 else 1
    five = 1
    while five * even < best:
        three = five
        while three * even < best:
            two = three * even
            while two < least:
                two *= 2
            best = min(best, two)
            three *= 3
            if three > 2 * least:
                break
        five *= 5
        if five > 2 * least:
            break
    return int(best)
