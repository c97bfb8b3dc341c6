"""Try the tests on faults: each fault in a process of its own, forked where the tests have been collected already.

The tests that stand near a module are ordered by how likely they are to see the fault (`choice.py`). It is sown, in the
functions in memory and in the file, and tests are run until one fails, dies or does not end, or their time is up. A
test that fails must pass without the fault.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import fcntl
import gc
import json
import linecache
import math
import mmap
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutation.choice import Likely, Queue
from tests.mutation.faults import ROOT, Fault

# the default tests that stand nearest to a package, nearest first
TESTS = {
    "capture": ("capture", "api", "promises", "attack", "sizes"),
    "api": (
        "api",
        "capture/test_guards.py",
        "sizes",
        "nn/test_bprop.py",
        "runtime",
        "attack",
        "errors",
        "nn/test_training.py",
    ),
    "eager": ("eager", "api", "ops", "attack", "capture"),
    "lowering": ("lowering", "codegen", "fuzz", "runtime", "sizes", "schedule", "primitives/test_laws.py"),
    "codegen": ("codegen", "lowering", "runtime", "fuzz", "sizes", "routines", "primitives/test_laws.py"),
    "runtime": ("runtime", "api", "schedule", "codegen", "lowering", "sizes", "attack", "lite"),
    "nn": ("nn", "train", "amp", "errors"),
    "train": ("train", "nn/test_training.py", "amp", "errors"),
    "dataset": ("dataset",),
    "mindrecord": ("dataset/test_records.py", "dataset/test_hostile_files.py", "dataset/test_readers.py"),
}
ENDLESS = ": did not end"
LOCKS = "tests/test_locks.py"
PATIENCE, IDLE = 15.0, 20.0  # seconds: of processor time beyond what is given, and without any, of a deadlock


class Trials:
    """Runs instead of the tests. `folder` keeps what was found, so that it can be gone on with."""

    def __init__(self, faults: Sequence[Fault], folder: Path, budget: float, first: Sequence[str] = ()) -> None:
        self.faults, self.folder, self.budget, self.first = list(faults), folder, budget, tuple(first)
        self.marks = mmap.mmap(-1, 2)  # shared with all children: whether the fault was come to, now and ever
        self.failed = ""
        folder.mkdir(parents=True, exist_ok=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = crash.message.splitlines()[0] if crash and crash.message else report.longreprtext.strip()[-200:]
            self.failed = f"{report.nodeid}: {said[:200]}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        self.likely = Likely(self.items)
        self.functions: dict[str, list[FunctionType]] = {}
        gc.unfreeze()  # what was collected is frozen, and what is frozen is not listed
        for found in gc.get_objects():
            if type(found) is FunctionType:
                self.functions.setdefault(found.__code__.co_filename, []).append(found)
        self.good: dict[str, float] = {}  # seconds of those that pass by themselves
        gc.collect()
        gc.freeze()
        known = self.known()
        done = {r["key"] for r in known}
        for r in known:
            if r["caught"]:
                self.likely.learn(r["key"].rpartition(":")[0], r["caught"].partition(": ")[0])
        for fault in self.faults:
            if fault.key not in done:
                self.run(fault)
        return True

    def run(self, fault: Fault) -> None:
        """Try the tests that are likely to see a fault."""
        near = [f"tests/{t}" for t in TESTS[fault.package]]
        tests = self.likely.order(fault, near, (LOCKS,) if fault.rule == "lock" else self.first)
        start = time.monotonic()
        while True:
            found, seconds, count = self.tried(fault, tests)
            name = found.partition(": ")[0]
            assert not found or name in self.items, f"{fault} was not sown"
            if not found or self.alone(name) < (PATIENCE / 3 if found.endswith(ENDLESS) else math.inf):
                break
            tests = [t for t in tests if t != name]  # it fails anyway, or takes long
        if found:
            self.likely.learn(fault.path, name)
        reached = any(self.marks[:])
        record = {"key": fault.key, "fault": str(fault), "caught": found, "seconds": seconds, "count": count}
        record["reached"] = reached
        with (self.folder / "faults.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
        said = (found if reached else f"(not reached) {found}") if found else f"MISSED by {count}, {reached=}"
        print(f"{said[:110]:60} {seconds:4.0f} of {time.monotonic() - start:4.0f} s  {fault}", flush=True)

    def alone(self, name: str) -> float:
        """How many seconds a test takes without any fault; for ever, if it fails."""
        if name not in self.good:
            item = self.items[name]

            def child() -> None:
                item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
                os._exit(bool(self.failed))

            start = _cpu()
            passed = self.in_a_child(child, 60.0, "passing") == 0
            self.good[name] = _cpu() - start if passed else math.inf
        return self.good[name]

    def known(self) -> list[dict[str, Any]]:
        """What was found before."""
        file = self.folder / "faults.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def tried(self, fault: Fault, tests: Sequence[str]) -> tuple[str, float, int]:
        """The test that fails under a fault, or nothing; how long it took, and how many were run."""
        target = ROOT / fault.path
        original, changed = target.read_bytes(), fault.source()
        answer = self.folder / "answer"
        answer.write_text(json.dumps([f"{fault.path}: the process ended", 0.0, 0]))
        self.marks[:] = bytes(len(self.marks))

        def child() -> None:
            builtins.__reached__ = self.marks.__setitem__  # type: ignore[attr-defined]
            self.install(fault.path, original, marked(fault, changed))
            start, count, queue = _cpu(), 0, Queue(tests)
            while (name := queue.following()) is not None and (spent := _cpu() - start) < self.budget:
                answer.write_text(json.dumps([f"{name}{ENDLESS}", spent, count]))
                self.marks[0] = 0
                self.items[name].ihook.pytest_runtest_protocol(item=self.items[name], nextitem=None)
                queue.told(name, bool(self.marks[0]))
                self.marks[1] |= self.marks[0]
                count += 1
                if self.failed:
                    break
            answer.write_text(json.dumps([self.failed, _cpu() - start, count]))

        try:
            target.write_bytes(changed)
            status = self.in_a_child(child, self.budget + PATIENCE, "trial")
        finally:
            target.write_bytes(original)
        found, seconds, count = json.loads(answer.read_text())
        if found.endswith(ENDLESS) and status not in (-1, -signal.SIGXCPU, -signal.SIGKILL):
            found = found.removesuffix(ENDLESS) + f": the process died with status {status}"
        return found, seconds, count

    def install(self, path: str, original: bytes, code: CodeType) -> None:
        """From now on, the functions of a module run this code."""
        file = str(ROOT / path)
        before, after = (list(codes(c)) for c in (compile(original, file, "exec", dont_inherit=True), code))
        names = {(c.co_qualname, c.co_firstlineno): c for c in after}
        new = {c: names.get((c.co_qualname, c.co_firstlineno), c) for c in before}
        if len(before) == len(after):
            new = dict(zip(before, after, strict=True))
        for function in self.functions.get(file, []):
            changed = new.get(function.__code__)
            if changed is not None and changed.co_freevars == function.__code__.co_freevars:
                function.__code__ = changed

    def in_a_child(self, work: Callable[[], None], seconds: float, name: str) -> int:
        """The status with which a child ends that does some work; -1 if it had to be ended."""
        sys.stdout.flush()
        child = os.fork()
        if not child:
            try:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 3))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                log = os.open(self.folder / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(log, 1)
                os.dup2(log, 2)
                linecache.clearcache()
                from mycelia.capture import source

                source.BEGAN = float("inf")  # the text of a changed file is believed: the code comes from it
                work()
                sys.stdout.flush()
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(70)
        return _ended(child, 30 * seconds)


def _cpu() -> float:
    """Seconds that this process and its children have computed: a loaded machine does not change them."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _ended(child: int, patience: float) -> int:
    """Wait for a child: as long as its session computes, or a while."""
    start = moved = time.monotonic()
    before, pause = -1, 0.01
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        now = time.monotonic()
        if pid:
            end = os.waitstatus_to_exitcode(status)
            break
        if now - moved > 1:
            busy, used = _session(child)
            if busy or used != before:
                before, moved = used, now
        if now - moved > IDLE or now - start > patience:
            end = -1
            break
        time.sleep(pause)
        pause = min(0.5, pause * 1.3)
    for pid in _members(child):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if end == -1:
        os.waitpid(child, 0)
    return end


