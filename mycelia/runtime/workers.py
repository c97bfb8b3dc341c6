"""Processes that compile: LLVM holds one lock per process, and may abort the one it runs in. Not this one, then."""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mycelia.errors import CompileError
from mycelia.target import Target

SCRIPT = Path(__file__).with_name("worker.py")


class Worker:
    """One process and the pipe to it. It starts at once, and is ready when it is needed."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.process = subprocess.Popen(
            [sys.executable, "-I", str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._send((target.triple, target.cpu, target.features))

    def _send(self, request: object) -> None:
        assert self.process.stdin is not None
        pickle.dump(request, self.process.stdin)
        self.process.stdin.flush()

    def compile(self, text: str) -> bytes:
        """The object of this IR; an error if LLVM refuses it, or dies of it."""
        assert self.process.stdout is not None
        try:
            self._send(text)
            answer = pickle.load(self.process.stdout)
        except (OSError, EOFError) as lost:
            self.close()
            code = self.process.returncode
            raise CompileError(f"the compiler process died with status {code}", hint="please report this") from lost
        if isinstance(answer, str):
            raise CompileError(f"LLVM refuses generated code: {answer}", hint="please report this")
        assert isinstance(answer, bytes)
        return answer

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # it broke before: the process is gone
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_inherited: list[Worker] = []


class Workers:
    """As many workers as there are cores, started on first use and kept."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._anew()
        os.register_at_fork(after_in_child=self._anew)
        atexit.register(self.close)

    def _anew(self) -> None:
        """Begin without workers: a forked child must not talk to those of its parent, nor complain that they run."""
        _inherited.extend(getattr(self, "_idle", ()))
        self._idle: list[Worker] = []
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to start the first worker, while the program is still being written."""
        with self._lock:
            if not self._idle:
                self._idle.append(Worker(self.target))

    def compile(self, texts: Iterable[str]) -> list[bytes]:
        """The objects of these texts, in order, compiled side by side."""
        texts = list(texts)
        lanes = min(len(texts), self.target.cores)
        if lanes <= 1:
            return [self._one(text) for text in texts]
        with ThreadPoolExecutor(lanes) as pool:
            return list(pool.map(self._one, texts))

    def _one(self, text: str) -> bytes:
        worker = self._take()
        try:
            try:
                return worker.compile(text)
            except CompileError:
                if worker.alive:
                    raise
                worker = Worker(self.target)  # it died: perhaps of something else, so try once more
                return worker.compile(text)
        finally:
            if worker.alive:
                with self._lock:
                    self._idle.append(worker)

    def _take(self) -> Worker:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
        return Worker(self.target)

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()
