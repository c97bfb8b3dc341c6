"""Try the tests on faults: each fault in a process of its own, forked where the tests have been collected already.

First every file of tests is run as it is, with a mark at every fault: so it is known which tests reach which fault, and
how long they take. Then the fault is sown, in the functions in memory and in the file, and the tests that reach it are
run, the fastest first, until one fails, dies or does not end.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import gc
import json
import linecache
import mmap
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutation.faults import ROOT, Fault

# the default tests that stand nearest to a package, nearest first
TESTS = {
    "capture": ("capture", "api", "promises", "attack", "sizes"),
    "api": ("api", "capture/test_guards.py", "sizes", "runtime", "attack", "errors", "nn/test_training.py", "docs"),
    "eager": ("eager", "api", "ops", "attack", "capture"),
    "lowering": ("lowering", "codegen", "fuzz", "runtime", "sizes", "schedule", "primitives/test_laws.py"),
    "codegen": ("codegen", "lowering", "runtime", "fuzz", "sizes", "routines", "primitives/test_laws.py"),
    "runtime": ("runtime", "api", "schedule", "codegen", "lowering", "sizes", "attack", "lite"),
    "nn": ("nn", "train", "amp", "errors"),
    "train": ("train", "nn/test_training.py", "amp", "errors"),
    "dataset": ("dataset",),
    "mindrecord": ("dataset/test_records.py", "dataset/test_hostile_files.py", "dataset/test_readers.py"),
}
MOST = 40  # tests of one file that are looked at
SCOUT, PATIENCE, IDLE = 8.0, 12.0, 20.0  # seconds: of a file that is looked at, of tests of a fault, of a deadlock


class Trials:
    """Runs instead of the tests. `folder` keeps what was found, so that it can be gone on with."""

    def __init__(self, faults: Sequence[Fault], folder: Path, budget: float) -> None:
        self.faults, self.folder, self.budget = list(faults), folder, budget
        self.marks = mmap.mmap(-1, max(1, len(self.faults)))  # shared with all children
        self.failed = ""
        folder.mkdir(parents=True, exist_ok=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = crash.message.splitlines()[0] if crash and crash.message else report.longreprtext.strip()[-200:]
            self.failed = f"{report.nodeid}: {said[:200]}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.files: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            self.files.setdefault(str(item.path.relative_to(ROOT)), []).append(item)
        self.items = {item.nodeid: item for item in session.items}
        for file, items in self.files.items():
            self.files[file] = items[:: -(-len(items) // MOST)]
        self.functions: dict[str, list[FunctionType]] = {}
        for found in gc.get_objects():
            if type(found) is FunctionType:
                self.functions.setdefault(found.__code__.co_filename, []).append(found)
        self.mark()
        gc.collect()
        gc.freeze()
        self.seen: dict[str, list[list[Any]]] = {}  # of a file: test, seconds, the faults that it reaches
        for package in dict.fromkeys(f.package for f in self.faults):
            self.run([(i, f) for i, f in enumerate(self.faults) if f.package == package], package)
        return True

    def run(self, faults: list[tuple[int, Fault]], package: str) -> None:
        """Go through the tests of a package, nearest first, until every fault is caught or has been given up."""
        done = {r["key"] for r in self.known()}
        spent = {i: 0.0 for i, f in faults if f.key not in done}
        tried: dict[int, list[str]] = {i: [] for i in spent}
        near = [f"tests/{t}" for t in TESTS[package]]
        own = list(dict.fromkeys(self.faults[i].path for i in spent))
        for file in [*own, *dict.fromkeys(f for t in near for f in sorted(self.files) if f.startswith(t))]:
            open_ = [i for i in spent if file not in own or self.faults[i].path == file]
            if not open_ or file not in self.files:
                continue
            reached = self.reached(file)
            for i in open_:
                tests = sorted((t for t in reached if i in t[2] and t[1] < self.budget), key=lambda t: t[1])
                while tests and sum(t[1] for t in tests) > max(1.0, min(self.budget - spent[i], self.budget / 3)):
                    tests.pop()
                if not tests:
                    continue
                verdict = self.tried(self.faults[i], file, [t[0] for t in tests], sum(t[1] for t in tests))
                spent[i] += sum(t[1] for t in tests)
                tried[i] += [t[0] for t in tests]
                if verdict or spent[i] >= self.budget:
                    self.note(self.faults[i], verdict, spent.pop(i), tried[i])
        for i, seconds in spent.items():
            self.note(self.faults[i], "", seconds, tried[i])

    def known(self) -> list[dict[str, Any]]:
        """What was found before."""
        file = self.folder / "faults.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def note(self, fault: Fault, verdict: str, seconds: float, tests: list[str]) -> None:
        record = {"key": fault.key, "fault": str(fault), "caught": verdict, "seconds": seconds, "tests": tests[-40:],
                  "count": len(tests)}  # fmt: skip
        with (self.folder / "faults.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(f"{verdict[:110] or f'MISSED by {len(tests)}':60} {seconds:4.0f} s  {fault}", flush=True)

    # ---------------------------------------------------------------------------------------------- in a child

    def reached(self, file: str) -> list[list[Any]]:
        """The tests of a file that pass, with the time that they take and the faults that they reach."""
        if file not in self.seen:
            store = self.folder / "seen" / (file.replace("/", ".") + ".jsonl")
            if not store.exists():
                store.parent.mkdir(exist_ok=True)
                start = time.monotonic()
                self.in_a_child(lambda: self.scout(self.files[file], store.with_suffix(".part")), SCOUT, "scout")
                if store.with_suffix(".part").exists():
                    store.with_suffix(".part").rename(store)
                print(f"looked at {file} in {time.monotonic() - start:.0f} s", flush=True)
            number = {f.key: i for i, f in enumerate(self.faults)}
            lines = store.read_text().splitlines() if store.exists() else []
            self.seen[file] = [[t, s, {number[k] for k in keys if k in number}] for t, s, keys in map(_loaded, lines)]
        return self.seen[file]

    def scout(self, items: Sequence[pytest.Item], store: Path) -> None:
        with store.open("w") as file:
            for item, following in _pairs(items):
                self.marks[:] = bytes(len(self.marks))
                start, self.failed = _cpu(), ""
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if not self.failed:
                    keys = [self.faults[i].key for i, mark in enumerate(self.marks[:]) if mark]
                    file.write(json.dumps([item.nodeid, _cpu() - start, keys]) + "\n")
                    file.flush()
                else:
                    print("NOT USED:", self.failed, flush=True)

    def tried(self, fault: Fault, file: str, tests: Sequence[str], seconds: float) -> str:
        """The test that fails under a fault, or nothing."""
        items = [self.items[test] for test in tests]
        target = ROOT / fault.path
        original, changed = target.read_bytes(), fault.source()
        answer = self.folder / "answer"
        answer.unlink(missing_ok=True)

        def child() -> None:
            self.install(fault.path, compile(changed, str(target), "exec", dont_inherit=True))
            for item, following in _pairs(items):
                answer.write_text(f"{item.nodeid}: did not end")
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    answer.write_text(self.failed)
                    os._exit(1)
            answer.unlink()

        try:
            target.write_bytes(changed)
            end = self.in_a_child(child, 4 * seconds + PATIENCE, "trial")
        finally:
            target.write_bytes(original)
        if end == 0:
            return ""
        return answer.read_text() if answer.exists() else f"{file}: ended with {end}"

    def mark(self) -> None:
        """From now on, whoever comes to a fault leaves a mark; also in the children that are forked."""
        builtins.__reached__ = self.marks.__setitem__  # type: ignore[attr-defined]
        self.codes = {f: f.__code__ for found in self.functions.values() for f in found}
        for path in {f.path for f in self.faults}:
            _originals[path] = (ROOT / path).read_bytes()
            self.install(path, marked(path, [(i, f) for i, f in enumerate(self.faults) if f.path == path]))

    def install(self, path: str, code: CodeType) -> None:
        """From now on, the functions of a module run this code."""
        file = str(ROOT / path)
        before, after = (list(codes(c)) for c in (compile(_originals[path], file, "exec", dont_inherit=True), code))
        names = {(c.co_qualname, c.co_firstlineno): c for c in after}
        new = {c: names.get((c.co_qualname, c.co_firstlineno), c) for c in before}
        if len(before) == len(after):
            new = dict(zip(before, after, strict=True))
        for function in self.functions.get(file, []):
            changed = new.get(self.codes[function])
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


_originals: dict[str, bytes] = {}  # modules as they were imported


def _loaded(line: str) -> Any:
    return json.loads(line)


def _pairs(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    return zip(items, [*items[1:], None], strict=True)


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


def marked(path: str, faults: Iterable[tuple[int, Fault]]) -> CodeType:
    """A module that marks each fault when it comes to the statement where it would be."""
    text = _originals[path]
    tree = ast.parse(text)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    blocks = [
        block for node in ast.walk(tree) for block in (getattr(node, n, None) for n in ("body", "orelse", "finalbody"))
        if isinstance(block, list)
    ]  # fmt: skip
    for i, fault in faults:
        around = [
            (block, s) for block in blocks for s in block
            if starts[s.lineno - 1] + s.col_offset <= fault.start
            and fault.end <= starts[(s.end_lineno or 1) - 1] + (s.end_col_offset or 0)
        ]  # fmt: skip
        block, statement = max(around, key=lambda q: starts[q[1].lineno - 1] + q[1].col_offset)
        mark = ast.parse(f"__reached__({i}, 1)").body[0]
        for node in ast.walk(mark):
            ast.copy_location(node, statement)
        block.insert(block.index(statement), mark)
    return compile(ast.fix_missing_locations(tree), str(ROOT / path), "exec", dont_inherit=True)


def try_all(faults: Sequence[Fault], folder: Path, budget: float) -> list[dict[str, Any]]:
    """Collect the tests once, and try them on all faults; what is known of all that were tried."""
    near = {f"tests/{t}" for f in faults for t in TESTS[f.package]}
    paths = [*sorted({f.path for f in faults}), *sorted(p for p in near if Path(p).parent.as_posix() not in near)]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["PYTHONPATH"] = str(ROOT)
    os.chdir(ROOT)
    plugin = Trials(faults, folder, budget)
    pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *paths], plugins=[plugin])
    return plugin.known()
