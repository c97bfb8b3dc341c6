"""The whole compiler, lined up: a function goes in, something that runs as one native call comes out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from mycelia.codegen.driver import emit_program
from mycelia.degradations import Instead, degrade, subject
from mycelia.errors import CompileError
from mycelia.ir import Function, names_of
from mycelia.loops import Host, Invoke, Launch, LibraryCall, Program
from mycelia.lowering import lower
from mycelia.options import Options
from mycelia.passes import native_passes, optimise, pass_by_pass
from mycelia.primitives.pairing import has_complex, in_pairs
from mycelia.runtime.bind import Bound
from mycelia.runtime.executable import Executable
from mycelia.runtime.layout import layout
from mycelia.runtime.link import entries, machine_code, workers
from mycelia.runtime.recipes import decided, prepared, refused
from mycelia.runtime.reference import Reference
from mycelia.schedule import memory_report, with_memory
from mycelia.sizes import Hints, NeedsSize, evaluated


def compiled(fn: Function, donated: Mapping[int, int], options: Options) -> Executable | Reference:
    """The stages, one after the other."""
    workers(options.target).start()  # they get ready meanwhile
    if options.memory.budget is not None and (names := names_of(fn)):
        raise NeedsSize(names[0].alone())  # what is within the budget at one size is not at another
    show("graph", lambda: fn, options)
    show("passes", lambda: pass_by_pass(fn, options, native_passes(options)), options)
    try:
        program, poor = written(fn, donated, options)
    except NeedsSize as reason:
        if any(name.most is None for name in reason.names):
            raise  # the size is known when the program is called
        return Reference(fn, donated, CompileError(f"{reason}, and it comes out of data"), options.asks)
    program = scheduled(program, options)
    show("program", lambda: program, options)
    show("kernels", lambda: kernels(program), options)
    show("memory", lambda: memory_report(program, room_for(options)), options)
    for call in sorted(map(str, poor)):
        degrade(Instead.LIBRARY, call)
    for note in program.notes:
        degrade(Instead.SLOW, note.text, note.at)
    unit = layout(program, options)  # where everything lies in memory
    emitted = emit_program(unit, options, "run")  # LLVM IR
    show("llvm", lambda: "\n".join(emitted.modules), options)
    binding = replace(unit.binding, numbers=emitted.numbers, refused=tuple(sorted(map(str, poor))))
    python = {n: s.call for n, s in enumerate(program.walk()) if isinstance(s, Host)}
    try:
        code = machine_code(emitted.modules, options, entries(binding))  # objects, from the cache or made now
        made = Executable(code, Bound(binding, python))
        made.program = program if options.clocked else None
        return made
    except CompileError as failure:
        return Reference(fn, donated, failure, options.asks)  # slower, and right


def written(fn: Function, donated: Mapping[int, int], options: Options) -> tuple[Program, frozenset[LibraryCall]]:
    """The program of `fn`, which stops at once if one of its first results is true, those that are questions; and the
    calls that the library has no real code for: these are computed by ours, and short types as wider ones.
    """
    asked = Function(fn.params, fn.results[: options.asks]) if options.asks else None
    asked = asked and optimise(asked, options)
    fn = fn.with_results(fn.results[options.asks :])
    optimised = optimise(fn, options)  # the same function, with less to do
    program = lower(optimised, donated, options, asked=asked)  # kernels and library calls, in order
    calls = {evaluated(s.call, Hints()) for s in program.walk() if isinstance(s, Invoke)}
    poor = frozenset(call for call in calls if refused(call, options.threads))
    if not poor:
        return program, poor
    options = replace(options, target=replace(options.target, short_units=frozenset()))
    return lower(optimise(fn, options), donated, options, poor, asked), poor


def scheduled(program: Program, options: Options) -> Program:
    """The same steps in an order in which less memory lives at once, and some of them twice where that is asked for."""
    room = room_for(options)
    return with_memory(program, options.memory, options.target, room)


def room_for(options: Options) -> Callable[[Invoke], int]:
    """What a library call needs beside its operands, at the sizes that a program is written at."""

    @cache
    def room(call: LibraryCall) -> int:
        (ready,) = prepared([evaluated(decided(call, options.threads), Hints())], options.threads)
        return ready.room

    return lambda step: room(step.call)


# ------------------------------------------------------------------------------------------------ seeing the stages


def show(stage: str, what: Callable[[], object], options: Options) -> None:
    """Print a stage of the compiler for whoever asked to see it."""
    if stage in options.show:
        print(f"{stage} of {subject().name}:\n{what()}", file=sys.stderr)


def text_of(stage: str, fn: Function, donated: Mapping[int, int], options: Options) -> str:
    """What a function is at a stage: the same text that is printed when it is compiled. Nothing is kept from then, all
    is made again.
    """
    if stage == "graph":
        return str(fn)
    fn = in_pairs(fn) if has_complex(fn) else fn
    if stage == "passes":
        return pass_by_pass(fn, options, native_passes(options))
    try:
        program = scheduled(written(fn, donated, options)[0], options)
        if stage == "program":
            return str(program)
        if stage == "kernels":
            return kernels(program)
        if stage == "memory":
            return memory_report(program, room_for(options))
        return "\n".join(emit_program(layout(program, options), options, "run").modules)
    except NeedsSize as reason:
        return f"there is a program for each size: {reason}"


def kernels(program: Program) -> str:
    """The kernels of a program, each with the number of the step that runs it."""
    found = [f"step {n}:\n{s.kernel}" for n, s in enumerate(program.walk()) if isinstance(s, Launch)]
    return "\n".join(found) if found else "no kernels of ours"
