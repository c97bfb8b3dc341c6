"""Groups of processes by MPI (mpi4py, which the extra `parallel` brings)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.types import Array

STARTED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")  # what starters of MPI programs say to them
NAMES = {"sum": "SUM", "prod": "PROD", "max": "MAX", "min": "MIN"}


class Processes:
    """An MPI communicator, as the ops see it."""

    def __init__(self, comm: Any, ranks: Sequence[int]) -> None:
        self.comm, self.ranks = comm, tuple(ranks)
        self.rank, self.size = comm.Get_rank(), comm.Get_size()

    def all_reduce(self, x: Array, reduction: str) -> Array:
        """The elements of all processes, combined."""
        from mpi4py import MPI

        wide = x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x  # halves: MPI has none
        out = np.empty_like(wide)
        self.comm.Allreduce(wide, out, op=getattr(MPI, NAMES[reduction]))
        return out.astype(x.dtype, copy=False)

    def part(self, ranks: Sequence[int]) -> Processes | None:
        """The group of some of these processes; None in those that are not among them. All have to ask for it."""
        inside = self.comm.Create(self.comm.Get_group().Incl(list(ranks)))
        return Processes(inside, ranks) if self.rank in ranks else None

    def neighbours(self) -> Processes:
        """Those that share memory with this one: the processes of one machine."""
        from mpi4py import MPI

        here = self.comm.Split_type(MPI.COMM_TYPE_SHARED)
        return Processes(here, here.allgather(self.rank))

    def free(self) -> None:
        """Give the communicator back."""
        self.comm.Free()


def world() -> Processes:
    """All processes of this run."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ArgumentError(
            "processes are joined by MPI, and mpi4py cannot be imported",
            given={"because": str(error)},
            hint="pip install 'mycelia[parallel]'",
        ) from None
    return Processes(MPI.COMM_WORLD, range(MPI.COMM_WORLD.Get_size()))


def started_by_mpi() -> bool:
    """Whether this process was started together with others."""
    return any(name in os.environ for name in STARTED)
