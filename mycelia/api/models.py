"""What gradients, vectorisation and cells mean inside a captured program: models that the interpreter calls."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import unwrap
from types import CodeType, FunctionType
from typing import Any

from mycelia import primitives as p
from mycelia.api import staged, vectorize
from mycelia.api.described import Described
from mycelia.api.grad import GradOperation, grad, value_and_grad
from mycelia.api.jacobian import jacfwd, jacrev
from mycelia.api.linear import _differentiable
from mycelia.api.nested import enclosed, forked
from mycelia.capture import texts
from mycelia.capture.guards import SETTLED
from mycelia.capture.machine import Machine
from mycelia.capture.nests import flattened, rebuilt
from mycelia.capture.registered import REGISTERED
from mycelia.capture.slots import DATA
from mycelia.capture.texts import LateText
from mycelia.capture.values import Either, HostNumber, Number, UserError, is_atom, is_plain
from mycelia.capture.world import is_tensor
from mycelia.eager import Parameter, Tensor, as_value
from mycelia.eager.random import furthest, is_counter
from mycelia.eager.whole import NoWay, replayed
from mycelia.ir import Function, Param, Value, fresh_params, region, substitute, toposort
from mycelia.ir.region import innermost
from mycelia.names import MissingName, listening, missing_attribute, renamed
from mycelia.sizes import Sym, comes_from_data, known_equal
from mycelia.transforms import jvp, vjp
from mycelia.transforms.vmap import batch, lockstep
from mycelia.types import TensorType, cotangent_type, float64, uint32


class LinearizedCall:
    """One call of a function in a captured program, with its derivative beside it; see `api/staged.py`."""

    nested = True

    def __init__(
        self, machine: Any, fn: Any, args: Any, kwargs: Any, positions: Any, weights: Any, has_aux: Any
    ) -> None:
        self.machine = machine
        self.weights = (
            [weights] if type(weights) is Parameter else list(machine.all_items(weights) if weights is not None else ())
        )
        if not all(type(w) is Parameter for w in self.weights):
            machine.refuse("gradients with respect to something else than parameters")
        if len({id(w) for w in self.weights}) < len(self.weights):
            machine.refuse("a weight is given twice")
        args, kwargs = machine.all_items(args), keywords_of(machine, kwargs)
        positions = machine.plain(machine.all_items(positions))
        marked, self.leaves, self.structures = self.marked(args, positions)
        base = machine.store
        originals = [machine.value(x) for x in (*self.leaves, *self.weights)]
        fresh = fresh_params(tuple(v.type for v in originals))
        asked, machine.positions = machine.positions, {}
        around, machine.leaves = machine.leaves, machine.leaves.copy()
        try:
            with forked(machine) as inner:
                for x, param in zip((*self.leaves, *self.weights), fresh, strict=True):
                    inner.write(x, DATA, param)
                    machine.leaves[id(x)] = param
                with region() as inside:
                    outputs = machine.call(fn, marked, kwargs)
                    self.differentiated = self.results_of(machine, outputs, machine.plain(has_aux))
                    first = [machine.value(x) for x in self.differentiated]  # weights among them are still leaves
        finally:
            new = dict(zip(fresh, originals, strict=True))
            machine.leaves = around
            machine.positions = asked | moved_positions(machine.positions, new)
        self.happens = inside.effects
        self.inputs = [base.tensor(v) for v in originals]
        self.settle(machine, base, inner, outputs, fresh, originals, first)

    def marked(self, args: tuple[Any, ...], positions: Any) -> tuple[tuple[Any, ...], list[Any], list[Any]]:
        """The arguments, with new tensors in place of those that are differentiated."""
        machine, marked, leaves, structures = self.machine, list(args), [], []
        for position in positions:
            if not isinstance(position, int) or not -len(args) <= position < len(args):
                machine.refuse(f"the function has no argument {position} to differentiate")
            found, structure = flattened(machine, args[position])
            made = []
            for x in found:
                if type(x) is float:
                    x = machine.native(Tensor, (x,), {})
                if not is_tensor(x):
                    machine.refuse("an argument is differentiated and holds something else than tensors")
                stand_in = Tensor.__new__(Tensor)
                stand_in._data = machine.value(x)
                machine.real(_differentiable, stand_in, position)
                made.append(machine.store.tensor(machine.value(x)))
            marked[position] = rebuilt(machine, structure, made)
            leaves += made
            structures.append(structure)
        return tuple(marked), leaves, structures

    def settle(
        self, machine: Any, base: Any, inner: Any, outputs: Any, fresh: Sequence[Value], originals: Sequence[Value],
        first: Sequence[Value],
    ) -> None:  # fmt: skip
        """The derivative of all that the call has computed, at the original arguments."""
        mine = {id(x) for x in (*self.leaves, *self.weights)}
        values: dict[Value, int] = {}
        changes = [
            (obj, slot, held)
            for obj, slot, held in inner.differences(base)
            if not (slot == DATA and id(obj) in mine and held in fresh)
        ]
        for _, _, held in changes:
            for v in values_in(held):
                values.setdefault(v, len(values))
        listed = [*first, *values]
        self.function, captured = enclosed(machine, fresh, listed, self.happens)
        self.operands = (*originals, *captured)
        self.wrt = (*[v.type.differentiable for v in fresh], *[False] * len(captured))
        types = self.function.result_types
        self.live = tuple(i < len(first) and t.differentiable for i, t in enumerate(types))
        joint = vjp(self.function, self.wrt, self.live)
        self.given = fresh_params(tuple(cotangent_type(t) for t, m in zip(types, self.live, strict=True) if m))
        with region() as around:
            found = joint(*self.operands, *self.given)
        self.late = [v for v in around.effects if not set(toposort([v])).isdisjoint(self.given)]
        if around.effects:
            innermost().adopt([v for v in around.effects if v not in self.late])  # type: ignore[union-attr]  # `back` makes the others
        self.pulled = found[len(listed) :]
        self.whole = self.real(machine, len(first)) if not all(self.wrt[: len(fresh)]) else None
        new = dict(zip(values, found[len(first) : len(listed)], strict=True))
        for obj, slot, held in changes:
            base.slots[id(obj), slot] = obj, replaced(held, new)
        base.made |= inner.made
        self.outputs = replaced(outputs, new)
        self.firsts = [base.tensor(v) for v in found[: len(first)]]

    def real(self, machine: Any, count: int) -> Any:
        """The function of real numbers in place of whole ones, and which of its results move with those."""
        fn = Function(self.function.params, self.function.results[:count])
        whole = [not m and i < len(self.leaves) + len(self.weights) for i, m in enumerate(self.wrt)]
        types = [x.tensor.with_dtype(float64) if w else x.type for x, w in zip(fn.params, whole, strict=True)]
        try:
            params = fresh_params(tuple(types))
            found = replayed(fn, params, whole)
        except NoWay as error:
            machine.refuse(f"weights of whole numbers are differentiated through {error}")
        moves = [x is not None for x in found]
        return Function(params, tuple(x for x in found if x is not None)), tuple(whole), moves

    def pulled_whole(self, cotangents: Any) -> list[Value]:
        """The cotangents of weights of whole numbers."""
        if self.whole is None:
            return []
        fn, whole, moves = self.whole
        inputs = [x for x, w in zip(self.operands, whole, strict=True) if w]
        if not any(moves):
            return [p.zeros(x.dtype, x.shape) for x in inputs]
        cts = [ct for ct, m in zip(self.cotangents(cotangents), moves, strict=True) if m]
        given = [p.cast(ct, r.dtype) for ct, r in zip(cts, fn.results, strict=True)]
        operands = [p.cast(x, float64) if w else x for x, w in zip(self.operands, whole, strict=True)]
        pulled = vjp(fn, whole, (True,) * len(fn.results))(*operands, *given)[len(fn.results) :]
        return [p.cast(ct, x.dtype) for ct, x in zip(pulled, inputs, strict=True)]

    def results_of(self, machine: Any, outputs: Any, has_aux: bool) -> list[Any]:
        if has_aux:
            items: Any = machine.all_items(outputs) if type(outputs) in (tuple, list) else ()
            if len(items) < 2:
                machine.refuse("with has_aux the function must return the result and something beside it")
            outputs = items[0]
        outputs = machine.joined(outputs)
        found = [x for x in flattened(machine, outputs)[0] if is_tensor(x)]
        if not found:
            machine.refuse("the function returned no tensor to differentiate")
        return found

    def back(self, cotangents: Any, once: Any = False) -> Any:
        """Cotangents of the arguments and of the weights, from those of the results (ones, if not given)."""
        machine = self.machine
        cts = [ct for ct, m in zip(self.cotangents(cotangents), self.live, strict=False) if m]
        made = substitute((*self.late, *self.pulled), dict(zip(self.given, cts, strict=True)))
        smooth = iter(made[len(self.late) :])
        count_of = len(self.leaves) + len(self.weights)
        whole = iter(self.pulled_whole(cotangents))
        pulled = [next(smooth) if m else next(whole) for m in self.wrt[:count_of]]
        tensors = iter([machine.store.tensor(v) for v in pulled])
        by_argument = [rebuilt(machine, s, [next(tensors) for _ in range(leaf_count(s))]) for s in self.structures]
        return machine.store.container(list, tuple(by_argument)), machine.store.container(list, tuple(tensors))

    def cotangents(self, given: Any) -> list[Value]:
        machine = self.machine
        firsts = [machine.value(x) for x in self.firsts]
        if given is None:
            return [p.full(1, v.dtype, v.shape) for v in firsts]
        flat = flattened(machine, given)[0]
        if len(flat) != len(firsts):
            machine.refuse("cotangents that do not fit the results")
        return [self.fitting(ct, v) for ct, v in zip(flat, firsts, strict=True)]

    def fitting(self, ct: Any, v: Value) -> Value:
        machine = self.machine
        tensor = ct if is_tensor(ct) else machine.native(Tensor, (ct,), {})
        value = machine.value(tensor)
        if value.shape != v.shape:
            machine.refuse("a cotangent of another shape than its result")
        fitting: Value = p.cast(value, v.dtype) if v.dtype.is_inexact and value.dtype is not v.dtype else value
        return fitting

    def forward(self, tangents: Any) -> Any:
        """Tangents of the results, from those of the inputs."""
        machine = self.machine
        firsts = [machine.value(x) for x in self.firsts]
        given = [
            self.fitting(t, machine.value(x)) for t, x in zip(machine.all_items(tangents), self.inputs, strict=True)
        ]
        if not all(self.wrt[: len(given)]):
            machine.refuse("forward mode moves whole numbers")
        if self.function.effects:
            machine.refuse("an effect inside a forward-mode derivative, which would happen again")
        moved = iter(jvp(self.function, self.wrt, self.live)(*self.operands, *given)[len(self.function.results) :])
        out = [next(moved) if m else p.zeros(v.dtype, v.shape) for v, m in zip(firsts, self.live, strict=False)]
        return machine.store.container(list, tuple(machine.store.tensor(v) for v in out))

    # ------------------------------------------------------------------------------------- as the interpreter sees it

    def attribute(self, name: str) -> Any:
        """An attribute that the functions of `mycelia.api` read."""
        store = self.machine.store
        if name == "outputs":
            return self.outputs
        if name == "differentiated":
            return store.container(list, tuple(self.firsts))
        if name == "inputs":
            return store.container(list, tuple(self.inputs))
        if name == "recording":
            return self
        if name == "nested":
            return True
        assert name in ("back", "forward", "__enter__", "__exit__"), f"a derivative has no {name}"
        return LinearizedMethod(self, name)


class LinearizedMethod:
    """A method of a `LinearizedCall`."""

    def __init__(self, owner: LinearizedCall, name: str) -> None:
        self.owner, self.name = owner, name

    def called(self, machine: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return getattr(self.owner, self.name)(*args, **options)


def moved_positions(positions: dict[Any, Any], new: dict[Value, Value]) -> dict[Any, Any]:
    """Positions that were asked for in a function, where it is called."""
    found = {}
    for (index, extent, where), at in positions.items():
        moved = substitute([index, *[c for c, _ in where]], new)
        found[moved[0], extent, tuple(zip(moved[1:], [taken for _, taken in where], strict=True))] = at
    return found


def keywords_of(machine: Any, kwargs: Any) -> dict[str, Any]:
    items = machine.whole(kwargs)
    return dict(zip(items[::2], items[1::2], strict=True))


def leaf_count(structure: Any) -> int:
    return structure.leaves  # type: ignore[no-any-return]


def values_in(held: Any) -> list[Value]:
    """The values of the graph in what a slot holds."""
    if isinstance(held, Value):
        return [held]
    if isinstance(held, Number):
        return [held.value]
    if isinstance(held, LateText):
        return texts.values(held)
    if isinstance(held, Either):
        return [held.cond, *values_in(held.yes), *values_in(held.no)]
    return [v for x in held for v in values_in(x)] if isinstance(held, tuple) else []


def replaced(held: Any, new: dict[Value, Value]) -> Any:
    """What a slot holds, with other values of the graph."""
    if isinstance(held, Value):
        return new.get(held, held)
    if isinstance(held, Number):
        return Number(new.get(held.value, held.value), held.kind, held.low, held.high)
    if isinstance(held, LateText):
        return texts.replaced(held, lambda v: new.get(v, v))
    if isinstance(held, Either):
        return Either(new.get(held.cond, held.cond), replaced(held.yes, new), replaced(held.no, new))
    if isinstance(held, tuple):
        return tuple.__new__(type(held), [replaced(x, new) for x in held])
    return held


def model_linearize(machine: Any, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`staged.linearize(fn, args, kwargs, positions, weights, has_aux)`."""
    return LinearizedCall(machine, *args)


