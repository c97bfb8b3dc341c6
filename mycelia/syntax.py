"""Syntax trees of Python's own, made by one thread at a time: Python 3.11 cannot make two at once."""

import ast
import os
import threading

_making = threading.RLock()  # what garbage leaves behind may make one inside another


def parsed(text: str) -> ast.Module:
    """The syntax of a text.

    >>> ast.unparse(parsed("x=1"))
    'x = 1'
    """
    with _making:
        return ast.parse(text)


def expression(text: str) -> ast.expr:
    """The syntax of one expression.

    >>> ast.unparse(expression("x*2"))
    'x * 2'
    """
    with _making:
        return ast.parse(text, mode="eval").body


def _begin() -> None:
    global _making
    _making = threading.RLock()  # in a process that was split off, the thread that held it is not there


os.register_at_fork(after_in_child=_begin)
