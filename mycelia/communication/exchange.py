"""What the processes of a group hand to each other, arrays and objects: all to all, one to all, one to one.

A process that is alone hands things to itself, where that has a meaning. Objects travel pickled, inside one run of one
program (`mpiexec`): what comes was sent by the program itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia.communication import mpi
from mycelia.communication.group import get_group_rank_from_world_rank, known
from mycelia.errors import ArgumentError
from mycelia.types import Array


class CommHandle:
    """Something that is being sent or received; `wait` ends it.

    >>> done = []
    >>> handle = CommHandle(lambda: done.append("sent"))
    >>> handle.wait(), handle.wait(), done
    (None, None, ['sent'])
    """

    def __init__(self, finish: Callable[[], None] | None = None) -> None:
        self._finish = finish

    def wait(self) -> None:
        """Go on when it is done; the second time there is nothing to wait for."""
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()


def _comm(group: str) -> Any:
    """The communicator of a group; None for a process that is alone."""
    here = known(group)
    return here.comm if isinstance(here, mpi.Processes) else None


def everyone(value: Any, group: str) -> list[Any]:
    """What each process gave, in the order of their ranks.

    >>> everyone(3, "world")
    [3]
    """
    comm = _comm(group)
    return [value] if comm is None else list(comm.allgather(value))


def from_one(value: Any, source: int, group: str) -> Any:
    """What the process of this world rank gave.

    >>> from_one("a", 0, "world")
    'a'
    """
    place, comm = get_group_rank_from_world_rank(source, group), _comm(group)
    return value if comm is None else comm.bcast(value, place)


def handed_out(values: Sequence[Any] | None, source: int, group: str) -> Any:
    """One of the values that the process of this world rank gave: that of the rank of this process.

    >>> handed_out(["a"], 0, "world")
    'a'
    """
    place, comm = get_group_rank_from_world_rank(source, group), _comm(group)
    if comm is None:
        return next(iter(values or ()))
    return comm.scatter(values if comm.Get_rank() == place else None, place)


def each_to_each(values: Sequence[Any], group: str) -> list[Any]:
    """What each process gave for this one, in the order of their ranks.

    >>> each_to_each(["a"], "world")
    ['a']
    """
    comm = _comm(group)
    return list(values) if comm is None else list(comm.alltoall(list(values)))


def _other(rank: int, group: str) -> tuple[Any, int]:
    """The communicator, and the place in the group of another process by its world rank."""
    place, here = get_group_rank_from_world_rank(rank, group), known(group)
    if place == here.rank:
        raise ArgumentError(
            f"process {rank} sends to and receives from others, not itself",
            given={"processes in the group": here.size},
            hint="give the rank of another process",
        )
    return here.comm, place


def sent(value: Any, to: int, group: str) -> None:
    """Send an object to the process of this world rank; waits until it is on its way."""
    comm, place = _other(to, group)
    comm.send(value, place)


def received(source: int, group: str) -> Any:
    """The object that the process of this world rank sends; waits for it."""
    comm, place = _other(source, group)
    return comm.recv(source=place)


def numbers_sent(x: Array, to: int, group: str, tag: int) -> CommHandle:
    """Begin to send the numbers of an array to the process of this world rank."""
    comm, place = _other(to, group)
    kept = np.frombuffer(x.tobytes(), np.uint8)  # as they are now, whoever writes to the array meanwhile
    request = comm.Isend(kept, place, tag)

    def finish() -> None:
        request.Wait()
        assert kept is not None, "the numbers live until they are sent"

    return CommHandle(finish)


def numbers_coming(like: Array, source: int, group: str, tag: int, take: Callable[[Array], None]) -> CommHandle:
    """Be ready for an array like this one from the process of this world rank; the end of it hands it to `take`."""
    comm, place = _other(source, group)
    from mpi4py import MPI

    buffer, status = np.empty(like.nbytes, np.uint8), MPI.Status()
    request = comm.Irecv(buffer, place, tag)

    def finish() -> None:
        request.Wait(status)
        if status.Get_count(MPI.BYTE) != like.nbytes:
            raise ArgumentError(
                f"{status.Get_count(MPI.BYTE)} bytes came from process {source}, and the tensor has {like.nbytes}",
                hint="send and receive tensors of one shape and type",
            )
        take(buffer.view(like.dtype).reshape(like.shape))

    return CommHandle(finish)
