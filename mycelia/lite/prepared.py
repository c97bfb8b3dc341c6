"""A unit that another process can bind: its machine code, its table, and what to tell the library, as a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mycelia.codegen.driver import emit_program
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.ir import Function, names_of
from mycelia.loops import Binding, FourierCall, LibraryCall, RoutineCall, Tiles
from mycelia.onednn.recorded import SET_THREADS, RecordedCalls, Told, recorded
from mycelia.options import Options
from mycelia.runtime.bind import Bound, arrange
from mycelia.runtime.layout import layout
from mycelia.runtime.own_routines import sized
from mycelia.runtime.recipes import PreparedCall, bind, forget, prepared, team
from mycelia.runtime.stages import scheduled, written
from mycelia.runtime.tables import Tabled
from mycelia.threads.openmp import at_most
from mycelia.types import Array


@frozen
class NumberedExecution:
    """One execution of a primitive: numbers of objects, and for each memory its role, operand, and bytes into it."""

    primitive: int
    memories: tuple[tuple[int, int, int, int], ...]  # object, role, operand, bytes


@frozen
class StaticCall:
    """A library call, as executions; or one of our own functions, as words and the tables that they point to."""

    executions: tuple[NumberedExecution, ...] = ()
    words: Array | None = None
    tables: tuple[tuple[int, Array], ...] = ()  # the word that holds the address, and the table


@frozen
class CProgram:
    """All that C needs of one function."""

    name: str
    modules: tuple[str, ...]  # LLVM IR
    binding: Binding
    arena: int
    numbers: Array
    record: RecordedCalls
    calls: tuple[StaticCall, ...]


def program(name: str, fn: Function, donated: Mapping[int, int], options: Options) -> CProgram:
    """`fn` compiled for another process."""
    if names_of(fn):
        raise ArgumentError(f"{name} is exported at fixed sizes", hint="give arguments whose shapes are numbers")
    unit = layout(scheduled(written(fn, donated, options)[0], options), options)
    emitted = emit_program(unit, options, name)
    binding = replace(unit.binding, numbers=emitted.numbers)
    if binding.callbacks:
        raise ArgumentError(f"{name} calls Python, and C has none")
    if binding.procedures or binding.handles:
        raise ArgumentError(
            f"{name} calls itself, or keeps what loops leave behind, which exported functions cannot yet"
        )
    arrangement = arrange(Bound(binding, {}), ())
    forget()
    with recorded() as record:
        threads = 1 if binding.together is False else options.threads
        calls = tuple(_call(c, threads, record) for c in binding.calls)
    return CProgram(name, emitted.modules, binding, arrangement.arena, arrangement.numbers, record, calls)


def _call(call: LibraryCall, threads: int, record: RecordedCalls) -> StaticCall:
    if isinstance(call, Tiles | FourierCall):
        (made,) = prepared([call], threads)
        assert isinstance(made, Tabled)
        address = {t.ctypes.data: t for t in made.tables}
        tables = tuple((i, address[w]) for i, w in enumerate(made.words.tolist()) if w in address)
        return StaticCall(words=np.array(made.words), tables=tables)
    if isinstance(call, RoutineCall):
        return StaticCall(words=np.array(sized(call, threads).words))
    threads = team(call, threads)
    record.calls.append(Told(SET_THREADS, (threads,)))
    with at_most(threads):
        ready: PreparedCall = bind(call)
    executions = []
    for p, where in ready.primitives:
        memories = zip(p.ports, where, strict=True)
        executions.append(
            NumberedExecution(
                record.objects[p.primitive],
                tuple((record.objects[s.memory], s.arg, operand, nbytes) for s, (operand, nbytes) in memories),
            )
        )
    return StaticCall(tuple(executions))
