"""Workers in this process: threads for ops that release the interpreter, or the reader's own thread for debugging."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, thread_time
from typing import Any

from mycelia.dataset.errors import DataError, Failure
from mycelia.dataset.flow.line import Line, Standing
from mycelia.dataset.flow.opencv import calm
from mycelia.dataset.flow.request import Outcome, Request, Run
from mycelia.frozen import frozen

PATIENCE = 5.0  # seconds for threads to end; one that is deep in a user's function is left to itself then


@frozen
class Blueprint:
    """What every worker knows beforehand: the nodes that requests name by number, the seed, the policy."""

    nodes: Sequence[Any]
    labels: Sequence[str]
    seed: int
    tolerant: bool

    def run(self) -> Run:
        """A fresh view for one request."""
        return Run(self.nodes, self.labels, self.seed, self.tolerant)


@dataclass
class Answer:
    """What a worker gives back: an outcome for every row, and its report."""

    outcomes: list[Outcome]
    failures: list[Failure] = field(default_factory=list)
    seconds: dict[int, float] = field(default_factory=dict)
    worked: float = 0.0  # seconds of the processor, without those of waiting for others


def fulfil(request: Request, run: Run) -> Answer:
    """Make all rows of a request.

    >>> from mycelia.dataset.flow.request import Literal
    >>> fulfil(Literal(((1,), (2,))), Run([], [], 0)).outcomes
    [(1,), (2,)]
    """
    calm()
    start = thread_time()
    outcomes = list(request.rows(run))
    return Answer(outcomes, run.failures, run.seconds, thread_time() - start)


def parts(request: Request) -> tuple[Request, ...]:
    """The requests that a request asks for its rows."""
    child = getattr(request, "child", None)
    return getattr(request, "children", ()) if child is None else (child,)


def steps_of(request: Request) -> Iterator[int]:
    """The steps that a request comes to, as often as it does."""
    node = getattr(request, "node", None)
    if node is not None:
        yield node
    for part in parts(request):
        yield from steps_of(part)


class Ticket(ABC):
    """An answer that will come."""

    @abstractmethod
    def wait(self) -> Answer:
        """The answer; raises what went wrong."""

    @abstractmethod
    def done(self) -> bool:
        """Whether `wait` returns at once, and always the same."""


class Workers(ABC):
    """Fulfils requests; answers may be waited for in any order."""

    kind = ""  # one of them
    count = 1

    def told(self) -> str:
        """How many workers of which kind.

        >>> InlineWorkers(Blueprint([], [], 0, False)).told()
        "1 reader's thread"
        """
        more = "es" if self.kind.endswith("s") else "s"
        return f"{self.count} {self.kind}{more if self.count != 1 else ''}"

    blueprint: Blueprint

    @abstractmethod
    def submit(self, request: Request) -> Ticket: ...

    def resize(self, count: int) -> None:  # noqa: B027 - the reader's own thread cannot be two
        """Have this many workers from now on."""

    def close(self) -> None:  # noqa: B027
        """End the workers and wait until they are gone."""


@dataclass
class Later(Ticket):
    """An answer that the reader makes itself when it waits for it.

    >>> from mycelia.dataset.flow.request import Literal
    >>> Later(Literal(((7,),)), Run([], [], 0)).wait().outcomes
    [(7,)]
    """

    request: Request
    run: Run

    def wait(self) -> Answer:
        return fulfil(self.request, self.run)

    def done(self) -> bool:
        return False


@dataclass
class InlineWorkers(Workers):
    """The reader makes every row itself, when it asks for it: a debugger can stop there.

    >>> from mycelia.dataset.flow.request import Literal
    >>> InlineWorkers(Blueprint([], [], 0, False)).submit(Literal(((7,),))).wait().outcomes
    [(7,)]
    """

    blueprint: Blueprint
    kind = "reader's thread"

    def submit(self, request: Request) -> Ticket:
        return Later(request, self.blueprint.run())


class Promise(Ticket):
    """An answer that somebody will put here.

    >>> from mycelia.dataset.flow.request import Literal
    >>> promise = Promise(Literal(())); promise.done()
    False
    >>> promise.settle(Answer([])); promise.wait().outcomes
    []
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.there = threading.Event()
        self.place: Standing | None = None
        self.answer: Answer | None = None
        self.error: BaseException | None = None

    def wait(self) -> Answer:
        self.there.wait()
        if self.error is not None:
            raise self.error
        assert self.answer is not None, "an answer or an error"
        return self.answer

    def done(self) -> bool:
        return self.there.is_set()

    def settle(self, answer: Answer | None, error: BaseException | None = None) -> None:
        """Give the answer, or what went wrong."""
        self.answer, self.error = answer, error
        self.there.set()


