"""Judging programs in another process, each within a time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIMIT = 20.0  # seconds of the processor for one program that takes milliseconds
BUSY = 30  # times as long on the clock: others may need the machine
PLAIN = 4.0  # seconds for it in plain Python; a program may well build something that has no end
RESTART = 1000  # programs that a process judges before another takes its place
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Verdict:
    """What became of a program: `same`, `different`, `hang`, `crash`, or `endless` where Python itself does not end."""

    kind: str
    words: str = ""
    ways: tuple[str, ...] = field(default=())
    raises: bool = False  # `main` itself, which no generated program does

    @property
    def bad(self) -> bool:
        return self.kind in ("different", "hang", "crash")


class Judge:
    """A process with a capture, and perhaps with a fault in it."""

    def __init__(self, fault: str = "", limit: float = LIMIT, plain: float = PLAIN) -> None:
        self.fault, self.limit, self.plain = fault, limit, plain
        self.process: subprocess.Popen[bytes] | None = None
        self.judged, self.rest = 0, b""

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.promises.generator.worker", *([self.fault] if self.fault else [])]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0", "MYCELIA_FAULTS": "raise"}
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.judged, self.rest = 0, b""
        if self.line(60.0) != "ready":
            assert self.process.stderr is not None
            raise RuntimeError(self.process.stderr.read().decode()[-2000:])

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def line(self, seconds: float) -> str | None:
        """The next line of the process; None if it takes too long, nothing if the process has ended."""
        assert self.process is not None
        assert self.process.stdout is not None
        until, spent = time.monotonic() + BUSY * seconds, self.spent() + seconds
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds / 4)
            if not ready:
                if self.spent() > spent or time.monotonic() > until:
                    return None
                continue
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                return ""
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def spent(self) -> float:
        """The seconds of the processor that the process has used; those of the clock where nobody tells."""
        assert self.process is not None
        try:
            numbers = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")

    def __call__(self, text: str, native: bool = True) -> Verdict:
        """What becomes of a program, compiled to machine code or computed by NumPy from the same graph."""
        if self.process is None or self.judged >= RESTART:
            self.stop()
            self.start()
        assert self.process is not None
        assert self.process.stdin is not None
        self.judged += 1
        self.process.stdin.write(json.dumps([native, text]).encode() + b"\n")
        self.process.stdin.flush()
        stage, answer = "", self.line(self.limit)
        while answer in ("e", "j"):
            stage, answer = answer, self.line(self.plain if answer == "e" else self.limit)
        if answer:
            found: dict[str, Any] = json.loads(answer)
            words = found["difference"]
            return Verdict("same" if words is None else "different", words or "", tuple(found["ways"]), found["raises"])
        self.stop()
        if stage == "e":
            return Verdict("endless")
        return Verdict("hang" if answer is None else "crash", f"after {self.limit} s" if answer is None else "")
