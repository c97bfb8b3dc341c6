"""Processes that begin anew: forked from a server that knows this package, and nothing of the program.

The program itself is not imported there: a script that is not guarded would run itself again. A plan that needs a
function of it is served by copies of the program instead (`worlds.py`).
"""

from __future__ import annotations

import io
import os
import pickle
import random
from collections.abc import Callable
from multiprocessing import context, forkserver, popen_forkserver, process, reduction, spawn, util
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from mycelia.dataset.flow.worlds import Told, portable, world

SAME, OTHER = b"same", b"other"
PATIENCE = 60.0  # seconds for the first process to say whether it sees the same world


class Fresh(NamedTuple):
    """What a process that begins anew is given: the plan, and what it would have found in a copy of this one."""

    plan: bytes
    modules: frozenset[str]
    world: dict[str, Told]
    environment: dict[str, str]
    drawn: tuple[Any, Any]  # where Python's and NumPy's own generators are

    @staticmethod
    def of(plan: Any) -> Fresh | None:
        """For a plan that can be had in a fresh process; None for others.

        >>> Fresh.of((abs, 1)) is None, Fresh.of(lambda: 0) is None
        (False, True)
        """
        whole = portable(plan)
        seen = None if whole is None else world(whole[1])
        if whole is None or seen is None:
            return None
        return Fresh(*whole, seen, dict(os.environ), (random.getstate(), np.random.get_state()))

    def taken_up(self) -> Any:
        """The plan, in the fresh process; None when the world is another one there."""
        os.environ.clear()
        os.environ.update(self.environment)
        plan = pickle.loads(self.plan)
        random.setstate(self.drawn[0])
        np.random.set_state(self.drawn[1])
        return plan if world(self.modules) == self.world else None


def begin(connection: Connection, fresh: Fresh, first: bool, go_on: Callable[..., None], *rest: Any) -> None:
    """The life of a fresh process: take up the plan, the first one says whether all is the same, and go on."""
    try:
        plan = fresh.taken_up()
    except Exception:  # a module that is not found here, or whatever its import raises
        plan = None
    if first:
        connection.send_bytes(OTHER if plan is None else SAME)
    if plan is not None:
        go_on(connection, *plan, *rest)


def begun(connection: Connection) -> bool:
    """Whether a process that was started says that all is the same there."""
    try:
        return connection.poll(PATIENCE) and connection.recv_bytes() == SAME
    except (EOFError, OSError):
        return False


class _Server(forkserver.ForkServer):
    def __init__(self) -> None:
        super().__init__()
        self.set_forkserver_preload([__name__, "mycelia.dataset"])


def _close(*handles: int) -> None:
    for handle in handles:
        os.close(handle)


class _Started(popen_forkserver.Popen):
    """A process that our own server has forked, told everything but the program."""

    def _launch(self, process_obj: Any) -> None:
        told = spawn.get_preparation_data(process_obj._name)
        message = io.BytesIO()
        context.set_spawning_popen(self)
        try:
            reduction.dump({k: v for k, v in told.items() if not k.startswith("init_main")}, message)
            reduction.dump(process_obj, message)
        finally:
            context.set_spawning_popen(None)
        held: Any = self  # what is sent along, which the annotations of the library do not tell
        self.sentinel, there = _server.connect_to_new_process(held._fds)
        alive = os.dup(there)  # closed with this process: the other one sees its end
        self.finalizer = util.Finalize(self, _close, (alive, self.sentinel))
        with open(there, "wb") as pipe:
            pipe.write(message.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


class FreshProcess(process.BaseProcess):
    """A process that begins anew."""

    _start_method = "forkserver"

    @staticmethod
    def _Popen(process_obj: Any) -> _Started:
        return _Started(process_obj)


_server = _Server()


def _forked() -> None:
    global _server
    _server = _Server()  # the one before is the parent's


os.register_at_fork(after_in_child=_forked)
