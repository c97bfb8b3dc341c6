"""From LLVM IR to machine code in memory: compiled once, kept on disk, linked when needed."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

import llvmlite
from llvmlite import binding as llvm

from mycelia.codegen.processor import machine
from mycelia.errors import CompileError
from mycelia.loops import Binding
from mycelia.options import Options
from mycelia.runtime.cache import HEAD, cache_in
from mycelia.target import Target
from mycelia.threads.openmp import load_openmp

if TYPE_CHECKING:
    from mycelia.runtime.workers import Workers

RELEASE = "run.release"


class Code:
    """Machine code in memory. It lives as long as this object."""

    def __init__(self, images: Sequence[bytes], objects: Sequence[str], target: Target, names: tuple[str, ...]) -> None:
        self.objects = tuple(objects)  # under which names they are kept
        self._engine = _engine(target)
        builder = llvm.JITLibraryBuilder().add_current_process()
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
    return llvm.create_lljit_compiler(machine(target))


@lru_cache(maxsize=1)
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def entries(binding: Binding) -> tuple[str, ...]:
    """The functions of a program: to run it, and to let go what its results need, if they live in its heap."""
    return ("run", RELEASE) if binding.handles else ("run",)


def machine_code(texts: Sequence[str], options: Options, names: tuple[str, ...] = ("run",)) -> Code:
    """Modules of IR as machine code in memory: from the disk if they were ever compiled here, else made by workers."""
    target, files = options.target, cache_in(options.cache) if options.cache else None
    keys = [_key(text, target) for text in texts]
    images = [files.read(f"{key}.o") if files else None for key in keys]
    missing = [i for i, image in enumerate(images) if image is None]
    if missing:
        made = workers(target).compile(texts[i] for i in missing)
        for i, image in zip(missing, made, strict=True):
            images[i] = image
            if files:
                files.write(f"{keys[i]}.o", image)
    return linked([image for image in images if image is not None], keys, target, names)


def linked(images: Sequence[bytes], objects: Sequence[str], target: Target, names: tuple[str, ...] = ("run",)) -> Code:
    """Objects as machine code in memory."""
    _initialise()
    try:
        return Code(images, objects, target, names)
    except (RuntimeError, ValueError) as error:
        raise CompileError(f"LLVM cannot link generated code: {error}", hint="please report this") from error


@lru_cache(maxsize=4)
def workers(target: Target) -> Workers:
    """The processes that compile for a target."""
    from mycelia.runtime.workers import Workers  # which are not needed where everything was compiled before

    return Workers(target)


def _key(text: str, target: Target) -> str:
    about = (HEAD, llvmlite.__version__, llvm.llvm_version_info, target.triple, target.cpu, target.features)
    return hashlib.sha256(f"{about}\n{text}".encode()).hexdigest()