def _stats() -> Iterator[tuple[int, list[str]]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                yield int(name), Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue


def _members(session: int) -> list[int]:
    return [pid for pid, stat in _stats() if int(stat[3]) == session]


def _session(session: int) -> tuple[bool, int]:
    """Whether any process of a session is running or stopped, and how long all have computed, in ticks."""
    stats = [stat for _, stat in _stats() if int(stat[3]) == session]
    return any(s[0] in "RDT" for s in stats), sum(int(x) for s in stats for x in s[11:15])


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of all functions inside, at any depth."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from codes(const)


def marked(fault: Fault, text: bytes) -> CodeType:
    """A module with a fault, and a mark that is left by whoever comes to the statement where it is."""
    tree = ast.parse(text)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: tuple[int, list[ast.stmt], ast.stmt] | None = None
    for node in ast.walk(tree):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            for s in block if isinstance(block, list) else ():
                start, end = starts[s.lineno - 1] + s.col_offset, starts[s.end_lineno - 1] + s.end_col_offset
                if start <= fault.start < end and (found is None or start > found[0]):
                    found = start, block, s
    assert found is not None, f"{fault} is in no statement"
    mark = ast.parse("__reached__(0, 1)").body[0]
    for node in ast.walk(mark):
        ast.copy_location(node, found[2])
    found[1].insert(found[1].index(found[2]), mark)
    return compile(ast.fix_missing_locations(tree), str(ROOT / fault.path), "exec", dont_inherit=True)


def try_all(faults: Sequence[Fault], folder: Path, budget: float, first: Sequence[str]) -> list[dict[str, Any]]:
    """Collect the tests once, and try them on all faults; what is known of all that were tried."""
    near = {f"tests/{t}" for f in faults for t in TESTS[f.package]} | {LOCKS, *first}
    paths = [*sorted({f.path for f in faults}), *sorted(p for p in near if Path(p).parent.as_posix() not in near)]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["PYTHONPATH"] = str(ROOT)
    os.chdir(ROOT)
    alone = (ROOT / "build" / "mutation.lock").open("w")
    fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)  # two faults at once would be seen as one
    plugin = Trials(faults, folder, budget, first)
    pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *paths], plugins=[plugin])
    return plugin.known()
