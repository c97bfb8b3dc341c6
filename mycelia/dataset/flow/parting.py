"""Steps of one request in several places: those that asked for processes in theirs, users' other functions at home.

Home is the process of the reader. What a function of the user does there, to a list or to a counter of his, is seen by
the rest of his program; and a step has as many processes as were asked for it, whatever others of its plan have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from mycelia.dataset.errors import Failed
from mycelia.dataset.flow.buffers import Places
from mycelia.dataset.flow.line import Line
from mycelia.dataset.flow.request import Literal, Outcome, Request, Run
from mycelia.dataset.flow.workers import Blueprint, ThreadWorkers, Ticket, Workers, parts

HOME = 0
Sites = Mapping[int, int]  # where nodes work: at home, or in the pool of so many processes; others wherever they are


@dataclass(frozen=True, slots=True)
class Here(Request):
    """Rows that are made at home, and then sent to where those above them are made."""

    child: Request

    def __len__(self) -> int:
        return len(self.child)

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        return self.child.rows(run, places)

    def origin(self, i: int, run: Run) -> str:
        return self.child.origin(i, run)

    def brought(self, run: Run) -> Request:
        kept = replace(run, tolerant=True)  # a bad row is told where it is used, in its turn
        return Literal(tuple(self.rows(kept)), tuple(self.origin(i, run) for i in range(len(self))))


@dataclass(frozen=True, slots=True)
class Away(Request):
    """Rows that are made by a pool of processes."""

    pool: int
    child: Request

    def __len__(self) -> int:
        return len(self.child)

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        answer = run.pools[self.pool].submit(self.child.brought(run)).wait()
        run.failures += answer.failures
        for node, seconds in answer.seconds.items():
            run.seconds[node] = run.seconds.get(node, 0.0) + seconds
        for outcome in answer.outcomes:
            if not isinstance(outcome, tuple) and outcome is not None and not run.tolerant:
                raise Failed(outcome)
            yield outcome

    def origin(self, i: int, run: Run) -> str:
        return self.child.origin(i, run)

    def brought(self, run: Run) -> Request:
        return Here(self).brought(run)


def parted(request: Request, sites: Sites) -> Request:
    """The request with every part in its place.

    >>> from mycelia.dataset.flow.request import Apply, Fetch, index_array
    >>> one = index_array([0])
    >>> parted(Apply(2, 0, one, Apply(1, 0, one, Fetch(0, one))), {1: 4, 2: HOME}).child
    Away(pool=4, child=Apply(node=1, epoch=0, positions=array([0]), child=Fetch(node=0, indices=array([0]))))
    """
    site, made = _placed(request, sites)
    return _at(HOME, site, made)


def _placed(request: Request, sites: Sites) -> tuple[int | None, Request]:
    """Where a request is made, None when anywhere; and the request, with the parts that are made elsewhere wrapped."""
    below = parts(request)
    placed = [_placed(part, sites) for part in below]
    found = {site for site, _ in placed if site is not None}
    own = sites.get(getattr(request, "node", -1))
    if own is None:
        own = found.pop() if len(found) == 1 else HOME if found else None
    if own is None:
        return None, request
    made = [_at(own, site, part) for site, part in placed]
    if all(new is old for new, old in zip(made, below, strict=True)):
        return own, request
    held: Any = request
    several = any(f.name == "children" for f in fields(held))
    return own, replace(held, children=tuple(made)) if several else replace(held, child=made[0])


def _at(here: int, site: int | None, request: Request) -> Request:
    """A request whose rows are used here, and made at its site."""
    if site is None or site == here:
        return request
    return Here(request) if site == HOME else Away(site, request)


class PartedWorkers(ThreadWorkers):
    """Threads at home, one for every request in flight, and the processes that they ask."""

    def __init__(
        self, blueprint: Blueprint, pools: Mapping[int, Workers], sites: Sites, line: Line | None, ahead: int
    ) -> None:
        self.pools, self.sites, self.ahead = pools, sites, ahead
        super().__init__(blueprint, max(pools), line, pools)

    def resize(self, count: int) -> None:
        super().resize(count + self.ahead)
        self.count = count

    def told(self) -> str:
        return " and ".join(pool.told() for pool in self.pools.values())

    def submit(self, request: Request) -> Ticket:
        return super().submit(parted(request, self.sites))

    def close(self) -> None:
        for pool in self.pools.values():  # first, since threads wait for them
            pool.close()
        super().close()
