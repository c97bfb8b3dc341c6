"""Control flow: branches, loops and recursive calls as blocks of steps inside steps."""

from __future__ import annotations

from collections.abc import Sequence

from mycelia.ir import Function, Project, Value
from mycelia.loops import Block, Branch, Buffer, Enter, Host, Procedure, Repeat, Runtime, Step, Stream
from mycelia.lowering.body import Body
from mycelia.lowering.plain import add_kernel, copy, zero
from mycelia.lowering.steps import lower_step, may_end
from mycelia.primitives import AllReduce, Cond, HostCall, Map, NamedCall, OfMatrices, Recurse, Scan, While
from mycelia.primitives.control import AddFrame, AddSequence, JoinBatch, MakeFrame, Null, OpenFrame, SplitBatch
from mycelia.sizes import same
from mycelia.types import TensorType, TupleType, Type, int64, row_major

COUNT = TensorType(int64, ())


@may_end.register(While)
@may_end.register(Scan)
@may_end.register(Map)
@may_end.register(Recurse)
@may_end.register(NamedCall)
def _(op: object) -> bool:
    return True


def outputs(v: Value, body: Body) -> list[Buffer]:
    """Where the results of a step belong."""
    if not isinstance(v.type, TupleType):
        return [body.memory[v]]
    return [body.memory[Value(Project(i), (v,))] for i in range(len(v.type.elements))]


def _inner(fn: Function, params: Sequence[Buffer], body: Body, into: Sequence[Buffer]) -> Block:
    """`fn` as a block that leaves its results in `into`."""
    inside = Body(fn, params, body.shared, body.scope)
    steps, results = inside.run({})
    return Block((*steps, *_deliver(results, into, [*params], body)))


def _deliver(results: Sequence[Buffer], into: Sequence[Buffer], params: Sequence[Buffer], body: Body) -> list[Step]:
    """Bring results to their places: made there where they are made here, else copied."""
    steps: list[Step] = []
    taken = set(params) | set(body.shared.constants)
    for r, target in zip(results, into, strict=True):
        if r is target:
            continue
        if r in taken or r in body.shared.aliases or not same(r.strides, target.strides) or target in params:
            steps.append(copy(r, target))
        else:
            body.shared.aliases[r] = target
        taken.add(r)
    return steps


@lower_step.register
def _(op: Cond, v: Value, body: Body) -> None:
    predicate, *operands = v.inputs
    params = [body.operand(x) for x in operands]
    out = outputs(v, body)
    then, otherwise = (_inner(branch, params, body, out) for branch in (op.then, op.otherwise))
    body.steps.append(Branch(body.operand(predicate), then, otherwise))


def _loop_body(
    fn: Function, params: list[Buffer], constants: int, carries: int, body: Body
) -> tuple[Block, list[Buffer]]:
    """The body of a loop, which leaves carries where it found them, and the places of its other results."""
    inside = Body(fn, params, body.shared, body.scope)
    steps, results = inside.run({i: constants + i for i in range(carries)})
    carried = params[constants : constants + carries]
    late: list[Step] = []
    for r, c in zip(results[:carries], carried, strict=True):
        if body.shared.home(r) is c:
            continue
        if r in inside.in_place and r not in body.shared.aliases:
            body.shared.aliases[r] = c
            continue
        if r in carried or r in params:  # another carry may be overwritten before it is read
            aside = body.shared.buffer(r.type)
            steps.append(copy(r, aside))
            r = aside
        late.append(copy(r, c))
    others = []
    for r in results[carries:]:
        if not same(r.strides, row_major(r.type.shape)) or r in carried:
            aside = body.shared.buffer(r.type)
            steps.append(copy(r, aside))
            r = aside
        others.append(r)
    return Block((*steps, *late)), others


@lower_step.register
def _(op: While, v: Value, body: Body) -> None:
    constants, starts = v.inputs[: op.constants], v.inputs[op.constants :]
    fixed = [body.operand(x) for x in constants]
    out = outputs(v, body)
    carries = len(starts)
    for x, c in zip(starts, out, strict=False):
        body.fill(x, c)
    carried, count, handles = out[:carries], out[carries], out[carries + 1 :]
    predicate = body.shared.buffer(op.condition.results[0].type)
    condition = _inner(op.condition, [*fixed, *carried], body, [predicate])
    block, items = _loop_body(op.body, [*fixed, *carried], op.constants, carries, body)
    writing = tuple(Stream(h, i, fixed=False) for h, i in zip(handles, items, strict=True))
    body.steps.append(Repeat(condition, predicate, block, count, None, False, (), writing))


@lower_step.register
def _(op: Scan, v: Value, body: Body) -> None:
    operands = v.inputs[op.first :]
    constants = operands[: op.constants]
    starts = operands[op.constants : op.constants + op.carries]
    xs = operands[op.constants + op.carries :]
    fixed = [body.operand(x) for x in constants]
    out = outputs(v, body)
    for x, c in zip(starts, out, strict=False):
        body.fill(x, c)
    carried = out[: op.carries]
    items = [body.shared.buffer(t) for t in op.parts.x_types]
    reading = _streams([body.handed(x) for x in xs], items, [x.type for x in xs])
    block, ys = _loop_body(op.body, [*fixed, *carried, *items], op.constants, op.carries, body)
    made = v.type.elements[op.carries :]  # type: ignore[attr-defined]
    writing = _streams(out[op.carries :], ys, made)
    length = body.operand(v.inputs[0]) if op.first else op.static_length
    count = body.shared.buffer(COUNT)
    body.steps.append(Repeat(None, None, block, count, length, op.reverse, reading, writing))


