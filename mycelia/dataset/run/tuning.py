"""The autotuner: change one thing, measure, keep it when rows come faster."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from mycelia.dataset.config import PipelineOptions
from mycelia.dataset.run.pipeline import Pipeline
from mycelia.frozen import frozen

INTERVAL = 20
GAIN = 1.05  # less than this is noise


@frozen
class Trial:
    """What was tried, and how fast rows came."""

    workers: int
    prefetch: int
    rows_per_second: float


class Tuner:
    """Climbs from one setting of (workers, prefetch) to the next better one; stops where none is better."""

    def __init__(self, pipeline: Pipeline, options: PipelineOptions) -> None:
        self.stage, self.workers = pipeline.stage, pipeline.stage.workers
        self.interval = options.autotune_interval or INTERVAL
        self.report = options.autotune_file
        self.trials: list[Trial] = []
        self.best: Trial | None = None
        self.moves = self._moves()
        self.steps = 0
        self.began = perf_counter()
        self.setting = (self.workers.count, options.prefetch_size)

    def _moves(self) -> list[tuple[int, int]]:
        most = os.cpu_count() or 1
        have = self.workers.count
        counts = sorted({max(1, have // 2), min(most, have + 1), min(most, have * 2)} - {have})
        return [(c, 2) for c in counts] + [(have, 4), (have, 1)]

    def step(self) -> None:
        """One more row has been read."""
        if self.steps < 0:
            return
        self.steps += 1
        if self.steps < self.interval:
            return
        now = perf_counter()
        trial = Trial(*self.setting, rows_per_second=self.steps / (now - self.began))
        self.trials.append(trial)
        if self.best is None or trial.rows_per_second > GAIN * self.best.rows_per_second:
            self.best = trial
        if self.moves:
            self._use(*self.moves.pop(0))
            self.steps, self.began = 0, now
        else:
            self._use(self.best.workers, self.best.prefetch)
            self.steps = -1
            self._write()

    def _use(self, workers: int, prefetch: int) -> None:
        self.setting = workers, prefetch
        self.workers.resize(workers)
        self.stage.depth = workers + prefetch

    def _write(self) -> None:
        if self.report and self.best is not None:
            told = {"best": asdict(self.best), "trials": [asdict(t) for t in self.trials]}
            Path(self.report).write_text(json.dumps(told, indent=2))
