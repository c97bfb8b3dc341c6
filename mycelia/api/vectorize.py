"""Vectorisation of Python functions: written down once as a graph, which then runs for all examples together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.api.jit import Jitted
from mycelia.api.native import Native
from mycelia.eager import REFUSED, Tensor, as_value, default_generator, wrap
from mycelia.eager.dispatch import mode, must
from mycelia.eager.random import furthest
from mycelia.eager.trace import Traced, run, size_of_an_example, trace
from mycelia.errors import ArgumentError, CallError, CaptureError, ShapeError
from mycelia.ir import Value, sizes_born
from mycelia.names import listening
from mycelia.sizes import NeedsSize, known_equal
from mycelia.transforms.vmap import batch, lockstep
from mycelia.tree import Structure, flatten, unflatten
from mycelia.types import TensorType

Axes = Any  # an axis, None, or a nest of them like the arguments
RANDOMNESS = ("different", "same", "error")  # of the numbers that examples draw


@contextmanager
def in_lane(randomness: str, lane: Tensor) -> Iterator[None]:
    """Inside the block random numbers are those of the example that `lane` names."""
    before = mode.lanes
    if randomness != "same":
        mode.lanes = (*before, lane if randomness == "different" else REFUSED)
    try:
        yield
    finally:
        mode.lanes = before


@contextmanager
def collecting_conditions() -> Iterator[list[Value]]:
    """Inside the block what must hold, and is known only when the graph runs, is written into a list."""
    before, mode.asked = mode.asked, []
    try:
        yield mode.asked
    finally:
        mode.asked = before


@contextmanager
def undoing_draws(always: bool = False) -> Iterator[None]:
    """If the block finds no graph, the random numbers that it drew are drawn again in another way: also those that a
    block inside it has drawn. With `always`, nothing has been drawn in any case.
    """
    drawn: list[Any] = []
    before, mode.drawn = mode.drawn, drawn
    try:
        yield
    except CaptureError:
        always = True
        raise
    finally:
        mode.drawn = before
        if before is not None and not always:
            before.extend(drawn)
        for stream, counter in reversed(drawn) if always else ():
            stream.counter._data = counter


def _one_each(functions: tuple[Callable[..., Any], ...], in_axes: Axes, out_axes: Axes) -> Callable[..., Any]:
    """As many functions as there are examples, such as networks that learn together: each is given one example."""

    def ensemble(*args: Any) -> Any:
        leaves, structure = flatten(args)
        axes = _matched(in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args), structure, "in_axes")
        sizes = {x.shape[a] for x, a in zip(leaves, axes, strict=True) if a is not None}
        if not sizes <= {len(functions)}:
            raise ArgumentError(
                f"{len(functions)} cells are given as many examples, and not {sizes.pop()}", given={"in_axes": in_axes}
            )
        fronts = [x if a is None else _moved(x, a, 0) for x, a in zip(leaves, axes, strict=True)]
        found = []
        for i, fn in enumerate(functions):
            one = [_example(x, a, i) for x, a in zip(fronts, axes, strict=True)]
            found.append(flatten(fn(*unflatten(structure, one))))
        wanted = _matched(out_axes, found[0][1], "out_axes")
        columns = zip(*[out for out, _ in found], strict=True)
        return unflatten(found[0][1], [_stacked(c, a) for c, a in zip(columns, wanted, strict=True)])

    return ensemble


@listening
def vmap(
    fn: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, *, randomness: str = "different"
) -> Callable[..., Any]:
    """`fn` for many examples at once, which lie along `in_axes` of the arguments (None: the same for all).

    Each example draws random numbers of its own; with `randomness="same"` all draw the same, with "error" none may.

    >>> vmap(lambda x, y: x * y + 1.0, in_axes=(0, None))(Tensor([1.0, 2.0]), Tensor(10.0)).tolist()
    [11.0, 21.0]
    """
    if not callable(fn):
        raise ArgumentError(
            f"vmap maps a function, and a {type(fn).__name__} is none",
            given={"fn": fn},
            hint="pass the function itself, vmap(f)(x), and not what it returns, vmap(f(x))",
        )
    if hasattr(fn, "__each__"):
        return _one_each(tuple(fn.__each__()), in_axes, out_axes)
    if randomness not in RANDOMNESS:
        raise ArgumentError(f"randomness cannot be {randomness!r}", hint=f"choose one of {', '.join(RANDOMNESS)}")

    def mapped(*args: Any) -> Any:
        leaves, structure = flatten(args)
        axes = _matched(in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args), structure, "in_axes")
        plain, leaves, axes = _apart(leaves, axes)
        arguments = [x if isinstance(x, Tensor) else Tensor(x) for x in leaves]
        size = _size(arguments, axes)
        fronts = [x if a is None else _moved(x, a, 0) for x, a in zip(arguments, axes, strict=True)]
        lane = wrap(np.arange(size, dtype=np.uint32))
        fronts, axes = [*fronts, lane], [*axes, 0]
        types = [TensorType(x.dtype, x.shape[a is not None :]) for x, a in zip(fronts, axes, strict=True)]

        changed: list[int] = []

        def each(*flat: Tensor) -> Any:
            before = [x._data for x in flat]
            with in_lane(randomness, flat[-1]), collecting_conditions() as asked:
                out = fn(*unflatten(structure, _together(plain, flat[:-1])))
            changed[:] = [i for i, x in enumerate(flat) if x._data is not before[i]]
            wrong = tuple([wrap(p.reduce_any(p.logical_not(v))) for v in asked])
            return out, wrong, tuple([flat[i].detached() for i in changed])

        try:
            with undoing_draws(always=known_equal(size, 0)):  # where there are no examples, none of them draws
                traced = trace(each, types)
            out, wrong, written = _run(traced, size, fronts, axes, types, (out_axes, 0, 0))
        except NeedsSize as reason:
            raise size_of_an_example(reason) from None
        if mode.capturing:
            for told in wrong:
                must(p.logical_not(as_value(told)))
        elif any(told.numbers().any() for told in wrong):
            return _looped(fn, args, in_axes, out_axes, randomness)  # which raises, at the example that is wrong
        for i, new in zip(changed, written, strict=True):
            arguments[i].become(_moved(new, 0, _of_each(axes[i])))
        return out

    def vectorized(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise CallError(
                "what vmap gives takes arguments by place, as in_axes counts them",
                given=kwargs,
                hint="give them without their names, or bind them first: vmap(lambda x: f(x, k=1))",
            )
        from mycelia.api.seeming import must_run_once  # which knows the models: an import needs none of them

        if not mode.capturing and must_run_once(fn):
            with suppress(CaptureError, NeedsSize):
                return whole(*args)
            return mapped(*args)  # behind the error, which is none of the program's
        try:
            with undoing_draws():
                return mapped(*args)
        except CaptureError as reason:  # it branches on a tensor, say: that takes more than calling it
            if mode.capturing:
                raise
            first = reason
        try:
            return whole(*args)
        except (CaptureError, NeedsSize):
            raise first from None
        finally:
            del first  # which knows this frame, and so all arguments

    def one_by_one(*args: Any) -> Any:
        return _looped(fn, args, in_axes, out_axes, randomness)

    # the interpreter of Python knows the meaning of it; that there is machine code for it, nobody has asked for
    whole = Jitted(one_by_one, False, {"backend": "", "dynamic": 0}, strict=False)
    return vectorized


def _looped(fn: Callable[..., Any], args: tuple[Any, ...], in_axes: Axes, out_axes: Axes, randomness: str) -> Any:
    """What `vmap` means: one example after the other. Only where something goes wrong it is computed so."""
    leaves, structure = flatten(args)
    axes = _matched(in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args), structure, "in_axes")
    plain, leaves, axes = _apart(leaves, axes)
    arguments = [x if isinstance(x, Tensor) else Tensor(x) for x in leaves]
    fronts = [x if a is None else _moved(x, a, 0) for x, a in zip(arguments, axes, strict=True)]
    examples = [[_example(x, a, i) for x, a in zip(fronts, axes, strict=True)] for i in range(_size(arguments, axes))]
    start, found, ends = default_generator.get_state(), [], [default_generator.counter.alias()]
    for i, one in enumerate(examples):
        default_generator.set_state(start)  # examples draw at the same time: what tells them apart is the lane
        with in_lane(randomness, wrap(np.asarray(i, np.uint32))):
            found.append(flatten(fn(*unflatten(structure, _together(plain, one)))))
        ends.append(default_generator.counter.alias())
    default_generator.counter.become(furthest(p.concat([p.reshape(e, (1, 2)) for e in ends], 0)))
    wanted = _matched(out_axes, found[0][1], "out_axes")
    columns = zip(*[out for out, _ in found], strict=True)
    made = [_stacked(c, a) if isinstance(c[0], Tensor) else c[0] for c, a in zip(columns, wanted, strict=True)]
    return unflatten(found[0][1], made)


def _apart(
    leaves: Sequence[Any], axes: Sequence[int | None], later: tuple[type, ...] = ()
) -> tuple[dict[int, Any], list[Any], list[int | None]]:
    """Python's numbers and texts that all examples share, by their places: they stay what they are, so that they can
    be an axis, a mode, or a factor that leaves a tensor its type; and the other leaves, with their axes. Numbers are
    also those `later`, which a capture does not know yet.
    """
    stay = (bool, int, float, complex, str, *later)
    plain = {i: x for i, (x, a) in enumerate(zip(leaves, axes, strict=True)) if a is None and type(x) in stay}
    others = [i for i in range(len(leaves)) if i not in plain]
    return plain, [leaves[i] for i in others], [axes[i] for i in others]


def _together(plain: dict[int, Any], others: Sequence[Any]) -> list[Any]:
    """All leaves in their order: what `_apart` took apart."""
    rest = iter(others)
    return [plain[i] if i in plain else next(rest) for i in range(len(plain) + len(others))]


def _of_each(axis: int | None) -> int:
    """The axis of an argument that was written to."""
    if axis is None:
        raise ArgumentError(
            "an argument that all examples share is written to by each of them",
            hint="give each its own: an axis of in_axes instead of None",
        )
    return axis


def _example(x: Tensor, axis: int | None, i: int) -> Tensor:
    return x if axis is None else x[i]


def _stacked(column: Sequence[Tensor], axis: int | None) -> Tensor:
    if axis is None:
        return column[0]
    rows = [p.reshape(x, (1, *x.shape)) for x in column]
    return _moved(p.concat(rows, 0), 0, axis)


def _run(
    traced: Traced,
    size: int,
    fronts: Sequence[Tensor],
    axes: Sequence[int | None],
    types: Sequence[TensorType],
    out_axes: Axes,
) -> Any:
    """The graph for all examples, at these arguments."""
    count = sum(1 for o in traced.others if o is None)
    wanted = _matched(out_axes, traced.structure, "out_axes")
    placed = [a for a, other in zip(wanted, traced.others, strict=True) if other is None]
    given = [lockstep(t, size) if a is not None else t for t, a in zip(types, axes, strict=True)]
    outside = traced.function.types[len(types) :]
    many = batch(traced.function, size, (*given, *outside), tuple(a is not None for a in placed))
    for i in range(count):
        if placed[i] is None and many.result_types[i] != traced.function.result_types[i]:
            raise ArgumentError("a result depends on the example, and out_axes says None for it", given={"result": i})
    inputs = [*fronts, *traced.captured]
    whole = not mode.capturing and (many.effects or sizes_born(many))  # op by op, sizes inside have no numbers
    results = Native(many).apply(inputs) if whole else run(many, inputs)
    placed_ones = [r if a is None else _moved(r, 0, a) for r, a in zip(results, placed, strict=True)]
    return traced.results([r.alias() for r in placed_ones])  # each a tensor of its own: they are stacked examples


def _matched(axes: Axes, structure: Structure, what: str) -> list[int | None]:
    """An axis for every leaf: one number speaks for all leaves below it."""
    if axes is None or isinstance(axes, int):
        return [axes] * structure.leaves
    others = isinstance(axes, dict) and axes.keys() != set(structure.keys)
    parts = [axes[key] for key in structure.keys] if isinstance(axes, dict) and not others else list(axes)
    if structure.kind is None or others or len(parts) != len(structure.children):
        raise ArgumentError(
            f"{what} does not look like the {'arguments' if what == 'in_axes' else 'results'}",
            given={what: axes, "their number": len(structure.children)},
            hint="give one axis for all, or one for each",
        )
    return [a for part, child in zip(parts, structure.children, strict=True) for a in _matched(part, child, what)]


def _size(arguments: Sequence[Tensor], axes: Sequence[int | None]) -> int:
    found: dict[int, tuple[int, ...]] = {}
    for x, a in zip(arguments, axes, strict=True):
        if a is not None:
            if not -x.ndim <= a < x.ndim:
                raise ShapeError(
                    f"vmap along axis {a} of a tensor of shape {x.shape}, which it does not have",
                    hint="in_axes says along which axis of each argument the examples lie; None: the same for all",
                )
            found[x.shape[a]] = x.shape
    if len(found) != 1:
        raise ShapeError(
            "vmap needs one number of examples" + (", and was given none" if not found else ""),
            given={f"{n} examples": shape for n, shape in found.items()},
            hint="in_axes says along which axis of each argument the examples lie, and None where there are none",
        )
    return next(iter(found))


def _moved(x: Tensor, source: int, destination: int) -> Tensor:
    return p.moveaxis(x, source % x.ndim, destination % x.ndim)
