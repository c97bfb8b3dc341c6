"""Functions: closed graphs with parameters, results and effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from mycelia.frozen import frozen
from mycelia.ir.extents import type_names
from mycelia.ir.purity import Purity, may_move
from mycelia.ir.region import region
from mycelia.ir.value import Param, Value, fresh_params, located, serials
from mycelia.sizes import Name
from mycelia.types import Type


@frozen
class Function:
    """Parameters, results, and effects: what must happen, in this order, whether or not somebody reads it. Nothing
    outside is mentioned, so equal functions are equal programs.
    """

    params: tuple[Value, ...]
    results: tuple[Value, ...]
    effects: tuple[Value, ...] = ()  # every ordered value, see `mycelia.ir.region`

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
        moment = next(serials)
        with region() as inside:
            results = python(*params)
        listed = tuple(results) if isinstance(results, tuple | list) else (results,)
        return Function.close(params, listed, inside.effects, moment)

    @staticmethod
    def close(
        params: Sequence[Value], results: Sequence[Value], effects: Sequence[Value] = (), moment: int = 0
    ) -> tuple[Function, tuple[Value, ...]]:
        """The closed function of `params`, then of every other parameter that `results` and `effects` mention; and
        those others. What may not move and was made before `moment` stays where it is: it is one of the others.
        """
        roots = (*effects, *results)
        own = set(params)

        def outside(v: Value) -> bool:
            return type(v.op) is Param or (v.serial < moment and not may_move(v))

        captured = tuple(_last(roots, own, outside))
        canonical = [Value(Param(slot, v.type)) for slot, v in enumerate((*params, *captured))]
        with region(closed=True) as inside:
            closed = substitute(roots, dict(zip((*params, *captured), canonical, strict=True)))
        assert len(inside.effects) == len(effects), "a function reads effects of another one"
        return Function(tuple(canonical), closed[len(effects) :], closed[: len(effects)]), captured

    @cached_property
    def types(self) -> tuple[Type, ...]:
        return tuple([p.type for p in self.params])

    @cached_property
    def result_types(self) -> tuple[Type, ...]:
        return tuple([r.type for r in self.results])

    @property
    def roots(self) -> tuple[Value, ...]:
        """All that must be computed: effects, in order, and results."""
        return (*self.effects, *self.results)

    @cached_property
    def purity(self) -> Purity:
        """What may be done with a call of this function. A size that comes out of data in it, and of which its results
        say nothing, is nobody else's concern.
        """
        told = frozenset[Name]().union(*map(type_names, self.result_types))
        own = {v for v in self.values() if (name := getattr(v.op, "born", None)) is not None and name not in told}
        return max((v.op.purity for v in self.values() if v not in own), default=Purity.TOTAL)

    @cached_property
    def makes_sizes(self) -> bool:
        """Whether a size comes out of data in it: then no two runs of it can share a step."""
        return any(getattr(v.op, "born", None) is not None for v in self.values())

    @cached_property
    def static(self) -> bool:
        """Whether all sizes in it are numbers."""
        return all(v.type.static and (type(v.op) is Param or v.op.static) for v in self._order)  # type: ignore[union-attr]  # checked

    def __call__(self, *args: Value) -> tuple[Value, ...]:
        """Inline this function at `args`. Its effects become effects of the function that is being made."""
        return substitute(self.roots, dict(zip(self.params, args, strict=True)))[len(self.effects) :]

    def values(self) -> list[Value]:
        """Everything the effects and the results need, inputs before users, effects in order."""
        return list(self._order)

    @cached_property
    def _order(self) -> tuple[Value, ...]:
        return tuple(toposort(self.roots))

    def with_results(self, results: Iterable[Value]) -> Function:
        """The same effects, and other results of the same values."""
        return Function(self.params, tuple(results), self.effects)

    def mapped(self, visit: Callable[[Value, tuple[Value, ...]], Value | tuple[Value, ...]]) -> Function:
        """The function where each value is what `visit` makes of it and of its new inputs: `v.again(inputs)` is the
        same again. In place of an op with several results it may give several values.
        """
        new: dict[Value, Value] = {p: p for p in self.params}
        parts: dict[Value, tuple[Value, ...]] = {}
        with region(closed=True) as inside, located(None) as place:
            for v in self.values():
                if v in new:
                    continue
                if parts and v.inputs and v.inputs[0] in parts:
                    new[v] = parts[v.inputs[0]][v.op.index]  # type: ignore[union-attr]  # only projections read a tuple
                    continue
                place.location = v.location
                made = visit(v, tuple(map(new.__getitem__, v.inputs)))
                if isinstance(made, tuple):
                    parts[v] = made
                else:
                    new[v] = made
        return Function(self.params, tuple(new[r] for r in self.results), tuple(inside.effects))

    def draw(self) -> str:
        """The function as a picture: SVG, with data and order, functions inside ops and effects."""
        from mycelia.ir.drawing import draw  # pictures know functions, and functions can be drawn

        return draw(self)

    def __str__(self) -> str:
        from mycelia.ir.text import show  # the printer knows functions, and functions can be printed

        return show(self)


def _last(roots: Sequence[Value], own: set[Value], outside: Callable[[Value], bool]) -> list[Value]:
    """The first values on every way up from `roots` that are `outside` and not one's own."""
    found: dict[Value, None] = {}
    seen: set[Value] = set(own)
    stack: list[tuple[Value, bool]] = [(r, False) for r in reversed(roots)]
    while stack:
        v, ready = stack.pop()
        if ready:
            found[v] = None
        elif v not in seen:
            seen.add(v)
            if outside(v):
                stack.append((v, True))
            else:
                stack += [(x, False) for x in reversed(v.inputs)]
    return list(found)


def toposort(roots: Iterable[Value]) -> list[Value]:
    """Every value reachable from `roots`, inputs before users."""
    order: dict[Value, None] = {}
    stack: list[Value | None] = list(roots)  # None: the inputs of the one below are done
    stack.reverse()
    pop, push = stack.pop, stack.append
    while stack:
        value = pop()
        if value is None:
            order[pop()] = None  # type: ignore[index]  # a value lies below each None
        elif value not in order:
            if value.inputs:
                push(value)
                push(None)
                for x in value.inputs[::-1]:  # a comprehension would take twice as long
                    if x not in order:
                        push(x)
            else:
                order[value] = None
    return list(order)


def substitute(roots: Sequence[Value], new: Mapping[Value, Value]) -> tuple[Value, ...]:
    """The same results with some values replaced; what lies behind those is not looked at. Locations stay."""
    done = dict(new)
    stack = list(reversed(roots))
    pop, push, found = stack.pop, stack.append, done.__getitem__
    with located(None) as place:
        while stack:
            v = pop()
            if v in done:
                continue
            here = len(stack)
            push(v)
            for x in v.inputs[::-1]:
                if x not in done:
                    push(x)
            if len(stack) == here + 1:
                place.location = v.location
                done[pop()] = v.again(tuple(map(found, v.inputs)))
    return tuple(map(found, roots))


def users(roots: Iterable[Value]) -> dict[Value, list[Value]]:
    """Who reads each value."""
    out: dict[Value, list[Value]] = {}
    for v in toposort(roots):
        out.setdefault(v, [])
        for x in v.inputs:
            out[x].append(v)
    return out
