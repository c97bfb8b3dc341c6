"""Tiled products made ready: the sizes and tables that their function reads."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

import numpy as np

from mycelia.codegen.records import Size, room_bytes
from mycelia.loops import Axis, TileKind, Tiles
from mycelia.runtime.tables import Tabled
from mycelia.types import Array

JOB_COLUMNS = 1024  # at most: the right panels of a thread stay in the last level of the cache
MANY = 4  # jobs for each thread, with which it does not matter that one has one more
WORTH_A_THREAD = 1 << 18  # multiplications: about ten microseconds, for which another thread is just awake


def tiled(call: Tiles, threads: int) -> Tabled:
    """Sizes of a product in the order of `Size`, tables and room."""
    kind = call.kind
    batch, rows, columns, terms = (
        prod(a.extent for a in axes) for axes in (call.batch, call.rows, call.columns, call.summed)
    )
    threads = threads if batch * rows * columns * terms >= WORTH_A_THREAD else 1
    job_rows, job_columns = _jobs(batch, rows, columns, kind, threads)
    rhs_columns, out_columns = offsets(call.columns, "rhs"), offsets(call.columns, "out")
    dense = _side_by_side(rhs_columns, kind.columns) + 2 * _side_by_side(out_columns, kind.columns)
    tables = {
        Size.lhs_batch: offsets(call.batch, "lhs"),
        Size.rhs_batch: offsets(call.batch, "rhs"),
        Size.out_batch: offsets(call.batch, "out"),
        Size.lhs_rows: offsets(call.rows, "lhs"),
        Size.lhs_terms: offsets(call.summed, "lhs"),
        Size.rhs_terms: offsets(call.summed, "rhs"),
        Size.rhs_columns: rhs_columns,
        Size.out_rows: offsets(call.rows, "out"),
        Size.out_columns: out_columns,
        Size.dense: dense,
    }
    sizes = np.zeros(len(Size), np.int64)
    sizes[: Size.lhs_batch] = batch, rows, columns, terms, job_rows, job_columns, threads
    for size, table in tables.items():
        sizes[size] = table.ctypes.data
    room = room_bytes(kind, job_columns) * threads
    return Tabled(sizes, tuple(tables.values()), room)


def offsets(axes: Sequence[Axis], operand: str) -> Array:
    """Where an operand lies for each index of some axes, the last running fastest.

    >>> offsets([Axis(2, 10, 0, 0), Axis(3, 1, 0, 0)], "lhs").tolist()
    [0, 1, 2, 10, 11, 12]
    """
    places = np.zeros(1, np.int64)
    for axis in axes:
        steps = np.arange(axis.extent, dtype=np.int64) * getattr(axis, operand)
        places = (places[:, None] + steps).reshape(-1)
    return places


def _side_by_side(places: Array, width: int) -> Array:
    """For each `width` of them, whether they follow one another without a gap.

    >>> _side_by_side(np.array([0, 1, 2, 3, 9, 10, 12, 13, 20]), 4).tolist()
    [1, 0, 0]
    """
    whole = len(places) // width * width
    runs = np.diff(places[:whole].reshape(-1, width), axis=1) == 1
    flags = np.zeros(-(-len(places) // width), np.int64)
    flags[: len(runs)] = runs.all(1)
    return flags


def _jobs(batch: int, rows: int, columns: int, kind: TileKind, threads: int) -> tuple[int, int]:
    """The rows and columns of a job: large, but such that all threads have as many.

    >>> from mycelia.types import float64
    >>> kind = TileKind(float64, float64, float64, 6, 2, 4)
    >>> _jobs(1, 1024, 1024, kind, 2), _jobs(3, 64, 512, kind, 2), _jobs(1, 60, 8, kind, 4)
    ((1026, 512), (66, 256), (18, 8))
    """
    parts = -(-columns // JOB_COLUMNS)
    if batch * parts < MANY * threads:
        parts *= threads // gcd(batch * parts, threads)
    job_columns = -(-columns // (parts * kind.columns)) * kind.columns
    jobs = batch * -(-columns // job_columns)
    row_parts = -(-threads // jobs)
    return -(-rows // (row_parts * kind.rows)) * kind.rows, job_columns
