"""Try the tests on faults: each fault in a process of its own, forked where the tests have been collected already.

The tests that come to a fault (`reach.py`) are ordered: cheap ones first, that are likely to see it (`choice.py`). It
is sown, in the functions in memory and in the file, and tests are run until one fails, dies or does not end, or their
time is up: first a little time for each fault, then the whole for those that are left. A test that fails must pass
without the fault.
"""

from __future__ import annotations

import ast
import builtins
import fcntl
import gc
import json
import linecache
import math
import mmap
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutation.children import ENDED, in_a_child, let_compute
from tests.mutation.choice import LOCKS, Likely
from tests.mutation.faults import ROOT, Fault
from tests.mutation.places import Text
from tests.mutation.reach import Reach, cpu, function_of

ENDLESS = "did not end"
PATIENCE = 15.0  # seconds of processor time that a test takes at most
ROUNDS = (0.1, 1.0)  # of the time that is given
FRUITLESS = {"function": 2, "file": 12}  # so many tests that do not come to a fault: the others are left out


class Trials:
    """Runs instead of the tests. `folder` keeps what was found, so that it can be gone on with."""

    def __init__(
        self, faults: Sequence[Fault], folder: Path, reach: Reach, budget: float, first: Sequence[str] = ()
    ) -> None:
        self.faults = random.Random(0).sample(faults, len(faults))  # so that the first ones stand for all
        self.folder, self.reach, self.budget = folder, reach, budget
        self.first = tuple(first)
        self.mark = mmap.mmap(-1, 2)  # shared with all children: whether the fault was come to, ever and by this test
        self.failed: tuple[str, str] | None = None  # a test, and what it said
        folder.mkdir(parents=True, exist_ok=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = crash.message.splitlines()[0] if crash and crash.message else report.longreprtext.strip()[-200:]
            self.failed = report.nodeid, ENDLESS if "took too long" in said else said[:200]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        self.likely = Likely(self.items, self.reach)
        self.functions: dict[str, list[FunctionType]] = {}
        gc.unfreeze()  # what was collected is frozen, and what is frozen is not listed
        for found in gc.get_objects():
            if type(found) is FunctionType:
                self.functions.setdefault(found.__code__.co_filename, []).append(found)
        self.good: dict[str, float] = {}  # seconds of those that pass by themselves
        gc.collect()
        gc.freeze()
        for told in self.known().values():
            if told["caught"]:
                self.likely.learn(told["key"].rpartition(":")[0], told["caught"])
        for share in ROUNDS:
            budget = self.budget * share
            for fault in self.faults:
                told = self.known().get(fault.key, {"caught": "", "given": 0.0, "tried": []})
                if not told["caught"] and told["given"] < budget:
                    self.run(fault, budget - told["given"], told["given"], told["tried"])
        return True

    def run(self, fault: Fault, budget: float, before: float, tried: Sequence[str]) -> None:
        """Try the tests that come to a fault, but for those that were tried before."""
        tests = self.likely.order(fault, (LOCKS,) if fault.rule == "lock" else self.first)
        done = {*tried}
        tests = [t for t in tests if t not in done]
        start = time.monotonic()
        self.mark[0] = 0
        while True:
            name, said, seconds, count = self.tried(fault, tests, budget)
            if not name or (self.alone(name) < math.inf and said != ENDLESS):
                break
            if self.alone(name) < PATIENCE / 3 and self.tried(fault, [name], budget)[0]:
                break  # twice it did not end, on a machine that may be busy with something else
            tests = [t for t in tests[count:] if t != name]  # it fails anyway, or takes long
            budget -= seconds
        if name:
            self.likely.learn(fault.path, name)
        record = {"key": fault.key, "fault": str(fault), "caught": name, "seconds": seconds, "given": before + budget}
        record |= {"said": said, "reached": bool(self.mark[0]), "tried": [*tried, *tests[:count]]}
        with (self.folder / "faults.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
        told = f"{name}: {said}" if name else f"MISSED by {count} of {len(tests)}, reached={record['reached']}"
        print(f"{told[:110]:60} {seconds:4.0f} of {time.monotonic() - start:4.0f} s  {fault}", flush=True)

    def alone(self, name: str) -> float:
        """How many seconds a test takes without any fault; for ever, if it fails."""
        if name not in self.good:
            item = self.items[name]

            def child() -> None:
                _believe_texts()
                item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
                os._exit(bool(self.failed))

            start = cpu()
            passed = in_a_child(child, 60.0, self.folder / "passing.log") == 0
            self.good[name] = cpu() - start if passed else math.inf
        return self.good[name]

    def known(self) -> dict[str, dict[str, Any]]:
        """What was found before, by the keys of faults."""
        file = self.folder / "faults.jsonl"
        told = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return {r["key"]: r for r in told}

    def tried(self, fault: Fault, tests: Sequence[str], budget: float) -> tuple[str, str, float, int]:
        """The test that fails under a fault, or none; what it said; how long it took, and how many were run."""
        target = ROOT / fault.path
        original, changed = target.read_bytes(), fault.source()
        answer = self.folder / "answer"
        answer.unlink(missing_ok=True)

        def child() -> None:
            _believe_texts()
            builtins.__reached__ = self.leave_a_mark  # type: ignore[attr-defined]
            self.install(fault.path, original, marked(fault, changed))
            start, count = cpu(), 0
            useful = Useful()
            for name in tests:
                if not useful.may_come(name):
                    count += 1
                    continue
                spent = cpu() - start
                if spent > budget:
                    break
                answer.write_text(json.dumps([name, ENDLESS, spent, count]))
                let_compute(PATIENCE + 2 * self.reach.seconds.get(name, 0.0))
                self.mark[1] = 0
                self.items[name].ihook.pytest_runtest_protocol(item=self.items[name], nextitem=None)
                useful.learn(name, bool(self.mark[1]))
                count += 1
                if self.failed:
                    break
            answer.write_text(json.dumps([*(self.failed or ("", "")), cpu() - start, count]))

        try:
            target.write_bytes(changed)
            status = in_a_child(child, budget + PATIENCE, self.folder / "trial.log")
        finally:
            target.write_bytes(original)
        assert answer.exists(), f"{fault} was not sown"
        name, said, seconds, count = json.loads(answer.read_text())
        if said == ENDLESS and status not in (ENDED, -signal.SIGXCPU, -signal.SIGKILL):
            said = f"the process died with status {status}"
        return name, said, seconds, count

    def leave_a_mark(self) -> None:
        """Called where the fault is."""
        self.mark[:] = b"\1\1"

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


class Useful:
    """Which tests are worth trying, by where others of their function and of their file have come."""

    def __init__(self) -> None:
        self.fruitless: Counter[str] = Counter()
        self.come: set[str] = set()

    def may_come(self, test: str) -> bool:
        function, file = function_of(test), test.partition("::")[0]
        if function in self.come:
            return True
        if self.fruitless[function] >= FRUITLESS["function"]:
            return False
        return file in self.come or self.fruitless[file] < FRUITLESS["file"]

    def learn(self, test: str, came: bool) -> None:
        for name in (function_of(test), test.partition("::")[0]):
            if came:
                self.come.add(name)
            else:
                self.fruitless[name] += 1


def _believe_texts() -> None:
    """The text of a changed file is believed: the code comes from it."""
    from mycelia.capture import source

    linecache.clearcache()
    source.BEGAN = float("inf")


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of all functions inside, at any depth."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from codes(const)


def marked(fault: Fault, text: bytes) -> CodeType:
    """A module with a fault, and a mark that is left by whoever comes to the statement where it is."""
    module = Text(text)
    block, number = module.around(fault.start)
    block.leave("__reached__()", number)
    return compile(ast.fix_missing_locations(module.tree), str(ROOT / fault.path), "exec", dont_inherit=True)


def try_all(
    faults: Sequence[Fault], folder: Path, reach: Reach, budget: float, first: Sequence[str], within: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Collect the tests once, and try them on all faults; what is known of all that were tried."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # of a fault, it would be taken for that of the file
    os.chdir(ROOT)
    (ROOT / "build").mkdir(exist_ok=True)
    alone = (ROOT / "build" / "mutation.lock").open("w")
    fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)  # two faults at once would be seen as one
    plugin = Trials(faults, folder, reach, budget, first)
    pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *within], plugins=[plugin])
    return plugin.known()
