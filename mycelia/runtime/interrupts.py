"""Signals while machine code runs: Ctrl-C ends a loop that has no end, and finds everything as it was.

Python runs the handlers of signals between two of its instructions, on the main thread; a native loop has no such
place. So loops look at a word in memory at the end of each turn (`Poll`). A thread sets the word every few hundredths
of a second while a program with loops runs; whoever finds it set calls Python, which then runs the handlers that are
due, on the thread that called the program. If one raises, the program ends, and it raises there. No handler is
installed for this, so all handlers of the user work, for all signals, and other threads are asked nothing.

A program that ends gives new numbers to several tensors, some of them in place. A KeyboardInterrupt between two of
these would leave a half. Inside `whole()` Ctrl-C is noted, and raised when the loop asks, before anything was changed,
or behind the last change.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mycelia.loops.status import INTERRUPTED
from mycelia.threads.worker_thread import on_calling_thread

PERIOD = 0.04  # seconds between two looks at signals: short for a person who waits, long for a processor
PATIENCE = 1500  # periods without a program, after which the thread that sets the word ends
ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32)
SIGINT = int(signal.SIGINT)
Handler = Callable[[int, Any], Any]
# the functions without enums, which take ten times as long
handler_of: Callable[[int], Any] = sys.modules["_signal"].getsignal
install: Callable[[int, Any], Any] = sys.modules["_signal"].signal


class _Poll:
    """The word that loops look at, and the function that they call when it is set."""

    def __init__(self) -> None:
        self.raised: list[BaseException] = []
        self.told: BaseException | None = None  # the last of these that has ended a program
        self.running = 0  # programs with loops
        self.looking = False  # a handler may run a program itself
        self.thread: threading.Thread | None = None
        self.lock = threading.Lock()

    def start(self) -> None:
        """Begin to set the word, for a program with loops."""
        with self.lock:
            if self.thread is None:
                self.thread = threading.Thread(target=self._tick, daemon=True, name="mycelia-poll")
                self.thread.start()

    def _tick(self) -> None:
        idle = 0
        while True:
            time.sleep(PERIOD)
            idle = 0 if self.running else idle + 1
            if self.running:
                WORDS[0] = not self.looking
            elif idle > PATIENCE:
                with self.lock:
                    if not self.running:
                        self.thread = None
                        return

    def tell(self) -> BaseException:
        """What a handler raised, and ends a program."""
        self.told = self.raised.pop()
        return self.told

    def has_told(self, error: BaseException) -> bool:
        """Whether a program ended by this error of a handler, which nobody may take for its own."""
        return self.told is error

    def forget(self) -> None:
        """A forked process has no threads but one."""
        self.thread, self.lock = None, threading.Lock()


Poll = _Poll()
os.register_at_fork(after_in_child=Poll.forget)


def _looks() -> Iterator[int]:
    """Each turn lets Python run the handlers that are due, and gives the program its status: what they raise ends it.

    A function would be too late to catch that: handlers run before its first instruction. This goes on inside `try`.
    """
    status = 0
    while True:
        try:
            while True:
                try:
                    yield status
                    status, Poll.looking = 0, True
                    on_calling_thread(deliver)
                except BaseException as error:
                    Poll.raised.append(error)
                    status = INTERRUPTED
                Poll.looking = False
        except BaseException as error:  # of a second signal, right behind the first
            Poll.raised.append(error)
            status = INTERRUPTED


_looking = _looks()
next(_looking)
_entry = ENTRY(_looking.__next__)
WORDS = np.array([0, ctypes.cast(_entry, ctypes.c_void_p).value], np.int64)  # the word, and the function


class _Noted:
    """Ctrl-C on the main thread while a program changes tensors."""

    handler: Handler | None = None  # the user's, while ours takes its place
    frame: Any = None
    due = False


def _note(number: int, frame: Any) -> None:
    _Noted.due, _Noted.frame = True, frame


def deliver() -> None:
    """Raise a Ctrl-C that was noted: call the user's handler."""
    if _Noted.due and _on_main() and _Noted.handler is not None:
        _Noted.due = False
        _Noted.handler(SIGINT, _Noted.frame)


class _Main:
    """The thread that Python runs handlers on."""

    ident = threading.main_thread().ident

    @classmethod
    def forked(cls) -> None:
        cls.ident = threading.get_ident()


os.register_at_fork(after_in_child=_Main.forked)


def _on_main() -> bool:
    return threading.get_ident() == _Main.ident


class whole:  # it is used like a function
    """Inside the block Ctrl-C is noted only; a loop that asks raises it, else the end of the block."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before: Handler | None = None
        if _Noted.handler is None and _on_main() and callable(before := handler_of(SIGINT)):
            _Noted.due = False
            install(SIGINT, _note)
            self.before = _Noted.handler = before

    def __exit__(self, *_: object) -> None:
        if self.before is None:
            return
        handler = _Noted.handler or self.before  # Python that was called may have put another one there
        _Noted.handler = None  # while ours still notes: when the user's is back it may raise before the next line
        if handler_of(SIGINT) is _note:
            install(SIGINT, handler)
        if _Noted.due:
            _Noted.due = False
            handler(SIGINT, _Noted.frame)


@contextmanager
def in_pieces() -> Iterator[None]:
    """Inside the block, which is Python that a program calls, Ctrl-C is what it is for the user."""
    handler = _Noted.handler
    if handler is None or not _on_main():
        yield
        return
    deliver()
    install(SIGINT, handler)
    _Noted.handler = None
    try:
        yield
    finally:
        now = handler_of(SIGINT)
        if callable(now):
            _Noted.handler = now
            install(SIGINT, _note)
