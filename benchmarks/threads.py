"""Eight threads capture, train and read shared parameters for a while: `python benchmarks/threads.py [--seconds 60]`.

Two threads train one network's worth of parameters, two capture and compile new functions of them, two read them as
arrays, one computes with them eagerly, one runs a compiled function of them. What must hold, or this fails:

- the parameters are those of a serial run of as many steps, bit for bit;
- nobody ever sees a parameter of which a part is old and a part new, or two that belong to different steps in one
  compiled read;
- every thread comes to its end;
- no reader waits longer than the longest step, and nobody waits for a capture, of which the longest takes
  several steps.

A compiled function that reads is a program, and programs take turns: those that change nothing go ahead of those that
do, so it waits for the step that runs, and for other readers. These steps are counted: on the clock there is also what
a step does in Python in its turn, and the time until Python lets a thread run, among seven others.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import mycelia as ms
from mycelia import Parameter, Tensor, ops
from mycelia.api.programs import Way
from mycelia.runtime.turn import Turn

SIZE = 1 << 22  # numbers of a parameter: a step takes longer than Python needs to let every thread run once
ROUNDS = 8
END = 120.0  # seconds that a thread may take to end


class Watch:
    """The longest of several times, and how many there were."""

    def __init__(self) -> None:
        self.longest, self.count = 0.0, 0

    def __call__(self, run: Callable[[], object], without: Callable[[], float] = lambda: 0.0) -> object:
        before = time.perf_counter()
        found = run()
        self.longest = max(self.longest, time.perf_counter() - before - without())
        self.count += 1
        return found

    def __str__(self) -> str:
        return f"{self.count:7d} times, {self.longest * 1e3:8.1f} ms at most"


class Line:
    """How many steps a program that only reads has to wait for, from when it stands in the line for its turn."""

    def __init__(self) -> None:
        self.begun = self.now = self.most = 0
        usual = Turn._wait

        def wait(turn: Turn, line: deque[threading.Lock]) -> None:
            before = self.begun - self.now
            usual(turn, line)
            if line is turn._ahead:
                self.most = max(self.most, self.begun - before)

        self.wait = wait


class Shared:
    """Two parameters that are always equal, and a count of the steps that made them so."""

    def __init__(self) -> None:
        self.w = w = Parameter(np.zeros(SIZE, "f"), name="w")
        self.twin = twin = Parameter(np.zeros(SIZE, "f"), name="twin")
        self.steps = steps = Parameter(Tensor(0), name="steps")

        @ms.jit
        def step(x: Tensor) -> Tensor:
            change = x
            for _ in range(ROUNDS):  # whole numbers, so that the order of steps does not matter
                change = ops.floor(ops.sqrt(change * change + change))
            w.set_data(w + change)
            twin.set_data(twin + change)
            steps.set_data(steps + 1)
            return w.sum()

        @ms.jit
        def compare() -> tuple[Tensor, Tensor]:
            return ops.abs(w - twin).max(), w.max() - w.min()

        self.step, self.compare = step, compare
        self.x = Tensor(np.full(SIZE, 3, "f"))


def captured(shared: Shared, k: float) -> None:
    """Capture and compile a long function that nobody has seen before, which reads the parameters."""
    w = shared.w

    @ms.jit
    def long(x: Tensor) -> Tensor:
        y = x * k
        for i in (0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5) * 8:  # unrolled
            y = ops.sin(y) * i + ops.cos(y) if y.sum() > i else y * k
        return y + w.shape[0]

    long(Tensor([1.0, 2.0]))


def whole(data: np.ndarray) -> None:
    if data.min() != data.max():
        raise AssertionError(f"half of a step is seen: {data.min()} beside {data.max()}")


def main() -> None:
    """Run all threads, then the serial run, and judge."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seconds", type=float, default=60.0)
    seconds = ask.parse_args().seconds
    shared, alone = Shared(), Shared()
    shared.step(shared.x), shared.compare()  # compiled
    names = "steps", "captures", "arrays", "eager reads", "compiled reads"
    watches = {name: Watch() for name in names}
    usual, running, line = Way.run, threading.local(), Line()

    def run(self: Way, found: object) -> object:
        """A program that changes parameters is a step: from here on it has its turn, and waits for nobody."""
        if self.writes:
            line.begun, line.now = line.begun + 1, 1
            try:
                return watches["steps"](lambda: usual(self, found))
            finally:
                line.now = 0
        before = time.perf_counter()
        try:
            return usual(self, found)
        finally:
            running.took = time.perf_counter() - before

    Way.run = run
    Turn._wait = line.wait
    numbers = iter(range(1 << 30))
    errors: list[BaseException] = []
    stop = time.monotonic() + seconds

    def eagerly() -> None:
        kept = shared.w.value()
        whole((shared.w * 2.0).asnumpy())
        whole(shared.w[5:].asnumpy())
        if not np.array_equal(kept.asnumpy(), kept.asnumpy()):
            raise AssertionError("a value that is held changes")

    def compiled() -> None:
        apart, spread = watches["compiled reads"](shared.compare, lambda: running.took)
        if apart.item() or spread.item():
            raise AssertionError(f"parameters of different steps are seen: {apart.item()}, {spread.item()}")

    turns = [
        *[lambda: shared.step(shared.x)] * 2,
        *[lambda: watches["captures"](lambda: captured(shared, 1.0 + next(numbers) / 64))] * 2,
        *[lambda: whole(watches["arrays"](shared.w.asnumpy))] * 2,
        lambda: (watches["eager reads"](lambda: shared.w[0].item()), eagerly()),
        compiled,
    ]

    def life(turn: Callable[[], object]) -> None:
        try:
            while time.monotonic() < stop and not errors:
                turn()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=life, args=(turn,), daemon=True) for turn in turns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, stop - time.monotonic()) + END)
    stuck = sum(thread.is_alive() for thread in threads)
    for name, watch in watches.items():
        print(f"{name:15s} {watch}")
    for error in errors:
        print("error:", error)
    for _ in range(int(shared.steps.item())):
        alone.step(alone.x)
    step, capture = watches["steps"].longest, watches["captures"].longest
    reading = max(watches["arrays"].longest, watches["eager reads"].longest)
    verdicts = {
        "every thread ends, and none has failed": not stuck and not errors,
        "equal to a serial run": np.array_equal(shared.w.asnumpy(), alone.w.asnumpy()),
        f"a reader waits {reading / step:.2f} of the longest step": reading <= step,
        f"a compiled read waits for {line.most} step at most": line.most <= 1,
        f"the longest capture takes {capture / reading:.1f} times the longest wait": capture > reading,
    }
    for words, holds in verdicts.items():
        print("holds" if holds else "FAILS", words)
    sys.exit(not all(verdicts.values()))


if __name__ == "__main__":
    main()
