"""Memory for results, used again when a result is dropped: fresh pages cost more than computing what fills them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mycelia.types import Array, TensorType

ALIGN = 64
SMALL = 1 << 15  # bytes that NumPy serves well by itself
KEPT = 1 << 30  # bytes that may lie idle


class _Block:
    """A piece of memory that goes back to the pool when the last array over it is gone."""

    __slots__ = ("__array_interface__", "_room", "size")

    def __init__(self, room: Any, size: int) -> None:
        self._room, self.size = room, size
        start = ctypes.addressof(room)
        aligned = -(-start // ALIGN) * ALIGN
        self.__array_interface__ = {"data": (aligned, False), "shape": (size,), "typestr": "|u1", "version": 3}

    def __del__(self) -> None:
        _Pool.take_back(self._room, self.size)


class _Pool:
    idle: dict[int, list[Any]] = {}
    bytes = 0

    @classmethod
    def take_back(cls, room: Any, size: int) -> None:
        if cls.bytes + size <= KEPT:
            cls.idle.setdefault(size, []).append(room)
            cls.bytes += size

    @classmethod
    def block(cls, size: int) -> _Block:
        waiting = cls.idle.get(size)
        if waiting:
            cls.bytes -= size
            return _Block(waiting.pop(), size)
        return _Block((ctypes.c_char * (size + ALIGN))(), size)


_words = (ctypes.c_size_t * (1 << 53)).from_address(0)  # all that a process can address, as numbers
_PROBE = np.zeros(3)
_DATA = object.__basicsize__  # where an array keeps the address of its elements: first thing after the object's head
_DIRECT = _words[(id(_PROBE) + _DATA) >> 3] == _PROBE.ctypes.data


def address(array: Array) -> int:
    """Where the elements of an array are. Asking NumPy takes two microseconds, ten times longer than looking.

    >>> x = np.zeros(3)
    >>> address(x) == x.ctypes.data
    True
    """
    return _words[(id(array) + _DATA) >> 3] if _DIRECT else array.ctypes.data


def maker(t: TensorType) -> Callable[[], Array]:
    """A function that makes arrays of type `t`, whose elements are not set yet.

    >>> from mycelia.types import float32
    >>> maker(TensorType(float32, (2, 3)))().shape
    (2, 3)
    """
    shape, dtype, nbytes = t.shape, t.dtype.numpy, t.nbytes
    if nbytes < SMALL:
        return partial(np.empty, shape, dtype)
    size = 1 << (nbytes - 1).bit_length() if nbytes < 1 << 20 else -(-nbytes // (1 << 20)) << 20

    def make() -> Array:
        return np.ndarray(shape, dtype, np.asarray(_Pool.block(size)))

    return make


def empty(t: TensorType) -> Array:
    """An array of type `t` whose elements are not set yet.

    >>> from mycelia.types import float32
    >>> empty(TensorType(float32, (2, 3))).shape
    (2, 3)
    """
    return maker(t)()