def _streams(handles: Sequence[Buffer], items: Sequence[Buffer], types: Sequence[Type]) -> tuple[Stream, ...]:
    return tuple(Stream(h, i, fixed=isinstance(t, TensorType)) for h, i, t in zip(handles, items, types, strict=True))


@lower_step.register
def _(op: Map, v: Value, body: Body) -> None:
    constants, xs = v.inputs[: op.constants], v.inputs[op.constants :]
    fixed = [body.operand(x) for x in constants]
    out = outputs(v, body)
    items = [body.shared.buffer(t) for t in op.body.types[op.constants :]]
    reading = _streams([body.handed(x) for x in xs], items, [x.type for x in xs])
    inside = Body(op.body, [*fixed, *items], body.shared, body.scope)
    steps, results = inside.run({})
    streamed = []
    for r in results[: op.stacked]:
        if not same(r.strides, row_major(r.type.shape)):
            aside = body.shared.buffer(r.type)
            steps.append(copy(r, aside))
            r = aside
        streamed.append(r)
    for r, total, t in zip(results[op.stacked :], out[op.stacked :], op.body.result_types[op.stacked :], strict=True):
        body.steps.append(zero(total, t))
        steps.append(_accumulate(total, r, t))
    made = v.type.elements[: op.stacked]  # type: ignore[attr-defined]
    writing = _streams(out[: op.stacked], streamed, made)
    count = body.shared.buffer(COUNT)
    body.steps.append(Repeat(None, None, Block(tuple(steps)), count, op.size, False, reading, writing))


def _accumulate(total: Buffer, r: Buffer, t: Type) -> Step:
    if isinstance(t, TensorType):
        return add_kernel(total, r)
    return Runtime("add", (total, r), (total,), (t,))


@lower_step.register
def _(op: Recurse, v: Value, body: Body) -> None:
    key = op.definitions
    scope = {name: f"r{_number(body, key)}.{name}" for name, _ in op.definitions}
    for name, fn in op.definitions:
        if (key, name) not in body.shared.procedures:
            body.shared.procedures[key, name] = None
            body.shared.procedures[key, name] = _procedure(scope[name], fn, body, scope)
    inputs = tuple(body.handed(x) for x in v.inputs)
    body.steps.append(Enter(scope[op.entry], inputs, tuple(outputs(v, body))))


def _number(body: Body, key: object) -> int:
    """A number for each set of definitions."""
    return body.shared.numbers.setdefault(key, len(body.shared.numbers))


def _procedure(name: str, fn: Function, body: Body, scope: dict[str, str]) -> Procedure:
    inputs = [body.shared.buffer(t) for t in fn.types]
    outputs = [body.shared.buffer(t) for t in fn.result_types]
    inside = Body(fn, inputs, body.shared, scope)
    steps, results = inside.run({})
    steps += [copy(r, o) for r, o in zip(results, outputs, strict=True)]
    return Procedure(name, tuple(inputs), tuple(outputs), Block(tuple(steps)))


@lower_step.register
def _(op: NamedCall, v: Value, body: Body) -> None:
    inputs = tuple(body.handed(x) for x in v.inputs)
    body.steps.append(Enter(body.scope[op.callee], inputs, tuple(outputs(v, body))))


@lower_step.register
def _(op: HostCall, v: Value, body: Body) -> None:
    inputs = tuple(body.dense(x) for x in v.inputs)
    body.steps.append(Host(op.callee, inputs, tuple(outputs(v, body))))


@lower_step.register
def _(op: AllReduce, v: Value, body: Body) -> None:
    body.steps.append(Host(op.exchange, (body.dense(v.inputs[0]),), (body.memory[v],)))


@lower_step.register
def called_outside(op: OfMatrices, v: Value, body: Body) -> None:
    """A way out to LAPACK, which NumPy brings, and back."""
    body.steps.append(Host(op.host, tuple(body.dense(x) for x in v.inputs), tuple(outputs(v, body))))


@lower_step.register
def _(op: MakeFrame, v: Value, body: Body) -> None:
    inputs = tuple(body.handed(x) for x in v.inputs)
    types = tuple(x.type for x in v.inputs)
    body.steps.append(Runtime("make_frame", inputs, (body.memory[v],), types))


@lower_step.register
def _(op: OpenFrame, v: Value, body: Body) -> None:
    body.steps.append(Runtime("open_frame", (body.operand(v.inputs[0]),), tuple(outputs(v, body)), op.fields))


@lower_step.register
def _(op: Null, v: Value, body: Body) -> None:
    body.steps.append(Runtime("null", (), (body.memory[v],)))


@lower_step.register(AddSequence)
@lower_step.register(AddFrame)
def _(op: AddSequence | AddFrame, v: Value, body: Body) -> None:
    inputs = tuple(body.operand(x) for x in v.inputs)
    body.steps.append(Runtime("add", inputs, (body.memory[v],), (v.type,)))


@lower_step.register
def _(op: SplitBatch, v: Value, body: Body) -> None:
    (x,) = v.inputs
    body.steps.append(Runtime("split", (body.operand(x),), (body.memory[v],), (op.type, x.type)))


@lower_step.register
def _(op: JoinBatch, v: Value, body: Body) -> None:
    (x,) = v.inputs
    body.steps.append(Runtime("join", (body.operand(x),), (body.memory[v],), (op.type, v.type)))
