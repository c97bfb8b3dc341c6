"""Python inside compiled functions: a function of arrays that the program calls where it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia.eager import Tensor, as_dtype
from mycelia.eager.host import called
from mycelia.errors import ArgumentError
from mycelia.ops.arguments import tensor
from mycelia.primitives import Callee
from mycelia.tree import flatten, unflatten
from mycelia.types import TensorType

__all__ = ["PyFunc", "pyfunc"]


def pyfunc(fn: Callable[..., Any], like: Any, *args: Any, stateful: bool = True) -> Any:
    """What the Python function `fn` gives for NumPy arrays of `args`: tensors of the shapes and element types of those
    in `like`, or nothing if that is None. `fn` may do anything: it is called exactly once each time the program comes
    there, in order, also in loops, branches, gradients and for each example of a `vmap`. What it raises is raised by
    the program. A function without a state (`stateful=False`) is left out where nobody reads what it gives.

    Its results have no gradient.

    >>> from mycelia.api import jit
    >>> seen = []
    >>> @jit
    ... def doubled(x):
    ...     pyfunc(lambda a: seen.append(a.tolist()), None, x)
    ...     return x * 2
    >>> doubled(Tensor([1.0, 2.0])).tolist(), seen
    ([2.0, 4.0], [[1.0, 2.0]])
    """
    if not callable(fn):
        raise ArgumentError(f"pyfunc calls functions, not {type(fn).__name__}", given={"fn": fn})
    leaves, structure = flatten(like)
    if not all(isinstance(x, Tensor) for x in leaves):
        raise ArgumentError("`like` holds tensors, which say what the function gives", given={"like": like})
    types = [TensorType(x.dtype, x.shape) for x in leaves]
    nested = (lambda *arrays: flatten(fn(*arrays))[0]) if leaves else fn
    results = called(Callee(nested, getattr(fn, "__name__", "")), types, [tensor(a) for a in args], stateful)
    return unflatten(structure, results)


class PyFunc:
    """A Python function of NumPy arrays as an operation, whose types are said once.

    >>> import numpy as np
    >>> from mycelia.types import float32
    >>> double = PyFunc(lambda x: x * 2, [float32], [(2,)], [float32], [(2,)])
    >>> double(Tensor([1.0, 2.0]))[0].tolist()
    [2.0, 4.0]
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        in_types: Sequence[Any],
        in_shapes: Sequence[Sequence[int]],
        out_types: Sequence[Any],
        out_shapes: Sequence[Sequence[int]],
        stateful: bool = True,
    ) -> None:
        self.fn, self.stateful = fn, stateful
        self.inputs, self.outputs = _types(in_types, in_shapes), _types(out_types, out_shapes)

    def __call__(self, *inputs: Any) -> tuple[Tensor, ...]:
        tensors = [tensor(x) for x in inputs]
        given = [TensorType(x.dtype, x.shape) for x in tensors]
        if given != self.inputs:
            raise ArgumentError(
                "a Python function is called with other tensors than it was said to take",
                given={"given": ", ".join(map(str, given)), "said": ", ".join(map(str, self.inputs))},
            )
        return called(Callee(self.fn, getattr(self.fn, "__name__", "")), self.outputs, tensors, self.stateful)


def _types(dtypes: Sequence[Any], shapes: Sequence[Sequence[int]]) -> list[TensorType]:
    if len(dtypes) != len(shapes):
        raise ArgumentError(f"{len(dtypes)} element types were given, and {len(shapes)} shapes")
    return [TensorType(as_dtype(d), tuple(s)) for d, s in zip(dtypes, shapes, strict=True)]
