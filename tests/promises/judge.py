"""Runs a program as plain Python and through jit, and says whether anybody could tell them apart."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import io
import linecache
import re
import sys
import types
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.api.jit import Jitted, jit
from mycelia.eager import Parameter, Tensor
from tests.promises.transformed import names, refusing, unsigned

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-5, "float64": 1e-12}


@dataclasses.dataclass(frozen=True)
class Program:
    """A small module: `main()` calls functions that are decorated with `@J`, several times."""

    group: str
    name: str
    text: str
    prelude: tuple[str, ...] = ()  # what runs before it, and many programs share

    def __str__(self) -> str:
        return f"{self.group}-{self.name}"


def programs(path: Path) -> list[Program]:
    """The programs of a file: each begins with a line `#@ group name`."""
    found = []
    for case in path.read_text().split("#@ ")[1:]:
        title, _, text = case.partition("\n")
        group, name = title.split()
        found.append(Program(group, name, text))
    return found


def families(path: Path) -> list[Program]:
    """The programs of a file of families: `#* group`, a program with a hole `<idea>`, and lines `#- name: code`.

    In the code of an idea `\\n` begins a new line of the place where the hole is.
    """
    found = []
    for family in path.read_text().split("#* ")[1:]:
        group, _, rest = family.partition("\n")
        frame, *ideas = rest.split("#- ")
        (hole,) = (line for line in frame.splitlines() if "<idea>" in line)
        indent = hole[: -len("<idea>")]
        for idea in ideas:
            name, _, code = idea.strip("\n").partition(": ")
            lines = code.removeprefix("\\n").replace("\\\\n", "\0").split("\\n")
            body = "\n".join(indent + line.replace("\0", "\\n") for line in lines)
            found.append(Program(group.strip(), name, frame.replace(hole, body)))
    return found


def seen(value: Any, met: dict[int, tuple[int, Any]] | None = None) -> Any:
    """All that a caller can see of a value, down to the sign of zero; floating tensors stay arrays.

    A thing met for a second time is only said to be the first, so aliases are seen too.
    """
    met = {} if met is None else met
    if isinstance(value, Tensor | list | dict | set | collections.deque) or hasattr(value, "__dict__"):
        if id(value) in met:
            return "again", met[id(value)][0]
        met[id(value)] = len(met), value  # kept: no other gets its id
    name = type(value).__name__
    if isinstance(value, Tensor):
        return name, str(value.dtype), value.shape, value.asnumpy().copy()
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, repr(value.tolist())
    if isinstance(value, list | tuple | collections.deque):
        return (name, *[seen(v, met) for v in value])
    if isinstance(value, dict):
        return (name, *[(repr(k), seen(v, met)) for k, v in value.items()])
    if isinstance(value, set | frozenset):
        return name, sorted(map(repr, value))
    if isinstance(value, BaseException):
        return name, [seen(a, met) if not isinstance(a, str) else "text" for a in value.args]
    if isinstance(value, types.FunctionType | types.MethodType | Jitted):
        return "function", value.__qualname__ if not value.__module__.startswith("tests.") else "ours"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return name, seen(vars(value), met)
    if type(value).__repr__ is object.__repr__:
        slots = {slot: getattr(value, slot, None) for slot in getattr(type(value), "__slots__", ())}
        return name, seen({**slots, **getattr(value, "__dict__", {})}, met)
    return name, value if isinstance(value, float) else ADDRESS.sub("", repr(value))


def alike(a: Any, b: Any, rounding: float = 0.0) -> bool:
    """Whether two things that were seen are the same, floating tensors up to rounding; numbers are exactly the same.

    With `rounding`, those that a program may have got from a tensor are close.
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if type(a) is not type(b) or a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind == "c":  # exactly the same, NaN in either part too
            return all(np.array_equal(p, q, equal_nan=True) for p, q in ((a.real, b.real), (a.imag, b.imag)))
        tolerance = TOLERANCE.get(a.dtype.name)
        if tolerance is None:
            return bool((a == b).all())
        a, b = a.astype(np.float64), b.astype(np.float64)
        close = np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        exact = np.signbit(a) == np.signbit(b)
        return bool(close and (exact | (a != 0) | (b != 0)).all())
    if isinstance(a, tuple) and ("Undefined" in a[:1] or (isinstance(b, tuple) and "Refused" in b[:1])):
        return True  # there is nothing to compare
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(alike(x, y, rounding) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return repr(a) == repr(b) or (a != 0 and b != 0 and abs(a - b) <= rounding * max(abs(a), abs(b)))
    return bool(a == b)


def outcome(program: Program, wrap: Any, calls: int = 1) -> Any:
    """What a program returns or raises, and what it prints."""
    name = f"program_{program.name}"
    ms.set_seed(1)
    space = {
        "T": Tensor,
        "P": Parameter,
        "np": np,
        "ms": ms,
        "nn": nn,
        "ops": ops,
        "J": wrap,
        "__name__": program.name,
        **names(wrap is not eager),
    }
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(space)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            before = [(text, f"<prelude {zlib.crc32(text.encode())}>") for text in program.prelude]
            for text, filename in (*before, (program.text, f"<{program}>")):
                linecache.cache[filename] = len(text), None, text.splitlines(True), filename
                exec(_code(text, filename), module.__dict__)
            result = seen(module.__dict__["main"]())
        except Exception as error:
            result = "raised", seen(error)
        finally:
            sys.modules.pop(name, None)
    return result, printed.getvalue()


@functools.lru_cache(maxsize=100)
def _code(text: str, filename: str) -> types.CodeType:
    """The code of a text; that of a prelude is wanted often."""
    return compile(text, filename, "exec", dont_inherit=True)


def eager(fn: Any) -> Any:
    return fn


def compiler(made: list[Jitted]) -> Any:
    """`jit`, which notes what it has made."""

    def compiled(fn: Any) -> Any:
        made.append(jit(fn))
        answer = unsigned(made[-1]) if getattr(fn, "is_gradient", False) else made[-1]
        return refusing(answer) if getattr(fn, "may_be_refused", False) else answer

    return compiled


def difference(program: Program, rounding: float = 0.0) -> tuple[str | None, list[Jitted]]:
    """What differs between Python and jit, in words; None if nothing does. And the functions that were compiled."""
    made: list[Jitted] = []
    want, got = outcome(program, eager), outcome(program, compiler(made))
    return (None if alike(want, got, rounding) else f"eager {want}\njit   {got}"), made
