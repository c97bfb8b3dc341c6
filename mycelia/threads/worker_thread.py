"""A thread that does what others give it, one job after the other, with its own stack and its own team of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from mycelia.frozen import frozen

Job = tuple[Callable[[int], Any], int, "_Answers"]


@frozen
class _Request:
    """Something that whoever waits for a job must do for it."""

    run: Callable[[], None]
    done: SimpleQueue[BaseException | None]

    def serve(self) -> None:
        try:
            self.run()
            self.done.put(None)
        except BaseException as error:  # raised again where it was asked for
            self.done.put(error)


class _Answers:
    """What a worker tells the thread that waits for it, which looks first and takes it away when it is dealt with: what
    a handler of a signal raises in between loses nothing.
    """

    def __init__(self) -> None:
        self._told: list[Any] = []
        self._wake: SimpleQueue[None] = SimpleQueue()

    def put(self, what: Any) -> None:
        self._told.append(what)
        self._wake.put(None)

    def wait(self) -> None:
        self._wake.get()

    @property
    def first(self) -> Any:
        return self._told[0] if self._told else None

    def served(self, instead: BaseException | None) -> None:
        """The request is dealt with; or it is not, and whoever made it hears why. To hear twice does no harm."""
        if instead is not None:
            self._told[0].done.put(instead)
        del self._told[0]


class _Here(threading.local):
    """Of a worker: who waits for its job. Of any thread: the workers whose requests it serves now."""

    answer: _Answers | None = None
    serving: tuple[WorkerThread, ...] = ()


_here = _Here()


def on_calling_thread(run: Callable[[], None]) -> None:
    """Do something on the thread that waits for what runs here; that is this one, unless this is a worker.

    >>> on_calling_thread(lambda: print("here"))
    here
    """
    if _here.answer is None:
        run()
        return
    request = _Request(run, SimpleQueue())
    _here.answer.put(request)
    if (error := request.done.get()) is not None:
        raise error


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
        self._spare: WorkerThread | None = None

    def do(self, job: Callable[[int], Any], argument: int) -> Any:
        """What the job gives, done by the thread; what it raises is raised here. A job of a job is done at once."""
        if threading.current_thread() is self._started():
            return job(argument)
        answer = _Answers()
        if self in _here.serving:  # its thread waits for this one
            self._spare = self._spare or WorkerThread(self.name, self.stack)
            return self._spare.do(job, argument)
        interrupted: BaseException | None = None
        before = _here.serving
        self._jobs.put((job, argument, answer))
        while True:
            try:  # the handler of a signal may raise anywhere: the job still runs then, and ends when it asks
                while answer.first is None:
                    answer.wait()
                if not isinstance(answer.first, _Request):
                    break
                if interrupted is None:
                    _here.serving = (*before, self)
                    answer.first.serve()
                answer.served(interrupted)
            except BaseException as error:
                interrupted = error
            finally:
                _here.serving = before
        if interrupted is not None:
            raise interrupted
        failed, result = answer.first
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
            _here.answer = answer
            try:
                answer.put((False, job(argument)))
            except BaseException as error:  # the caller raises it
                answer.put((True, error))
