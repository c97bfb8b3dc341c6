"""The same steps over other buffers: nothing else about them changes, so they are the same code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from mycelia.loops.expr import Buffer, Expr
from mycelia.loops.index import Atom, Datum, Index, Quotient, Remainder, datum
from mycelia.loops.kernel import Kernel, Store, Sweep, Update
from mycelia.loops.program import Copy, Invoke, Launch, Operand

Buffers = Mapping[Buffer, Buffer]
Plain = Launch | Invoke | Copy
Written = TypeVar("Written", bound=Store | Update)


def over(step: Plain, new: Buffers) -> Plain:
    """The step, where it reads and writes the `new` buffers in place of the old ones.

    >>> from mycelia.types import TensorType, float32
    >>> a, b, c = (Buffer.dense(name, TensorType(float32, (2,))) for name in "abc")
    >>> over(Copy(a, b), {b: c})
    Copy(source=a, target=c)
    """
    if isinstance(step, Copy):
        return Copy(new.get(step.source, step.source), new.get(step.target, step.target))
    if isinstance(step, Invoke):
        inputs, outputs = (
            tuple(Operand(new.get(o.buffer, o.buffer), o.offset) for o in side) for side in (step.inputs, step.outputs)
        )
        return Invoke(step.call, inputs, outputs)
    return Launch(_kernel(step.kernel, new), step.work)


def again_in(buffer: Buffer, names: set[str]) -> Buffer:
    """A buffer for what is made a second time: its name says so, and is none of those that there are.

    >>> from mycelia.types import TensorType, float32
    >>> again_in(Buffer.dense("b7", TensorType(float32, ())), {"b7", "b7r"})
    b7rr
    """
    name = f"{buffer.name}r"
    while name in names:
        name += "r"
    names.add(name)
    return Buffer(name, buffer.type, buffer.strides)


def is_again(buffer: Buffer) -> bool:
    """Whether a buffer is for what was made before."""
    return buffer.name.endswith("r")


def _kernel(kernel: Kernel, new: Buffers) -> Kernel:
    done: dict[Expr, Expr] = {}

    def write(a: Written) -> Written:
        return replace(a, buffer=new.get(a.buffer, a.buffer), offset=_index(a.offset, new), value=value(a.value))

    def value(e: Expr) -> Expr:
        return _expression(e, new, done)

    sweeps = tuple(
        Sweep(
            s.columns,
            tuple((f, value(e)) for f, e in s.folds),
            tuple(write(a) for a in s.actions),
            tuple(write(a) for a in s.after),
        )
        for s in kernel.sweeps
    )
    return Kernel(kernel.rows, sweeps, kernel.scratch)


def _expression(root: Expr, new: Buffers, done: dict[Expr, Expr]) -> Expr:
    for e in root.walk():
        if e in done:
            continue
        if e.kind == "load":
            buffer, offset = e.attribute
            done[e] = Expr("load", (), e.dtype, (new.get(buffer, buffer), _index(offset, new)))
        elif e.kind == "position":
            done[e] = Expr("position", (), e.dtype, _index(e.attribute, new))
        else:
            done[e] = Expr(e.kind, tuple(done[a] for a in e.args), e.dtype, e.attribute)
    return done[root]


def _index(at: Index, new: Buffers) -> Index:
    """The index; only numbers that come out of data can change."""
    if not any(_reads(atom) for atom, _ in at.terms):
        return at
    out = Index(at.constant)
    for atom, c in at.terms:
        out = out + _atom(atom, new) * c
    return out


def _reads(atom: Atom) -> bool:
    if isinstance(atom, Quotient | Remainder):
        return any(_reads(a) for a, _ in atom.index.terms)
    return isinstance(atom, Datum)


def _atom(atom: Atom, new: Buffers) -> Index:
    if isinstance(atom, Quotient):
        return _index(atom.index, new) // atom.divisor
    if isinstance(atom, Remainder):
        return _index(atom.index, new) % atom.divisor
    if isinstance(atom, Datum):
        return datum(_expression(atom.value, new, {}), atom.low, atom.high)
    return Index(0, ((atom, 1),))
