"""Gradients that the user gives (`Cell.bprop`): on the tape here, inside a captured program in `api.given_models`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from mycelia import primitives as p
from mycelia.api.linear import fitting
from mycelia.eager import Tensor, as_value, wrap
from mycelia.eager.dispatch import mode
from mycelia.eager.tape import Tape, put, recording, set_aside, tape_of
from mycelia.eager.trace import trace
from mycelia.errors import ArgumentError, GradientError
from mycelia.ir import Function, Value
from mycelia.tree import Structure, flatten, tree_map, unflatten
from mycelia.types import cotangent_type

Mask = tuple[bool, ...]


def with_gradient(construct: Callable[..., Any], bprop: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What `construct` gives at `args`, whose gradient is `bprop(*args, out, dout)`: one for each argument.

    What `construct` reads beside its arguments, parameters among them, has no gradient through it.

    >>> from mycelia.api.grad import grad
    >>> clipped = lambda x: with_gradient(lambda x: x * 2, lambda x, out, dout: (dout * 0 + 1,), (x,))
    >>> grad(clipped)(Tensor([1.0, 3.0])).tolist()
    [1.0, 1.0]
    """
    leaves, nest = flatten(args)
    graph = mode.capturing and any(x._data.__class__ is Value for x in leaves if isinstance(x, Tensor))
    out = in_the_graph(construct, bprop, leaves, nest) if graph else construct(*args)
    if not recording():
        return out
    found, shape = flatten(out)
    tensors = [x for x in leaves if isinstance(x, Tensor)]
    results = [x for x in found if isinstance(x, Tensor)]
    tape = tape_of(tensors)
    if tape is None or not results:
        return tree_map(lambda x: x.detached() if isinstance(x, Tensor) else x, out)
    held, arrays = tuple(x._data for x in tensors), tuple(x._data for x in results)
    place = put(tape, GivenCall(bprop, tape, (nest, leaves), (shape, found)), tensors, held, arrays)
    made = [
        wrap(o, tape, place + i if x.dtype.is_inexact else -1)
        for i, (o, x) in enumerate(zip(arrays, results, strict=True))
    ]
    return unflatten(shape, with_tensors(found, made))


