"""A whole function as a program: its body, and where its results go."""

from __future__ import annotations

from collections.abc import Mapping

from mycelia.ir import Function
from mycelia.loops import Block, Buffer, Copy, LibraryCall, Program, Step, Stop
from mycelia.lowering.body import Body
from mycelia.lowering.plain import copy
from mycelia.lowering.shared import Shared
from mycelia.options import Options
from mycelia.sizes import same
from mycelia.types import TensorType, row_major


def lower(
    fn: Function,
    donated: Mapping[int, int],
    options: Options,
    refused: frozenset[LibraryCall] = frozenset(),
    asked: Function | None = None,
) -> Program:
    """The program of `fn`. Result `i` takes over the memory of parameter `donated[i]`. What the library `refused` is
    computed in another way. The program stops before it does anything if something is true that is `asked` of the same
    parameters.
    """
    shared = Shared(options, refused)
    inputs = [shared.buffer(p.type, hint="in") for p in fn.params]
    first: list[Step] = []
    if asked is not None:
        first, flags = Body(asked, inputs, shared).run({}, outermost=True)
        first.append(Stop(tuple(flags)))
    body = Body(fn, inputs, shared)
    steps, results = body.run(donated, outermost=True)
    outputs: list[Buffer] = []
    late: list[Step] = []  # into donated memory, when everything else has been read
    for i, (r, value) in enumerate(zip(results, fn.results, strict=True)):
        takes_over = inputs[donated[i]] if i in donated else None
        if takes_over is not None and shared.home(r) is takes_over:
            outputs.append(takes_over)
            continue
        if takes_over is not None and r in body.in_place:
            shared.aliases[r] = takes_over
            outputs.append(takes_over)
            continue
        if r in inputs or r in outputs or r in shared.constants or not same(r.strides, row_major(r.type.shape)):
            own = shared.buffer(value.type, hint="out")
            steps.append(copy(r, own))
            r = own
        if takes_over is not None:
            late.append(Copy(r, takes_over))
        outputs.append(takes_over or r)
    procedures = tuple(r for r in shared.procedures.values() if r is not None)
    handles = frozenset(b for b, r in zip(outputs, fn.results, strict=True) if not isinstance(r.type, TensorType))
    block, notes = Block((*first, *steps, *late)), tuple(shared.notes)
    about = (shared.constants, shared.aliases, procedures, handles, notes, shared.origins)
    return Program(tuple(inputs), tuple(outputs), block, *about)
