"""Positions and elements one after the other, and what NumPy programs say before they compute."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy
from numpy import base_repr, binary_repr, get_printoptions, printoptions, set_printoptions

from mycelia.eager import Tensor
from mycelia.numpy.creation import asarray

__all__ = [
    "base_repr",
    "binary_repr",
    "errstate",
    "get_printoptions",
    "geterr",
    "iterable",
    "ndenumerate",
    "ndindex",
    "printoptions",
    "set_printoptions",
    "seterr",
]


def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    """The positions of an array of this shape, the last axis first.

    >>> list(ndindex(2, 2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    return product(*map(range, sizes))


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Tensor]]:
    """The positions of an array, each with its element.

    >>> [(place, x.item()) for place, x in ndenumerate([[1, 2]])]
    [((0, 0), 1), ((0, 1), 2)]
    """
    x = asarray(arr)
    for place in ndindex(*x.shape):
        yield place, x[place]


def iterable(y: Any) -> bool:
    """Whether one can iterate over something.

    >>> iterable([1]), iterable(2)
    (True, False)
    """
    return numpy.iterable(y)


class errstate:
    """NumPy's words for what divisions by zero and the like are to do. Here they give inf and nan, and nothing else:
    there is nothing to silence, and the block runs as it is.

    >>> with errstate(divide="ignore"):
    ...     (Tensor([1.0]) / 0).tolist()
    [inf]
    """

    def __init__(self, **told: str) -> None:
        self.told = told

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def seterr(**told: str) -> dict[str, str]:
    """As `errstate`, for good; gives what held before: always the same.

    >>> seterr(all="ignore")["divide"]
    'ignore'
    """
    return geterr()


def geterr() -> dict[str, str]:
    """What divisions by zero and the like do: they are not told.

    >>> geterr()["invalid"]
    'ignore'
    """
    return dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")
