"""Groups of processes: joining, leaving, and who is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mycelia import checks
from mycelia.communication import group as groups
from mycelia.communication.group import GlobalComm
from mycelia.errors import ArgumentError
from mycelia.mint.distributed.given import named
from mycelia.primitives import groups as joined

_made: list[str] = []  # the names that `new_group` gave, in all processes the same


def is_available() -> bool:
    """Whether processes can work together: always.

    >>> is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """Whether this process has joined the others.

    >>> is_initialized()
    False
    """
    return GlobalComm.INITED


def init_process_group(
    backend: str = "hccl", init_method: str | None = None, timeout: Any = None, world_size: int = -1, rank: int = -1,
    store: Any = None, group_name: str = "", pg_options: Any = None, device_id: int | None = None,
) -> None:  # fmt: skip
    """Join the processes that `mpiexec` started together; a size and a rank that are given must be the right ones.

    >>> init_process_group(world_size=1)
    >>> get_rank(), get_world_size(), is_initialized()
    (0, 1, True)
    >>> destroy_process_group()
    """
    settled = {"init_method": init_method, "timeout": timeout, "store": store, "pg_options": pg_options}
    for name, value in {**settled, "device_id": device_id}.items():
        checks.only("init_process_group", name, value, None, "mpiexec tells the processes of each other")
    checks.only("init_process_group", "group_name", group_name, "", "the group of all processes has its name")
    groups.init(backend)
    here = {"world_size": groups.get_group_size(), "rank": groups.get_rank()}
    for name, asked in (("world_size", world_size), ("rank", rank)):
        if asked not in (-1, here[name]):
            groups.release()
            raise ArgumentError(f"the {name} of this process is {here[name]}, not {asked}", hint="mpiexec -n says it")


def destroy_process_group(group: str | None = None) -> None:
    """Leave a group; without one, all groups.

    >>> destroy_process_group()
    """
    name = named(group)
    if name == GlobalComm.WORLD_COMM_GROUP:
        groups.release()
        _made.clear()
    elif name in joined:
        groups.destroy_group(name)


def new_group(
    ranks: Sequence[int] | None = None, timeout: int | None = None, backend: str | None = None,
    pg_options: Any = None, use_local_synchronization: bool = False, group_desc: str | None = None,
) -> str:  # fmt: skip
    """The name of a new group of some processes, or of all; every process has to call this, also those outside.

    >>> name = new_group([0])
    >>> get_world_size(name), get_process_group_ranks(name)
    (1, [0])
    >>> destroy_process_group(name)
    """
    for name, value in {"timeout": timeout, "pg_options": pg_options, "group_desc": group_desc}.items():
        checks.only("new_group", name, value, None, "groups are made by MPI")
    checks.only("new_group", "use_local_synchronization", use_local_synchronization, False, "all processes take part")
    if backend is not None:
        checks.choice("new_group", "backend", backend, groups.BACKENDS)
    if ranks is None:
        return GlobalComm.WORLD_COMM_GROUP
    name = f"group_{len(_made)}_of_{'_'.join(map(str, ranks))}"
    groups.create_group(name, ranks)
    _made.append(name)
    return name


def get_rank(group: str | None = None) -> int:
    """The place of this process in a group; -1 if it is not in it.

    >>> get_rank()
    0
    """
    name = named(group)
    return -1 if name in _made and name not in joined else groups.get_rank(name)


def get_world_size(group: str | None = None) -> int:
    """How many processes are in a group; -1 if this one is not.

    >>> get_world_size()
    1
    """
    name = named(group)
    return -1 if name in _made and name not in joined else groups.get_group_size(name)


def get_backend(group: str | None = None) -> str:
    """What joins the processes.

    >>> get_backend()
    'mpi'
    """
    groups.known(named(group))
    return GlobalComm.BACKEND


def get_global_rank(group: str, group_rank: int) -> int:
    """The rank among all processes of one in a group.

    >>> get_global_rank("world", 0)
    0
    """
    return groups.get_world_rank_from_group_rank(named(group), group_rank)


def get_group_rank(group: str, global_rank: int) -> int:
    """The rank in a group of a process, from its rank among all.

    >>> get_group_rank("world", 0)
    0
    """
    return groups.get_group_rank_from_world_rank(global_rank, named(group))


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """The ranks among all processes of those in a group.

    >>> get_process_group_ranks()
    [0]
    """
    return groups.get_process_group_ranks(named(group))
