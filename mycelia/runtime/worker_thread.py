"""A thread that does what others give it, one job after the other, with its own stack and its own team of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Job = tuple[Callable[[int], Any], int, "SimpleQueue[Any]"]


class WorkerThread:
    """Started at its first job and kept.

    >>> worker = WorkerThread("adder")
    >>> worker.do(lambda n: n + 1, 41)
    42
    """

    def __init__(self, name: str, stack: int = 0) -> None:
        self.name, self.stack = name, stack
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def do(self, job: Callable[[int], Any], argument: int) -> Any:
        """What the job gives, done by the thread; what it raises is raised here. A job of a job is done at once."""
        if threading.current_thread() is self._started():
            return job(argument)
        answer: SimpleQueue[Any] = SimpleQueue()
        self._jobs.put((job, argument, answer))
        failed, result = answer.get()
        if failed:
            raise result
        return result

    def _started(self) -> threading.Thread:
        with self._lock:
            if self._thread is None:
                before = threading.stack_size(self.stack)
                try:
                    self._thread = threading.Thread(target=self._work, daemon=True, name=f"mycelia-{self.name}")
                    self._thread.start()
                finally:
                    threading.stack_size(before)
            return self._thread

    def _work(self) -> None:
        while True:
            job, argument, answer = self._jobs.get()
            try:
                answer.put((False, job(argument)))
            except BaseException as error:  # the caller raises it
                answer.put((True, error))
