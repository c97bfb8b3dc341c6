"""Groups of processes by name: who is in them, and which place this process has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mycelia.communication import mpi
from mycelia.errors import ArgumentError
from mycelia.primitives import ALONE, WORLD, groups
from mycelia.primitives import group as found

BACKENDS = ("mpi", "mccl", "hccl", "nccl")  # MindSpore's names: here all mean MPI, on processors


class GlobalComm:
    """What is the same for all processes: the name of the group of them all.

    >>> GlobalComm.WORLD_COMM_GROUP
    'world'
    """

    WORLD_COMM_GROUP: str = WORLD
    BACKEND: str = "mpi"
    INITED: bool = False


def init(backend_name: str | None = None) -> None:
    """Join the processes that were started together by `mpiexec`; one that was started alone stays alone.

    >>> init()
    >>> get_rank(), get_group_size()
    (0, 1)
    >>> release()
    """
    if backend_name is not None and backend_name not in BACKENDS:
        raise ArgumentError(f"processes cannot be joined by {backend_name!r}", hint='"mpi" joins them')
    if GlobalComm.INITED:
        return
    if mpi.started_by_mpi():
        groups[WORLD] = mpi.world()
    GlobalComm.INITED = True


def release() -> None:
    """Leave all groups: from here on this process is alone.

    >>> release()
    >>> get_group_size()
    1
    """
    for name in [name for name in groups if name != WORLD]:
        destroy_group(name)
    groups[WORLD] = ALONE
    GlobalComm.INITED = False


def known(group: str) -> Any:
    """The group of this name. Programs guard what they read here: processes may join later."""
    return groups[group] if group in groups else found(group)


def _ranks(group: str) -> Sequence[int]:
    return getattr(known(group), "ranks", (0,))


def get_rank(group: str = WORLD) -> int:
    """The place of this process in a group, from 0.

    >>> get_rank()
    0
    """
    return int(known(group).rank)


def get_group_size(group: str = WORLD) -> int:
    """How many processes are in a group.

    >>> get_group_size()
    1
    """
    return int(known(group).size)


def _here(group: str) -> Any:
    here = known(group)
    return here.neighbours() if isinstance(here, mpi.Processes) else here


def get_local_rank(group: str = WORLD) -> int:
    """The place of this process among those of its machine. All processes of the group have to ask.

    >>> get_local_rank()
    0
    """
    return int(_here(group).rank)


def get_local_rank_size(group: str = WORLD) -> int:
    """How many processes of a group run on this machine. All processes of the group have to ask.

    >>> get_local_rank_size()
    1
    """
    return int(_here(group).size)


def get_process_group_ranks(group: str = WORLD) -> list[int]:
    """The places, among all processes, of those in a group.

    >>> get_process_group_ranks()
    [0]
    """
    return list(_ranks(group))


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The place among all processes of the one at a place in a group.

    >>> get_world_rank_from_group_rank("world", 0)
    0
    """
    ranks = _ranks(group)
    if not 0 <= group_rank_id < len(ranks):
        raise ArgumentError(f"the group {group!r} has no rank {group_rank_id}", given={"processes": len(ranks)})
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The place in a group of a process, from its place among all.

    >>> get_group_rank_from_world_rank(0, "world")
    0
    """
    ranks = list(_ranks(group))
    if world_rank_id not in ranks:
        raise ArgumentError(f"process {world_rank_id} is not in the group {group!r}", given={"processes": ranks})
    return ranks.index(world_rank_id)


def create_group(group: str, rank_ids: Sequence[int]) -> None:
    """Make a group of some processes, by their places among all; every process has to call this, also those outside.

    >>> create_group("first", [0])
    >>> get_group_size("first")
    1
    >>> destroy_group("first")
    """
    if group in groups:
        raise ArgumentError(f"there is a group {group!r} already", hint="destroy_group removes it")
    ranks = sorted(set(rank_ids))
    if len(ranks) != len(list(rank_ids)) or not ranks or ranks[0] < 0 or ranks[-1] >= get_group_size():
        raise ArgumentError(
            f"{list(rank_ids)} are no processes of this run", given={"processes": get_group_size()},
            hint="give different numbers from 0 on",
        )  # fmt: skip
    whole = groups[WORLD]
    part = whole.part(ranks) if isinstance(whole, mpi.Processes) else ALONE
    if part is not None:
        groups[group] = part


def destroy_group(group: str) -> None:
    """Remove a group, in all its processes.

    >>> create_group("mine", [0])
    >>> destroy_group("mine")
    >>> "mine" in groups
    False
    """
    if group == WORLD:
        raise ArgumentError("the group of all processes stays", hint="release() leaves it")
    gone = groups.pop(group, None)
    if isinstance(gone, mpi.Processes):
        gone.free()
