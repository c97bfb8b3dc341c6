"""Recording what a training does: programs and their steps, waits for data, marks; at all steps or at some."""

from __future__ import annotations

import csv
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mycelia import checks
from mycelia.api.profiling import TimeProfile, recording
from mycelia.errors import ArgumentError, CallError
from mycelia.profiler.schedule import ProfilerAction
from mycelia.profiler.settings import ProfilerActivity, ProfilerLevel, _ExperimentalConfig, only_here

TRACE, PAGE, STEPS, ABOUT = "trace_view.json", "profile.html", "operator_details.csv", "profiler_metadata.json"
HEAD = ("program", "name", "kind", "runs", "seconds", "products", "bytes", "share of peak", "lines")
Handler = Callable[["profile"], Any]
Plan = Callable[[int], ProfilerAction]


class profile:  # MindSpore's name
    """Records while it is open, or at the steps that a `schedule` chooses; `step()` is told where one ends.

    What was recorded last is `result` (see `mycelia.api.profiling.TimeProfile`), and is handed to `on_trace_ready`: by
    `tensorboard_trace_handler`, which writes files. Lines, shapes and waits for data are recorded always.

    >>> from mycelia import Tensor, jit
    >>> double = jit(lambda x: x + x)
    >>> with profile() as seen:
    ...     double(Tensor([1.0, 2.0])).tolist()
    [2.0, 4.0]
    >>> seen.result.steps[0].name, seen.result.calls
    ('add', 1)
    """

    def __init__(
        self,
        activities: Iterable[ProfilerActivity] | None = None,
        with_stack: bool = False,
        profile_memory: bool = False,
        data_process: bool = False,
        parallel_strategy: bool = False,
        start_profile: bool = True,
        hbm_ddr: bool = False,
        pcie: bool = False,
        sync_enable: bool = True,
        record_shapes: bool = False,
        schedule: Plan | None = None,
        on_trace_ready: Handler | None = None,
        experimental_config: _ExperimentalConfig | None = None,
    ) -> None:
        always = {"with_stack": with_stack, "profile_memory": profile_memory, "data_process": data_process,
                  "sync_enable": sync_enable, "record_shapes": record_shapes}  # fmt: skip
        for name, value in always.items():  # all of this is recorded always
            checks.truth("profile", name, value)
        only_here("profile", hbm_ddr=hbm_ddr, pcie=pcie, parallel_strategy=parallel_strategy)
        for what, given in (("schedule", schedule), ("on_trace_ready", on_trace_ready)):
            if given is not None and not callable(given):
                raise ArgumentError(f"{what} of profile is a function, not {given!r}")
        chosen = list(activities) if activities is not None else [ProfilerActivity.CPU]
        if not chosen or not all(isinstance(a, ProfilerActivity) for a in chosen):
            raise ArgumentError(f"activities of profile are of ProfilerActivity, not {chosen!r}")
        self.level = (experimental_config or _ExperimentalConfig()).profiler_level
        self.records = ProfilerActivity.CPU in chosen
        self.plan, self.ready = schedule, on_trace_ready
        self.number = 0  # of the step that runs
        self.running = False
        self.result: TimeProfile | None = None
        self.about: dict[str, Any] = {}
        self.files: list[str] = []  # that a handler has written
        self._open: ExitStack | None = None
        if checks.truth("profile", "start_profile", start_profile):
            self.start()

    # ------------------------------------------------------------------------------------------ from when to when

    def start(self) -> None:
        """Begin; with a schedule, recording begins when it says so."""
        if self.running:
            raise ArgumentError("the profiler has been started already", hint="stop it first")
        self.running = True
        self._act(self._action())

    def stop(self) -> None:
        """End, and hand over what was recorded and not handed over yet."""
        if not self.running:
            raise ArgumentError("the profiler was not started, or has been stopped", hint="start it first")
        self.running = False
        if self._open is not None:
            self._finish()
            self._hand_over()

    def step(self) -> None:
        """A step has ended."""
        if not self.running:
            raise ArgumentError("the profiler was not started, or has been stopped", hint="start it first")
        if self._open is not None and self._action() is ProfilerAction.RECORD_AND_SAVE:
            self._finish()
            self._hand_over()
        self.number += 1
        self._act(self._action())

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self.plan is None else self.plan(self.number)

    def _act(self, action: ProfilerAction) -> None:
        wanted = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE) and self.records
        if wanted and self._open is None:
            self._open = ExitStack()
            self._heard = self._open.enter_context(recording())
        elif not wanted and self._open is not None:
            self._finish()
            self._hand_over()

    def _finish(self) -> None:
        assert self._open is not None, "nothing is being recorded"
        self._open.close()
        self._open = None
        self.result = TimeProfile(self._heard)

    def _hand_over(self) -> None:
        if self.ready is not None:
            self.ready(self)

    def __enter__(self) -> Self:
        if not self.running:
            self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.running:
            self.stop()

    def __del__(self) -> None:
        if self.__dict__.get("_open") is not None:  # what was forgotten is not measured for ever
            self._open.close()  # type: ignore[union-attr]

    # ------------------------------------------------------------------------------------------ what was recorded

    def add_metadata(self, key: str, value: str) -> None:
        """Say something about the recording, for who reads its files."""
        self.about[_text("key", key)] = _text("value", value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """The same, with a value that is JSON."""
        try:
            self.about[_text("key", key)] = json.loads(_text("value", value))
        except ValueError as error:
            raise ArgumentError(f"value of add_metadata_json is no JSON: {error}") from None

    def save(self, folder: str) -> list[str]:
        """Write what was recorded last into a folder; gives the paths of the files."""
        if self.result is None:
            raise ArgumentError("nothing was recorded", hint="call what is to be measured between start and stop")
        Path(folder).mkdir(parents=True, exist_ok=True)
        paths = [self.result.save(os.path.join(folder, name)) for name in (TRACE, PAGE)]
        if self.level is not ProfilerLevel.LevelNone:
            paths.append(_table(self.result, os.path.join(folder, STEPS)))
        if self.about:
            paths.append(os.path.join(folder, ABOUT))
            Path(paths[-1]).write_text(json.dumps(self.about), encoding="utf-8")
        return paths


class Profiler(profile):
    """The same with a folder for its files: `analyse()` stops and writes them.

    >>> from tempfile import TemporaryDirectory
    >>> from mycelia import Tensor, jit
    >>> with TemporaryDirectory() as folder:
    ...     profiler = Profiler(output_path=folder)
    ...     _ = jit(lambda x: x + x)(Tensor([1.0, 2.0]))
    ...     profiler.analyse()
    ...     sorted(os.listdir(folder))
    ['operator_details.csv', 'profile.html', 'trace_view.json']
    """

    def __init__(
        self,
        start_profile: bool = True,
        output_path: str = "./data",
        profiler_level: ProfilerLevel | None = None,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Plan | None = None,
        on_trace_ready: Handler | None = None,
        profile_memory: bool = False,
        with_stack: bool = False,
        data_process: bool = False,
        parallel_strategy: bool = False,
        sync_enable: bool = True,
        op_time: bool = True,
        profile_framework: str | None = None,
        hbm_ddr: bool = False,
        pcie: bool = False,
        l2_cache: bool = False,
        profile_communication: bool = False,
        experimental_config: _ExperimentalConfig | None = None,
    ) -> None:
        if profiler_level is not None and not isinstance(profiler_level, ProfilerLevel):
            raise ArgumentError(f"profiler_level of Profiler is a ProfilerLevel, not {profiler_level!r}")
        checks.truth("Profiler", "op_time", op_time)
        checks.choice("Profiler", "profile_framework", profile_framework, (None, "all", "time"))
        only_here("Profiler", l2_cache=l2_cache, profile_communication=profile_communication)
        wishes = experimental_config or _ExperimentalConfig(profiler_level=profiler_level or ProfilerLevel.Level0)
        self.folder = _text("output_path", os.fspath(output_path))
        super().__init__(
            activities, with_stack, profile_memory, data_process, parallel_strategy, start_profile, hbm_ddr, pcie,
            sync_enable, False, schedule, on_trace_ready, wishes,
        )  # fmt: skip

    def analyse(
        self, offline_path: str | None = None, pretty: bool = False, step_list: list[int] | None = None,
        mode: str = "sync",
    ) -> None:  # fmt: skip
        """Stop, if that was not done, and write the files: a trace, a page, a table of steps."""
        checks.truth("analyse", "pretty", pretty)
        checks.only("analyse", "step_list", step_list, None, "a schedule chooses the steps that are recorded")
        checks.choice("analyse", "mode", mode, ("sync", "async", "async_without_wait"))  # it takes milliseconds
        if offline_path is not None:
            self.offline_analyse(offline_path, pretty)
            return
        if self.running:
            self.stop()
        self.files = self.save(self.folder)

    @classmethod
    def offline_analyse(
        cls, path: str, pretty: bool = False, step_list: list[int] | None = None, data_simplification: bool = True
    ) -> None:
        """Make the table of steps from the trace that lies in a folder."""
        checks.truth("offline_analyse", "data_simplification", data_simplification)
        analyse(path, pretty=pretty, step_list=step_list)

    def op_analyse(self, op_name: str | list[str], device_id: int | None = None) -> str:
        """What was measured of these operations, as JSON: how often they ran, and the microseconds of a run."""
        checks.only("op_analyse", "device_id", device_id or 0, 0, "there is one device")
        names = [op_name] if isinstance(op_name, str) else list(op_name)
        if self.result is None:
            raise ArgumentError("nothing was recorded", hint="call analyse() first")
        found = {
            name: [
                {"op_name": s.name, "op_occurrences": s.runs, "op_avg_time(us)": s.seconds / s.runs * 1e6}
                for s in self.result.steps
                if name in s.name.replace(":", ",").split(", ")
            ]
            for name in names
        }
        return json.dumps({"CPU": found})


def tensorboard_trace_handler(
    dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True, async_mode: bool = False
) -> Handler:
    """What `profile` calls with each recording: it writes the files into a folder of its own in `dir_name`.

    >>> callable(tensorboard_trace_handler("traces"))
    True
    """
    checks.truth("tensorboard_trace_handler", "async_mode", async_mode)  # writing takes milliseconds
    whole = checks.truth("tensorboard_trace_handler", "analyse_flag", analyse_flag)
    folder = "./data" if dir_name is None else _text("dir_name", os.fspath(dir_name))
    worker = f"{socket.gethostname()}_{os.getpid()}" if worker_name is None else _text("worker_name", worker_name)

    def handle(seen: profile) -> None:
        if seen.result is None:
            return
        own = os.path.join(folder, f"{worker}_{time.strftime('%Y%m%d%H%M%S')}_{time.perf_counter_ns()}")
        seen.files = seen.save(own) if whole else [seen.result.save(os.path.join(own, TRACE))]

    return handle


def analyse(
    profiler_path: str, max_process_number: int = 1, pretty: bool = False, step_list: list[int] | None = None,
    data_simplification: bool = True,
) -> None:  # fmt: skip
    """Make the table of steps from each trace in a folder, or in the folders in it."""
    checks.whole("analyse", "max_process_number", max_process_number, least=1)
    checks.truth("analyse", "pretty", pretty)
    checks.truth("analyse", "data_simplification", data_simplification)
    checks.only("analyse", "step_list", step_list, None, "a schedule chooses the steps that are recorded")
    found = sorted(Path(profiler_path).rglob(TRACE))
    if not found:
        raise ArgumentError(f"there is no {TRACE} in {profiler_path!r}", hint="give the folder of a profiler")
    for path in found:
        totals: dict[tuple[str, str], list[Any]] = {}
        for event in json.loads(path.read_text(encoding="utf-8"))["traceEvents"]:
            if event["cat"] in ("kernel", "library", "copy", "control"):
                about = event["args"]
                new = [0, 0.0, about["products"], about["bytes"], _joined(about["lines"])]
                one = totals.setdefault((event["name"], event["cat"]), new)
                one[0] += 1
                one[1] += event["dur"] / 1e6
        rows = [("", *key, *numbers[:4], "", numbers[4]) for key, numbers in totals.items()]
        _write(str(path.with_name(STEPS)), sorted(rows, key=lambda row: -row[4]))


def _table(seen: TimeProfile, path: str) -> str:
    rows = [
        (s.program, s.name, s.kind, s.runs, s.seconds, s.products, s.nbytes, s.share, _joined(s.lines))
        for s in seen.steps
    ]
    return _write(path, rows)


def _joined(lines: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(lines))


def _write(path: str, rows: list[tuple[Any, ...]]) -> str:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows])
    return path


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise CallError(f"{name} is a text, not {value!r}", hint="give a str")
    return value
