"""Arrays as text."""

from __future__ import annotations

from typing import Any

import numpy

from mycelia.numpy.creation import asarray

__all__ = ["array2string", "array_repr", "array_str"]


def array_str(a: Any) -> str:
    """The numbers as `print` shows them.

    >>> array_str([1, 2])
    '[1 2]'
    """
    return str(asarray(a))


def array_repr(arr: Any) -> str:
    """The array as Python shows it.

    >>> array_repr([1])
    'Tensor(shape=[1], dtype=Int64, value= [1])'
    """
    return repr(asarray(arr))


def array2string(a: Any, **options: Any) -> str:
    """The numbers as text, with the options of `numpy.array2string`.

    >>> array2string([1.5, 2.0], precision=1)
    '[1.5 2. ]'
    """
    return numpy.array2string(asarray(a).asnumpy(), **options)
