"""NumPy without its floating-point warnings: a division by zero is inf here, as in compiled code, and not a message.

`np.errstate` says the same, but costs more than a small addition. NumPy keeps that state in a context variable, so
running in a context where it was set once is the cheap way to ask for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np


def quiet_context() -> Context:
    """A context in which NumPy does not warn. One thread at a time may be inside."""
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


class _Contexts(threading.local):
    """One quiet context per thread."""

    def __init__(self) -> None:
        self.context = quiet_context()


_contexts = _Contexts()


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """Call `function` where NumPy does not warn.

    >>> quietly(np.divide, np.float32(1), np.float32(0))
    np.float32(inf)
    """
    try:
        return _contexts.context.run(function, *args)
    except RuntimeError as error:
        if "already entered" not in str(error):
            raise
        return function(*args)  # we are inside already, and so quiet
