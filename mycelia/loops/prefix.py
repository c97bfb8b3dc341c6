"""What a call of running sums is told: places in its sizes, behind the phases and the threads, and its chunks."""

from __future__ import annotations

OUTER, LENGTH, INNER, TOGETHER = range(2, 6)
CHUNK = 1 << 13  # numbers of a row that are added up from 0: a multiple of all squares of lanes
LANES = 8  # at most
