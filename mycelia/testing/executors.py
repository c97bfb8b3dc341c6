"""Ways to run a function that must all agree with the interpreter. A new way is one line: `EXECUTORS["name"] = run`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from mycelia.ir import Function, Op, Param, Reader, Value
from mycelia.loops import Buffer, Expr, Index, Variable, index, load
from mycelia.loops.interpret import evaluate
from mycelia.primitives.pairing import has_complex, in_pairs
from mycelia.runtime.pairs import Paired
from mycelia.testing.native import compile
from mycelia.types import Array, TensorType, TupleType

Executor = Callable[..., Sequence[Any]]  # (fn, *inputs) -> results


def by_elements(fn: Function, *inputs: Any) -> tuple[Any, ...]:
    """Run a function by the lowering rules of its ops: one element at a time, or through other ops; an op that says
    neither runs its reference.

    >>> from mycelia.types import float32
    >>> double = Function.build(lambda x: x + x, TensorType(float32, (2,)))
    >>> by_elements(double, np.array([1.0, 2.0], "f"))
    (array([2., 4.], dtype=float32),)
    """
    if has_complex(fn):
        return Paired(fn, partial(by_elements, in_pairs(fn)), {})(*inputs)
    known: dict[Value, Any] = dict(zip(fn.params, inputs, strict=True))
    for v in fn.values():
        if v in known:
            continue
        assert not isinstance(v.op, Param), f"{v} belongs to another function"
        known[v] = _apply(v.op, v, [known[x] for x in v.inputs])
    return tuple(known[r] for r in fn.results)


def _apply(op: Op, v: Value, inputs: Sequence[Any]) -> Any:
    if type(op).expand is not Op.expand:
        fn = Function.build(op.expand, *[x.type for x in v.inputs])
        results = by_elements(fn, *inputs)
        return results if isinstance(v.type, TupleType) else results[0]
    if type(op).element is not Op.element and isinstance(v.type, TensorType):
        return elements(op, v.type, [x.type for x in v.inputs], inputs)
    return op.reference(*inputs)


def elements(op: Op, out: TensorType, types: Sequence[Any], inputs: Sequence[Array]) -> Array:
    """All elements of the output of an op, by its `element` rule."""
    buffers = [Buffer.dense(f"input {i}", t) for i, t in enumerate(types)]
    memory = {b: np.ascontiguousarray(x).reshape(-1) for b, x in zip(buffers, inputs, strict=True)}
    variables = [Variable(e) for e in out.shape]
    grid = np.indices(out.shape, sparse=True)
    at = dict(zip(variables, map(np.asarray, grid), strict=True))
    e = op.element(tuple(index(v) for v in variables), *[_reader(b) for b in buffers])
    assert e.dtype is out.dtype, f"{op} promises {out.dtype!r}, and its elements are {e.dtype!r}"
    return np.broadcast_to(evaluate(e, at, memory), out.shape) if out.size else np.zeros(out.shape, out.dtype.numpy)


def _reader(buffer: Buffer) -> Reader:
    def at(where: Sequence[Index]) -> Expr:
        assert len(where) == buffer.type.rank, f"{buffer} has {buffer.type.rank} axes, and is read at {where}"
        return load(buffer, tuple(where))

    return Reader(buffer.type, at)


def compiled(fn: Function, *inputs: Any) -> tuple[Any, ...]:
    """Run a function as machine code, verified after each pass.

    >>> from mycelia.types import float32
    >>> double = Function.build(lambda x: x + x, TensorType(float32, (2,)))
    >>> compiled(double, np.array([1.0, 2.0], "f"))
    (array([2., 4.], dtype=float32),)
    """
    return compile(fn, verify=True)(*map(np.asarray, inputs))


EXECUTORS: dict[str, Executor] = {"elements": by_elements, "compiled": compiled}
