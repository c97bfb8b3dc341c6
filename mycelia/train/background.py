"""Files that a thread writes while training goes on; what goes wrong there is told when the next one is asked for."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable

from mycelia.errors import MyceliaError


class SavingFailed(MyceliaError, OSError):
    """A checkpoint that was saved in the background could not be written."""


class Background:
    """Work of one thread, one piece after the other.

    >>> work, done = Background(), []
    >>> work.begin(lambda: done.append(1))
    >>> work.finish()
    >>> done, work.busy()
    ([1], False)
    """

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None
        self.error: BaseException | None = None
        self.lock = threading.RLock()

    def begin(self, work: Callable[[], None]) -> None:
        """Do something in the background, when what was begun before is done."""
        with self.lock:
            self.finish()
            self.thread = threading.Thread(target=self._run, args=(work,), name="mycelia-saving")
            self.thread.start()

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self.error = error

    def finish(self) -> None:
        """Wait for what was begun; raise what went wrong."""
        with self.lock:
            if self.thread is not None:
                self.thread.join()
                self.thread = None
            error, self.error = self.error, None
        if error is not None:
            raise SavingFailed(f"a checkpoint could not be saved in the background: {error}") from error

    def busy(self) -> bool:
        """Whether something is being done."""
        return self.thread is not None and self.thread.is_alive()


SAVING = Background()


@atexit.register
def _last() -> None:
    """The end of the program waits for its files."""
    SAVING.finish()
