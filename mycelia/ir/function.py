"""Functions: closed graphs with parameters and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mycelia.ir.value import Param, Value, fresh_params, located
from mycelia.types import Type


@dataclass(frozen=True)
class Function:
    """Parameters and results. Nothing outside is mentioned, so equal functions are equal programs."""

    params: tuple[Value, ...]
    results: tuple[Value, ...]

    @staticmethod
    def build(python: Callable[..., Any], *types: Type) -> Function:
        """Call `python` on fresh parameters and record what it computes, which must use nothing else."""
        function, captured = Function.build_open(python, *types)
        assert not captured, f"the function also reads {captured}"
        return function

    @staticmethod
    def build_open(python: Callable[..., Any], *types: Type) -> tuple[Function, tuple[Value, ...]]:
        """Like `build`, but values from outside become further parameters; they are returned beside the function."""
        params = fresh_params(types)
        results = python(*params)
        return Function.close(params, tuple(results) if isinstance(results, tuple | list) else (results,))

    @staticmethod
    def close(params: Sequence[Value], results: Sequence[Value]) -> tuple[Function, tuple[Value, ...]]:
        """The closed function of `params`, then of every other parameter that `results` mention; and those others."""
        own = set(params)
        captured = tuple(v for v in toposort(results) if type(v.op) is Param and v not in own)
        canonical = [Value(Param(slot, v.type)) for slot, v in enumerate((*params, *captured))]
        closed = substitute(results, dict(zip((*params, *captured), canonical, strict=True)))
        return Function(tuple(canonical), closed), captured

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple(p.type for p in self.params)

    @property
    def result_types(self) -> tuple[Type, ...]:
        return tuple(r.type for r in self.results)

    def __call__(self, *args: Value) -> tuple[Value, ...]:
        """Inline this function at `args`."""
        return substitute(self.results, dict(zip(self.params, args, strict=True)))

    def values(self) -> list[Value]:
        """Everything the results need, inputs before users."""
        return toposort(self.results)

    def with_results(self, results: Iterable[Value]) -> Function:
        return Function(self.params, tuple(results))

    def __str__(self) -> str:
        from mycelia.ir.text import show  # the printer knows functions, and functions can be printed

        return show(self)


def toposort(roots: Iterable[Value]) -> list[Value]:
    """Every value reachable from `roots`, inputs before users."""
    order: dict[Value, None] = {}
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        value, ready = stack.pop()
        if ready:
            order[value] = None
        elif value not in order:
            stack.append((value, True))
            stack += [(x, False) for x in reversed(value.inputs) if x not in order]
    return list(order)


def substitute(roots: Sequence[Value], new: Mapping[Value, Value]) -> tuple[Value, ...]:
    """The same results with some values replaced. Locations stay."""
    done = dict(new)
    for v in toposort(roots):
        if v not in done:
            inputs = tuple([done[x] for x in v.inputs])
            if inputs == v.inputs:
                done[v] = v
            else:
                with located(v.location):
                    done[v] = Value(v.op, inputs)
    return tuple(done[r] for r in roots)


def users(roots: Iterable[Value]) -> dict[Value, list[Value]]:
    """Who reads each value."""
    out: dict[Value, list[Value]] = {}
    for v in toposort(roots):
        out.setdefault(v, [])
        for x in v.inputs:
            out[x].append(v)
    return out
