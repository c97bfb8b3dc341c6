"""From LLVM IR to machine code in memory: compiled once, kept on disk, linked when needed."""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding, ir

from mycelia.codegen.target import Target

RELEASE = "run.release"


class Code:
    """Machine code in memory. It lives as long as this object."""

    def __init__(self, image: bytes, target: Target, names: tuple[str, ...]) -> None:
        self._engine = _engine(target)
        builder = binding.JITLibraryBuilder().add_object_img(image).add_current_process()
        for name in names:
            builder = builder.export_symbol(name)
        _Links.count += 1
        self._library = builder.link(self._engine, f"code{_Links.count}")
        self.address = {name: self._library[name] for name in names}

    def function(self, name: str, result: Any, *args: Any) -> Any:
        """A Python callable of the native function `name`."""
        return ctypes.CFUNCTYPE(result, *args)(self.address[name])


class _Links:
    count = 0


@lru_cache(maxsize=4)
def _engine(target: Target) -> Any:
    ctypes.CDLL("libgomp.so.1", mode=ctypes.RTLD_GLOBAL)
    return binding.create_lljit_compiler(target.machine())


@lru_cache(maxsize=1)
def _initialise() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


def machine_code(module: ir.Module, target: Target) -> Code:
    """The module as machine code, from the disk if it was ever compiled here."""
    _initialise()
    text = str(module)
    image = cached(text, target)
    return Code(image, target, ("run", RELEASE))


def cached(text: str, target: Target) -> bytes:
    """The object of this IR: from the cache, else compiled and put there."""
    path = cache_folder() / f"{_key(text, target)}.o"
    try:
        return path.read_bytes()
    except OSError:
        image = compiled(text, target)
        _write(path, image)
        return image


def compiled(text: str, target: Target) -> bytes:
    """The object of this IR. The IR is vectorised already, so LLVM's own passes do not run."""
    module = binding.parse_assembly(text)
    return bytes(target.machine().emit_object(module))


def _key(text: str, target: Target) -> str:
    about = (llvmlite.__version__, binding.llvm_version_info, target.triple, target.cpu, target.features)
    return hashlib.sha256(f"{about}\n{text}".encode()).hexdigest()


def cache_folder() -> Path:
    """Where objects are kept: MYCELIA_CACHE, else a folder of the user's cache."""
    chosen = os.environ.get("MYCELIA_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mycelia"


def _write(path: Path, image: bytes) -> None:
    """Put a file there whole or not at all; a cache that cannot be written is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as f:
            f.write(image)
        os.replace(f.name, path)
    except OSError:
        return
