"""Python as machine code calls it: a function of a table of pointers, which returns a status."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from mycelia.errors import ShapeError
from mycelia.loops import Callback, Called
from mycelia.loops.status import RAISED
from mycelia.runtime.interrupts import in_pieces
from mycelia.threads.worker_thread import on_calling_thread
from mycelia.types import Array, TensorType

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


def entry_of(call: Callback, python: Called, raised: list[BaseException]) -> Any:
    """The function that makes a call of `python`, with memory as arrays, of tables of addresses and of extents. What it
    raises is kept in `raised`, and raised where the program was called: an exception cannot pass through machine code.
    """
    types = [*call.inputs, *call.outputs]
    takes = len(call.inputs)
    rank = sum(t.rank for t in types)
    static = all(t.static for t in types)

    def run(places: list[int], extents: list[int]) -> None:
        left = iter(extents)
        actual = types if static else [t.with_shape(next(left) for _ in range(t.rank)) for t in types]
        memory = [array_at(at, t) for at, t in zip(places, actual, strict=True)]
        with in_pieces():
            given = python(memory[:takes], call.outputs)
        for target, result in zip(memory[takes:], given, strict=True):
            if result.shape != target.shape:
                raise ShapeError(
                    f"Python gave an array of shape {result.shape}, and the program expects {target.shape}"
                )
            target[...] = result

    def entry(table: int, sizes: int) -> int:
        try:
            places = (ctypes.c_size_t * len(types)).from_address(table)[:]
            extents = (ctypes.c_int64 * rank).from_address(sizes)[:]
            on_calling_thread(lambda: run(places, extents))
            return 0
        except BaseException as error:
            raised.append(error)
            return RAISED

    return ENTRY(entry)


def address_of(entry: Any) -> int:
    """Where a function for machine code is."""
    return ctypes.cast(entry, ctypes.c_void_p).value or 0


def array_at(address: int, t: TensorType) -> Array:
    """The memory at an address as an array: it is not copied.

    >>> from mycelia.types import float32
    >>> x = np.arange(3, dtype="f")
    >>> array_at(x.ctypes.data, TensorType(float32, (3,)))
    array([0., 1., 2.], dtype=float32)
    """
    if not t.size:
        return np.zeros(t.shape, t.dtype.numpy)
    raw: Any = (ctypes.c_char * t.nbytes).from_address(address)
    memory: Array = np.frombuffer(raw, t.dtype.numpy)
    return memory.reshape(t.shape)
