"""A whole function as a StableHLO module."""

from __future__ import annotations

from mycelia.frozen import frozen
from mycelia.ir import Function, inner_functions
from mycelia.primitives import Map, Scan, SplitBatch
from mycelia.stablehlo import control, elementwise, movement, ordering, reduction, sparse, windows
from mycelia.stablehlo.rules import inlined, leaves
from mycelia.stablehlo.writer import Held, Term, Writer, type_text
from mycelia.types import TensorType

RULES = (control, elementwise, movement, ordering, reduction, sparse, windows)  # importing them registers the rules


@frozen
class Module:
    """The text of a program; and whether its last result tells that a sequence did not fit."""

    text: str
    capacity: int
    params: tuple[tuple[TensorType, ...], ...]  # the tensors that hold each parameter
    results: tuple[tuple[TensorType, ...], ...]
    flagged: bool


def module(fn: Function, capacity: int = 16) -> Module:
    """`fn` in StableHLO, with room for `capacity` elements in each sequence, or more where it is known to be needed.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float32
    >>> print(module(Function.build(lambda x: x + x, TensorType(float32, (2,)))).text)
    module @program {
    func.func public @main(%0: tensor<2xf32>) -> (tensor<2xf32>) {
    %1 = "stablehlo.add"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>)
    "func.return"(%1) : (tensor<2xf32>) -> ()
    }
    }
    """
    w = Writer(max(capacity, needed(fn)))
    params = [leaves(t, w.capacity) for t in fn.types]
    terms: list[Held] = [tuple(Term(f"%{next(w.names)}", t) for t in one) for one in params]
    out = inlined(fn, w, terms)
    results = [x for held in out for x in held]
    flagged = w.outgrown is not None
    if w.outgrown is not None:
        results.append(w.outgrown)
    takes = ", ".join(f"{x.name}: {type_text(x.type)}" for held in terms for x in held)
    gives = ", ".join(type_text(x.type) for x in results)
    returned = f'"func.return"({", ".join(x.name for x in results)}) : ({gives}) -> ()'
    body = "\n".join([*w.lines, returned])
    text = f"module @program {{\nfunc.func public @main({takes}) -> ({gives}) {{\n{body}\n}}\n}}"
    kinds = tuple(tuple(x.type for x in held) for held in out)
    return Module(text, w.capacity, tuple(params), kinds, flagged)


def needed(fn: Function) -> int:
    """The longest sequence that the program is known to make."""
    most = 1
    for v in fn.values():
        if isinstance(v.op, Map | SplitBatch):
            most = max(most, v.op.size)
        if isinstance(v.op, Scan):
            most = max(most, v.op.static_length or 0)
        most = max([most, *map(needed, inner_functions(v.op))])
    return most
