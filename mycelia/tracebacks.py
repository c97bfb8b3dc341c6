"""Tracebacks as a user wants them: the user's own frames, without those of this package between and below them.

Only what is shown changes. Whoever looks at `error.__traceback__` (debuggers, test runners) finds every frame, and
`MYCELIA_TRACEBACK=full` shows them all. Tracebacks are shown by the module `traceback` (for programs, `logging` and
worker processes), by the interpreter itself, which does not ask that module before Python 3.13, and by IPython: each
is asked to leave out what `trimmed` leaves out.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from mycelia.errors import MyceliaError, is_library, is_ours

NOTE = "(raised inside mycelia: MYCELIA_TRACEBACK=full shows where)"


def trimmed(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without our frames, and those of libraries that we call; the same one where nothing would be left."""
    if os.environ.get("MYCELIA_TRACEBACK") == "full":
        return trace
    shown = [t for t, hidden in _marked(trace) if not hidden]
    if not shown or len(shown) == len(_marked(trace)):
        return trace
    link: TracebackType | None = None
    for t in reversed(shown):
        link = TracebackType(link, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return link


def _marked(trace: TracebackType | None) -> list[tuple[TracebackType, bool]]:
    """The entries of a traceback, and whether each is ours or a library's that we have called."""
    found, inside = [], False
    while trace is not None:
        inside = is_ours(trace.tb_frame) or (inside and is_library(trace.tb_frame))
        found.append((trace, inside))
        trace = trace.tb_next
    return found


# ------------------------------------------------------------------------------------------------------ who shows them


def install() -> None:
    """Leave our frames out wherever tracebacks are shown, from now on."""
    if "mycelia" in vars(traceback.TracebackException):  # however often we are loaded
        return
    traceback.TracebackException.mycelia = True  # type: ignore[attr-defined]  # the mark that this was done
    original = traceback.TracebackException.__init__

    def trimming(self: Any, exc_type: Any, exc_value: Any, exc_traceback: Any, **options: Any) -> None:
        shorter = trimmed(exc_traceback)
        led = options.get("_seen") is not None and isinstance(exc_value, MyceliaError)  # it led to the one that is told
        if led and shorter is exc_traceback and all(hidden for _, hidden in _marked(exc_traceback)):
            shorter = exc_traceback if os.environ.get("MYCELIA_TRACEBACK") == "full" else None
        if isinstance(exc_value, MyceliaError) and os.environ.get("MYCELIA_TRACEBACK") == "full":
            exc_value.__suppress_context__ = False  # what it was made of
        original(self, exc_type, exc_value, shorter, **options)
        if shorter is not exc_traceback and not isinstance(exc_value, MyceliaError) and _marked(exc_traceback)[-1][1]:
            self.__notes__ = [*(getattr(self, "__notes__", None) or ()), NOTE]

    traceback.TracebackException.__init__ = trimming  # type: ignore[method-assign]
    if sys.version_info < (3, 13):
        _ask_the_interpreter()
    if "IPython" in sys.modules:
        _ask_ipython(sys.modules["IPython"].get_ipython())


def _ask_the_interpreter() -> None:
    """Let `traceback` show what ends a program or a thread, unless somebody else has taken that over."""

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if _through_us(error):
            traceback.print_exception(kind, error, trace)
        else:
            sys.__excepthook__(kind, error, trace)

    def in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and _through_us(args.exc_value):
            name = args.thread.name if args.thread is not None else threading.get_ident()
            print(f"Exception in thread {name}:", file=sys.stderr)
            traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback)
        else:
            threading.__excepthook__(args)

    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = excepthook
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = in_thread


def _ask_ipython(shell: Any) -> None:
    """Let IPython show trimmed tracebacks; its debugger, and whoever asks later, finds them whole."""
    if shell is None or shell.custom_exceptions:  # not in a notebook, or the user has plans of their own
        return

    def show(shell: Any, kind: Any, error: Any, trace: Any, tb_offset: Any = None) -> None:
        whole = [(e, e.__traceback__) for e in _chain(error)]
        for e, its in whole:
            e.__traceback__ = trimmed(its)
        try:
            shell.showtraceback((kind, error, trimmed(trace)), tb_offset=tb_offset)
        finally:
            for e, its in whole:
                e.__traceback__ = its
            sys.last_traceback = trace

    shell.set_custom_exc((Exception,), show)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _through_us(error: BaseException) -> bool:
    return any(hidden for e in _chain(error) for _, hidden in _marked(e.__traceback__))
