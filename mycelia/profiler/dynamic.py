"""Recording that begins and ends while a training runs, by what a file or the environment says."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from mycelia import checks
from mycelia.errors import ArgumentError, CallError
from mycelia.profiler.profiler import Profiler, profile
from mycelia.train.callback import Callback, RunContext

FILE = "profiler_config.json"


class DynamicProfilerMonitor(Callback):
    """A callback that looks at the file `profiler_config.json` in the folder `cfg_path` now and then: the steps from
    its "start_step" to its "stop_step" are recorded, and written to folders in `output_path`.

    >>> DynamicProfilerMonitor("settings", poll_interval=1).step_num
    0
    """

    def __init__(
        self, cfg_path: str | None = None, output_path: str = "./dyn_profile_data", poll_interval: int = 2
    ) -> None:
        if not isinstance(cfg_path, str):
            raise CallError(f"cfg_path of DynamicProfilerMonitor is a folder, not {cfg_path!r}")
        self.file, self.folder = Path(cfg_path) / FILE, output_path
        self.interval = checks.whole("DynamicProfilerMonitor", "poll_interval", poll_interval, least=1)
        self.step_num = 0  # of the step that runs, from 1
        self.first, self.last = 0, -1
        self._looked, self._version = 0.0, 0.0
        self._running: profile | None = None

    def step_begin(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        self.began(int(now.get("cur_step_num", self.step_num + 1)))

    def step_end(self, run_context: RunContext) -> None:
        self.ended()

    def end(self, run_context: RunContext) -> None:
        if self._running is not None:
            self._save()

    def step(self) -> None:
        """A step has ended and the next one begins: for loops without a Model."""
        self.ended()
        self.began(self.step_num + 1)

    def began(self, number: int) -> None:
        """The step with this number begins."""
        self.step_num = number
        self._look()
        if self._running is None and self.first <= number <= self.last:
            self._running = profile()

    def ended(self) -> None:
        """The step that ran has ended."""
        if self._running is not None and self.step_num >= self.last:
            self._save()

    def _save(self) -> None:
        assert self._running is not None, "nothing is being recorded"
        self._running.stop()
        self._running.save(os.path.join(self.folder, f"steps_{self.first}_{self.last}"))
        self._running, self.last = None, -1

    def _look(self) -> None:
        """Read the file, if it has changed and it is time to."""
        if self._looked and time.monotonic() - self._looked < self.interval:
            return
        self._looked = time.monotonic()
        try:
            version = self.file.stat().st_mtime
            if version == self._version:
                return
            wanted = json.loads(self.file.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # it is not there yet, or being written
            return
        self._version = version
        if self._running is None and isinstance(wanted, dict):
            self.first, self.last = int(wanted.get("start_step", 1)), int(wanted.get("stop_step", -1))


class EnvProfiler:
    """A profiler that MS_PROFILER_OPTIONS describes, as JSON: {"start": true, "output_path": "./data"}. Without it,
    or with "start": false, nothing is recorded.

    >>> EnvProfiler().profiler is None
    True
    """

    def __init__(self) -> None:
        text = os.environ.get("MS_PROFILER_OPTIONS", "{}")
        try:
            wanted: Any = json.loads(text)
        except ValueError as error:
            raise ArgumentError(
                f"MS_PROFILER_OPTIONS is no JSON: {error}", given={"MS_PROFILER_OPTIONS": text}
            ) from None
        if not isinstance(wanted, dict):
            raise ArgumentError("MS_PROFILER_OPTIONS is an object of JSON", given={"MS_PROFILER_OPTIONS": text})
        begins = wanted.get("start", False)
        self.profiler = Profiler(output_path=wanted.get("output_path", "./data")) if begins else None

    def analyse(self) -> None:
        """Stop, and write the files."""
        if self.profiler is not None:
            self.profiler.analyse()
