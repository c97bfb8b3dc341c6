r"""Parting a joint function into what runs forward and what runs backward, with residuals in between.

Whatever the backward part needs and cannot see is a residual. A parameter is passed again, and a result is there
already: neither is stored. A constant is made again. Cheap values are computed again from others, and what only the
backward part needs is computed there: what is stored is the minimum cut, the fewest bytes from which all follows.

    y = tanh(x @ w + b) * 2           the backward part wants x, w, and 1 - tanh(...)^2

       x  w  b                         given again: x, w, b
        \ | /
        product --- add --- tanh --- times 2 --- y
                             |          |
             kept: tanh  ----+----------+--- dt = 2 * dy;  da = dt * (1 - tanh^2);  dw = x.T @ da

The edges between the forward and the backward part may be cut anywhere above what the backward part reads: at tanh, or
at the sum and the product before it, if tanh may be computed twice. `saves` says that it may not, for it is dear.

Why a cut. For a transformer's second half (layer norm, product, gelu, product, residual; 256 x 96 numbers, 384 inside)
the forward part stores

    all that the backward part reads     11 values, 3,048,448 bytes: most follow cheaply from others of them
    products only                         1 value,    393,216 bytes: and every tanh and rsqrt is computed twice
    the minimum cut                       4 values,   788,480 bytes: nothing dear is computed twice

and for a layer norm alone 197,632, 0 and 2,048 bytes. To decide value by value (is it smaller than what it is made of?)
cannot find these: a value is worth keeping because of what *else* then need not be. The cut is exact; all of `parted`
takes 6 ms for this function.

What may not be computed again: effects (`may_repeat`), and what is dear and was computed before. What only the backward
part needs is never a reason to store: an `exp(x)` that only a gradient reads is computed there, once.

What may be computed again although it may not end: it stands behind the same decisions in both parts.

In a whole program nothing of this happens: forward and backward are one function there, and memory is saved by steps
done again (`schedule/remat.py`). The field calls this partial evaluation (or the partitioner), and the residuals the
tape or saved activations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mycelia.errors import CaptureError
from mycelia.frozen import frozen
from mycelia.ir import (
    Function,
    Param,
    Value,
    births_for,
    born_in,
    may_repeat,
    region,
    substitute,
    toposort,
    type_names,
)
from mycelia.mincut import ENDLESS, least_kept
from mycelia.sizes import Name, hint
from mycelia.transforms.activity import Mask
from mycelia.types import TensorType, TupleType

Save = Callable[[Value], bool]
LARGE = 1 << 40  # bytes of what holds as much as a loop or a recursion leaves behind


@frozen
class Parts:
    """A joint function in two parts.

    `forward` takes the parameters, to the results and whatever must be stored. `backward` takes the residuals and
    the cotangents of results, to cotangents of parameters. `residuals` says where each residual is found: they are
    numbered through the parameters first, and through the results of `forward` then.
    """

    forward: Function
    backward: Function
    residuals: tuple[int, ...]

    def kept(self, params: Sequence[Any], results: Sequence[Any]) -> tuple[Any, ...]:
        """The residuals among the parameters and the results of `forward`."""
        everything = (*params, *results)
        return tuple(everything[i] for i in self.residuals)


def saves(v: Value) -> bool:
    """The usual policy: save what is dear to compute again.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float32
    >>> saves(p.exp(p.zeros(float32, ()))), saves(p.negative(p.zeros(float32, ())))
    (True, False)
    """
    return not v.op.cheap


def decisions(v: Value) -> bool:
    """The policy that saves what decides, by which a branch or an element is chosen: single truths and whole numbers.
    All else is computed again, perhaps with other last bits, which must not lead another way than the first time.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float32
    >>> x = p.zeros(float32, ())
    >>> decisions(p.exp(x)), decisions(p.less(x, p.exp(x))), decisions(p.less(x, p.zeros(float32, (2,))))
    (False, True, False)
    """
    t = v.type
    return isinstance(t, TensorType) and not t.differentiable and t.rank == 0


@lru_cache(maxsize=4096)
def parted(
    joint: Function, params: int, results: int, visible: Mask | None = None, save: Save = saves, inside: bool = False
) -> Parts:
    """Part a joint function that has this many primal parameters and results (see `vjp`). `visible` says which of
    these parameters and results whoever runs the backward part can pass to it again: all, unless said. `inside` a
    branch or a loop, nothing is stored whose size comes out of data there: it is computed again, with its size.

    >>> from mycelia import primitives as p
    >>> from mycelia.transforms.vjp import vjp
    >>> from mycelia.types import TensorType, float32
    >>> square = Function.build(lambda x: p.multiply(x, x), TensorType(float32, ()))
    >>> parts = parted(vjp(square), 1, 1)
    >>> parts.residuals, len(parts.forward.results)
    ((0,), 1)
    """
    own, cotangents = joint.params[:params], joint.params[params:]
    outs, pulled = joint.results[:results], joint.results[results:]
    if visible is None:
        visible = (True,) * (params + results)
    places = {v: i for i, v in reversed(list(enumerate((*own, *outs)))) if visible[i]}
    early, late = _parted_effects(joint, cotangents)
    again = _sizes_again(early, (*late, *pulled), {*own, *places}) if inside else {}
    kept = _residuals(joint, {*own, *places}, outs, pulled, cotangents, save, again)
    stored = [v for v in kept if v not in places]
    places.update((v, params + results + i) for i, v in enumerate(stored))
    slots = [Value(Param(i, v.type)) for i, v in enumerate((*kept, *cotangents))]
    late = (*again.values(), *late)
    with region(closed=True) as back:
        backward = substitute((*late, *pulled), dict(zip((*kept, *cotangents), slots, strict=True)))
    assert len(back.effects) == len(late), "the way back repeats an effect of the way forward"
    return Parts(
        Function(own, (*outs, *stored), early),
        Function(tuple(slots), backward[len(late) :], backward[: len(late)]),
        tuple(places[v] for v in kept),
    )


def _late(joint: Function, cotangents: Sequence[Value]) -> set[Value]:
    """What depends on a cotangent."""
    late = set(cotangents)
    for v in joint.values():
        if any(x in late for x in v.inputs):
            late.add(v)
    return late


def _parted_effects(joint: Function, cotangents: Sequence[Value]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The effects of the way forward, and those that need a cotangent. None is made again on the way back."""
    late = _late(joint, cotangents) if joint.effects else set()
    return tuple(e for e in joint.effects if e not in late), tuple(e for e in joint.effects if e in late)


