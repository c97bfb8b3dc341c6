"""The whole compiler, lined up: a function goes in, something that runs as one native call comes out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace

from mycelia.codegen.driver import emit_program
from mycelia.degradations import Instead, degrade
from mycelia.errors import CompileError
from mycelia.ir import Function, names_of
from mycelia.loops import Invoke, Program
from mycelia.lowering import lower
from mycelia.options import Options
from mycelia.passes import optimise
from mycelia.runtime.assemble import assemble
from mycelia.runtime.bind import refused
from mycelia.runtime.executable import Executable
from mycelia.runtime.link import machine_code, workers
from mycelia.runtime.reference import Reference
from mycelia.runtime.resizable import Resizable
from mycelia.sizes import Hints, NeedsSize, evaluated


def compile(fn: Function, donated: Mapping[int, int], options: Options) -> Executable | Reference | Resizable:
    """`fn` as machine code. Result `i` may overwrite parameter `donated[i]`, which is then gone.

    >>> import numpy as np
    >>> from mycelia import primitives as p
    >>> from mycelia.api.options import options
    >>> from mycelia.types import TensorType, float32
    >>> double = Function.build(lambda x: p.tanh(x) * 2.0, TensorType(float32, (3,)))
    >>> compile(double, {}, options())(np.zeros(3, "f"))
    (array([0., 0., 0.], dtype=float32),)
    """
    workers(options.target).start()  # they get ready meanwhile
    if names := names_of(fn):
        return Resizable(fn, names, lambda fn: compiled(fn, donated, options))
    return compiled(fn, donated, options)


def compiled(fn: Function, donated: Mapping[int, int], options: Options) -> Executable | Reference:
    """The stages, one after the other."""
    show("graph", fn, options)
    try:
        program = written(fn, donated, options)
    except NeedsSize as reason:
        if any(name.most is None for name in reason.names):
            raise  # the size is known when the program is called
        return Reference(fn, donated, CompileError(f"{reason}, and it comes out of data"))
    show("program", program, options)
    for note in program.notes:
        degrade(Instead.SLOW, note.text, note.at)
    unit = assemble(program, options)  # where everything lies in memory
    show("memory", unit.unit.plan, options)
    emitted = emit_program(unit.unit, options, "run")  # LLVM IR
    show("llvm", "\n".join(emitted.modules), options)
    try:
        code = machine_code(emitted.modules, options)  # objects, from the cache or made now
        return Executable(code, unit, emitted.numbers)
    except CompileError as failure:
        return Reference(fn, donated, failure)  # slower, and right


def written(fn: Function, donated: Mapping[int, int], options: Options) -> Program:
    """The program of `fn`. What the library has no real code for is computed by ours, and short types as wider ones."""
    optimised = optimise(fn, options)  # the same function, with less to do
    program = lower(optimised, donated, options)  # kernels and library calls, in order
    blocks = [program.block, *(r.block for r in program.routines)]
    calls = {evaluated(s.call, Hints()) for b in blocks for s in b.walk() if isinstance(s, Invoke)}
    poor = frozenset(call for call in calls if refused(call, options.threads))
    if not poor:
        return program
    for call in sorted(map(str, poor)):
        degrade(Instead.LIBRARY, call)
    options = replace(options, target=replace(options.target, short_units=frozenset()))
    return lower(optimise(fn, options), donated, options, poor)


def show(stage: str, what: object, options: Options) -> None:
    """Print a stage of the compiler for whoever asked to see it."""
    if stage in options.show:
        print(f"{stage}:\n{what}", file=sys.stderr)
