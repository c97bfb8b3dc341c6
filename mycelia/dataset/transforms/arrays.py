"""Transforms of any array: its type, its shape, which elements are kept."""

from __future__ import annotations

import operator
from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np

from mycelia.checks import member, number, sequence, whole
from mycelia.dataset.transforms.base import Array, TensorOperation, as_array, numpy_dtype
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen

F = TypeVar("F", bound=Callable[..., Any])


class Relational(IntEnum):
    """How `Mask` compares an element with its constant."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


def not_random(function: F) -> F:
    """Mark a function as one whose answer depends on its arguments alone, so that it may be cached.

    >>> not_random(lambda x: x).random
    False
    """
    function.random = False  # type: ignore[attr-defined]  # the mark is an attribute by MindSpore's contract
    return function


def alike(name: str, value: Any, x: Array) -> Array:
    """A scalar of the kind that the elements of an array have: str, bytes, or a number, which is cast to their type.

    >>> alike("pad_value", -1, np.zeros(2, np.uint8))
    array(255, dtype=uint8)
    """
    kinds: tuple[type, ...] = {"U": (str,), "S": (bytes,)}.get(x.dtype.kind, (bool, int, float, np.generic))
    if not isinstance(value, kinds) or (x.dtype.kind not in "US" and isinstance(value, (str, bytes))):
        raise DTypeError(f"{name} and the array differ in kind", given={name: repr(value), "dtype": x.dtype})
    return np.asarray(value) if x.dtype.kind in "US" else np.asarray(value).astype(x.dtype)


@frozen
class TypeCast(TensorOperation):
    """The same elements with another type.

    >>> TypeCast(np.int32)(np.array([1.7, -2.7]))
    array([ 1, -2], dtype=int32)
    """

    data_type: Any

    def __post_init__(self) -> None:
        if self.data_type is None:
            raise DTypeError("data_type must be an element type, not None")
        numpy_dtype(self.data_type)

    def apply(self, x: Array) -> Array:
        """Convert as C does: fractions are cut off and integers wrap around; strings stay strings."""
        target = numpy_dtype(self.data_type)
        if (x.dtype.kind in "US") != (target.kind in "US"):
            raise DTypeError(
                "strings and numbers are not cast into each other",
                given={"from": x.dtype, "to": target},
                hint="text.ToNumber reads numbers from strings",
            )
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large is infinite
            if x.dtype.kind == "f" and target.kind == "u":
                return x.astype(np.int64).astype(target)  # straight from float it would be undefined below zero
            return x.astype(target)


@frozen
class OneHot(TensorOperation):
    """Labels as rows with a one at the label; `smoothing_rate` is shared among all classes.

    >>> OneHot(3)(np.array([2, 0]))
    array([[0, 0, 1],
           [1, 0, 0]])
    >>> OneHot(4, smoothing_rate=0.1)(np.array(1))
    array([0.025, 0.925, 0.025, 0.025])
    """

    num_classes: int
    smoothing_rate: float = 0.0

    def __post_init__(self) -> None:
        whole(self, "num_classes", self.num_classes, 1)
        number(self, "smoothing_rate", self.smoothing_rate, 0, 1)

    def apply(self, label: Array) -> Array:
        """A label axis of length one gives way to the classes, as MindSpore has it."""
        if label.dtype.kind not in "iu":
            raise DTypeError("OneHot needs labels of an integer type", given={"dtype": label.dtype})
        if label.size and not -1 <= label.min() <= label.max() < self.num_classes:
            raise ArgumentError(
                "a label is not a class",
                given={"labels": f"{label.min()} to {label.max()}", "num_classes": self.num_classes},
                hint="labels run from 0 to num_classes - 1; -1 means no class",
            )
        bare = label[..., 0] if label.ndim and label.shape[-1] == 1 else label
        hot: Array = bare[..., None] == np.arange(self.num_classes)
        if not self.smoothing_rate:
            return hot.astype(label.dtype)
        return np.asarray(hot * (1 - self.smoothing_rate) + self.smoothing_rate / self.num_classes)


@frozen
class Fill(TensorOperation):
    """An array of the same shape and type in which every element is `fill_value`.

    >>> Fill(3)(np.array([1.5, 2]))
    array([3., 3.])
    """

    fill_value: Any

    def apply(self, x: Array) -> Array:
        """Strings are as long as the fill."""
        return np.full(x.shape, alike("fill_value", self.fill_value, x))


@frozen
class Mask(TensorOperation):
    """Where `element operator constant` holds.

    >>> Mask(Relational.GT, 1)(np.array([1, 2, 3]))
    array([False,  True,  True])
    """

    operator: Relational
    constant: Any
    dtype: Any = np.bool_

    def __post_init__(self) -> None:
        member(self, "operator", self.operator, Relational)
        numpy_dtype(self.dtype)

    def apply(self, x: Array) -> Array:
        """Compare each element with the constant as it is, whatever the type of the element."""
        constant = self.constant
        if x.dtype.kind == "S" and isinstance(constant, str):
            constant = constant.encode()
        if x.dtype.kind == "U" and isinstance(constant, bytes):
            constant = constant.decode()
        alike("constant", constant, x)
        compare = getattr(operator, self.operator.name.lower())
        return np.asarray(compare(x, constant), numpy_dtype(self.dtype))


@frozen
class PadEnd(TensorOperation):
    """Bring every axis to the length in `pad_shape`: padded at the end, or cut; None keeps an axis.

    >>> PadEnd([4], 9)(np.array([1, 2, 3]))
    array([1, 2, 3, 9])
    """

    pad_shape: Any
    pad_value: Any = None

    def __post_init__(self) -> None:
        for size in sequence(self, "pad_shape", self.pad_shape):
            if size is not None:
                whole(self, "pad_shape", size, 1)

    def apply(self, x: Array) -> Array:
        """Nothing stands for 0, or for the empty string; a single element has no axis to pad."""
        nothing: Any = {"U": "", "S": b""}.get(x.dtype.kind, 0)
        value = alike("pad_value", nothing if self.pad_value is None else self.pad_value, x)
        if not x.ndim:
            return x
        if len(self.pad_shape) != x.ndim:
            raise ShapeError(
                "pad_shape needs one entry for every axis",
                given={"pad_shape": self.pad_shape, "shape": x.shape},
            )
        shape = [old if new is None else new for old, new in zip(x.shape, self.pad_shape, strict=True)]
        kept = tuple(slice(min(old, new)) for old, new in zip(x.shape, shape, strict=True))
        out = np.full(shape, value, np.result_type(x.dtype, value.dtype))
        out[kept] = x[kept]
        return out


@frozen(eq=False)
class Concatenate(TensorOperation):
    """The columns joined along `axis`, with `prepend` before them and `append` after.

    >>> Concatenate(0, prepend=np.array([1]), append=np.array([9]))(np.array([4, 5]))
    array([1, 4, 5, 9])
    """

    axis: int = 0
    prepend: Any = None
    append: Any = None

    def __post_init__(self) -> None:
        whole(self, "axis", self.axis)

    def apply(self, *columns: Array) -> Array:
        """Types must agree, so that nothing is promoted unseen."""
        parts = [as_array(p) for p in (self.prepend, *columns, self.append) if p is not None]
        kinds = {p.dtype.kind if p.dtype.kind in "US" else p.dtype for p in parts}
        if len(kinds) > 1:
            raise DTypeError("the arrays to join differ in type", given={"dtypes": [str(p.dtype) for p in parts]})
        ranks = {p.ndim for p in parts}
        if len(ranks) > 1 or not -min(ranks) <= self.axis < min(ranks):
            raise ShapeError(
                "the arrays cannot be joined along this axis",
                given={"axis": self.axis, "shapes": [p.shape for p in parts]},
            )
        try:
            return np.concatenate(parts, self.axis)
        except ValueError as error:
            raise ShapeError(f"the arrays cannot be joined: {error}", given={"axis": self.axis}) from None


class Duplicate(TensorOperation):
    """The column twice.

    >>> Duplicate()(np.array([1]))
    (array([1]), array([1]))
    """

    def apply(self, x: Array) -> tuple[Array, Array]:
        """The second is a copy, so that changing one leaves the other."""
        return x, x.copy()


class Unique(TensorOperation):
    """The distinct elements in order of appearance, the index of each element among them, and how often each occurs.

    >>> Unique()(np.array([3, 1, 1, 3]))
    (array([3, 1]), array([0, 1, 1, 0], dtype=int32), array([2, 2], dtype=int32))
    """

    def apply(self, x: Array) -> tuple[Array, Array, Array]:
        """The array is read flat."""
        found, first, inverse, counts = np.unique(x.ravel(), return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        rank = np.argsort(order).astype(np.int32)
        return found[order], rank[inverse], counts[order].astype(np.int32)


class Slice(TensorOperation):
    """A part of the array: each argument is an index, a list of indices, a slice, None (all), or an ellipsis.

    Axes without an argument stay whole.

    >>> Slice(slice(1, 3))(np.arange(5))
    array([1, 2])
    >>> Slice(1)(np.arange(5))
    array([1])
    """

    def __init__(self, *slices: Any) -> None:
        if any(isinstance(part, (list, tuple)) and not part for part in slices):
            raise ArgumentError("a list of indices must not be empty", given={"slices": slices})
        self.slices = slices

    def __repr__(self) -> str:
        return f"Slice({', '.join(map(repr, self.slices))})"

    def apply(self, x: Array) -> Array:
        """No axis disappears: an index selects a part of length one."""
        wanted = list(self.slices)
        if Ellipsis in wanted:
            at = wanted.index(Ellipsis)
            wanted[at : at + 1] = [None] * (x.ndim - len(wanted) + 1)
        if len(wanted) > x.ndim:
            raise ShapeError("more slices than axes", given={"slices": self.slices, "shape": x.shape})
        for axis, part in enumerate(wanted):
            x = x[(slice(None),) * axis + (self._selector(part, x.shape[axis]),)]
        return x

    def _selector(self, part: Any, size: int) -> Any:
        if part is None or part is True:
            return slice(None)
        if isinstance(part, slice):
            return part
        indices = [whole(self, "index", i) for i in (part if isinstance(part, (list, tuple)) else [part])]
        if any(not -size <= i < size for i in indices):
            raise ArgumentError("an index lies outside its axis", given={"index": indices, "length of axis": size})
        return indices
