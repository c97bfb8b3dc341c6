"""The order in which requests were asked for, for steps that are to see rows one after the other."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Line:
    """Requests in the order in which they were asked for; steps of one worker are passed in that order.

    A request waits only for those before it, which somebody works on already: nobody waits in a circle.
    """

    def __init__(self, steps: Iterable[int]) -> None:
        self.first = dict.fromkeys(steps, 0)  # for every step, the first request that has not left it
        self.gone: dict[int, set[int]] = {step: set() for step in self.first}  # those behind it that have
        self.changed = threading.Condition()

    def wait(self, step: int, number: int) -> None:
        """Return when all requests before this one have left the step."""
        with self.changed:
            while self.first[step] < number:
                self.changed.wait()

    def leave(self, step: int, number: int) -> None:
        """A request does not come to the step again."""
        with self.changed:
            gone = self.gone[step]
            gone.add(number)
            while self.first[step] in gone:
                gone.remove(self.first[step])
                self.first[step] += 1
            self.changed.notify_all()


class Standing:
    """The place of one request in the line, and how often it still comes to each step.

    >>> line = Line([7]); first, second = Standing(line, 0, [7]), Standing(line, 1, [])
    >>> with first.turn(7):
    ...     line.first
    {7: 0}
    >>> line.first
    {7: 2}
    """

    def __init__(self, line: Line, number: int, steps: Iterable[int]) -> None:
        self.line, self.number = line, number
        self.left = Counter(step for step in steps if step in line.first)
        for step in line.first.keys() - self.left.keys():
            line.leave(step, number)

    def keeps(self, step: int) -> bool:
        """Whether a step is passed in order."""
        return step in self.left

    @contextmanager
    def turn(self, step: int) -> Iterator[None]:
        """Within the block no other request is in this step, and all before this one have left it."""
        self.line.wait(step, self.number)
        try:
            yield
        finally:
            self.left[step] -= 1
            if not self.left[step]:
                self.line.leave(step, self.number)

    def end(self) -> None:
        """The request was made, or was given up: it comes to no step any more."""
        for step, times in self.left.items():
            if times > 0:
                self.line.leave(step, self.number)
