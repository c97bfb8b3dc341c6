"""Vectorisation: the same function for many examples at once, which lie along a new leading axis.

What does not depend on an example is computed once. A mapped tensor has the leading axis; a mapped sequence comes in
one of two forms, and its type says which:

    lock-step  seq<f32[n, 3]>   all examples took the same turns: element i holds them all
    ragged     seq<seq<f32[3]>> each example has a sequence of its own, because each took its own turns

A frame is ragged always. An unmapped value keeps its type; so types tell everything.

A function with effects runs for one example after the other, as a loop over the examples would: then effects are in the
order in which the loop would have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from mycelia.ir import Function, Op, Param, Purity, Value, algebra, located, region
from mycelia.transforms.activity import Mask
from mycelia.transforms.image import Image
from mycelia.types import SequenceType, TensorType, TupleType, Type

# The same value for every example; the module that defines a kind of value says how. Tensors: `algebra.repeat`.
REPEAT: dict[type[Type], Callable[[Value, int], Value]] = {TensorType: lambda x, size: algebra.repeat(x, size)}


def vmap(fn: Function, size: int, mapped: Sequence[bool] | None = None) -> Function:
    """The function where the parameters said to be mapped (all, if not said) and all results have a leading axis.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float32
    >>> add = Function.build(lambda x, y: p.add(x, y), TensorType(float32, ()), TensorType(float32, ()))
    >>> [str(t) for t in vmap(add, 3, (True, False)).result_types]
    ['f32[3]']
    """
    if mapped is None:
        mapped = (True,) * len(fn.params)
    types = tuple(lockstep(t, size) if m else t for t, m in zip(fn.types, mapped, strict=True))
    return batch(fn, size, types, (True,) * len(fn.results))


def lockstep(t: Type, size: int) -> Type:
    """The type of a value of type `t` for `size` examples that take the same turns.

    >>> from mycelia.types import float32
    >>> str(lockstep(SequenceType(TensorType(float32, ())), 3))
    'seq<f32[3]>'
    """
    if isinstance(t, SequenceType):
        return SequenceType(lockstep(t.element, size))
    assert isinstance(t, TensorType), f"{t} cannot hold several examples"
    return t.with_shape((size, *t.shape))


def ragged(t: Type, size: int) -> Type:
    """The type of a value of type `t` for `size` examples that go their own ways.

    >>> from mycelia.types import float32
    >>> str(ragged(SequenceType(TensorType(float32, ())), 3))
    'seq<seq<f32[]>>'
    """
    return lockstep(t, size) if isinstance(t, TensorType) else SequenceType(t)


def in_step(new: Type, old: Type, size: int) -> bool:
    """Whether a value that had type `old` and has type `new` is not mapped, or mapped in lock-step.

    >>> from mycelia.types import float32
    >>> scalars = SequenceType(TensorType(float32, ()))
    >>> in_step(SequenceType(scalars), scalars, 3), in_step(lockstep(scalars, 3), scalars, 3)
    (False, True)
    """
    return new == old or (_tensors(old) and new == lockstep(old, size))


def _tensors(t: Type) -> bool:
    """Whether `t` is made of tensors only, so that lock-step makes sense."""
    return _tensors(t.element) if isinstance(t, SequenceType) else isinstance(t, TensorType)


@lru_cache(maxsize=4096)
def batch(fn: Function, size: int, types: tuple[Type, ...], demanded: Mask) -> Function:
    """The function of parameters of these types, some mapped. Results are mapped if they must be, or are demanded.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float32
    >>> one, many = TensorType(float32, ()), TensorType(float32, (3,))
    >>> fn = Function.build(lambda x, y: (p.sin(x), p.cos(y), y), one, one)
    >>> [str(t) for t in batch(fn, 3, (many, one), (False, False, True)).result_types]
    ['f32[3]', 'f32[]', 'f32[3]']
    """
    if fn.purity is Purity.ORDERED or fn.makes_sizes:
        return algebra.for_each(fn, size, types)
    image = Image()
    params = tuple(Value(Param(i, t)) for i, t in enumerate(types))
    image.one.update(zip(fn.params, params, strict=True))
    with region(closed=True) as inside:
        for v in fn.values():
            if type(v.op) is not Param:
                with located(v.location):
                    _batch(v, size, image)
        both = zip(fn.results, demanded, strict=True)
        results = [repeated(image.one[r], r.type, size) if m else image.one[r] for r, m in both]
    return Function(params, tuple(results), tuple(inside.effects))


def repeated(v: Value, old: Type, size: int) -> Value:
    """A value that had type `old`, mapped: as it is, or the same for every example.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float32
    >>> repeated(p.zeros(float32, (2,)), TensorType(float32, (2,)), 3).shape
    (3, 2)
    """
    return v if v.type != old else REPEAT[type(old)](v, size)


def _batch(v: Value, size: int, image: Image) -> None:
    """The new value of `v`: by the rule of its op if an input is mapped."""
    if v.inputs and isinstance(v.inputs[0].type, TupleType):
        image.copy(v)
        return
    inputs = image.inputs(v)
    mapped = tuple([x.type != old.type for x, old in zip(inputs, v.inputs, strict=True)])
    if not any(mapped):
        image.copy(v)
        return
    assert isinstance(v.op, Op), f"{v} is a parameter"
    out = v.op.vmap(size, mapped, *inputs)
    if isinstance(v.type, TupleType):
        image.many[v] = tuple(out)
    else:
        assert out.type == ragged(v.type, size) or in_step(out.type, v.type, size), f"vmap of {v.op} gives {out.type}"
        image.one[v] = out