def model_missing(machine: Any, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An attribute that an object does not have."""
    obj, name = args
    raise UserError(MissingName(obj, name, machine.here()))


def model_listening(machine: Any, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A function that knows other words for its arguments. All of them have one code: the program is for this one."""
    if not machine.store.is_fresh(fn):
        machine.store.world.pin(fn)
    return machine.call(fn.__wrapped__, args, renamed(fn.__wrapped__, options))


def model_fit(machine: Any, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """`described.fit(args, kwargs)`: an error now, or at no call that the guards let through."""
    described, given, named_ = args
    machine.native(machine.pinned(described).fit, (given, named_), options)


class Mapped:
    """What `vmap` gives inside a captured program."""

    def __init__(self, fn: Any, in_axes: Any = 0, out_axes: Any = 0, *, randomness: Any = "different") -> None:
        self.fn, self.about = fn, (in_axes, out_axes, randomness)

    def called(self, machine: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return mapped_call(machine, self.fn, *self.about, args, options)

    def attribute(self, name: str) -> Any:
        raise UserError(AttributeError(name))


def model_vmap(machine: Any, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`vmap(fn, in_axes, out_axes)`."""
    return machine.real(Mapped, *args, **options)


def model_mapped(machine: Any, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A call of what `vmap` gave outside."""
    cells = dict(zip(fn.__code__.co_freevars, machine.whole(fn, ("field", "__closure__")), strict=True))
    mapped = machine.whole(cells["mapped"], ("contents", None)) if "mapped" in cells else fn
    inner = dict(zip(mapped.__code__.co_freevars, machine.whole(mapped, ("field", "__closure__")), strict=True))
    names = ("fn", "in_axes", "out_axes", "randomness")
    each, in_axes, out_axes, randomness = (machine.whole(inner[n], ("contents", None)) for n in names)
    return mapped_call(machine, each, in_axes, out_axes, randomness, args, options)


def mapped_call(
    machine: Any,
    each: Any,
    in_axes: Any,
    out_axes: Any,
    randomness: Any,
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """The function on one example, as a graph that runs for all of them."""
    in_axes, out_axes, randomness = (
        plain_axes(machine, in_axes),
        plain_axes(machine, out_axes),
        machine.plain(randomness),
    )
    if randomness not in vectorize.RANDOMNESS:
        machine.refuse("vmap gets a randomness that it does not know")
    if options:
        machine.refuse("vmap takes no arguments by name")
    leaves, structure = flattened(machine, args)
    axes = machine.real(
        vectorize._matched, in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args), structure, "in_axes"
    )
    alike, leaves, axes = vectorize._apart(leaves, axes, (HostNumber, Number, Sym))
    tensors = [x if is_tensor(x) else machine.native(Tensor, (x,), {}) for x in leaves]
    values = [machine.value(x) for x in tensors]
    size = machine.real(vectorize._size, [ShapeStandIn(v) for v in values], axes)
    fronts = [v if a is None else p.moveaxis(v, a % len(v.shape), 0) for v, a in zip(values, axes, strict=True)]
    fronts, axes = [*fronts, p.iota(uint32, (size,), 0)], [*axes, 0]
    types = [TensorType(v.dtype, v.shape[a is not None :]) for v, a in zip(fronts, axes, strict=True)]
    params = fresh_params(tuple(types))
    base = machine.store
    asked, machine.positions = machine.positions, {}
    try:
        with forked(machine) as one:
            lanes = [one.tensor(v) for v in params[:-1]]
            given = rebuilt(machine, structure, vectorize._together(alike, lanes))
            with region() as inside, vectorize.in_lane(randomness, Tensor(params[-1])):
                result = machine.call(each, given, {})
            found, shape = flattened(machine, result, as_one=True)
            outs = [machine.value(x) if is_tensor(x) else x for x in found]
            if not all(is_tensor(x) or (is_plain(x) and type(x) is not Sym) for x in found):
                machine.refuse("each example has a text, a number or an object of its own")
            wrong = [machine.regions.wrong(*position, machine.path) for position in machine.positions]
            moved = [obj for obj, slot, _ in one.differences(base) if slot == DATA and is_counter(obj)]
            counters = [(counter, machine.value(counter)) for counter in moved]
            now = [machine.value(x) for x in lanes]
            written = [(x, v, a) for x, v, a, old in zip(tensors, now, axes, params, strict=False) if v is not old]
            if any(a is None for *_, a in written):
                machine.refuse("an argument that all examples share is written to")
    finally:
        machine.positions = asked
    check_changes(machine, base, one, params, moved)
    wanted = machine.real(vectorize._matched, out_axes, shape, "out_axes")
    computed = [(v, a) for v, a in zip(outs, wanted, strict=True) if isinstance(v, Value)]
    computed += [(v, 0) for v in (*[v for _, v, _ in written], *[held for _, held in counters], *wrong)]
    function, captured = enclosed(machine, params, [v for v, _ in computed], inside.effects)
    known = {name for t in (*types, *[v.type for v in captured]) for name in data_sizes(t)}
    if any(not data_sizes(v.type) <= known for v, _ in computed):
        machine.refuse("a result has another size for each example")
    types_in = [lockstep(t, size) if a is not None else t for t, a in zip(types, axes, strict=True)]
    many = batch(function, size, (*types_in, *[v.type for v in captured]), tuple(a is not None for _, a in computed))
    for (_, a), t, old in zip(computed, many.result_types, function.result_types, strict=True):
        if a is None and t != old:
            machine.refuse("a result depends on the example, and out_axes says None for it")
    batched = iter(many(*fronts, *captured))
    made = []
    for v, a in zip(outs, wanted, strict=True):
        if not isinstance(v, Value):
            made.append(v)
            continue
        r = next(batched)
        made.append(base.tensor(r if a is None else p.moveaxis(r, 0, a % len(r.shape))))
    for x, v, a in written:
        machine.written(x, p.moveaxis(next(batched), 0, a % (len(v.shape) + 1)))
    for (counter, _), moved_on in zip(counters, batched, strict=False):
        if not known_equal(size, 0):  # where there are no examples, none of them draws
            base.write(counter, DATA, as_value(furthest(Tensor(moved_on))))
    for told in batched:
        machine.must(p.logical_not(p.reduce_any(told, (0,))))
    return rebuilt(machine, shape, made)


def data_sizes(t: Any) -> set[Any]:
    """The sizes in the shape of a tensor that come out of data."""
    return {name for n in t.shape if type(n) is Sym and comes_from_data(n) for name in n.names()}


class ShapeStandIn:
    """The shape of a tensor, for those who ask for nothing else."""

    def __init__(self, value: Value) -> None:
        self.shape, self.ndim = value.shape, len(value.shape)


def plain_axes(machine: Any, axes: Any) -> Any:
    if type(axes) is list:
        return tuple(plain_axes(machine, a) for a in machine.whole(axes))
    if type(axes) is dict:
        items = machine.whole(axes)
        return {k: plain_axes(machine, v) for k, v in zip(items[::2], items[1::2], strict=True)}
    return machine.plain(axes)


def check_changes(machine: Machine, base: Any, one: Any, params: Sequence[Value], but: Sequence[Any]) -> None:
    """What one example changes outside must be the same for all of them, and so must be what it makes and keeps there;
    but examples may draw more or fewer random numbers: the counters of streams are not looked at.
    """
    own, spared = set(params), {id(x) for x in but}
    made: dict[int, list[tuple[Any, Any, Any]]] = {n: [] for n in one.made}
    waiting: list[tuple[Any, Any, Any]] = []
    for obj, slot, held in one.differences(base):
        if id(obj) not in spared:
            made.get(id(obj), waiting).append((obj, slot, held))
    while waiting:
        obj, slot, held = waiting.pop(0)
        if not own.isdisjoint(v for v in toposort(values_in(held)) if type(v.op) is Param):
            machine.refuse("each example changes something outside in its own way")
        if id(obj) in one.made:
            base.made.add(id(obj))
            base.slots[id(obj), slot] = obj, held
        else:
            base.write(obj, slot, held)
        for x in objects_in(held):
            if type(x).__module__.startswith(("mycelia.capture.", "mycelia.api.")):
                machine.refuse(f"a {type(x).__name__} is kept by each example")
            waiting += made.pop(id(x), ())


def objects_in(held: Any) -> list[Any]:
    """The objects in what a slot holds."""
    if isinstance(held, Either):
        return [*objects_in(held.yes), *objects_in(held.no)]
    if isinstance(held, tuple):
        return [x for part in held for x in objects_in(part)]
    return [] if is_atom(held) or isinstance(held, Value | Number | HostNumber | LateText) else [held]


def register() -> None:
    """Tell the interpreter."""
    from mycelia.api.vectorize import vmap

    REGISTERED[Described.fit.__code__] = model_fit
    REGISTERED[staged.linearize.__code__] = model_linearize
    REGISTERED[unwrap(vmap).__code__] = model_vmap
    REGISTERED[listening(unwrap(vmap)).__code__] = model_listening
    REGISTERED[missing_attribute.__code__] = model_missing
    vectorized: Any = vmap(abs)
    whole = dict(zip(vectorized.__code__.co_freevars, vectorized.__closure__, strict=True))["whole"].cell_contents
    REGISTERED[vectorized.__code__] = REGISTERED[whole.__captured__.__code__] = model_mapped
    for maker in (grad, value_and_grad, GradOperation.__call__, jacfwd, jacrev, vmap):
        SETTLED.update(c for c in unwrap(maker).__code__.co_consts if isinstance(c, CodeType))


register()
