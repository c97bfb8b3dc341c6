"""Tensors that share memory: what is written through one is seen by all.

`x[0]`, `x.T`, `x.reshape(6)`, `x.split(2)` and their like are views. A view knows the tensor that it is a part of and
how to take that part; a tensor knows its views, as long as somebody else does. Data is never overwritten while it is
held: a write makes new data for the tensor, for all that it is a part of, and for all their parts, by the operations
that made them. So gradients flow through writes as through everything else, what was computed before a write keeps the
numbers that it was computed from, and a program that is written down says the same as Python does.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from mycelia import primitives as p
from mycelia.eager.tensor import Tensor, wrap
from mycelia.ir import Value
from mycelia.names.keywords import handing_on
from mycelia.sizes import Sym

How = Callable[[Tensor], Tensor]  # from a tensor to a part of it
Put = Callable[[Tensor, Tensor], Tensor]  # from a tensor and a new part to the tensor with that part
F = TypeVar("F", bound=Callable[..., Any])
_LINKING = threading.RLock()  # threads take views of the same parameter


class Kin:
    """What a tensor is a part of, how, and the parts of it that somebody holds."""

    __slots__ = ("base", "fixed", "how", "known", "put", "views")

    def __init__(
        self, base: Tensor | None = None, how: How | None = None, put: Put | None = None, fixed: bool = True
    ) -> None:
        self.base, self.how, self.put, self.fixed = base, how, put, fixed
        self.views: list[weakref.ref[Tensor]] = []
        self.known = 8  # views, after which it is looked for those that are gone

    def add(self, view: Tensor) -> None:
        self.views.append(weakref.ref(view))
        if len(self.views) > self.known:
            self.views = [v for v in self.views if v() is not None]
            self.known = 2 * len(self.views) + 8


def kin_of(x: Tensor) -> Kin | None:
    """What is known of tensors that share memory with this one."""
    return getattr(x, "_kin", None)


def shares(x: Tensor) -> bool:
    """Whether somebody holds another tensor that shares memory with this one.

    >>> x = Tensor([1, 2])
    >>> y = linked(x, wrap(x.numbers()[:1]), lambda x: x[:1])
    >>> shares(x), shares(y), shares(Tensor([1]))
    (True, True, False)
    """
    kin = kin_of(x)
    return kin is not None and (kin.base is not None or any(v() is not None for v in kin.views))


def root_of(x: Tensor) -> Tensor:
    """The tensor that this one is a part of, at last.

    >>> x = Tensor([[1, 2]])
    >>> root_of(x[0][1:]) is x
    True
    """
    while (kin := kin_of(x)) is not None and kin.base is not None:
        x = kin.base
    return x


def linked(
    base: Tensor, view: Tensor, how: How, put: Put | None = None, fixed: bool = True, taken_from: Any = None
) -> Tensor:
    """The view, which shares memory with `base` from now on. It is `fixed` unless `how` needs values of a graph. It was
    `taken_from` this data, and is taken again if another thread has written since.
    """
    view._kin = Kin(base, how, put, fixed)  # before the base knows of it: another thread may write meanwhile
    with _LINKING:
        kin = kin_of(base)
        if kin is None:
            kin = base._kin = Kin()
        kin.add(view)
    while taken_from is not None and base._data is not taken_from:
        now = base.alias()
        view.hold(how(now))
        taken_from = now._data
    return view


def spread(x: Tensor) -> None:
    """Tell all that share memory with a tensor that it holds something else now."""
    top = x
    while (kin := kin_of(top)) is not None and kin.base is not None:
        assert kin.how is not None, "a view knows how it was taken"
        base = kin.base
        base.hold((kin.put or functools.partial(put_back, kin.how))(base.alias(), top.alias()))
        top = base
    _hand_down(top)


def _hand_down(x: Tensor) -> None:
    kin = kin_of(x)
    for reference in list(kin.views) if kin is not None else ():
        view = reference()
        if view is not None:
            of_view = kin_of(view)
            assert of_view is not None, "a view knows what it is a part of"
            assert of_view.how is not None, "and how"
            view.hold(of_view.how(x.alias()))
            _hand_down(view)


def put_back(how: How, base: Tensor, part: Tensor) -> Tensor:
    """`base` with a new part, where that part is taken by `how`.

    >>> put_back(lambda x: x.T[1], Tensor([[1, 2], [3, 4]]), Tensor([7, 8])).tolist()
    [[1, 7], [3, 8]]
    """
    places = how(wrap(np.arange(base.size).reshape(base.shape)))
    flat = p.reshape(base, (base.size,))
    changed = flat.alias()
    changed[p.reshape(places, (places.size,))] = p.reshape(part, (part.size,))
    return p.reshape(changed, base.shape)


def view(fn: F) -> F:
    """A decorator: what the function gives for a tensor, its first argument, shares memory with it."""
    first = fn.__code__.co_varnames[0]

    @functools.wraps(fn)
    def taken(*args: Any, **kwargs: Any) -> Any:
        x = args[0] if args else kwargs.get(first)
        if not isinstance(x, Tensor):
            return fn(*args, **kwargs)
        data = x._data
        out = fn(*args, **kwargs)
        if args:
            args = args[1:]
        else:
            del kwargs[first]
        fixed = True
        for a in args:
            if a.__class__ is not int:
                args = tuple([_kept(b) for b in args])  # as they are now
                fixed = all(map(_is_fixed, args))
                break
        if kwargs:
            kwargs = {k: _kept(a) for k, a in kwargs.items()}
            fixed = fixed and all(map(_is_fixed, kwargs.values()))
        if out.__class__ is tuple:

            def nth(i: int, x: Tensor) -> Any:
                return fn(x, *args, **kwargs)[i]

            for i, part in enumerate(out):
                _link(x, data, part, functools.partial(nth, i), fixed)
        else:
            _link(x, data, out, lambda x: fn(x, *args, **kwargs), fixed)
        return out

    handing_on.add(taken.__code__)  # type: ignore[attr-defined]  # a function, though wraps does not say so
    return taken  # type: ignore[return-value]  # it has the signature of the function


def _link(x: Tensor, data: Any, out: Any, how: How, fixed: bool) -> None:
    if out.__class__ is Tensor and out is not x and kin_of(out) is None:
        linked(x, out, how, None, fixed, data)


def _kept(a: Any) -> Any:
    """An argument that nobody changes any more."""
    if a.__class__ is tuple or a.__class__ is list:
        return tuple([x if x.__class__ is int else _kept(x) for x in a])
    return a.alias() if isinstance(a, Tensor) else a


def _is_fixed(a: Any) -> bool:
    """Whether an argument is the same outside of the graph that is being written."""
    if a.__class__ is tuple:
        return all(x.__class__ is int or _is_fixed(x) for x in a)
    return not isinstance(a, Sym) and not (isinstance(a, Tensor) and a._data.__class__ is Value)


setattr(Tensor, "spread", spread)  # noqa: B010  # the class cannot know who comes after it
for _name in ("T", "mT"):
    setattr(Tensor, _name, property(view(getattr(Tensor, _name).fget)))
