"""Routines that run: compiled when first called, kept on disk, called without holding the interpreter.

Where LLVM fails, Python runs them, which is slow and right.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import update_wrapper
from typing import Any
from weakref import WeakSet

import numpy as np
from llvmlite import binding

from mycelia.degradations import Instead, Subject, concerning, degrade
from mycelia.errors import ArgumentError, CompileError, MyceliaError
from mycelia.options import Options
from mycelia.routines.emit import emit
from mycelia.routines.source import Source, reached
from mycelia.routines.words import KINDS, MASK
from mycelia.runtime.link import machine_code
from mycelia.runtime.results import address
from mycelia.types import Array

EDGE = 1 << 63  # what a number must stay below

_all: WeakSet[Routine] = WeakSet()


_llvm = binding.ffi.lib._lock  # held by llvmlite during every call of LLVM


def _apart() -> None:
    """After a fork: LLVM may be called again."""
    _llvm.__exit__(None, None, None)


def _anew() -> None:
    """In a forked child: the thread that was compiling was not copied, and what it held stays locked."""
    _apart()
    for each in _all:
        each._begin()


# no fork amid a call of LLVM by another thread: it takes milliseconds, and the child could never call LLVM
os.register_at_fork(before=_llvm.__enter__, after_in_parent=_apart, after_in_child=_anew)


class Unbounded:
    """An array as a routine in Python sees it: whole numbers, one after the other, that have room for all bits.

    >>> x = Unbounded(np.array([[250, 1]], np.uint8))
    >>> x[1] = x[0] << 4 | 3
    >>> x[0], x[1]
    (250, 163)
    """

    def __init__(self, array: Array) -> None:
        self.flat = array.reshape(-1)

    def __getitem__(self, i: int) -> int:
        return int(self.flat[i])

    def __setitem__(self, i: int, value: int) -> None:
        self.flat[i : i + 1] = np.array([value & MASK], np.uint64)  # the lowest bits, as machine code stores them


class Routine:
    """A function of numbers and arrays as machine code; `python` is the same, interpreted. See routines/emit.py.

    >>> def twice(x: int) -> int:
    ...     return x + x
    >>> from mycelia.api.options import options
    >>> Routine(twice, options).python(3)
    6
    """

    def __init__(self, python: Callable[..., int], options: Callable[[], Options]) -> None:
        self.python, self._options = python, options
        self._subject = Subject(python.__name__)
        self._code: Any = None
        self._call: Any = None
        self._failure: CompileError | None = None  # why there is no code
        self._sizes: tuple[int, ...] = ()
        # now, and not by the thread that compiles: Python 3.11 cannot make syntax trees in two threads at once, and the
        # one that makes another may be the user's
        self._sources: Sequence[Source] = ()
        with suppress(CompileError):  # what it calls may be written later; and who calls it will hear of it
            self._sources = reached(python)
        self._begin()
        _all.add(self)
        update_wrapper(self, python)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._begun = False

    def __call__(self, *args: Array | int) -> int:
        """The result. Arrays must be dense, of the annotated kind, and different ones must not overlap."""
        call = self._call or self._made()
        if len(args) != len(self._sizes):
            raise ArgumentError(f"{self.python.__name__} takes {len(self._sizes)} arguments, and got {len(args)}")
        given = list(map(self._passed, args, self._sizes))
        return int(call(*given)) if self._failure is None else self._interpreted(args)

    def _interpreted(self, args: Sequence[Array | int]) -> int:
        """The result, by Python."""
        self._told(warn=True)
        found = self.python(*[Unbounded(x) if isinstance(x, np.ndarray) else x for x in args])
        return (found + EDGE & MASK) - EDGE

    def _told(self, warn: bool) -> None:
        with concerning(self._subject):
            degrade(Instead.INTERPRETED, f"it runs without machine code, which is slow: {self._failure}", warn=warn)

    def _passed(self, x: Any, size: int) -> int:
        """An argument as machine code takes it: a number, or where an array with elements of `size` bytes lies."""
        if size:
            if isinstance(x, np.ndarray) and x.itemsize == size and x.flags.c_contiguous:
                return address(x)
        elif isinstance(x, int | np.integer) and -EDGE <= x < EDGE:
            return int(x)
        raise ArgumentError(
            f"{self.python.__name__} needs {f'a dense array, {size} bytes each' if size else 'a number of 64 bits'}",
            given={"argument": f"{type(x).__name__} {np.shape(x)} {getattr(x, 'dtype', x)}"},
        )

    def ready(self) -> bool:
        """Whether a call runs at once; if not, the compiler is set to work meanwhile, once."""
        if self._call is None and not self._begun:
            self._begun = True
            threading.Thread(target=self._prepare, name="mycelia-routine", daemon=True).start()
        return self._call is not None

    def _prepare(self) -> None:
        try:
            self._made()
        except MyceliaError:
            return  # whoever calls it will hear of it
        if self._failure is not None:
            self._told(warn=False)  # a library does the work

    def _made(self) -> Any:
        with self._lock:
            if self._call is None and self._failure is None:
                options = self._options()
                sources = self._sources or reached(self.python)
                text = emit(sources, options.target.triple)
                self._sizes = tuple(KINDS.get(kind, 0) for kind in sources[-1].kinds.values())
                try:
                    self._code = machine_code([text], options, ("run",))
                    self._call = self._code.function("run", ctypes.c_int64, *[ctypes.c_int64] * len(self._sizes))
                except CompileError as failure:
                    self._failure = failure
        return self._call
