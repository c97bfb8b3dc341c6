"""What one process sends to another, and objects that processes hand to each other."""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from typing import Any

from mycelia import checks
from mycelia.communication import exchange
from mycelia.communication import group as groups
from mycelia.communication.exchange import CommHandle
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, CallError
from mycelia.mint.distributed.given import a_tensor, named, one_each, write
from mycelia.mint.distributed.membership import get_group_rank


def isend(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """Begin to send a tensor to another process.

    >>> from mycelia.errors import ArgumentError
    >>> try:
    ...     isend(Tensor([1.0]), 0)
    ... except ArgumentError as error:
    ...     print(str(error).splitlines()[0])
    process 0 sends to and receives from others, not itself
    """
    value = a_tensor("isend", "tensor", tensor).asnumpy()
    return exchange.numbers_sent(value, dst, named(group), checks.whole("isend", "tag", tag, least=0))


def irecv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """Be ready to receive a tensor of another process: `wait` writes it into this one.

    >>> from mycelia.errors import ArgumentError
    >>> try:
    ...     irecv(Tensor([1.0]), 0)
    ... except ArgumentError as error:
    ...     print(str(error).splitlines()[0])
    process 0 sends to and receives from others, not itself
    """
    x, name, mark = a_tensor("irecv", "tensor", tensor), named(group), checks.whole("irecv", "tag", tag, least=0)
    return exchange.numbers_coming(x.asnumpy(), src, name, mark, lambda value: write("irecv", x, value))


def send(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> None:
    """Send a tensor to another process.

    >>> callable(send)
    True
    """
    isend(tensor, dst, group, tag).wait()


def recv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> int:
    """Write into a tensor what another process sends; the rank of it.

    >>> callable(recv)
    True
    """
    irecv(tensor, src, group, tag).wait()
    return src


class P2POp:
    """Something to be sent or received, for `batch_isend_irecv`: `isend` or `irecv`, a tensor and the other process.

    >>> P2POp("isend", Tensor([1.0]), 1).peer
    1
    """

    def __init__(self, op: str | Callable[..., Any], tensor: Tensor, peer: int, group: str | None = None, tag: int = 0):
        known = {"isend": isend, "irecv": irecv, isend: isend, irecv: irecv}
        if op not in known:
            raise ArgumentError("a P2POp is isend or irecv", given={"op": op})
        self.op: Callable[..., CommHandle] = known[op]
        self.tensor, self.peer = a_tensor("P2POp", "tensor", tensor), checks.whole("P2POp", "peer", peer, least=0)
        self.group, self.tag = group, checks.whole("P2POp", "tag", tag, least=0)


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[CommHandle]:
    """Begin to send and receive several tensors; a handle for each.

    >>> batch_isend_irecv([])
    []
    """
    for each in p2p_op_list:
        if not isinstance(each, P2POp):
            raise CallError("batch_isend_irecv takes a list of P2POp", given={"an element": each})
    return [each.op(each.tensor, each.peer, each.group, each.tag) for each in p2p_op_list]


def all_gather_object(object_list: MutableSequence[Any], obj: Any, group: str | None = None) -> None:
    """Put the objects of all processes into a list.

    >>> found = [None]
    >>> all_gather_object(found, {"loss": 0.5})
    >>> found
    [{'loss': 0.5}]
    """
    name = named(group)
    one_each("all_gather_object", "object_list", object_list, name)
    object_list[:] = exchange.everyone(obj, name)


def broadcast_object_list(
    object_list: MutableSequence[Any], src: int = 0, group: str | None = None, device: Any = None
) -> None:
    """Put the objects of the process `src` into a list.

    >>> found = ["a", 1]
    >>> broadcast_object_list(found)
    >>> found
    ['a', 1]
    """
    checks.only("broadcast_object_list", "device", device, None, "there is one device in a process")
    object_list[:] = exchange.from_one(list(object_list), src, named(group))


def gather_object(
    obj: Any, object_gather_list: MutableSequence[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """Put the objects of all processes into the list of the process `dst`.

    >>> found = [None]
    >>> gather_object("a", found)
    >>> found
    ['a']
    """
    name = named(group)
    target = get_group_rank(name, dst)
    given = exchange.everyone(obj, name)
    if groups.get_rank(name) == target:
        one_each("gather_object", "object_gather_list", object_gather_list, name)
        assert object_gather_list is not None
        object_gather_list[:] = given


def scatter_object_list(
    scatter_object_output_list: MutableSequence[Any], scatter_object_input_list: Sequence[Any] | None, src: int = 0,
    group: str | None = None,
) -> None:  # fmt: skip
    """Put first into a list the object that the process `src` has for this one.

    >>> found = [None]
    >>> scatter_object_list(found, ["a"])
    >>> found
    ['a']
    """
    name = named(group)
    values = None
    if groups.get_rank(name) == get_group_rank(name, src):
        values = one_each("scatter_object_list", "scatter_object_input_list", scatter_object_input_list, name)
    if not len(scatter_object_output_list):
        raise ArgumentError("scatter_object_output_list of scatter_object_list has a place for what comes")
    scatter_object_output_list[0] = exchange.handed_out(values, src, name)


def send_object_list(object_list: Sequence[Any], dst: int, group: str | None = None, device: Any = None) -> None:
    """Send objects to another process.

    >>> callable(send_object_list)
    True
    """
    checks.only("send_object_list", "device", device, None, "there is one device in a process")
    exchange.sent(list(object_list), dst, named(group))


def recv_object_list(
    object_list: MutableSequence[Any], src: int = 0, group: str | None = None, device: Any = None
) -> int:
    """Put into a list as many objects as another process sends; the rank of it.

    >>> callable(recv_object_list)
    True
    """
    checks.only("recv_object_list", "device", device, None, "there is one device in a process")
    found = exchange.received(src, named(group))
    if len(found) != len(object_list):
        raise ArgumentError(f"{len(found)} objects came, and the list has {len(object_list)}")
    object_list[:] = found
    return src
