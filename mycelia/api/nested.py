"""A call inside of a captured program that becomes a function of its own: it is interpreted on a fork of the store, and
closed over what it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mycelia.capture.regions import closed
from mycelia.capture.values import UserError
from mycelia.ir import Function, Value


@contextmanager
def forked(machine: Any) -> Iterator[Any]:
    """What is interpreted inside of the block changes a fork of the store, which is given, and belongs to a region of
    its own; then all is as before. What of the changes shall stay is for the caller to say.
    """
    base, path = machine.store, machine.path
    machine.store, machine.path = base.fork(), dict(path)
    machine.regions.enter(None, True)
    try:
        yield machine.store
    except UserError as raised:
        written = {key[0] for layer in machine.store.layers(base) for key in layer.slots if key[0] not in layer.made}
        if machine.tries or written or machine.calls_python:  # who sees the error sees what was done before it
            machine.refuse(f"an error inside of a transformed function: {raised.error!r}")
        raise
    finally:
        machine.store, machine.path = base, path
        machine.regions.leave()


def enclosed(
    machine: Any, params: Sequence[Value], values: Sequence[Value], effects: Sequence[Value] = ()
) -> tuple[Function, list[Value]]:
    """The function that computes `values`, and does `effects`, of the block that was left last: of `params` and of what
    the block reads beside them, which is given too.
    """
    turn = machine.regions.stack[-1].inner[-1]
    happens, results = machine.regions.with_births(effects, values, turn.start, machine.path)
    names, operands = machine.regions.operands([*happens, *results], turn.start, machine.path)
    own = set(params)
    taken = [(v, w) for v, w in zip(names, operands, strict=True) if v not in own]
    return closed((*params, *[v for v, _ in taken]), results, happens), [w for _, w in taken]
