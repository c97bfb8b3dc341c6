"""The profiler's report: how busy every step was, and which one holds up the others."""

from __future__ import annotations

from time import perf_counter

from mycelia.dataset.run.pipeline import Pipeline
from mycelia.frozen import frozen


@frozen
class Step:
    """One step of the plan and the worker time it took."""

    label: str
    seconds: float
    share: float


@frozen
class Profile:
    """Steps by time; `bottleneck` is the slowest one, or the reader when the pipeline waited for it.

    >>> print(Profile((Step("Map(f)", 1.5, 0.75),), 2.0, 1.0, 10, "Map(f)", "4 threads"))
    bottleneck: Map(f)
    10 rows in 2.00 s with 4 threads; the reader waited 1.00 s
      75.0 %     1.500 s  Map(f)
    """

    steps: tuple[Step, ...]
    wall: float
    waited: float
    rows: int
    bottleneck: str
    workers: str

    def __str__(self) -> str:
        lines = [
            f"bottleneck: {self.bottleneck}",
            f"{self.rows} rows in {self.wall:.2f} s with {self.workers}; the reader waited {self.waited:.2f} s",
        ]
        lines += [f"  {s.share:5.1%} {s.seconds:9.3f} s  {s.label}".replace("%", " %") for s in self.steps]
        return "\n".join(lines)


def profile(pipeline: Pipeline) -> Profile:
    """The report of a pipeline, up to now."""
    seconds: dict[int, float] = {}
    for gauge in list(pipeline.gauges.values()):
        for node, spent in gauge.seconds.items():
            seconds[node] = seconds.get(node, 0.0) + spent
    root = pipeline.gauges[0]
    wall = perf_counter() - root.began
    total = sum(seconds.values()) or 1.0
    steps = sorted(seconds.items(), key=lambda item: -item[1])
    told = tuple(Step(pipeline.labels[n], s, s / total) for n, s in steps)
    waiting = root.waited > 0.1 * wall
    bottleneck = told[0].label if told and waiting else "the reader"
    pools = ", ".join(w.told() for w in list(pipeline.pools.values()))
    return Profile(told, wall, root.waited, root.rows, bottleneck, pools)
