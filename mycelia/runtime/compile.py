"""The whole compiler, lined up: a function goes in, something that runs as one native call comes out."""

from __future__ import annotations

from collections.abc import Mapping

from mycelia.codegen.driver import emit_program
from mycelia.codegen.target import Target
from mycelia.errors import CompileError
from mycelia.ir import Function
from mycelia.lowering import lower
from mycelia.passes import optimise
from mycelia.runtime.assemble import assemble
from mycelia.runtime.executable import Executable
from mycelia.runtime.link import machine_code, workers
from mycelia.runtime.reference import Reference


def compile(
    fn: Function, donated: Mapping[int, int] | None = None, target: Target | None = None, clocked: bool = False
) -> Executable | Reference:
    """`fn` as machine code. Result `i` may overwrite parameter `donated[i]`, which is then gone. A `clocked` program
    notes the time at each of its steps.

    >>> import numpy as np
    >>> from mycelia import primitives as p
    >>> from mycelia.types import TensorType, float32
    >>> double = Function.build(lambda x: p.tanh(x) * 2.0, TensorType(float32, (3,)))
    >>> compile(double)(np.zeros(3, "f"))
    (array([0., 0., 0.], dtype=float32),)
    """
    target = target or Target.host()
    workers(target).start()  # they get ready meanwhile
    optimised = optimise(fn)  # the same function, with less to do
    program = lower(optimised, donated or {})  # kernels and library calls, in order
    unit = assemble(program, target, clocked)  # where everything lies in memory
    modules = emit_program(unit.unit, target, "run")  # LLVM IR
    try:
        return Executable(machine_code(modules, target), unit)  # objects, from the cache or made now
    except CompileError as failure:
        return Reference(fn, donated or {}, failure)  # slower, and right
