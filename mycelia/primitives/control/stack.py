"""Room for deep recursion in Python: a thread with a large stack of its own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

STACK = 512 * 2**20  # bytes of address space; memory is taken as the stack grows
DEPTH = 400_000  # Python frames that fit into it


class _Process:
    """Settings of the whole process, changed while at least one deep stack is in use."""

    lock = threading.Lock()
    in_use = 0
    usual_depth = 0


@contextmanager
def _allowed() -> Iterator[None]:
    with _Process.lock:
        if not _Process.in_use:
            _Process.usual_depth = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_Process.usual_depth, DEPTH))
        _Process.in_use += 1
    try:
        yield
    finally:
        with _Process.lock:
            _Process.in_use -= 1
            if not _Process.in_use:
                sys.setrecursionlimit(_Process.usual_depth)


def on_deep_stack(run: Callable[[], Any]) -> Any:
    """What `run` gives, which may recurse deeply.

    >>> def down(n):
    ...     return 0 if n == 0 else 1 + down(n - 1)
    >>> on_deep_stack(lambda: down(20_000))
    20000
    """
    outcome: dict[str, Any] = {}
    context = copy_context()

    def work() -> None:
        try:
            outcome["result"] = context.run(run)
        except BaseException as e:
            outcome["error"] = e  # raised again below, where the caller is

    with _allowed():
        with _Process.lock:
            usual_stack = threading.stack_size(STACK)
            thread = threading.Thread(target=work)
            try:
                thread.start()
            finally:
                threading.stack_size(usual_stack)
        thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]
