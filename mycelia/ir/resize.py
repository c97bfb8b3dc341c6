"""A function of symbolic sizes at actual ones (specialisation): every size in its types and attributes is a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from mycelia.ir.function import Function
from mycelia.ir.op import Op
from mycelia.ir.region import region
from mycelia.ir.value import Param, Value, located
from mycelia.sizes import Name, NeedsSize, Sym, born, names, solver
from mycelia.types import Array, SequenceType, TensorType, TupleType

Sizes = Mapping[Name, Any]  # to a number, or to another name


def sized(fn: Function, sizes: Sizes) -> Function:
    """`fn` where every size has its number.

    >>> from mycelia.ir import Function
    >>> from mycelia.sizes import Scope
    >>> from mycelia.types import float32
    >>> n = Scope().name("n")
    >>> same = Function.build(lambda x: x, TensorType(float32, (n, n * 2)))
    >>> str(sized(same, dict.fromkeys(n.names(), 3)).types[0])
    'f32[3, 6]'
    """
    sizes = {**sizes, **_reborn(fn, sizes)}
    params = tuple(Value(Param(slot, resized(p.type, sizes))) for slot, p in enumerate(fn.params))
    new = dict(zip(fn.params, params, strict=True))
    with region(closed=True) as inside:
        for v in fn.values():
            if v not in new:
                assert isinstance(v.op, Op), f"{v} belongs to another function"
                with located(v.location):
                    new[v] = Value(resized(v.op, sizes), tuple([new[x] for x in v.inputs]))
    return Function(params, tuple(new[r] for r in fn.results), tuple(inside.effects))


def sizes_of(fn: Function, arrays: Sequence[Array]) -> Sizes:
    """The numbers that the sizes of `fn` are, when it is given these arrays."""
    wanted = names_of(fn)
    if not wanted:
        return {}
    shapes = [t.shape if isinstance(t, TensorType) else () for t in fn.types]
    return dict(zip(wanted, solver(shapes, wanted)(*[x.shape for x in arrays]), strict=True))


def tells_sizes(fn: Function) -> bool:
    """Whether the shapes of its arguments tell all the sizes in a function."""
    if fn.static:
        return True
    wanted = {n: None for v in fn.values() for n in names_in(v) if n.most is None}  # others come out of data
    try:
        solver([t.shape if isinstance(t, TensorType) else () for t in fn.types], tuple(wanted))
    except NeedsSize:
        return False
    return True


def names_of(fn: Function) -> tuple[Name, ...]:
    """The names of sizes in the parameters of a function, in order."""
    found: dict[Name, None] = {}
    for t in fn.types:
        for d in t.shape if isinstance(t, TensorType) else ():
            found.update(dict.fromkeys(sorted(names(d), key=repr)))
    return tuple(found)


def names_in(v: Value) -> frozenset[Name]:
    """The names of sizes in the type of a value and in its op, also in the functions inside."""
    found = frozenset[Name]() if v.type.static else _mentioned(v.type)
    return found | _mentioned(v.op) if isinstance(v.op, Op) and not v.op.static else found


def _mentioned(thing: Any) -> frozenset[Name]:
    if isinstance(thing, Sym):
        return thing.names()
    if isinstance(thing, tuple):
        return frozenset(name for part in thing for name in _mentioned(part))
    if isinstance(thing, TensorType):
        return _mentioned(thing.shape)
    if isinstance(thing, TupleType):
        return _mentioned(thing.elements)
    if isinstance(thing, SequenceType):
        return _mentioned(thing.element)
    if isinstance(thing, Function):
        return frozenset(name for v in thing.values() for name in names_in(v))
    if isinstance(thing, Op):
        return frozenset(name for f in fields(thing) for name in _mentioned(getattr(thing, f.name)))
    return frozenset()


def _reborn(fn: Function, sizes: Sizes) -> dict[Name, Any]:
    """Sizes that come out of data: they stay names, of which less is possible now."""
    found: dict[Name, Any] = {}
    for v in fn.values():
        for name in sorted(names_in(v), key=repr):
            if name.most is not None and name not in sizes and name not in found:
                found[name] = born(resized(name.most, {**sizes, **found}))
    return found


def resized(thing: Any, sizes: Sizes) -> Any:
    """A type, an op or an attribute with numbers for sizes."""
    if isinstance(thing, Sym):
        return thing.at(sizes)
    if isinstance(thing, tuple):
        return tuple(resized(part, sizes) for part in thing)
    if isinstance(thing, Function):
        return sized(thing, sizes)
    if isinstance(thing, TensorType):
        return thing if thing.static else thing.with_shape(resized(thing.shape, sizes))
    if isinstance(thing, TupleType):
        return TupleType(resized(thing.elements, sizes))
    if isinstance(thing, SequenceType):
        return SequenceType(resized(thing.element, sizes))
    if isinstance(thing, Op):
        given = {f.name: getattr(thing, f.name) for f in fields(thing) if f.init}
        new = {name: resized(part, sizes) for name, part in given.items()}
        return thing if all(new[name] is given[name] for name in given) else replace(thing, **new)
    return thing
