"""Capturing one call: the interpreter runs it on a store, and what it has become is a program."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from mycelia.capture.guards import guard_of
from mycelia.capture.machine import Frame
from mycelia.capture.program import CapturedProgram, Finisher, interpreter
from mycelia.capture.recursion import Interpreter
from mycelia.capture.sizing import Naming, Place
from mycelia.capture.slots import CallRoot, PieceRoot, fetch
from mycelia.capture.statements import FALLS, Exit
from mycelia.capture.values import Break, Either, UserError, same
from mycelia.capture.world import Array, KnownTuple, NotANumber, Object, Path, Read, SameValue, World
from mycelia.eager.tape import set_aside
from mycelia.ir import located, region
from mycelia.ir.value import watched
from mycelia.sizes import NeedsSize

PLAIN = (bool, int, float, str, bytes, type(None))  # of which a person knows when one has become another


def capture(call: CallRoot, varying: frozenset[Path], naming: Naming | None = None) -> CapturedProgram:
    """The program of a call. The world stays as it is. `Break` tells why there is none, `NeedsSize` which of the sizes
    that `naming` gives names to must be numbers.
    """
    world = World(call, varying, naming=naming)
    machine = interpreter(world)
    try:
        with forgetting(machine), sizes_needed(machine):
            return _captured(call, world, machine)
    except Break as reason:
        reason.world = world
        raise


@contextmanager
def forgetting(machine: Interpreter) -> Iterator[None]:
    """After the block an interpreter knows nothing: its parts know each other, and would live on with all they saw."""
    try:
        yield
    finally:
        vars(machine).clear()


@contextmanager
def sizes_needed(machine: Interpreter) -> Iterator[None]:
    """Inside the block, a size that must be a number is told with its line; Python runs what needs one from data."""
    try:
        yield
    except NeedsSize as reason:
        if any(name.most is not None for name in reason.names):
            raise Break(f"{reason}, and it comes out of data", machine.here()) from None
        reason.at = reason.at or machine.here()
        raise


def _in_short(error: BaseException) -> str:
    """What kind of error it is, and the first line of what it says: the others are for where it is raised."""
    try:
        lines = str(error).splitlines()
    except Exception:  # the user's own `__str__`
        lines = []
    return ": ".join([type(error).__name__, *lines[:1]])


def _captured(call: CallRoot, world: World, machine: Interpreter) -> CapturedProgram:
    with _no_collection(), set_aside(), located(None), watched(machine.regions.again), region() as around:
        fn = world.read(call, ("fn", None))
        args = tuple([world.read(call, ("arg", i)) for i in range(len(call.args))])
        kwargs = {name: world.read(call, ("kwarg", name)) for name in call.kwargs}
        try:
            outcome = Exit("return", machine.call(fn, args, kwargs))
        except UserError as raised:
            raise Break(f"it raises {_in_short(raised.error)}", machine.here()) from None
        except RecursionError:
            raise Break("a call of itself does not end", machine.here()) from None
        ending = Finisher(machine).ending(outcome, around.effects)
        return CapturedProgram(world, ending, guard_of(world, ending.inputs, ending.needed))


@dataclass
class Piece:
    """The statements of a function from one place on that became a program; none, if Python must run the first."""

    program: CapturedProgram
    end: int  # the statement after the last one
    why: str
    at: Any


def capture_piece(
    root: PieceRoot, stmts: list[ast.stmt], place: int, code: CodeType, varying: frozenset[Path],
    naming: Naming | None = None,
) -> Piece:  # fmt: skip
    """As many statements as can be one program, on the live variables of a function."""
    world = World(root, varying, naming=naming)
    machine = interpreter(world)
    machine.effectful = False  # Python runs them, one statement after the other
    with (
        forgetting(machine),
        _no_collection(),
        set_aside(),
        located(None),
        watched(machine.regions.again),
        region() as around,
    ):
        cells = {n: world.read(root, ("cell", n)) for n in root.cells}
        frame = Frame(cells, world.read(root, ("globals", None)), code)
        machine.file = code.co_filename
        outcome, end, why, at = FALLS, place, "", None
        ending = Finisher(machine).ending(FALLS)
        base = machine.store
        while end < len(stmts) and outcome is FALLS:
            machine.store, machine.nodes, happened = base.fork(), 0, len(around.effects)
            try:
                with sizes_needed(machine):
                    outcome = machine.statement(stmts[end], frame)
                    if isinstance(outcome, Either):
                        rest = stmts[end + 1 :]
                        outcome = machine.follow(outcome, lambda rest=rest: machine.block(rest, frame))  # type: ignore[misc]  # bound now
                        ending, end = Finisher(machine).ending(outcome, around.effects), len(stmts)
                    else:
                        ending, end = Finisher(machine).ending(outcome, around.effects), end + 1
            except (Break, UserError, RecursionError) as reason:
                why = reason.why if isinstance(reason, Break) else f"it raises {reason}"
                at = getattr(reason, "at", None) or machine.here()
                outcome = FALLS
                del around.effects[happened:]
                break
            machine.commit(base)
    return Piece(CapturedProgram(world, ending, guard_of(world, ending.inputs, ending.needed)), end, why, at)


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


def changed(program: CapturedProgram, call: CallRoot) -> tuple[set[Path], set[Place]]:
    """The numbers that a guard expects to be constant, and which are others now; and so the sizes of tensors."""
    found: set[Path] = set()
    sizes: set[Place] = set()
    for path, expect, value in _seen(program.world, call):
        if isinstance(expect, SameValue) and type(value) is type(expect.value) and type(value) in (int, float):
            found |= set() if same(value, expect.value) else {path}
        elif isinstance(expect, NotANumber) and type(value) is float and value == value:
            found.add(path)
        elif isinstance(expect, Array) and type(value) is np.ndarray:
            t = expect.type
            if value.dtype == t.dtype.numpy and value.ndim == len(t.shape):
                pairs = enumerate(zip(value.shape, t.shape, strict=True))
                sizes |= {(path, axis) for axis, (n, m) in pairs if type(m) is int and n != m}
    return found, sizes


def another(program: CapturedProgram, call: CallRoot) -> tuple[Path, str] | None:
    """The first thing that a guard expects and that is of another kind now, neither a number nor a size; in what."""
    for path, expect, value in _seen(program.world, call):
        plain = isinstance(expect, SameValue) and type(expect.value) in PLAIN and type(value) in PLAIN
        if plain and type(value) is not type(expect.value):
            return path, f"is of type {type(value).__name__}, and was of type {type(expect.value).__name__}"
        if plain and type(value) is bool and value != expect.value:
            return path, f"is {value}, and was {expect.value}"
        if plain and type(value) in (str, bytes) and value != expect.value:
            return path, "is another text"
        if isinstance(expect, Array) and type(value) is np.ndarray:
            t = expect.type
            if value.dtype != t.dtype.numpy:
                return path, f"holds {value.dtype}, and held {t.dtype.numpy}"
            if value.ndim != len(t.shape):
                return path, f"has {value.ndim} axes, and had {len(t.shape)}"
    return None


def _seen(world: World, call: CallRoot) -> Iterator[tuple[Path, Any, Any]]:
    """All that a guard reads of a call: the path to it, what is expected there, and what is there."""
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
            else:
                yield path, expect, value


def _leaves(path: Path, expect: Any, raw: Any) -> Iterator[tuple[Path, Any, Any]]:
    if isinstance(expect, KnownTuple):
        if isinstance(raw, tuple) and type(raw) is expect.kind and len(raw) == len(expect.parts):
            for i, (part, value) in enumerate(zip(expect.parts, raw, strict=True)):
                yield from _leaves((*path, i), part, value)
    else:
        yield path, expect, raw


__all__ = ["CallRoot", "another", "capture", "changed"]
