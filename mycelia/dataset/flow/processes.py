"""Workers in processes of their own, for Python functions: dealt requests, watched, replaced when they die."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import select
import selectors
import signal
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import inf
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from mycelia.dataset.config import CHOSEN, PipelineOptions, restore
from mycelia.dataset.errors import DataError, Failed, Failure
from mycelia.dataset.flow.request import Request
from mycelia.dataset.flow.servers import Fresh, FreshProcess, begin, begun
from mycelia.dataset.flow.sharing import Giver, Taker, available
from mycelia.dataset.flow.workers import Answer, Blueprint, Promise, Ticket, Workers, fulfil

QUEUED = 1 << 16  # a request below this may wait in a busy worker's pipe without blocking the dealer
log = logging.getLogger("mycelia.dataset")


def serve(
    connection: Connection,
    blueprint: Blueprint,
    options: PipelineOptions,
    reader: int,
    limit: float,
    processors: set[int],
    served: bool = False,
) -> None:
    """The life of a worker process: fulfil requests until told to stop, or until the reader is gone.

    One that was forked by a server (`served`) is no child of the reader.
    """
    restore(options)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the reader's; it tells us to stop
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if processors:
        os.sched_setaffinity(0, processors)
    for node in blueprint.nodes:  # a lock may have been held by a thread that was not copied
        turn = getattr(node, "turn", None)
        if turn is not None:
            turn.renew()
    giver = Giver(connection, reader, limit if available else 0)
    own = os.getpid()
    heard = select.poll()
    heard.register(connection, select.POLLIN)
    try:
        while True:
            while not heard.poll(1000):
                if not _lives(reader, served):
                    return
            task, request, returned = pickle.loads(connection.recv_bytes())
            if request is None:
                return
            given_up = giver.back(returned)
            answer: tuple[Any, list[int]]
            try:
                answer = fulfil(request, blueprint.run()), given_up
            except BaseException as error:
                answer = _told(error, request, blueprint), given_up
            if os.getpid() != own:
                os._exit(1)  # a user's function forked and came back here in the child too
            try:
                giver.send(task, answer)
            except (EOFError, OSError):
                raise
            except Exception as error:  # whatever pickling may raise
                giver.send(task, (_told(error, request, blueprint), []))
            del answer, request
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _lives(reader: int, served: bool) -> bool:
    parent = multiprocessing.parent_process()
    return (parent is None or parent.is_alive()) if served else os.getppid() == reader


def _told(error: BaseException, request: Request, blueprint: Blueprint) -> Failure:
    """What went wrong, in a form that crosses the border."""
    if isinstance(error, Failed):
        return error.failure
    return Failure.of(error, " <- ".join(reversed(blueprint.labels)), request.origin(0, blueprint.run()))


class _Sent(Promise):
    """A request on its way to a worker process, as it is sent."""

    def __init__(self, number: int, request: Request, message: Request) -> None:
        super().__init__(request)
        self.number, self.message = number, message
        self.tries, self.since, self.warned = 0, 0.0, False


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    taker: Taker
    tasks: deque[_Sent] = field(default_factory=deque)
    answered: bool = False


class ProcessWorkers(Workers):
    """A number of worker processes and one thread that deals requests to them."""

    kind = "process"

    def __init__(
        self, blueprint: Blueprint, count: int, options: PipelineOptions, max_rowsize: int | None = None
    ) -> None:
        if multiprocessing.current_process().daemon:
            raise DataError(
                "worker processes cannot be started here: this is a daemonic process, as those of a pool are",
                given={"process": multiprocessing.current_process().name},
                hint="use threads (python_multiprocessing=False), or start the process with daemon=False",
            )
        self.blueprint, self.options, self.count = blueprint, options, count
        self.limit = inf if max_rowsize is None else max_rowsize * 2.0**20
        self.limit = self.limit if options.enable_shared_mem else 0
        method = options.multiprocessing_start_method
        self.fresh = Fresh.of((blueprint, replace(options, debug_hooks=()))) if method == CHOSEN else None
        self.context: Any = multiprocessing.get_context("fork" if method == CHOSEN else method)
        if method not in ("fork", CHOSEN):
            check_picklable(blueprint)
        self.lock = threading.RLock()  # a collector may close the pool in a thread that holds it
        self.waiting: deque[_Sent] = deque()
        self.closed = False
        self.numbered = 0
        self.looked = monotonic()
        self.bell, self.ring = os.pipe()
        os.set_blocking(self.bell, False)
        os.set_blocking(self.ring, False)
        self.rung = False
        self.heard = selectors.PollSelector()
        self.heard.register(self.bell, selectors.EVENT_READ)
        self.workers = [self._start(0, first=True)]
        if self.fresh is not None and not begun(self.workers[0].connection):
            self.fresh = None  # the world is another one there
            self._let_go(self.workers[0])
            _end(self.workers)
            self.workers = [self._start(0)]
        self.workers += [self._start(i) for i in range(1, count)]
        self.dealer = threading.Thread(target=self._deal, name="mycelia-data-dealer", daemon=True)
        self.dealer.start()

    # the reader's side

    def submit(self, request: Request) -> Ticket:
        brought = request.brought(self.blueprint.run())
        with self.lock:
            if self.closed:
                raise DataError("the pipeline was closed", hint="make a new iterator")
            self.numbered += 1
            promise = _Sent(self.numbered, request, brought)
            self.waiting.append(promise)
        self._call()
        return promise

    def resize(self, count: int) -> None:
        self.count = count  # the dealer starts and stops processes to match
        self._call()

    def close(self) -> None:
        self.closed = True
        self._call()
        if threading.current_thread() is not self.dealer:
            self.dealer.join()

    def _call(self) -> None:
        """Wake the dealer, who answers once however often it was called."""
        with self.lock:
            if not self.rung and self.ring >= 0:
                self.rung = True
                os.write(self.ring, b"!")

    # the dealer's side

    def _start(self, index: int, first: bool = False) -> _Worker:
        processors = _processors(index) if self.options.numa_enable else set()
        method = "forkserver" if self.fresh is not None else self.context.get_start_method()
        with _starting, _uninterrupted(method):
            here, there = self.context.Pipe(duplex=True)
            plan, rest = (self.blueprint, replace(self.options, debug_hooks=())), (os.getpid(), self.limit, processors)
            name = f"mycelia-data-{index}"
            process: BaseProcess
            if self.fresh is not None:
                args: tuple[Any, ...] = (there, self.fresh, first, serve, *rest, True)
                process = FreshProcess(target=begin, args=args, name=name, daemon=True)
            else:
                args = (there, *plan, *rest, self.context.get_start_method() == "forkserver")
                process = self.context.Process(target=serve, args=args, name=name, daemon=True)
            process.start()  # newer Pythons may warn of a fork beside threads; `serve` makes locks anew
            there.close()
        worker = _Worker(process, here, Taker(here))
        self.heard.register(here, selectors.EVENT_READ, worker)
        self.heard.register(process.sentinel, selectors.EVENT_READ, worker)
        return worker

    def _let_go(self, worker: _Worker) -> None:
        """Listen to a worker no longer."""
        self.heard.unregister(worker.connection)
        self.heard.unregister(worker.process.sentinel)

    def _deal(self) -> None:
        why = "the pipeline was closed while rows were being made"
        try:
            while not self.closed:
                self._hand_out()
                self._listen()
        except Exception as error:
            why = f"worker processes cannot be dealt to: {type(error).__name__}: {error}"
        finally:
            self._stop(why)

    def _hand_out(self) -> None:
        while len(self.workers) < self.count:
            self.workers.append(self._start(len(self.workers)))
        if len(self.workers) > self.count and not self.workers[-1].tasks:
            self._let_go(self.workers[-1])
            _end([self.workers.pop()])
        for most in (1, 2):
            for worker in self.workers[: self.count]:
                while len(worker.tasks) < most:
                    with self.lock:
                        promise = self.waiting.popleft() if self.waiting else None
                    if promise is None:
                        return
                    if not self._send(worker, promise):
                        break

    def _send(self, worker: _Worker, promise: _Sent) -> bool:
        try:
            message = pickle.dumps((promise.number, promise.message, worker.taker.let_go()))
        except Exception as error:
            origin = promise.request.origin(0, self.blueprint.run())
            promise.settle(None, Failed(Failure.of(error, "on the way to a worker process", origin)))
            return True
        if worker.tasks and len(message) > QUEUED:
            with self.lock:
                self.waiting.appendleft(promise)
            return False
        promise.since = monotonic()
        worker.tasks.append(promise)
        try:
            worker.connection.send_bytes(message)
        except OSError:
            self._bury(worker)
            return False
        return True

    def _listen(self) -> None:
        ready = self.heard.select(1.0)
        spoke = [key.data for key, _ in ready if isinstance(key.fileobj, Connection)]
        ended = [key.data for key, _ in ready if key.data is not None and not isinstance(key.fileobj, Connection)]
        if len(spoke) + len(ended) < len(ready):
            with self.lock:
                os.read(self.bell, 64)
                self.rung = False
        for worker in spoke:
            self._receive(worker)
        for worker in ended:  # after what it said last
            self._bury(worker)
        if monotonic() > self.looked + 1.0:
            self.looked = monotonic()
            self._watch()

    def _receive(self, worker: _Worker) -> None:
        try:
            self._take(worker)
        except (EOFError, OSError):
            self._bury(worker)

    def _take(self, worker: _Worker) -> None:
        number, (answer, given_up) = worker.taker.receive()
        worker.taker.forget(given_up)
        worker.answered = True
        promise = next((p for p in worker.tasks if p.number == number), None)
        assert promise is not None, "a worker answers what it was asked"
        worker.tasks.remove(promise)
        for later in worker.tasks:
            later.since = monotonic()
        if isinstance(answer, Failure):
            promise.settle(None, Failed(answer))
        else:
            promise.settle(answer)

    def _bury(self, worker: _Worker) -> None:
        """A worker has died: take what it still said, tell about its task, and start another in its place."""
        if worker not in self.workers:
            return
        worker.process.join(5)
        if worker.process.is_alive():  # deaf, and therefore of no use
            worker.process.kill()
            worker.process.join()
        with suppress(EOFError, OSError):
            while worker.tasks and worker.connection.poll():
                self._take(worker)
        code = worker.process.exitcode
        place = self.workers.index(worker)
        lost, worker.tasks = list(worker.tasks), deque()
        self._let_go(worker)
        worker.connection.close()
        _close(worker.process)
        self.fresh = self.fresh if worker.answered else None  # it may not have begun: a copy of this process does
        self.workers[place] = self._start(place)
        for i, promise in reversed(list(enumerate(lost))):
            promise.tries += i == 0
            if i or (self.blueprint.tolerant and promise.tries < 2):
                with self.lock:
                    self.waiting.appendleft(promise)
            else:
                self._mourn(promise, code)

    def _mourn(self, promise: _Sent, code: int | None) -> None:
        run = self.blueprint.run()
        how = f"was killed by {signal.Signals(-code).name}" if code and code < 0 else f"ended with code {code}"
        what = f"a worker process {how} while it made {len(promise.request)} rows"
        origin = promise.request.origin(0, run)
        hint = "out of memory? use fewer workers, or smaller batches; iterator.state_dict() resumes where it stopped"
        failure = Failure(what, " <- ".join(reversed(self.blueprint.labels)), origin, hint=hint, deadly=True)
        if self.blueprint.tolerant:
            promise.settle(Answer([failure] * len(promise.request)))
        else:
            promise.settle(None, Failed(failure))

    def _watch(self) -> None:
        """Bury the dead whose end was not heard, since a process that they forked still holds it; tell of the slow."""
        for worker in list(self.workers):
            if not worker.process.is_alive():
                self._bury(worker)
        if not self.options.enable_watchdog:
            return
        for worker in self.workers:
            for promise in list(worker.tasks)[:1]:
                waited = monotonic() - promise.since
                if waited > self.options.multiprocessing_timeout_interval and not promise.warned:
                    promise.warned = True
                    origin = promise.request.origin(0, self.blueprint.run())
                    log.warning("worker %s has worked %.0f s on %s", worker.process.pid, waited, origin)

    def _stop(self, why: str) -> None:
        with self.lock:
            self.closed = True
            left = [*self.waiting, *(p for w in self.workers for p in w.tasks)]
            self.waiting.clear()
        self.heard.close()
        _end(self.workers)
        self.workers = []
        for promise in left:
            promise.settle(None, DataError(why))
        with self.lock:
            os.close(self.bell)
            os.close(self.ring)
            self.bell = self.ring = -1


def _end(workers: list[_Worker]) -> None:
    """Tell processes to stop and wait until they are gone; one deep in a user's function is ended by force."""
    for worker in workers:
        with suppress(OSError):
            worker.connection.send_bytes(pickle.dumps((0, None, [])))
        worker.connection.close()
    for patience, force in ((0.5, "terminate"), (2.0, "kill"), (None, "kill")):
        end = inf if patience is None else monotonic() + patience
        for worker in workers:
            worker.process.join(None if patience is None else max(0.0, end - monotonic()))
        for worker in workers:
            if worker.process.is_alive():
                getattr(worker.process, force)()
    for worker in workers:
        _close(worker.process)


