"""Functions of several ops that eager mode runs as one native program, forward and on the way back.

Op by op every one of them reads and writes memory: a softmax of large tensors takes five passes, its gradient eight.
As one program it takes what it takes inside of `jit`. Which way is taken is decided by the function and by the types of
its operands, never by how often it was called: the same call gives the same bits. One program serves all sizes of a
class (see `eager.generic`). A function of many ops is one program from a few hundred elements on: Python takes longer
for each of them than for a whole program.

A function may be fused if all that matters to it are its arguments; that is said by whoever decorates it. What turns
out otherwise while it is written down (it draws random numbers, it reads tensors that it was not given) runs op by op.
So does a call of a function that must not find certain numbers in its operands, and would: op by op it is told which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from mycelia import primitives as p
from mycelia.api.native import Native
from mycelia.backends import NATIVE, usable
from mycelia.eager import Tensor, dispatch, wrap
from mycelia.eager.dispatch import MEMORY, Concrete, mode
from mycelia.eager.generic import named
from mycelia.eager.trace import Traced, trace
from mycelia.eager.writing import writing, written
from mycelia.ir import Value
from mycelia.names.keywords import handing_on
from mycelia.types import DType, TensorType, Type, type_of

F = TypeVar("F", bound=Callable[..., Any])
Key = tuple[Any, ...]
MANY = 8  # ops, for which Python takes longer than for a program, however few the elements
EARLY = 64  # times fewer elements are worth a program then: below that nobody waits for a compiler
PLAIN = frozenset((int, float, bool, str, type(None), DType, np.dtype, type))


def fused(fn: F) -> F:
    """A decorator for a pure function of tensors: with large operands it is one native program in eager mode.

    >>> @fused
    ... def norm(x, epsilon=1e-5):
    ...     return x / ((x * x).mean() + epsilon) ** 0.5
    >>> norm(Tensor(np.full((300, 300), 2.0, np.float32))).max().item() < 1.0001
    True
    """
    return _fused(fn, 1)


def fused_early(fn: F) -> F:
    """The same for a function of at least `MANY` ops, whatever its arguments are: it is one program much sooner.

    >>> @fused_early
    ... def bell(x):
    ...     return ((x - x.mean()) ** 2 / -2 / ((x - x.mean()) ** 2).mean()).exp()
    >>> bell(Tensor(np.arange(1000.0))).max().item() > 0.999
    True
    """
    return _fused(fn, EARLY)


def _fused(fn: F, sooner: int) -> F:
    programs = _Programs(fn)

    @wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        if mode.capturing:
            return fn(*args, **kwargs)
        elements = 0
        for x in args:
            if isinstance(x, Tensor):
                elements += x.size
        if 2 * elements * sooner < dispatch.LARGE:  # a result is as large as its operands, more or less
            return fn(*args, **kwargs)
        program = programs.at(args, kwargs)
        found = None
        if program is not None:
            found = program([x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)])
        return fn(*args, **kwargs) if found is None else found

    handing_on.add(run.__code__)  # type: ignore[attr-defined]  # a function, though wraps does not say so
    return run  # type: ignore[return-value]


class _Unclear(Exception):
    """An argument that says not by itself what is computed."""


class _Program:
    """A function as a native program, for some arguments that are no tensors and some types of those that are."""

    def __init__(self, traced: Traced) -> None:
        """`traced` gives what the function returns, and a list of what must not be."""
        self.traced, fn = traced, traced.function
        asks = traced.results([wrap(v) for v in fn.results])[1]
        split = len(fn.results) - len(asks)
        self.native = Native(fn.with_results(fn.results[:split]), backend=usable(NATIVE))
        self.asks = Native(fn.with_results(fn.results[split:]), backend=usable(NATIVE)) if asks else None
        self._none = asks
        self._one = split == 1 and isinstance(traced.results([wrap(v) for v in fn.results])[0], Tensor)

    def __call__(self, tensors: list[Tensor]) -> Any:
        """The results; None if something is asked of the operands that does not hold."""
        arrays = [x._data for x in tensors]
        if writing:
            for data in arrays:
                written(data)
        if self.asks is not None and any(self.asks.run(arrays)):
            return None
        found = self.native.apply(tensors)
        return found[0] if self._one else self.traced.results([*found, *self._none])[0]


class _Programs:
    """The programs of a function. Those for exact types are found at once, and many of them are the same."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.exact: dict[Key, _Program | None] = {}
        self.general: dict[Key, _Program | None] = {}

    def at(self, args: Sequence[Any], kwargs: dict[str, Any]) -> _Program | None:
        """The program for these arguments, made now if there is none; None where it runs op by op."""
        try:
            key = tuple(map(_key, args))
            if kwargs:
                key = (*key, *[(name, _key(x)) for name, x in kwargs.items()])
        except _Unclear:
            return None
        if key not in self.exact:
            if len(self.exact) >= MEMORY:
                self.exact.clear()
            self.exact[key] = self._made(args, kwargs)
        return self.exact[key]

    def _made(self, args: Sequence[Any], kwargs: dict[str, Any]) -> _Program | None:
        types = [type_of(x._data) for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        known = tuple(None if isinstance(x, Tensor) else _key(x) for x in (*args, *kwargs.values()))
        found = named(types)
        about = (known, tuple(kwargs), tuple(types) if found is None else found[0])
        if about not in self.general:
            self.general[about] = self._traced(args, kwargs, types if found is None else found[1])
        if self.general[about] is not None or found is None:
            return self.general[about]
        return self._traced(args, kwargs, types)

    def _traced(self, args: Sequence[Any], kwargs: dict[str, Any], types: Sequence[Type]) -> _Program | None:
        """The program at these types, if all that matters to the function are its arguments."""
        asked: list[Value] = []
        drawn: list[Any] = []

        def on_tensors(*tensors: Tensor) -> Any:
            given = iter(tensors)
            there = [next(given) if isinstance(x, Tensor) else x for x in args]
            out = self.fn(*there, **{n: next(given) if isinstance(x, Tensor) else x for n, x in kwargs.items()})
            return out, [wrap(p.logical_not(p.reduce_all(known, tuple(range(len(known.shape)))))) for known in asked]

        before = mode.asked, mode.drawn
        mode.asked, mode.drawn = asked, drawn
        try:
            traced = trace(on_tensors, types)
            alone = not drawn and not traced.captured and not traced.function.effects
            return _Program(traced) if alone and _are_tensors(traced.function.result_types) else None
        except (Concrete, Exception):  # sizes must be numbers here, or it is a mistake: the ops themselves tell it
            return None
        finally:
            for stream, counter in reversed(drawn):
                stream.counter._data = counter
            mode.asked, mode.drawn = before


def _are_tensors(types: Sequence[Type]) -> bool:
    return all(isinstance(t, TensorType) for t in types)


def _key(x: Any) -> Any:
    """What a program depends on of an argument: of a tensor its type, of others all that they are."""
    if isinstance(x, Tensor):
        data = x._data
        if data.__class__ is not np.ndarray:
            raise _Unclear
        return data.dtype, data.shape
    kind = x.__class__
    if kind is tuple or kind is list:
        return (kind, *map(_key, x))
    if kind not in PLAIN:
        raise _Unclear
    return kind, repr(x) if kind is float else x
