"""How far to go along a direction, so that a function is lower there and flatter (the strong conditions of Wolfe).

The first search is that of Moré and Thuente (Line search algorithms with guaranteed sufficient decrease, 1994): an
interval that holds such a step, and in it the least point of a cubic or of a parabola. It takes few evaluations. Where
it comes to no end, brackets and parabolas try, as in Nocedal and Wright, Numerical Optimization, chapter 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from mycelia.eager import Tensor

FARTHER = 4.0  # of the last step, at most, while no interval is known
NEARER = 1.1  # and at least
SHRINKS = 0.66  # what an interval has of the one before the last, or it is halved


class Point(NamedTuple):
    """A step, and what was found there."""

    step: float
    height: float
    slope: float
    value: Tensor | None = None
    gradient: Tensor | None = None

    def beside(self, line: float) -> Point:
        """The same point of the function less a line through its beginning."""
        return self._replace(height=self.height - self.step * line, slope=self.slope - line)


class Found(NamedTuple):
    """The point where a search ended, and whether it satisfies the conditions."""

    point: Point
    good: bool
    rounds: int


Look = Callable[[float], Point]


@dataclass
class Interval:
    """Between `best` and `other` lies a good step, once it is known to be `closed`."""

    best: Point
    other: Point
    closed: bool = False

    def narrow(self, new: Point, low: float, high: float) -> float:
        """Take a new point for one of the ends; the step to try next."""
        step = self.next(new, low, high)
        if new.height > self.best.height:
            self.other, self.closed = new, True
        else:
            if new.slope * self.best.slope < 0:
                self.other, self.closed = self.best, True
            self.best = new
        return step

    def next(self, new: Point, low: float, high: float) -> float:
        """Where a cubic or a line of slopes has its least point: whichever is the safer guess."""
        x = self.best
        if new.height > x.height:  # the least point lies between: the cubic's, if it is nearer to the lower end
            cubic, square = _cubic(x, new), _parabola(x, new)
            return cubic if abs(cubic - x.step) <= abs(square - x.step) else cubic + (square - cubic) / 2
        if new.slope * x.slope < 0:  # between, too: the one that is farther from the new end
            cubic, secant = _cubic(new, x), _secant(new, x)
            return cubic if abs(cubic - new.step) > abs(secant - new.step) else secant
        ahead = new.step > x.step
        if abs(new.slope) < abs(x.slope):  # the cubic may have no least point, or one behind
            cubic, secant = _cubic_ahead(new, x, high if ahead else low), _secant(new, x)
            nearer = abs(cubic - new.step) < abs(secant - new.step)
            if not self.closed:
                return min(max(secant if nearer else cubic, low), high)
            limit = new.step + SHRINKS * (self.other.step - new.step)
            step = cubic if nearer else secant
            return min(limit, step) if ahead else max(limit, step)
        if self.closed:
            return _cubic(new, self.other)
        return high if ahead else low


def _bend(a: Point, b: Point) -> tuple[float, float]:
    """The cubic through two points with their slopes: its middle slope, and the root of its discriminant."""
    middle = 3 * (a.height - b.height) / (b.step - a.step) + a.slope + b.slope
    scale = max(abs(middle), abs(a.slope), abs(b.slope))
    if not scale:
        return middle, 0.0
    root = math.sqrt(max(0.0, (middle / scale) ** 2 - (a.slope / scale) * (b.slope / scale)))
    return middle, scale * root if b.step > a.step else -scale * root


def _cubic(a: Point, b: Point) -> float:
    """The least point of the cubic, seen from `a`."""
    middle, root = _bend(a, b)
    return a.step + _ratio((root - a.slope) + middle, ((root - a.slope) + root) + b.slope) * (b.step - a.step)


def _cubic_ahead(new: Point, x: Point, limit: float) -> float:
    """The same beyond `new`, seen from `x`; the limit, if it has none there."""
    middle, root = _bend(new, x)
    ratio = _ratio((root - new.slope) + middle, (root + (x.slope - new.slope)) + root)
    return new.step + ratio * (x.step - new.step) if ratio < 0 and root else limit


def _parabola(a: Point, b: Point) -> float:
    """The least point of a parabola through both, with the slope of `a`."""
    width = b.step - a.step
    return a.step + _ratio(a.slope, (a.height - b.height) / width + a.slope) / 2 * width


def _secant(a: Point, b: Point) -> float:
    """Where the line through both slopes is zero."""
    return a.step + _ratio(a.slope, a.slope - b.slope) * (b.step - a.step)


def _ratio(over: float, under: float) -> float:
    """A quotient; without one, a step that nobody takes."""
    return over / under if under else math.inf


def thuente(
    look: Look, start: Point, first: float, c1: float, c2: float, *, near: float = 1e-14, least: float = 1e-100,
    most: float = 1e100, rounds: int = 100,
) -> Found:  # fmt: skip
    """A step by the search of Moré and Thuente; the last one that was looked at, if it comes to no end."""
    line = c1 * start.slope
    interval, falling = Interval(start, start), True
    low, high = 0.0, first + FARTHER * first
    width, before = most - least, 2 * (most - least)
    here = min(max(first, least), most)
    point = start
    for n in range(1, rounds + 1):
        point = look(here)
        if not math.isfinite(point.height) or not math.isfinite(point.slope):
            break
        enough = point.height <= start.height + here * line
        if enough and abs(point.slope) <= -c2 * start.slope:
            return Found(point, True, n)
        falling = falling and not (enough and point.slope >= 0)
        stuck = interval.closed and (not low < here < high or high - low <= near * high)
        far = here == most and enough and point.slope <= line
        if stuck or far or (here == least and (not enough or point.slope >= line)):
            return Found(point, False, n)
        if falling and not enough and point.height <= interval.best.height:
            tilted = Interval(interval.best.beside(line), interval.other.beside(line), interval.closed)
            here = tilted.narrow(point.beside(line), low, high)
            interval = Interval(tilted.best.beside(-line), tilted.other.beside(-line), tilted.closed)
        else:
            here = interval.narrow(point, low, high)
        x, y = interval.best.step, interval.other.step
        if interval.closed:
            if abs(y - x) >= SHRINKS * before:
                here = x + (y - x) / 2
            before, width = width, abs(y - x)
            low, high = min(x, y), max(x, y)
        else:
            low, high = here + NEARER * (here - x), here + FARTHER * (here - x)
        here = min(max(here, least), most)
        if interval.closed and (not low < here < high or high - low <= near * high):
            here = x
        if not math.isfinite(here):
            break
    return Found(point, False, rounds)


def bracket(look: Look, start: Point, first: float, c1: float, c2: float, rounds: int) -> Found:
    """A step by brackets: longer ones until one is too long, then parabolas between the two last."""

    def lower(point: Point) -> bool:
        return math.isfinite(point.height) and point.height <= start.height + c1 * point.step * start.slope

    before, here = start, first
    for n in range(1, rounds + 1):
        point = look(here)
        if not lower(point) or (n > 1 and point.height >= before.height):
            low, high = before, point
            break
        if abs(point.slope) <= -c2 * start.slope:
            return Found(point, True, n)
        if point.slope >= 0:
            low, high = point, before
            break
        before, here = point, 2 * here
    else:
        return Found(point, False, rounds)
    for k in range(rounds):
        point = look(_between(low, high))
        if not lower(point) or point.height >= low.height:
            high = point
        else:
            if abs(point.slope) <= -c2 * start.slope:
                return Found(point, True, n + k + 1)
            if point.slope * (high.step - low.step) >= 0:
                high = low
            low = point
        if abs(high.step - low.step) <= 1e-12 * max(1.0, abs(low.step)):
            break
    if low.value is None:
        return Found(point, False, rounds)
    return Found(low, low.height < start.height, rounds)


def _between(low: Point, high: Point) -> float:
    """The least point of a parabola through both ends, kept away from them."""
    width = high.step - low.step
    bend = high.height - low.height - low.slope * width
    step = _parabola(low, high) if math.isfinite(bend) and bend != 0 else low.step + width / 2
    near, far = low.step + 0.1 * width, high.step - 0.1 * width
    return step if min(near, far) <= step <= max(near, far) else low.step + width / 2


def search(look: Look, start: Point, first: float, c1: float, c2: float, rounds: int) -> Found:
    """A step by the first way, or by the second where that one comes to no end."""
    found = thuente(look, start, first, c1, c2, rounds=max(rounds, 1))
    return found if found.good else bracket(look, start, first, c1, c2, rounds)


def loosely(look: Look, start: Point, first: float, c1: float, c2: float, rounds: int) -> Found:
    """The same for directions that are known from few steps: an interval of a tenth is small enough."""
    found = thuente(look, start, first, c1, c2, near=0.1, least=0.0, most=1e10, rounds=max(rounds, 1))
    if found.good or found.point.height < start.height:
        return Found(found.point, True, found.rounds)
    return bracket(look, start, first, c1, c2, rounds)


def reach(drop: float | None, slope: float) -> float:
    """The first step: as far as a parabola falls that fell by `drop` at the step before; 1, if nothing is known."""
    guess = 1.01 * 2 * drop / slope if drop is not None and slope else 1.0
    return min(1.0, guess) if guess >= 0 else 1.0
