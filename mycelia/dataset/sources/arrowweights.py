"""What the columns of Arrow tables take as arrays and objects of Python, found before they are made.

A value that is named a million times, or a list of nothings, takes next to no memory in a table.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mycelia.dataset.errors import DataError

OBJECT = 64  # bytes of a cell that is an object of its own, at least


def weight_of(array: Any) -> int:
    """The bytes of all cells of an Arrow array or column; for rare kinds, as many as they may be at most.

    >>> import pyarrow
    >>> weight_of(pyarrow.array([1, 2], pyarrow.int16())), weight_of(pyarrow.array(["abc"]))
    (4, 67)
    """
    if hasattr(array, "chunks"):
        return sum(map(weight_of, array.chunks))
    kinds, count = import_module("pyarrow.types"), len(array)
    kind = array.type
    if hasattr(array, "storage"):  # of an extension
        return weight_of(array.storage)
    if kinds.is_dictionary(kind):
        return _named(array)
    if kinds.is_null(kind):
        return OBJECT * count
    if kinds.is_struct(kind) or kinds.is_union(kind):
        return OBJECT * count + sum(weight_of(array.field(i)) for i in range(kind.num_fields))
    if kinds.is_fixed_size_list(kind) or kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_map(kind):
        return OBJECT * count + weight_of(_within(array))
    if kinds.is_run_end_encoded(kind) or kinds.is_list_view(kind) or kinds.is_large_list_view(kind):
        return OBJECT * count + count * weight_of(array.values)
    if gapped(array):
        return OBJECT * count
    try:
        width: int = kind.bit_width
    except ValueError:  # of no fixed width
        return OBJECT * count + int(_lengths(array).sum())
    return -(-width // 8) * count


def gapped(array: Any) -> bool:
    """Whether whole numbers are missing in an Arrow array or column, or in its lists and parts.

    >>> import pyarrow
    >>> gapped(pyarrow.array([1, None])), gapped(pyarrow.array([[1], [None]])), gapped(pyarrow.array([1.0, None]))
    (True, True, False)
    """
    if hasattr(array, "chunks"):
        return any(map(gapped, array.chunks))
    kinds, kind = import_module("pyarrow.types"), array.type
    if kinds.is_fixed_size_list(kind) or kinds.is_list(kind) or kinds.is_large_list(kind):
        return gapped(_within(array))
    if kinds.is_struct(kind):
        return any(gapped(array.field(i)) for i in range(kind.num_fields))
    return bool(kinds.is_integer(kind) and array.null_count)


def _within(array: Any) -> Any:
    """The cells of all lists."""
    if not hasattr(array, "offsets"):
        size = array.type.list_size
        return array.values.slice(array.offset * size, len(array) * size)
    begin, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return array.values.slice(begin, end - begin)


def _lengths(array: Any) -> Any:
    """The bytes of every text."""
    try:
        lengths = import_module("pyarrow.compute").binary_length(array)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise DataError(f"columns of {array.type} cannot be read") from error
    return lengths.fill_null(0).to_numpy(zero_copy_only=False)


def _named(array: Any) -> int:
    """The cells of a column that names its values by number."""
    if not len(array.dictionary):
        return OBJECT * len(array)
    names = array.indices.drop_null().to_numpy(zero_copy_only=False)
    if hasattr(array.dictionary.type, "value_type") or array.dictionary.type.num_fields:
        return len(array) * weight_of(array.dictionary)
    try:
        each: int = -(-array.dictionary.type.bit_width // 8)
    except ValueError:
        return OBJECT * len(array) + int(_lengths(array.dictionary)[names].sum())
    return max(each, OBJECT) * len(array)
