"""What processes compute together; `mycelia.communication` joins them."""

from __future__ import annotations

from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor
from mycelia.ops.arguments import tensor
from mycelia.ops.store import TCPStore

__all__ = ["ReduceOp", "TCPStore", "all_reduce"]


class ReduceOp:
    """How elements of several processes become one.

    >>> ReduceOp.SUM
    'sum'
    """

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


def all_reduce(input: Any, op: str = ReduceOp.SUM, group: str = p.WORLD) -> Tensor:
    """The sum of what the processes of a group hold, element by element; all of them get it.

    Every process has to come to it, in the same order. Its gradient is the sum of the cotangents of all.

    >>> all_reduce(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return p.AllReduce(op, group)(tensor(input))
