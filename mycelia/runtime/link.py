"""From LLVM IR to machine code in memory: compiled once, kept on disk, linked when needed."""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding

from mycelia.codegen.target import machine
from mycelia.options import Options
from mycelia.runtime.threads import load_openmp
from mycelia.runtime.workers import Workers
from mycelia.target import Target

RELEASE = "run.release"
DIGEST = 32  # bytes at the end of a cached object that prove it whole


class Code:
    """Machine code in memory. It lives as long as this object."""

    def __init__(self, images: Sequence[bytes], target: Target, names: tuple[str, ...]) -> None:
        self._engine = _engine(target)
        builder = binding.JITLibraryBuilder().add_current_process()
        for image in images:
            builder = builder.add_object_img(image)
        for name in names:
            builder = builder.export_symbol(name)
        self._library = builder.link(self._engine, f"code{next(_numbers)}")
        self.address = {name: self._library[name] for name in names}

    def function(self, name: str, result: Any, *args: Any) -> Any:
        """A Python callable of the native function `name`."""
        return ctypes.CFUNCTYPE(result, *args)(self.address[name])


_numbers = count()  # which threads may ask for at once


@lru_cache(maxsize=4)
def _engine(target: Target) -> Any:
    load_openmp()
    return binding.create_lljit_compiler(machine(target))


@lru_cache(maxsize=1)
def _initialise() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


def machine_code(texts: Sequence[str], options: Options, names: tuple[str, ...] = ("run", RELEASE)) -> Code:
    """Modules of IR as machine code in memory: from the disk if they were ever compiled here, else made by workers."""
    _initialise()
    target, folder = options.target, options.cache
    paths = [folder / f"{_key(text, target)}.o" if folder else None for text in texts]
    images = [_read(path) if path else None for path in paths]
    missing = [i for i, image in enumerate(images) if image is None]
    if missing:
        made = workers(target).compile(texts[i] for i in missing)
        for i, image in zip(missing, made, strict=True):
            images[i] = image
            if path := paths[i]:
                _write(path, image)
    return Code([image for image in images if image is not None], target, names)


@lru_cache(maxsize=4)
def workers(target: Target) -> Workers:
    """The processes that compile for a target."""
    return Workers(target)


def _read(path: Path) -> bytes | None:
    """An object from the cache; None if it is not there, or was cut short."""
    try:
        image = path.read_bytes()
    except OSError:
        return None
    whole, mark = image[:-DIGEST], image[-DIGEST:]
    return whole if hashlib.sha256(whole).digest() == mark else None


def _key(text: str, target: Target) -> str:
    about = (llvmlite.__version__, binding.llvm_version_info, target.triple, target.cpu, target.features)
    return hashlib.sha256(f"{about}\n{text}".encode()).hexdigest()


def _write(path: Path, image: bytes) -> None:
    """Put a file there whole or not at all; a cache that cannot be written is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as f:
            f.write(image + hashlib.sha256(image).digest())
        os.replace(f.name, path)
    except OSError:
        return