def _close(process: BaseProcess) -> None:
    for _ in range(100):  # another thread that starts a process may be asking after this one just now
        with suppress(ValueError):
            process.close()
            return
        sleep(0.01)


_starting = threading.Lock()  # a process that starts must not inherit the pipe of another that is starting


def _forked() -> None:
    global _starting
    _starting = threading.Lock()


os.register_at_fork(after_in_child=_forked)


@contextmanager
def _uninterrupted(method: str) -> Iterator[None]:
    """Within the block a process is born deaf to Ctrl-C, until it says itself that it does not care."""
    if method == "forkserver":  # whose processes inherit from the server, which ignores it
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_picklable(blueprint: Blueprint) -> None:
    """Raise, naming the step, when something cannot be sent to a spawned process.

    >>> check_picklable(Blueprint([len], ["Map(len)"], 0, False))
    >>> check_picklable(Blueprint([lambda x: x], ["Map(lambda)"], 0, False))
    Traceback (most recent call last):
    mycelia.dataset.errors.DataError: Map(lambda) cannot be sent to a worker process: ...
    """
    for node, label in zip(blueprint.nodes, blueprint.labels, strict=True):
        try:
            pickle.dumps(node)
        except Exception as error:
            raise DataError(
                f"{label} cannot be sent to a worker process: {error}",
                hint='define the function at module level, or use config.set_multiprocessing_start_method("fork")',
            ) from error


def _processors(index: int) -> set[int]:
    """The processors of the memory node that a worker is to live on."""
    nodes = sorted(Path("/sys/devices/system/node").glob("node[0-9]*/cpulist"))
    if not nodes:
        return set()
    found: set[int] = set()
    for part in nodes[index % len(nodes)].read_text().strip().split(","):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1)) if low else set()
    return found & os.sched_getaffinity(0)