def by_place(construct: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments in the order of the parameters, as a `bprop` gives their gradients.

    >>> by_place(lambda x, y, z=3: x, (1,), {"y": 2})
    (1, 2)
    """
    bound = signature(construct).bind(*args, **kwargs)
    if bound.kwargs:
        raise ArgumentError(
            "a cell with a bprop takes its arguments by place",
            given={"only by name": ", ".join(bound.kwargs)},
            hint="leave out the * in front of them in construct, as bprop gives their gradients by place",
        )
    return bound.args


class GivenCall:
    """One call of a function with a gradient of its own, on the tape."""

    __slots__ = ("args", "bprop", "out", "tape")

    def __init__(
        self,
        bprop: Callable[..., Any],
        tape: Tape,
        args: tuple[Structure, list[Any]],
        out: tuple[Structure, list[Any]],
    ) -> None:
        self.bprop, self.tape = bprop, tape
        self.args, self.out = args, out  # nests, with the leaves that are no tensors

    def pull(self, needed: Mask, ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        """Cotangents of the inputs, as arrays."""
        with set_aside(), tape_closed(self.tape):  # parameters that it reads are on the tape still
            cts = [wrap(np.zeros_like(o) if c is None else np.asarray(c)) for c, o in zip(ct, out, strict=True)]
            found = self.asked(cts, [wrap(o) for o in out], [wrap(x) for x in inputs])
        return [None if g is None else g.numbers() for g in found]

    def derive(self, needed: Mask, ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        """Cotangents of the inputs, as tensors that can be differentiated again."""
        cts = [
            wrap(np.zeros(o.shape, o.dtype.numpy)) if c is None else c if isinstance(c, Tensor) else Tensor(c)
            for c, o in zip(ct, out, strict=True)
        ]
        return self.asked(cts, out, inputs)

    def push(self, tangents: Sequence[Tensor | None], inputs: Sequence[Tensor]) -> Sequence[Tensor | None]:
        """There is no way forward."""
        raise forward_mode()

    def asked(self, cts: Sequence[Any], out: Sequence[Any], inputs: Sequence[Any]) -> list[Tensor | None]:
        """What the user's function gives for each tensor among the arguments."""
        nest, leaves = self.args
        shape, found = self.out
        args = unflatten(nest, with_tensors(leaves, inputs))
        given = self.bprop(
            *args, unflatten(shape, with_tensors(found, out)), unflatten(shape, with_tensors(found, cts))
        )
        gradients, lie = flatten(given)
        try:
            places = matched_leaves(nest, lie)
        except UnlikeArgument as numbers:
            raise wrong_number(self.bprop, *numbers.args) from None
        flat = flatten(args)[0]
        return [
            None if place is None or not x.dtype.is_inexact else fitting(gradients[place], x, "gradient")
            for x, place in zip(flat, places, strict=True)
            if isinstance(x, Tensor)
        ]


def in_the_graph(construct: Callable[..., Any], bprop: Callable[..., Any], leaves: list[Any], nest: Structure) -> Any:
    """The same, while a graph is being written (for `vmap`)."""
    originals = [as_value(x) for x in leaves if isinstance(x, Tensor)]
    n, types = len(originals), [v.type for v in originals]
    forward = trace(lambda *new: construct(*unflatten(nest, with_tensors(leaves, new))), types)
    outs = forward.function.result_types
    m = len(outs)

    def back(*new: Any) -> Any:
        dout = forward.results(new[n + m :])
        return bprop(*unflatten(nest, with_tensors(leaves, new[:n])), forward.results(new[n : n + m]), dout)

    told = trace(back, [*types, *outs, *outs])
    tensors = [other is None for other in told.others]
    try:
        gradients = gradient_places(
            told.function, told.structure, tensors, nest, [isinstance(x, Tensor) for x in leaves]
        )
    except UnlikeArgument as numbers:
        raise wrong_number(bprop, *numbers.args) from None
    first, last = (Closure(t.function, [as_value(x) for x in t.captured]) for t in (forward, told))
    return forward.results([wrap(v) for v in one_value(first, last, originals, gradients)])


class Closure(NamedTuple):
    """A function in the graph, and what it reads beside its arguments."""

    function: Function
    captured: Sequence[Value]


class UnlikeArgument(Exception):
    """A gradient lies in another way than its argument: how many there are, and how many there should be."""


def matched_leaves(nest: Structure, shape: Structure) -> list[int | None]:
    """For each leaf of the arguments, which leaf of the gradients is its own (None: nothing flows)."""
    counter = iter(range(shape.leaves))

    def walk(arg: Structure, gradient: Structure) -> list[int | None]:
        if gradient.kind is type(None):
            return [None] * arg.leaves
        if arg.kind is None or gradient.kind is None or len(arg.children) != len(gradient.children):
            if arg.kind is None and gradient.kind is None:
                return [next(counter)]
            raise UnlikeArgument(gradient.leaves, arg.leaves)
        return [place for pair in zip(arg.children, gradient.children, strict=True) for place in walk(*pair)]

    if shape.kind is None and len(nest.children) == 1:
        shape = Structure(tuple, (), (shape,))
    if shape.kind not in (tuple, list) or len(shape.children) != len(nest.children):
        raise UnlikeArgument(len(shape.children) if shape.kind is not None else 1, len(nest.children))
    return walk(nest, shape)


def gradient_places(
    back: Function, shape: Structure, tensors: Sequence[bool], nest: Structure, given: Sequence[bool]
) -> list[int | None]:
    """For each tensor among the arguments, which result of `back` is its gradient (None: nothing flows).

    `shape` and `tensors` say how the results lie, `nest` and `given` the arguments.
    """
    results = {leaf: i for i, leaf in enumerate(i for i, tensor in enumerate(tensors) if tensor)}
    found = [leaf for leaf, tensor in zip(matched_leaves(nest, shape), given, strict=True) if tensor]
    if any(leaf is not None and leaf not in results for leaf in found):
        raise UnlikeArgument("other things than", len(found))
    told = [None if leaf is None else results[leaf] for leaf in found]
    for place, x in zip(told, back.params, strict=False):
        if place is not None and x.type.differentiable and back.results[place].shape != x.shape:
            raise UnlikeArgument("other shapes of", len(found))
    return told


def one_value(
    forward: Closure, back: Closure, originals: Sequence[Value], gradients: Sequence[int | None]
) -> Sequence[Value]:
    """The results, as one value of the graph that knows both functions."""
    operands = [*originals, *forward.captured, *back.captured]
    types, outs = [v.type for v in operands], forward.function.result_types
    n, f, m = len(originals), len(forward.captured), len(outs)
    smooth = [t.differentiable for t in outs]

    def first(*values: Value) -> tuple[Value, ...]:
        return forward.function(*values[: n + f])

    def both(*values: Value) -> tuple[Value, ...]:
        results = first(*values)
        return (*results, *values[:n], *results, *values[n + f :])

    def last(*values: Value) -> tuple[Value, ...]:
        inputs, results, rest = values[:n], values[n : n + m], values[n + m :]
        captured, cts = rest[: len(back.captured)], iter(rest[len(back.captured) :])
        douts = [next(cts) if s else p.zeros(o.dtype, o.shape) for s, o in zip(smooth, results, strict=True)]
        told = back.function(*inputs, *results, *douts, *captured)
        flowing = [None if place is None else told[place] for place in gradients]
        flowing += [None] * (len(types) - n)
        return tuple(
            p.zeros(x.dtype, x.shape) if g is None else g if g.dtype is x.dtype else p.cast(g, x.dtype)
            for g, x in zip(flowing, operands, strict=True)
            if x.type.differentiable
        )

    residuals = [*types[:n], *outs, *types[n + f :]]
    cotangents = [cotangent_type(t) for t in outs if t.differentiable]
    op = p.CustomVjp(
        Function.build(first, *types),
        Function.build(both, *types),
        Function.build(last, *residuals, *cotangents),
        tuple(range(n, n + m)),
    )
    return tuple(op(*operands))


@contextmanager
def tape_closed(tape: Tape) -> Iterator[None]:
    """Inside the block nothing is written on the tape."""
    before, tape.open = tape.open, False
    try:
        yield
    finally:
        tape.open = before


def with_tensors(
    leaves: Sequence[Any], tensors: Sequence[Any], is_one: Callable[[Any], bool] = lambda x: isinstance(x, Tensor)
) -> list[Any]:
    """The leaves, with other tensors where there were tensors."""
    new = iter(tensors)
    return [next(new) if is_one(x) else x for x in leaves]


def wrong_number(bprop: Callable[..., Any], found: Any, wanted: int) -> ArgumentError:
    """A `bprop` that gives more or fewer gradients than there are arguments."""
    return ArgumentError(
        f"{getattr(bprop, '__qualname__', 'bprop')} gives {found} gradients for {wanted} arguments",
        given={"gradients": found, "arguments": wanted},
        hint="return a tuple with one gradient for each argument of construct, such as (dx, dy)",
    )


def forward_mode() -> GradientError:
    """A gradient given by `bprop` goes backwards only."""
    return GradientError(
        "a cell with a bprop has no forward-mode derivative",
        hint="use reverse mode (grad, vjp), or leave bprop out",
    )
