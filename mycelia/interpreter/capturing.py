"""Capturing one call: the interpreter runs it on a store, and what it has become is a program."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import Any

from mycelia.eager.tape import set_aside
from mycelia.interpreter.guards import guard_of
from mycelia.interpreter.machine import Frame as machine_frame
from mycelia.interpreter.program import Finisher, Program, interpreter
from mycelia.interpreter.recursion import Interpreter
from mycelia.interpreter.slots import Call, Frame
from mycelia.interpreter.statements import FALLS, Exit, raises
from mycelia.interpreter.values import Break, Either, UserError
from mycelia.interpreter.world import Path, World
from mycelia.ir import located, region
from mycelia.types import TensorType


def capture(call: Call, varying: frozenset[Path], types: Mapping[int, TensorType] | None = None) -> Program:
    """The program of a call. The world stays as it is. `Break` tells why there is none.

    `types` gives tensors, by their ids, symbolic sizes.
    """
    world = World(call, varying, types=types or {})
    machine = interpreter(world)
    try:
        return _captured(call, world, machine)
    except Break as reason:
        reason.world = world
        raise


def _captured(call: Call, world: World, machine: Interpreter) -> Program:
    with _no_collection(), set_aside(), located(None), region() as around:
        fn = world.read(call, ("fn", None))
        args = tuple([world.read(call, ("arg", i)) for i in range(len(call.args))])
        kwargs = {name: world.read(call, ("kwarg", name)) for name in call.kwargs}
        try:
            outcome = Exit("return", machine.call(fn, args, kwargs))
        except UserError as raised:
            outcome = raises(raised.error)
            raise Break(f"it raises {raised.error!r}", machine.here()) from None
        except RecursionError:
            raise Break("a call of itself does not end", machine.here()) from None
        plan = Finisher(machine).plan(outcome, around.effects)
    return Program(world, plan, guard_of(world, plan.inputs))


@dataclass
class Piece:
    """The statements of a function from one place on that became a program; none, if Python must run the first."""

    program: Program
    end: int  # the statement after the last one
    why: str
    at: Any


def capture_piece(root: Frame, stmts: list[ast.stmt], place: int, code: CodeType, varying: frozenset[Path]) -> Piece:
    """As many statements as can be one program, on the live variables of a function."""
    world = World(root, varying)
    machine = interpreter(world)
    machine.effectful = False  # Python runs them, one statement after the other
    with _no_collection(), set_aside(), located(None), region() as around:
        cells = {n: world.read(root, ("cell", n)) for n in root.cells}
        frame = machine_frame(cells, world.read(root, ("globals", None)), code)
        machine.file = code.co_filename
        outcome, end, why, at = FALLS, place, "", None
        plan = Finisher(machine).plan(FALLS)
        base = machine.store
        while end < len(stmts) and outcome is FALLS:
            machine.store, machine.nodes, happened = base.fork(), 0, len(around.effects)
            try:
                outcome = machine.statement(stmts[end], frame)
                if isinstance(outcome, Either):
                    rest = stmts[end + 1 :]
                    outcome = machine.follow(outcome, lambda rest=rest: machine.block(rest, frame))  # type: ignore[misc]  # bound now
                    plan, end = Finisher(machine).plan(outcome, around.effects), len(stmts)
                else:
                    plan, end = Finisher(machine).plan(outcome, around.effects), end + 1
            except (Break, UserError, RecursionError) as reason:
                why = reason.why if isinstance(reason, Break) else f"it raises {reason}"
                at = getattr(reason, "at", None) or machine.here()
                outcome = FALLS
                del around.effects[happened:]
                break
            machine.commit(base)
    return Piece(Program(world, plan, guard_of(world, plan.inputs)), end, why, at)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Inside the block no garbage is collected: capturing makes many objects that stay, and looking at them is slow."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def changed(program: Program, call: Call) -> set[Path]:
    """The numbers that a guard expects to be constant, and which are others now."""
    from mycelia.interpreter.slots import fetch
    from mycelia.interpreter.world import Constant, Object, Read

    world, found = program.world, set()
    objects: dict[int, Any] = {0: call}
    for step in world.reads:
        if not isinstance(step, Read) or step.parent not in objects or step.slot[0] in ("copied", "itself"):
            continue
        try:
            raw = fetch(objects[step.parent], step.slot)
        except (Exception, Break):
            continue
        for path, expect, value in _leaves((*world.paths[step.parent], step.slot), step.expect, raw):
            if isinstance(expect, Object):
                objects.setdefault(expect.number, value)
            elif isinstance(expect, Constant) and type(value) is type(expect.value) and type(value) in (int, float):
                found |= {path} if repr(value) != repr(expect.value) else set()
    return found


def _leaves(path: Path, expect: Any, raw: Any) -> Iterator[tuple[Path, Any, Any]]:
    from mycelia.interpreter.world import Nest

    if isinstance(expect, Nest):
        if type(raw) is tuple and len(raw) == len(expect.parts):
            for i, (part, value) in enumerate(zip(expect.parts, raw, strict=True)):
                yield from _leaves((*path, i), part, value)
    else:
        yield path, expect, raw


__all__ = ["Call", "capture", "changed"]
