"""Functions of shared libraries as operators: `"file.so:name"`, with the signature that MindSpore calls "aot"."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError, CallError
from mycelia.types import Array, TensorType

SOURCES = {".c": ("cc", "gcc", "clang"), ".cc": ("c++", "g++", "clang++"), ".cpp": ("c++", "g++", "clang++")}
"""Kinds of source files, and the compilers that are looked for."""
_built: dict[str, Path] = {}


class LibraryFunction:
    """A function of a shared library, of arrays: it is told where they lie, and writes into those that it gives."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.__name__ = path, name
        try:
            self.library = ctypes.CDLL(str(path))
            self.entry = getattr(self.library, name)
        except OSError as error:
            raise ArgumentError(f"{path} cannot be loaded: {error}") from None
        except AttributeError:
            raise ArgumentError(
                f"{path.name} has no function {name}", hint='in C++ it is declared with extern "C"'
            ) from None
        self.entry.restype = ctypes.c_int
        self.entry.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 6]

    def giving(self, types: Sequence[TensorType]) -> Callable[..., tuple[Array, ...]]:
        """The function, giving arrays of these types."""
        run = partial(self.run, types)
        run.__name__ = self.__name__  # type: ignore[attr-defined]  # a partial has attributes of its own
        return run

    def run(self, outputs: Sequence[TensorType], *arrays: Array) -> tuple[Array, ...]:
        """The arrays that it gives, of these types."""
        given = [np.ascontiguousarray(a) for a in arrays]
        results = [np.zeros(t.shape, t.dtype.numpy) for t in outputs]
        every = [*given, *results]
        count = len(every)
        places = (ctypes.c_void_p * count)(*[a.ctypes.data for a in every])
        ranks = (ctypes.c_int * count)(*[a.ndim for a in every])
        extents = [(ctypes.c_int64 * max(a.ndim, 1))(*a.shape) for a in every]
        shapes = (ctypes.c_void_p * count)(*[ctypes.addressof(e) for e in extents])
        names = [ctypes.create_string_buffer(a.dtype.name.encode()) for a in every]
        dtypes = (ctypes.c_void_p * count)(*[ctypes.addressof(n) for n in names])
        status = self.entry(count, places, ranks, shapes, dtypes, None, None)
        if status:
            raise CallError(f"{self.__name__} of {self.path.name} failed: it returned {status}")
        return tuple(results)


def function_of(told: Any) -> LibraryFunction:
    """The function that `"file.so:name"` names; a source file is compiled first."""
    if not isinstance(told, str) or told.count(":") != 1:
        raise ArgumentError(
            f'func_type "aot" takes a file and a function of it, not {told!r}', hint='such as "./add.so:CustomAdd"'
        )
    file, name = told.split(":")
    path = Path(file).resolve()
    if not path.is_file():
        raise ArgumentError(f"there is no file {file}")
    return LibraryFunction(built(path) if path.suffix in SOURCES else path, name)


def built(source: Path) -> Path:
    """A shared library made of one source file, once for each text."""
    text = source.read_bytes()
    key = hashlib.sha256(text).hexdigest()
    if key not in _built:
        compiler = next((c for c in map(shutil.which, SOURCES[source.suffix]) if c), None)
        if compiler is None:
            raise ArgumentError(
                f"no compiler for {source.name} is installed", hint="compile it elsewhere, and name the .so file"
            )
        out = Path(tempfile.mkdtemp(prefix="mycelia-custom-")) / f"{source.stem}.so"
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(out), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ArgumentError(f"{source.name} does not compile:\n{done.stderr.strip()[:2000]}")
        _built[key] = out
    return _built[key]
