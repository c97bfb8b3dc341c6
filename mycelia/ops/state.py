"""Parameters that change, gradients that stop, and questions about tensors."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

from mycelia import primitives as p
from mycelia.eager import Parameter, Tensor, as_dtype
from mycelia.eager import assign as hold
from mycelia.eager.dispatch import mode
from mycelia.eager.host import printed
from mycelia.errors import ArgumentError
from mycelia.ops.arguments import method, tensor
from mycelia.tree import tree_map
from mycelia.types import DType


def assign(variable: Tensor, value: Any) -> Tensor:
    """Let a parameter hold other numbers from now on; they come back as a tensor.

    >>> assign(Tensor([1.0]), Tensor([2.0])).tolist()
    [2.0]
    """
    return _now(hold(variable, value))


def _now(variable: Tensor) -> Tensor:
    """What a parameter holds now."""
    return variable.value() if isinstance(variable, Parameter) else variable


def updated(variable: Tensor, new: Tensor) -> Tensor:
    """Let a parameter hold what was computed from it; that comes back, and gradients flow through it as computed.

    The parameter itself keeps none of them: read again it counts as its own.

    >>> updated(Tensor([1.0]), Tensor([2.0])).tolist()
    [2.0]
    """
    if not isinstance(variable, Parameter):
        return hold(variable, new)
    new = new.astype(variable.dtype)
    hold(variable, p.stop_gradient(new))  # another value than what is returned
    return new


def assign_add(variable: Tensor, value: Any) -> Tensor:
    """Add to a parameter.

    >>> assign_add(Tensor([1.0]), 2.0).tolist()
    [3.0]
    """
    return updated(variable, variable.alias() + value)


def assign_sub(variable: Tensor, value: Any) -> Tensor:
    """Subtract from a parameter.

    >>> assign_sub(Tensor([1.0]), 2.0).tolist()
    [-1.0]
    """
    return updated(variable, variable.alias() - value)


method("assign_add")(assign_add)
method("assign_sub")(assign_sub)


def stop_gradient(value: Any) -> Any:
    """The same tensors, through which no gradient flows.

    >>> stop_gradient(Tensor([1.0])).tolist()
    [1.0]
    """
    return tree_map(lambda x: p.stop_gradient(x) if isinstance(x, Tensor) else x, value)


def cast(input: Any, dtype: Any) -> Tensor:
    """The same numbers in another element type.

    >>> cast(Tensor([1.5]), "int32").tolist()
    [1]
    """
    return tensor(input).astype(dtype)


def identity(x: Any) -> Any:
    """The argument.

    >>> identity(3)
    3
    """
    return x


def depend(value: Any, expr: Any) -> Any:
    """The value, after `expr` was computed: what was written first is done first.

    >>> depend(1, 2)
    1
    """
    return value


def shape(input_x: Tensor) -> tuple[int, ...]:
    """The extent of every axis.

    >>> shape(Tensor([[1, 2]]))
    (1, 2)
    """
    return input_x.shape


def rank(input_x: Tensor) -> int:
    """How many axes there are.

    >>> rank(Tensor([[1, 2]]))
    2
    """
    return input_x.ndim


def size(input_x: Tensor) -> int:
    """How many elements there are.

    >>> size(Tensor([[1, 2]]))
    2
    """
    return input_x.size


def numel(input: Tensor) -> int:
    """How many elements there are.

    >>> numel(Tensor([[1, 2]]))
    2
    """
    return input.size


def dtype(input_x: Tensor) -> DType:
    """The element type.

    >>> dtype(Tensor([1]))
    int64
    """
    return input_x.dtype


def is_tensor(obj: Any) -> bool:
    """Whether this is a tensor.

    >>> is_tensor(3)
    False
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating numbers.

    >>> is_floating_point(Tensor([1]))
    False
    """
    return input.dtype.is_float


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """The same numbers in the element type of another tensor.

    >>> type_as(Tensor([1]), Tensor([1.0])).dtype
    float32
    """
    return cast(input, other.dtype)


def deepcopy(input_x: Any) -> Any:
    """A copy that shares nothing that can be changed.

    >>> deepcopy(Tensor([1])).tolist()
    [1]
    """
    return copy.deepcopy(input_x)


def addn(x: Sequence[Any]) -> Tensor:
    """The sum of several tensors.

    >>> addn([Tensor([1.0]), Tensor([2.0]), Tensor([3.0])]).tolist()
    [6.0]
    """
    if not x:
        raise ArgumentError("nothing was given to add up")
    total = tensor(x[0])
    for more in x[1:]:
        total = total + more
    return total


def tuple_to_array(input_x: Sequence[float | int]) -> Tensor:
    """Numbers as a tensor.

    >>> tuple_to_array((1, 2)).tolist()
    [1, 2]
    """
    return Tensor(list(input_x))


def print_(*input_x: Any) -> None:
    """Print tensors and texts. In a compiled function it is done by the program, each time it comes there.

    >>> print_("loss", Tensor([1, 2]))
    loss [1 2]
    """
    if not (mode.capturing and printed(input_x, {})):
        print(*input_x)


def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """A Python number as a number of another element type.

    >>> scalar_cast(2.7, "int32")
    2
    """
    return as_dtype(input_y).numpy.type(input_x).item()


accumulate_n, make_range = addn, range
__all__ = [
    "accumulate_n", "addn", "assign", "assign_add", "assign_sub", "cast", "deepcopy", "depend", "dtype", "identity",
    "is_floating_point", "is_tensor", "make_range", "numel", "partial", "print_", "rank", "scalar_cast", "shape",
    "size", "stop_gradient", "tuple_to_array", "type_as",
]  # fmt: skip
