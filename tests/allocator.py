"""Memory of the C library with fences, for generated code: what it takes beyond its arena ends where nobody may touch,
is given back once, and all of it.

Inside `checked()`, programs that are compiled ask here instead of `malloc`, `realloc` and `free`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from llvmlite import binding, ir

from mycelia.codegen.heap import Heap
from mycelia.types import Array
from tests.fences import MARK, beside_a_fence

ALIGN = 16  # as of `malloc`
KINDS = {
    "malloc": ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t),
    "realloc": ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t),
    "free": ctypes.CFUNCTYPE(None, ctypes.c_void_p),
}


class Allocator:
    """Blocks that generated code has taken, by their addresses."""

    def __init__(self) -> None:
        self.blocks: dict[int, tuple[Array, Array, Array]] = {}
        self.taken: list[int] = []  # sizes of all that was ever given
        self.left: int | None = None  # how many more there are; as many as one wants, unless somebody says
        self.wrong: list[str] = []  # what cannot be told by an error in the middle of generated code
        self.functions = {name: kind(getattr(self, name)) for name, kind in KINDS.items()}

    def malloc(self, size: int) -> int | None:
        if self.left is not None:
            if not self.left:
                return None
            self.left -= 1
        block = beside_a_fence((size,), np.uint8, ALIGN)
        address = int(block[0].ctypes.data)
        self.blocks[address] = block
        self.taken.append(size)
        return address

    def realloc(self, old: int | None, size: int) -> int | None:
        if (new := self.malloc(size)) is not None and old:
            kept = min(size, self.block(old).size)
            ctypes.memmove(new, old, kept)
            self.free(old)
        return new

    def free(self, address: int | None) -> None:
        if not address:
            return
        if address not in self.blocks:
            self.wrong.append(f"{address:#x} is given back, and was not taken, or is gone")
            return
        self.look(address)
        del self.blocks[address]

    def block(self, address: int) -> Array:
        return self.blocks[address][0]

    def look(self, address: int) -> None:
        if any((marks != MARK).any() for marks in self.blocks[address][1:]):
            self.wrong.append(f"something was written around the block of {self.block(address).size} bytes")

    def holding(self, address: int, size: int) -> int | None:
        """The block in which these bytes lie."""
        found = (a for a, (block, *_) in self.blocks.items() if a <= address and address + size <= a + block.size)
        return next(found, None)

    def check(self) -> None:
        """Nothing has gone wrong so far."""
        for address in self.blocks:
            self.look(address)
        assert not self.wrong, "; ".join(self.wrong)

    def check_empty(self) -> None:
        """Nothing has gone wrong, and all was given back."""
        self.check()
        assert not self.blocks, f"{len(self.blocks)} of {len(self.taken)} blocks were never given back"

    def imports(self) -> dict[str, int]:
        """The names under which generated code finds these functions, and where."""
        return {f"checked_{n}": ctypes.cast(f, ctypes.c_void_p).value or 0 for n, f in self.functions.items()}


def asking_here(heap: Heap, name: str, result: ir.Type, *args: ir.Type) -> ir.Function:
    """`Heap.external`, of code that asks an `Allocator`."""
    return _external(heap, f"checked_{name}" if name in KINDS else name, result, *args)


_external = Heap.external
_kept: list[Allocator] = []  # code that was compiled for one may be found again


@contextmanager
def checked() -> Iterator[Allocator]:
    """What is compiled inside the block takes its memory from this allocator, and has given all of it back after it."""
    allocator = Allocator()
    _kept.append(allocator)

    class Builder(binding.JITLibraryBuilder):  # type: ignore[misc]
        def add_current_process(self) -> Any:
            for name, address in allocator.imports().items():
                self.import_symbol(name, address)
            return super().add_current_process()

    with mock.patch.object(Heap, "external", asking_here), mock.patch.object(binding, "JITLibraryBuilder", Builder):
        yield allocator
