"""Errors that tell the user four things: what happened, with which values, where, and what to try."""

from __future__ import annotations

import linecache
import os
import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unicodedata import east_asian_width

PACKAGE = str(Path(__file__).parent)
PYTHON = os.path.dirname(os.__file__) + os.sep
REST = sys.maxsize  # the column where an expression ends that goes on below
NUMPY = f"{os.sep}numpy{os.sep}"
INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's own source: a line, and the columns on it when they are known. `inside` is the place in
    this package that it led to, where that is known.
    """

    file: str
    line: int
    columns: tuple[int, int] | None = None
    inside: Location | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.title}  {self.source}"

    @property
    def title(self) -> str:
        """The file and the line; in a notebook, the cell."""
        cell = re.fullmatch(r"<ipython-input-(\d+)-\w+>", self.file)
        return f"{f'In[{cell[1]}]' if cell else Path(self.file).name}:{self.line}"

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    def caret(self) -> str:
        """The line with the expression underlined; only the line when its columns are not known."""
        text = linecache.getline(self.file, self.line).rstrip()
        shown = f"{self.title}  {text.lstrip()}"
        if self.columns is None or self.columns[1] <= self.columns[0]:
            return shown
        coded = text.encode()  # Python counts columns in bytes
        before, under = (coded[a:b].decode(errors="replace") for a, b in ((0, self.columns[0]), self.columns))
        space = width(f"{self.title}  {before.lstrip()}") + 3
        return f"{shown}\n  {' ' * space}{'^' * width(under)}" if under else shown


def width(text: str) -> int:
    """How many columns of a screen a text takes: characters of East Asia take two.

    >>> width("x = 1"), width("损失")
    (5, 4)
    """
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def is_ours(frame: FrameType) -> bool:
    """Whether code that runs is this package's."""
    file = frame.f_code.co_filename
    if file == "<string>":  # written by `dataclasses`, among the names of a module
        return str(frame.f_globals.get("__name__", "")).startswith("mycelia.")
    return file.startswith(PACKAGE + os.sep)


def is_library(frame: FrameType) -> bool:
    """Whether code that runs is Python's own, or NumPy's; what else is installed may be the user's."""
    file = frame.f_code.co_filename
    if file.startswith(("<frozen ", "<__array_function__")):
        return True
    return NUMPY in file or (file.startswith(PYTHON) and not any(part in file for part in INSTALLED))


def caller() -> Location | None:
    """The nearest frame outside this package and the libraries that it calls: the line the user wrote."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (is_ours(frame) or is_library(frame)):
        frame = frame.f_back
    return None if frame is None else location_of(frame.f_code, frame.f_lasti, frame.f_lineno)


def warn_user(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user who called us, once for each place as Python does."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and (is_ours(frame) or is_library(frame)):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, kind, stacklevel=level)


def origin(error: BaseException) -> Location | None:
    """The line of the user's file that raised."""
    trace, found = error.__traceback__, None
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            found = location_of(code, trace.tb_lasti, trace.tb_lineno)
        trace = trace.tb_next
    return found


def location_of(code: CodeType, instruction: int, line: int) -> Location:
    """Where an instruction of a code object stands in its source."""
    position = next(islice(code.co_positions(), instruction // 2, None), (line, line, None, None))
    start, end = position[2], position[3]
    if position[0] != line or start is None or end is None:
        return Location(code.co_filename, line)
    return Location(code.co_filename, line, (start, end if position[1] == line else REST))


def brief(value: object) -> str:
    """A value as an error shows it: arrays and tensors by their type and shape, other things in at most 200 letters.

    >>> brief([1, 2]), brief("f32[2]")
    ('[1, 2]', 'f32[2]')
    """
    if hasattr(value, "__array__") and getattr(value, "shape", None):
        return f"{type(value).__name__} of {value.dtype} and shape {tuple(value.shape)}"  # type: ignore[attr-defined]
    text = str(value)
    return text if len(text) <= 200 or isinstance(value, str) else f"{text[:197]}..."


def a(noun: str) -> str:
    """A noun with its article.

    >>> a("Adam"), a("Dense"), a("UniformReal")
    ('an Adam', 'a Dense', 'a UniformReal')
    """
    return f"{'an' if noun[:1] in 'AEIOaeio' and noun[:1] else 'a'} {noun}"


class MyceliaError(Exception):
    """Base of every error a user can cause.

    >>> print(MyceliaError("nothing fits", given={"x": "f32[2]"}, hint="try another").args[0].splitlines()[1])
      x: f32[2]
    """

    def __init__(
        self, what: str, *, given: Mapping[str, object] | None = None, at: Location | None = None, hint: str = ""
    ) -> None:
        self.where = at or caller()
        lines = [what]
        lines += [f"  {name}: {brief(value)}" for name, value in (given or {}).items()]
        lines += [f"  at {self.where.caret()}"] if self.where else []
        lines += [f"hint: {hint}"] if hint else []
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        return again, (type(self), self.args[0], self.where)


def again(kind: type[MyceliaError], message: str, where: Location | None) -> MyceliaError:
    """An error as another process made it, with the place that was the user's there."""
    error = kind.__new__(kind, message)
    error.where = where
    return error


class ShapeError(MyceliaError, ValueError):
    """Shapes do not fit together."""


class DTypeError(MyceliaError, TypeError):
    """An operation does not accept this element type."""


class ArgumentError(MyceliaError, ValueError, TypeError):
    """An argument that the operation does not accept: for its value, or because it is something else than is asked for.
    Whoever catches either of Python's errors for these, as programs written for MindSpore do, catches it.
    """


class CallError(MyceliaError, TypeError):
    """A function or an operator was given what it does not take."""


class GradientError(MyceliaError, RuntimeError):
    """A value was differentiated through an operation that has no gradient."""


class NoSuchGradient(ArgumentError, GradientError):
    """A gradient was asked for with respect to an argument or a parameter that there is not."""


class CaptureError(MyceliaError, RuntimeError):
    """A Python program could not be turned into a graph."""


class BranchError(MyceliaError, TypeError):
    """The two ways through a branch, or two turns of a loop, disagree about a value."""


class CompileError(MyceliaError, RuntimeError):
    """A program could not be turned into machine code."""


class LibraryFailed(MyceliaError):
    """A call of a library failed while a program ran, which went on: what it wrote since then may be anything."""


class OutOfMemory(MyceliaError, MemoryError):
    """A compiled program asked for memory that there is not."""


class DependencyError(MyceliaError, ImportError):
    """Something outside Python packages is missing, or an extra was not installed."""
