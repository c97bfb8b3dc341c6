"""Calls, branches and loops.

A sequence is a buffer of a fixed capacity and a length (`rules.leaves`). A loop that leaves more elements behind than
fit stops and raises a flag, which every block hands to the one around it; whoever runs the program then compiles it
for a larger capacity and runs it again. Programs have no effects, so nobody notices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycelia.ir import Function, Value, inner_functions
from mycelia.primitives import (
    AddFrame,
    AddSequence,
    AllReduce,
    Call,
    Cond,
    Fourier,
    HostCall,
    JoinBatch,
    MakeFrame,
    Map,
    NamedCall,
    Null,
    OfMatrices,
    OpenFrame,
    Positions,
    Recurse,
    Scan,
    SplitBatch,
    While,
)
from mycelia.stablehlo.rules import emit, inexpressible, inlined, leaves
from mycelia.stablehlo.writer import TRUTH, Held, Term, Writer
from mycelia.types import SequenceType, TensorType, Type, int64


def _flat(held: Sequence[Held | Term]) -> list[Term]:
    return [x for h in held for x in ((h,) if isinstance(h, Term) else h)]


class Division:
    """Values of these types as one row of terms, and back."""

    def __init__(self, types: Sequence[Type], w: Writer, v: Value) -> None:
        self.leaves = [leaves(t, w.capacity, v.location) for t in types]
        self.types = [x for one in self.leaves for x in one]

    def parted(self, terms: Sequence[Term]) -> list[Held]:
        rest = iter(terms)
        return [tuple(next(rest) for _ in one) for one in self.leaves]


def may_outgrow(fn: Function) -> bool:
    """Whether a loop inside may leave more behind than fits."""
    for v in fn.values():
        if isinstance(v.op, While) and v.op.parts.y_types:
            return True
        if isinstance(v.op, Scan) and v.op.static_length is None and (v.op.parts.y_types or v.op.parts.x_types):
            return True
        if any(map(may_outgrow, inner_functions(v.op))):
            return True
    return False


def _outgrown(inner: Writer) -> Term:
    return inner.outgrown or inner.full(False, TRUTH)


@emit.register
def _(op: Call, v: Value, w: Writer, *inputs: Held | Term) -> list[Held]:
    return inlined(op.fn, w, [(x,) if isinstance(x, Term) else x for x in inputs])


@emit.register
def _(op: Cond, v: Value, w: Writer, predicate: Term, *inputs: Held | Term) -> list[Held]:
    operands = [(x,) if isinstance(x, Term) else x for x in inputs]
    results = Division(op.then.result_types, w, v)
    flagged = any(map(may_outgrow, op.branches))

    def side(branch: Function) -> str:
        def write(inner: Writer) -> list[Term]:
            out = _flat(inlined(branch, inner, operands))
            return [*out, _outgrown(inner)] if flagged else out

        return w.region((), write)

    out = w.several("if", (predicate,), [*results.types, *[TRUTH] * flagged], [side(b) for b in op.branches])
    if flagged:
        w.outgrew(out.pop())
    return results.parted(out)


class Loop:
    """A `while` of StableHLO whose carries are values of any type; the flag is carried with them."""

    def __init__(self, w: Writer, v: Value, types: Sequence[Type], flagged: bool) -> None:
        self.w, self.flagged = w, flagged
        self.carried = Division(types, w, v)

    def run(
        self,
        start: Sequence[Held | Term],
        goes_on: Callable[[Writer, list[Held]], Term],
        turn: Callable[[Writer, list[Held]], Sequence[Held | Term]],
    ) -> list[Held]:
        w, types = self.w, [*self.carried.types, *[TRUTH] * self.flagged]
        first = [*_flat(start), *([_outgrown(w)] if self.flagged else [])]

        def parted(terms: Sequence[Term]) -> list[Held]:
            return self.carried.parted(terms[: len(self.carried.types)])

        def condition(inner: Writer, *terms: Term) -> list[Term]:
            return [goes_on(inner, parted(terms))]

        def body(inner: Writer, *terms: Term) -> list[Term]:
            inner.outgrown = terms[-1] if self.flagged else None
            out = _flat(turn(inner, parted(terms)))
            return [*out, _outgrown(inner)] if self.flagged else out

        out = w.several("while", first, types, [w.region(types, condition), w.region(types, body)])
        if self.flagged:
            w.outgrown = out.pop()
        return self.carried.parted(out)


def _zeros(w: Writer, t: Type, v: Value) -> Held:
    return tuple(w.zeros(x) for x in leaves(t, w.capacity, v.location))


def _element(w: Writer, x: Held, t: Type, i: Term) -> Held:
    """Element `i`, of type `t`, of what was collected: rows of a tensor, or of a sequence without its length."""
    return tuple(w.row(leaf, i) for leaf in _rows(x, t))


def _rows(x: Held, t: Type) -> Held:
    return x if len(x) == 1 and isinstance(t, TensorType) else x[1:]


def _stored(w: Writer, x: Held, i: Term, element: Held) -> Held:
    """What was collected, with another element `i`."""
    length, rows = (x[:1], x[1:]) if len(x) > len(element) else ((), x)
    return (*length, *[w.put_row(r, i, e) for r, e in zip(rows, element, strict=True)])


def _with_length(w: Writer, x: Held, n: Term) -> Held:
    return (n, *x[1:])


@emit.register
def _(op: While, v: Value, w: Writer, *inputs: Held | Term) -> list[Held]:
    parts, k = op.parts, op.constants
    given = [(x,) if isinstance(x, Term) else x for x in inputs]
    sequences: list[Type] = [SequenceType(t) for t in parts.y_types]
    n = len(given)
    loop = Loop(w, v, [*op.body.types, TensorType(int64, ()), *sequences], may_outgrow(op.body))

    def goes_on(inner: Writer, held: list[Held]) -> Term:
        ((truth,),) = inlined(op.condition, inner, held[:n])
        if not sequences:
            return truth
        fits = inner.compare("LE", held[n][0], inner.count(inner.capacity))  # one more than fits, and it ends
        return inner.binary("and", truth, fits)

    def turn(inner: Writer, held: list[Held]) -> list[Held]:
        out = inlined(op.body, inner, held[:n])
        (count,) = held[n]
        ys = [_stored(inner, s, count, y) for s, y in zip(held[n + 1 :], out[parts.carries :], strict=True)]
        return [*held[:k], *out[: parts.carries], (inner.binary("add", count, inner.count(1)),), *ys]

    start = [*given, (w.count(0),), *[_zeros(w, t, v) for t in sequences]]
    out = loop.run(start, goes_on, turn)
    (count,) = out[n]
    if sequences:
        w.outgrew(w.compare("GT", count, w.count(w.capacity)))
    ys = [_with_length(w, s, count) for s in out[n + 1 :]]
    return [*out[k:n], out[n], *ys]


@emit.register
def _(op: Scan, v: Value, w: Writer, *inputs: Held | Term) -> list[Held]:
    parts = op.parts
    given = [(x,) if isinstance(x, Term) else x for x in inputs[op.first :]]
    first_x = parts.first_x
    fixed, xs = given[:first_x], given[first_x:]
    collected = [op.collected(t) for t in parts.y_types]
    empty = [_zeros(w, t, v) for t in collected]
    if op.static_length == 0:
        return [*fixed[op.constants :], *empty]
    if op.static_length is None:
        assert isinstance(inputs[0], Term), "a length is a tensor"
        length = inputs[0]
        if xs or collected:
            w.outgrew(w.compare("GT", length, w.count(w.capacity)))
            length = w.binary("minimum", length, w.count(w.capacity))
    else:
        length = w.count(op.static_length)
    out = _counted(w, v, op.body, length, op.reverse, op.constants, parts.carries, fixed, xs, collected, empty)
    return [
        *out[: parts.carries],
        *[_finished(w, y, t, length) for y, t in zip(out[parts.carries :], collected, strict=True)],
    ]


def _finished(w: Writer, y: Held, t: Type, length: Term) -> Held:
    return _with_length(w, y, length) if isinstance(t, SequenceType) else y


def _counted(
    w: Writer, v: Value, body: Function, length: Term, reverse: bool, constants: int, carries: int,
    fixed: Sequence[Held], xs: Sequence[Held], collected: Sequence[Type], empty: Sequence[Held],
) -> list[Held]:  # fmt: skip
    """A loop of `length` turns over the elements of `xs`: the last carries, and what was collected."""
    n = constants + carries
    flagged = may_outgrow(body)
    x_types = body.types[n:]
    loop = Loop(w, v, [TensorType(int64, ()), TensorType(int64, ()), *body.types[:n], *collected], flagged)

    def goes_on(inner: Writer, held: list[Held]) -> Term:
        return inner.compare("LT", held[0][0], held[1][0])

    def turn(inner: Writer, held: list[Held]) -> list[Held]:
        (i,), (end,) = held[:2]
        one = inner.count(1)
        after = inner.binary("add", i, one)
        at = inner.binary("subtract", end, after) if reverse else i
        elements = [_element(inner, x, t, at) for x, t in zip(xs, x_types, strict=True)]
        out = inlined(body, inner, [*held[2 : 2 + n], *elements])
        ys = [_stored(inner, s, at, y) for s, y in zip(held[2 + n :], out[carries:], strict=True)]
        return [(after,), (end,), *held[2 : 2 + constants], *out[:carries], *ys]

    out = loop.run([(w.count(0),), (length,), *fixed, *empty], goes_on, turn)
    return out[2 + constants :]


@emit.register
def _(op: Map, v: Value, w: Writer, *inputs: Held | Term) -> list[Held]:
    given = [(x,) if isinstance(x, Term) else x for x in inputs]
    fixed, xs = given[: op.constants], given[op.constants :]
    results = op.body.result_types
    assert hasattr(v.type, "elements"), "a map has several results"
    collected = list(v.type.elements[: op.stacked])
    sums = results[op.stacked :]
    nothing = [_zeros(w, t, v) for t in collected]
    zeros = [_zeros(w, t, v) for t in sums]
    if not op.size:
        return [*nothing, *zeros]
    body = Function.build(_summing(op), *op.body.types[: op.constants], *sums, *op.body.types[op.constants :])
    length = w.count(op.size)
    out = _counted(w, v, body, length, False, op.constants, len(sums), [*fixed, *zeros], xs, collected, nothing)
    stacked = [_finished(w, y, t, length) for y, t in zip(out[len(sums) :], collected, strict=True)]
    return [*stacked, *out[: len(sums)]]


def _summing(op: Map) -> Callable[..., list[Value]]:
    """The body of a map with its sums as carries."""
    from mycelia.ir import algebra

    def body(*values: Value) -> list[Value]:
        constants, rest = values[: op.constants], values[op.constants :]
        totals, elements = rest[: op.sums], rest[op.sums :]
        out = op.body(*constants, *elements)
        added = [algebra.add(t, x) for t, x in zip(totals, out[op.stacked :], strict=True)]
        return [*added, *out[: op.stacked]]

    return body


# ------------------------------------------------------------------------------------------------ sequences


@emit.register
def _(op: Null, v: Value, w: Writer) -> Held:
    return _zeros(w, op.type, v)


@emit.register
def _(op: AddSequence, v: Value, w: Writer, x: Held, y: Held) -> Held:
    """Numbers are added; of lengths, which are equal unless one is nothing, the larger one counts."""
    lengths = _lengths(v.type)
    return tuple(
        w.binary("maximum" if is_length else "add", a, b) for a, b, is_length in zip(x, y, lengths, strict=True)
    )


def _lengths(t: Type) -> list[bool]:
    """Which of the terms that hold a value are lengths."""
    return [True, *_lengths(t.element)] if isinstance(t, SequenceType) else [False]


def _depths(t: Type, depth: int = 0) -> list[int]:
    """For each term that holds a value, how many axes of sequences it has."""
    return [depth, *_depths(t.element, depth + 1)] if isinstance(t, SequenceType) else [depth]


@emit.register
def _(op: SplitBatch, v: Value, w: Writer, x: Held | Term) -> Held:
    held = (x,) if isinstance(x, Term) else x
    out = [w.count(op.size)]
    for leaf, is_length, depth in zip(held, _lengths(op.type), _depths(op.type), strict=True):
        if is_length:  # the same for all examples
            rows = w.broadcast(leaf, (op.size, *leaf.shape))
        else:
            rows = w.transpose(leaf, (depth, *[i for i in range(len(leaf.shape)) if i != depth]))
        low, high = (0,) * len(rows.shape), (w.capacity - op.size, *[0] * (len(rows.shape) - 1))
        out.append(w.pad(rows, low, high, low, 0))
    return tuple(out)


@emit.register
def _(op: JoinBatch, v: Value, w: Writer, x: Held) -> Held | Term:
    from mycelia.stablehlo.reduction import reduced

    out = []
    for leaf, is_length, depth in zip(x[1:], _lengths(op.type), _depths(op.type), strict=True):
        rows = w.slice(leaf, (0,) * len(leaf.shape), (op.size, *leaf.shape[1:]))
        if is_length:
            out.append(reduced(w, rows, (0,), "max"))
        else:
            order = [*range(1, depth + 1), 0, *range(depth + 1, len(rows.shape))]
            out.append(w.transpose(rows, order))
    return tuple(out) if len(out) > 1 else out[0]


# ------------------------------------------------------------------------------------------------ recursion


@emit.register
def _(op: HostCall, v: Value, w: Writer, *inputs: Term) -> Held:
    raise inexpressible(v, "there is no Python to call where the program runs")


@emit.register
def _(op: AllReduce, v: Value, w: Writer, x: Term) -> Term:
    raise inexpressible(v, "which processes run the program is not said there")


@emit.register
def _(op: Fourier, v: Value, w: Writer, x: Term) -> Held:
    raise inexpressible(v, "a routine of this machine computes it")


@emit.register
def _(op: OfMatrices, v: Value, w: Writer, *inputs: Term) -> Held:
    raise inexpressible(v, "LAPACK computes it, on this machine")


@emit.register
def _(op: Positions, v: Value, w: Writer, mask: Term) -> Term:
    raise inexpressible(v, "how many results it has is known only when it runs, and shapes there are fixed")


NO_RECURSION = "functions there cannot call themselves"


@emit.register(Recurse)
@emit.register(NamedCall)
@emit.register(MakeFrame)
@emit.register(OpenFrame)
@emit.register(AddFrame)
def _(op: Recurse, v: Value, w: Writer, *inputs: Held | Term) -> list[Held]:
    raise inexpressible(v, NO_RECURSION)
