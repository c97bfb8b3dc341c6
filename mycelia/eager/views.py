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
from mycelia.eager.dispatch import Concrete
from mycelia.eager.tape import tape_of
from mycelia.eager.tensor import Tensor, wrap
from mycelia.errors import ArgumentError
from mycelia.names.keywords import handing_on
from mycelia.sizes import is_static, known_equal
from mycelia.types import int64

# Partial functions: what they were given can be looked at, and be given again with numbers in the place of sizes.
How = functools.partial[Tensor]  # from a tensor to a part of it
Put = functools.partial[Tensor]  # from a tensor and a new part to the tensor with that part
F = TypeVar("F", bound=Callable[..., Any])
_LINKING = threading.RLock()  # threads take views of the same parameter


class Kin:
    """What a tensor is a part of, how, and the parts of it that somebody holds."""

    __slots__ = ("base", "how", "known", "put", "views")

    def __init__(self, base: Tensor | None = None, how: How | None = None, put: Put | None = None) -> None:
        self.base, self.how, self.put = base, how, put
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
    >>> y = linked(x, wrap(x.numbers()[:1]), functools.partial(lambda x: x[:1]))
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


def linked(base: Tensor, view: Tensor, how: How, put: Put | None = None, taken_from: Any = None) -> Tensor:
    """The view, which shares memory with `base` from now on. It was `taken_from` this data, and is taken again if
    another thread has written since.
    """
    view._kin = Kin(base, how, put)  # before the base knows of it: another thread may write meanwhile
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

    >>> put_back(functools.partial(lambda x: x.T[1]), Tensor([[1, 2], [3, 4]]), Tensor([7, 8])).tolist()
    [[1, 7], [3, 8]]
    """
    if _repeats(how) and not (how.func is _only and known_equal(part.size, base.size)):
        return _put_back_once(how, base, part)
    size = base.size
    every = wrap(np.arange(size) if is_static(base.shape) else p.iota(int64, (size,), 0))
    places = p.reshape(how(p.reshape(every, base.shape)), (part.size,))
    changed = p.reshape(base, (size,)).alias()
    changed[places] = p.reshape(part, (part.size,))
    return p.reshape(changed, base.shape)


class Repeated(ArgumentError):
    """A part that has elements more than once is written to where numbers are not known."""


def _repeats(how: How) -> bool:
    """Whether a part may have elements of the whole more than once."""
    return any(a in REPEATING if callable(a) else isinstance(a, tuple) and any(map(_is_repeating, a)) for a in how.args)


def _is_repeating(how: Any) -> bool:
    return isinstance(how, functools.partial) and _repeats(how)


def _put_back_once(how: How, base: Tensor, part: Tensor) -> Tensor:
    """The same where elements come more than once: what was written is what has changed, the last if there are several,
    as in memory.
    """
    later = any(x._data.__class__ is not np.ndarray for x in (base, part))
    if later or tape_of((base, part)) is not None:
        if later:
            Concrete("a part that repeats elements is written to")  # is noted, whoever catches what is raised
        raise Repeated(
            "a part that repeats elements is written to, while a gradient is taken or a program is written",
            given={"part": part.shape, "whole": base.shape},
            hint="write to a copy of it: x.broadcast_to(shape).copy()",
        )
    places = how(wrap(np.arange(base.size).reshape(base.shape))).numbers().reshape(-1)
    old, new = (np.ascontiguousarray(x.numbers()).reshape(-1) for x in (how(base.alias()), part))
    changed = (old.view(np.uint8) != new.view(np.uint8)).reshape(len(new), -1).any(1)  # bit by bit: nan, -0
    flat = base.numbers().reshape(-1).copy()
    flat[places[changed]] = new[changed]
    return wrap(flat.reshape(base.shape))


REPEATING: set[Callable[..., Any]] = set()  # functions that give such parts


def repeating_view(fn: F) -> F:
    """A decorator: as `view`, where elements may come more than once."""
    REPEATING.add(fn)
    return view(fn)


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
        for a in args:
            if a.__class__ is not int:
                args = tuple([_kept(b) for b in args])  # as they are now
                break
        if kwargs:
            kwargs = {k: _kept(a) for k, a in kwargs.items()}
        if out.__class__ is tuple:
            for i, part in enumerate(out):
                _link(x, data, part, functools.partial(_nth, fn, args, kwargs, i))
        else:
            _link(x, data, out, functools.partial(_only, fn, args, kwargs))
        return out

    handing_on.add(taken.__code__)  # type: ignore[attr-defined]  # a function, though wraps does not say so
    return taken  # type: ignore[return-value]  # it has the signature of the function


def _only(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], x: Tensor) -> Tensor:
    return fn(x, *args, **kwargs)  # type: ignore[no-any-return]  # what gives one view


def _nth(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], i: int, x: Tensor) -> Tensor:
    return fn(x, *args, **kwargs)[i]  # type: ignore[no-any-return]  # what gives several


def _link(x: Tensor, data: Any, out: Any, how: How) -> None:
    if out.__class__ is Tensor and out is not x and kin_of(out) is None:
        linked(x, out, how, None, data)


def _kept(a: Any) -> Any:
    """An argument that nobody changes any more."""
    if a.__class__ is tuple or a.__class__ is list:
        return tuple([x if x.__class__ is int else _kept(x) for x in a])
    return a.alias() if isinstance(a, Tensor) else a


setattr(Tensor, "spread", spread)  # noqa: B010  # the class cannot know who comes after it
for _name in ("T", "mT"):
    setattr(Tensor, _name, property(view(getattr(Tensor, _name).fget)))
