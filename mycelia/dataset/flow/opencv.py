"""OpenCV's own threads: none beside our workers, and none when a process is forked."""

from __future__ import annotations

import os
import sys

_resting: list[int] = []  # how many threads it had before the forks that go on


def calm() -> int:
    """Keep OpenCV to one thread: the pipeline's workers are the parallelism, and its own pool gets in their way. How
    many it had before.

    >>> calm() >= 1, calm()
    (True, 1)
    """
    count = getattr(sys.modules.get("cv2"), "getNumThreads", None)  # another thread may be importing it
    before = 1 if count is None else int(count())
    if before != 1:
        sys.modules["cv2"].setNumThreads(1)
    return before


def _before() -> None:
    """Its threads are not copied, and a child that tells it to have none waits for them for ever: end them here."""
    _resting.append(calm())


def _after() -> None:
    before = _resting.pop()
    if before != 1:
        sys.modules["cv2"].setNumThreads(before)


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