def _sizes_again(early: Sequence[Value], roots: Sequence[Value], given: set[Value]) -> dict[Name, Value]:
    """The sizes that come out of data on the way forward and are needed on the way back."""
    born = {name: e for e in early if (name := born_in(e)) is not None}
    return births_for(roots, given.__contains__, born) if born else {}


def _residuals(
    joint: Function,
    given: set[Value],
    outs: Sequence[Value],
    pulled: Sequence[Value],
    cotangents: Sequence[Value],
    save: Save,
    again: Mapping[Name, Value],
) -> list[Value]:
    """The primal values that the backward part starts from, where those `given` cost nothing. Nothing that has one of
    the sizes that come out of data `again` can be kept.
    """
    late = _late(joint, cotangents)
    needed = {*pulled, *[x for v in late for x in v.inputs], *again.values()}
    forward = set(toposort((*[e for e in joint.effects if e not in late], *outs)))

    def sized(v: Value) -> bool:
        return not type_names(v.type).isdisjoint(again)

    def made_from(v: Value) -> Sequence[Value] | None:
        """From what the backward part can compute `v`: from nothing, if it is there; not at all (None), if it is dear
        and was computed before. It stands behind the same decisions there, so what may not end may be done again; an
        effect may not.
        """
        if v.closed or v in given:
            return ()
        if born_in(v) in again or (sized(v) and may_repeat(v)):
            return v.inputs
        return v.inputs if may_repeat(v) and (v not in forward or not save(v)) else None

    wanted = dict.fromkeys(v for v in joint.values() if v in needed and v not in late)
    starts = given.union(least_kept(wanted, made_from, _Bytes(sized)))
    roots = (*again.values(), *[e for e in joint.effects if e in late], *pulled)
    found = _frontier(joint, roots, late, starts)
    if any(sized(v) for v in found if v not in given):
        raise CaptureError(
            "a gradient needs results again whose size comes out of data, and which cannot be computed twice",
            hint="choose with ops.where in place of x[mask], or take the gradient outside of the branch or loop",
        )
    return found


class _Bytes:
    """The bytes of each value, at the sizes that it was written at. Sequences and frames are large; several results
    together, and what is `sized` by data, are nothing that can be kept.
    """

    def __init__(self, sized: Save) -> None:
        self.sized = sized

    def __getitem__(self, v: Value) -> int:
        if self.sized(v):
            return ENDLESS
        if isinstance(v.type, TensorType):
            return hint(v.type.nbytes)
        return ENDLESS if isinstance(v.type, TupleType) else LARGE


def _frontier(joint: Function, pulled: Sequence[Value], late: set[Value], starts: set[Value]) -> list[Value]:
    """Those of `starts` that are met when walking up from the cotangents of parameters, in the order of `joint`."""
    met: set[Value] = set()
    seen: set[Value] = set()
    stack = list(pulled)
    while stack:
        v = stack.pop()
        if v in seen or v.closed:
            continue
        seen.add(v)
        if v in starts and v not in late:
            met.add(v)
        else:
            stack.extend(v.inputs)
    order = {v: i for i, v in enumerate(joint.values())}
    return sorted(met, key=order.__getitem__)