class _Desk:
    """Where requests wait for a thread; apart from the pool, so that threads do not keep the pool alive."""

    def __init__(self, line: Line | None, pools: Mapping[int, Workers]) -> None:
        self.line, self.elsewhere = line, pools
        self.lock = threading.Condition()
        self.waiting: deque[Promise] = deque()
        self.wanted = self.asked = 0
        self.closed = False

    def work(self, number: int, blueprint: Blueprint) -> None:
        process = os.getpid()
        while True:
            with self.lock:
                while not self.waiting and not self.closed and number < self.wanted:
                    self.lock.wait()
                if self.closed or number >= self.wanted:
                    return
                promise = self.waiting.popleft()
            run = blueprint.run()
            run.place, run.pools = promise.place, self.elsewhere
            try:
                promise.answer = fulfil(promise.request, run)
            except BaseException as error:
                promise.error = error
            if promise.place is not None:
                promise.place.end()
            if os.getpid() != process:
                os._exit(1)  # a user's function forked and came back here in the child too
            promise.there.set()
            del promise, run  # an idle thread must not keep the last batch alive


class ThreadWorkers(Workers):
    """A number of threads, which may change while they work.

    >>> from mycelia.dataset.flow.request import Literal
    >>> workers = ThreadWorkers(Blueprint([], [], 0, False), 2)
    >>> workers.submit(Literal(((7,),))).wait().outcomes
    [(7,)]
    >>> workers.close()
    """

    kind = "thread"

    def __init__(
        self, blueprint: Blueprint, count: int, line: Line | None = None, pools: Mapping[int, Workers] | None = None
    ) -> None:
        self.blueprint = blueprint
        self.desk = _Desk(line, pools or {})
        self.threads: dict[int, threading.Thread] = {}
        self.resize(count)

    def resize(self, count: int) -> None:
        self.count = count
        with self.desk.lock:
            self.desk.wanted = count
            self.desk.lock.notify_all()
        for number in range(count):
            thread = self.threads.get(number)
            if thread is not None and thread.is_alive():
                continue
            name = f"mycelia-data-{number}"
            thread = threading.Thread(target=self.desk.work, args=(number, self.blueprint), name=name, daemon=True)
            thread.start()
            self.threads[number] = thread

    def submit(self, request: Request) -> Ticket:
        promise = Promise(request)
        with self.desk.lock:
            if self.desk.closed:
                raise DataError("the pipeline was closed", hint="make a new iterator")
            if self.desk.line is not None:
                promise.place = Standing(self.desk.line, self.desk.asked, steps_of(request))
                self.desk.asked += 1
            self.desk.waiting.append(promise)
            self.desk.lock.notify()
        return promise

    def close(self) -> None:
        with self.desk.lock:
            self.desk.closed = True
            abandoned = list(self.desk.waiting)
            self.desk.waiting.clear()
            self.desk.lock.notify_all()
        for promise in abandoned:
            promise.error = DataError("the pipeline was closed while rows were being made")
            promise.there.set()
        end = monotonic() + PATIENCE
        for thread in list(self.threads.values()):  # the end of the program may close them too
            if thread is not threading.current_thread():
                thread.join(max(0.0, end - monotonic()))
        self.threads.clear()
