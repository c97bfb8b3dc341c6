"""What a function means: every op replaced by its NumPy reference. Slow, obvious, the judge of the compiler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mycelia.ir.function import Function
from mycelia.ir.resize import resized
from mycelia.ir.value import Param, Value
from mycelia.sizes import Known, Name, Sym, evaluated, is_static
from mycelia.types import TensorType


def interpret(fn: Function, *inputs: Any) -> tuple[Any, ...]:
    """The results of `fn` at these inputs; its effects happen, in order."""
    env: dict[Value, Any] = dict(zip(fn.params, inputs, strict=True))
    with np.errstate(all="ignore"):  # what is not a number shows in the results
        evaluate(fn.values(), env)
    return tuple([env[r] for r in fn.results])


def evaluate(values: Iterable[Value], env: dict[Value, Any]) -> None:
    """Add the numbers of `values`, inputs before users, to `env`, which says those of the parameters."""
    sizes: dict[Name, int] = {}  # that have come out of data
    for v in values:
        if v in env:
            continue
        if v.known is not None:
            env[v] = v.known
            continue
        op, t = v.op, v.type
        assert not isinstance(op, Param), f"{v} has no value here"
        result = (resized(op, Known(sizes)) if sizes else op).reference(*[env[x] for x in v.inputs])
        if isinstance(t, TensorType):
            result, promised = np.asarray(result), t.shape
            if not is_static(promised):
                sizes |= _learned(t, result.shape)
                promised = evaluated(promised, sizes)
            assert result.shape == promised, f"{v} has shape {result.shape}"
            if result.dtype != t.dtype.numpy:
                result = result.astype(t.dtype.numpy)
        env[v] = result


def _learned(t: TensorType, shape: tuple[int, ...]) -> dict[Name, int]:
    """What the names of a type stand for, where they are extents themselves."""
    found: dict[Name, int] = {}
    for d, n in zip(t.shape, shape, strict=True):
        if isinstance(d, Sym) and len(d.names()) == 1:
            (name,) = d.names()
            if d.terms == name.alone().terms:
                found[name] = n
    return found


def constant(v: Value) -> Any:
    """The number of a value that depends on no parameter, computed once."""
    assert v.closed, f"{v} depends on parameters"
    if v.known is None:
        (v.known,) = interpret(Function((), (v,)))
    return v.known
