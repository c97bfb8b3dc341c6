"""Where the elements of an operand lie in memory: logical dims with strides, or a packing oneDNN chose."""

from __future__ import annotations

import ctypes
from functools import cached_property
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from mycelia.frozen import frozen
from mycelia.onednn.constants import FORMAT_ANY, MAX_RANK, DataType, Query
from mycelia.onednn.library import Owned, dims, library


@frozen
class Layout:
    """Logical `dims` and the step of each in elements; `strides=None` lets oneDNN choose the packing.

    >>> Layout.rows((2, 3, 4), DataType.f32).strides
    (12, 4, 1)
    """

    dims: tuple[int, ...]
    dtype: DataType
    strides: tuple[int, ...] | None

    @staticmethod
    def rows(dims: tuple[int, ...], dtype: DataType) -> Layout:
        """The last axis is contiguous, as in C.

        >>> Layout.rows((5, 7), DataType.f32)
        Layout(dims=(5, 7), dtype=<DataType.f32: 3>, strides=(7, 1))
        """
        return Layout.ordered(dims, tuple(range(len(dims))), dtype)

    @staticmethod
    def channels_last(dims: tuple[int, ...], dtype: DataType) -> Layout:
        """Logical N, C, spatial…; physical N, spatial…, C. The same for weights O, I, spatial….

        >>> Layout.channels_last((2, 3, 8, 8), DataType.f32).strides
        (192, 1, 24, 3)
        """
        return Layout.ordered(dims, (0, *range(2, len(dims)), 1), dtype)

    @staticmethod
    def ordered(dims: tuple[int, ...], order: tuple[int, ...], dtype: DataType) -> Layout:
        """Dense, with the axes in memory in `order`, from the outermost.

        >>> Layout.ordered((5, 7), (1, 0), DataType.f32).strides
        (1, 5)
        """
        inner_first = order[::-1]
        steps = accumulate((max(dims[axis], 1) for axis in inner_first[:-1]), mul, initial=1)
        by_axis = dict(zip(inner_first, steps, strict=True))
        return Layout(dims, dtype, tuple(by_axis[axis] for axis in range(len(dims))))

    @staticmethod
    def chosen(dims: tuple[int, ...], dtype: DataType) -> Layout:
        """Let oneDNN pick what is fastest; ask the prepared primitive for the `Packed` it picked.

        >>> Layout.chosen((5, 7), DataType.f32).strides is None
        True
        """
        return Layout(dims, dtype, None)

    @staticmethod
    def of(array: np.ndarray[Any, Any]) -> Layout:
        """The layout of a NumPy array, views included.

        >>> import numpy as np
        >>> Layout.of(np.zeros((2, 3), np.float32).T).strides
        (1, 3)
        """
        return Layout(
            array.shape, DataType.named(array.dtype.name), tuple(step // array.itemsize for step in array.strides)
        )

    def grouped(self, groups: int) -> Layout:
        """Weights (O, I, spatial…) seen as (G, O/G, I, spatial…); with one group, unchanged.

        >>> Layout.rows((8, 3, 5, 5), DataType.f32).grouped(2).strides
        (300, 75, 25, 5, 1)
        """
        if groups == 1:
            return self
        outputs, *rest = self.dims
        split = (groups, outputs // groups, *rest)
        if self.strides is None:
            return Layout(split, self.dtype, None)
        return Layout(split, self.dtype, (self.strides[0] * (outputs // groups), *self.strides))

    @cached_property
    def descriptor(self) -> Owned:
        """The form of this layout that oneDNN reads."""
        if self.strides is None:
            name, form = "dnnl_memory_desc_create_with_tag", FORMAT_ANY
        else:
            name, form = "dnnl_memory_desc_create_with_strides", dims(self.strides)
        made = library().create(name, len(self.dims), dims(self.dims), self.dtype, form)
        return Owned(made, "dnnl_memory_desc_destroy")

    @property
    def address(self) -> int:
        """Where oneDNN reads it."""
        return self.descriptor.address

    @property
    def bytes(self) -> int:
        """How much memory it spans."""
        return int(library().value("dnnl_memory_desc_get_size", self.address))

    @property
    def plain(self) -> Layout | None:
        """Itself, unless oneDNN is to choose."""
        return None if self.strides is None else self


class Packed:
    """A layout that oneDNN chose: opaque but for its size and its equality. It stands in a primitive's descriptor."""

    __slots__ = ("_address", "owner")

    def __init__(self, address: int, owner: Owned) -> None:
        self._address, self.owner = address, owner

    @property
    def address(self) -> int:
        """Where oneDNN reads it, as long as the descriptor is there."""
        assert self.owner.address, "the descriptor in which this layout stands was given back"
        return self._address

    @property
    def bytes(self) -> int:
        """How much memory it spans."""
        return int(library().value("dnnl_memory_desc_get_size", self.address))

    def _ask(self, what: Query, result: Any) -> Any:
        library().call("dnnl_memory_desc_query", self.address, what, ctypes.byref(result))
        return result

    def _ask_axes(self, what: Query, count: int) -> tuple[int, ...]:
        borrowed = self._ask(what, ctypes.POINTER(ctypes.c_int64)())
        return tuple(borrowed[i] for i in range(count))

    @property
    def dims(self) -> tuple[int, ...]:
        """The logical dims."""
        rank = self._ask(Query.rank, ctypes.c_int()).value
        assert 0 <= rank <= MAX_RANK
        return self._ask_axes(Query.dims, rank)

    @property
    def plain(self) -> Layout | None:
        """The same as a strided layout, when oneDNN chose one."""
        if self._ask(Query.block_count, ctypes.c_int()).value:
            return None
        shape = self.dims
        dtype = DataType(self._ask(Query.data_type, ctypes.c_int()).value)
        return Layout(shape, dtype, self._ask_axes(Query.strides, len(shape)))

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """The inner blocks as (axis, size), outermost first; empty for a strided layout."""
        count = self._ask(Query.block_count, ctypes.c_int()).value
        axes, sizes = self._ask_axes(Query.block_axes, count), self._ask_axes(Query.block_sizes, count)
        return tuple(zip(axes, sizes, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Packed):
            return NotImplemented
        return bool(library().value("dnnl_memory_desc_equal", self.address, other.address))

    def __hash__(self) -> int:
        return hash((self.dims, self.bytes))

    def __repr__(self) -> str:
        return f"Packed(dims={self.dims}, bytes={self.bytes}, blocks={self.blocks})"
