"""mutable: numbers that change from call to call, said beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.eager import Tensor
from mycelia.errors import DTypeError, ShapeError
from mycelia.tree import tree_map


class MutableInt(int):
    """A whole number that compiled programs take as it comes; otherwise an int."""


class MutableFloat(float):
    """A number that compiled programs take as it comes; otherwise a float."""


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """The same number, list, tuple or dictionary, whose numbers may change without another compilation.

    To a jitted function a Python number is a constant at first, and becomes a variable when it is seen to change;
    a mutable one is a variable from the first call on. Tensors, wherever they are nested, always are. A bool chooses
    between programs and stays a constant. With `dynamic_len` the elements are of one kind, and the next call may have
    more of them: a program for each length.

    >>> mutable(3) + 1, mutable((1.5, "a"))
    (4, (1.5, 'a'))
    >>> from mycelia.api.jit import jit
    >>> scaled = jit(lambda x, by: x * by)
    >>> [scaled(Tensor([2.0]), mutable(n)).item() for n in (3, 4, 5)]
    [6.0, 8.0, 10.0]
    >>> len(scaled.explain().splitlines())  # the name, one program
    3
    """
    if dynamic_len:
        _check_alike(input_data)
    return tree_map(_variable, input_data)


def _variable(x: Any) -> Any:
    if x is None or isinstance(x, bool | str | Tensor):
        return x
    if isinstance(x, int | np.integer):
        return MutableInt(x)
    if isinstance(x, float | np.floating):
        return MutableFloat(x)
    raise DTypeError(
        f"{type(x).__name__} cannot be mutable",
        given={"value": x},
        hint="pass a tensor, a number, or a list, tuple or dictionary of these",
    )


def _check_alike(data: Any) -> None:
    if not isinstance(data, list | tuple):
        raise DTypeError("only a list or a tuple has a length that may change", given={"input_data": data})
    kinds = {(x.dtype, x.shape) if isinstance(x, Tensor) else type(x) for x in data}
    if len(kinds) > 1:
        raise ShapeError("a sequence of changing length has elements of one type and shape", given={"input_data": data})
