"""The tape: what was computed, in order, so that cotangents can flow back.

A tape is a list of records; a tensor that is on a tape knows its place there. Only what depends on an input that is
being differentiated is recorded, and nothing is while no gradient is being taken.

Gradients nest. An inner one shares the tape of the outer one and begins where the tape ends: its inputs get places
of their own, and a record before them cannot depend on them. So two gradients never see each other's cotangents,
and what the inner one computes while going back is recorded for the outer one like anything else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable
from weakref import ref

from mycelia.eager.dispatch import mode

if TYPE_CHECKING:
    from mycelia.eager.tensor import Tensor


class TapeOp(Protocol):
    """A kind of computation that can be on a tape: an op, or a compiled function."""

    def pull(self, needed: tuple[bool, ...], ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        """Cotangents of the needed inputs (None: nothing flows), all as arrays."""

    def derive(self, needed: tuple[bool, ...], ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        """The same on tensors, such that it can be differentiated again."""


@runtime_checkable
class Forward(Protocol):
    """A step that knows its own way forward; an op has the rule of its kind."""

    def push(self, tangents: Sequence[Tensor | None], inputs: Sequence[Tensor]) -> Sequence[Tensor | None]:
        """Tangents of the results, from those of the inputs (None: it does not move)."""


# the step (None: a beginning), the places of its inputs (-1: not on the tape), which inputs are on the tape, what the
# inputs held, what came out: an array (or graph value), or a tuple of them, whose places follow that of the record
Record = tuple[TapeOp | None, tuple[int, ...], tuple[bool, ...], tuple[Any, ...], Any]


class Tape(list[Record]):
    """Records, while it is open; a closed tape takes no more. On one with `whole` numbers among the weights, what is
    computed with whole numbers is recorded too (see `eager.whole`).
    """

    __slots__ = ("open", "whole")

    def __init__(self) -> None:
        super().__init__()
        self.open, self.whole = True, False


open_tapes: dict[int, Tape] = {}  # of all threads: while there are none, nobody asks a tensor for its tape


class _Current(threading.local):
    """The open tape of each thread."""

    tape: Tape | None = None


_current = _Current()


def recording() -> bool:
    """Whether a gradient is being taken in this thread."""
    return bool(open_tapes) and _current.tape is not None


def current_tape() -> Tape | None:
    """The tape that this thread writes to now."""
    return _current.tape


@contextmanager
def set_aside() -> Iterator[None]:
    """Inside the block the open tape is not written to, and a gradient begins a tape of its own."""
    before, _current.tape = _current.tape, None
    try:
        yield
    finally:
        _current.tape = before


class Alias:
    """A place of its own for a value that is on the tape already: where an inner gradient begins."""

    def pull(self, needed: tuple[bool, ...], ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        return (ct,)

    derive = pull

    def push(self, tangents: Sequence[Tensor | None], inputs: Sequence[Tensor]) -> Sequence[Tensor | None]:
        return tangents


ALIAS = Alias()


class Recording:
    """A stretch of tape for one gradient: `with Recording() as recording`.

    `recording.leaf(x)` is `x` as an input of this gradient; `recording.watch(x)` makes `x` itself one until the end.
    """

    __slots__ = ("nested", "start", "tape", "watched")

    def __enter__(self) -> Recording:
        tape = _current.tape
        self.nested = tape is not None
        if tape is None:
            tape = _current.tape = Tape()
            open_tapes[id(tape)] = tape
        self.tape, self.start = tape, len(tape)
        self.watched: list[tuple[Tensor, int, Any, Tape | None, int]] = []
        return self

    def leaf(self, x: Tensor) -> Tensor:
        """A tensor equal to `x` that is an input of this gradient."""
        leaf, lift = x.detached(), mode.lift
        if lift is not None:
            leaf._data = lift(x)
        leaf._tape, leaf._id = self.tape, self._place(x, leaf._data)
        return leaf

    def watch(self, x: Tensor) -> int:
        """Make `x` itself, wherever it is read, an input of this gradient, and give its place."""
        if mode.changing is not None:
            mode.changing(x)
        before = x._data, x._tape, x._id if x._tape is not None else -1
        data = x._data if mode.lift is None else mode.lift(x)
        here = self._place(x, data)
        self.watched.append((x, here, *before))
        x._data, x._tape, x._id = data, self.tape, here
        return here

    def _place(self, x: Tensor, data: Any) -> int:
        tape = self.tape
        place = len(tape)
        tape.whole = tape.whole or not x.dtype.is_inexact
        tape.append((ALIAS, (x._id,), (True,), (data,), data) if x._tape is tape else (None, (), (), (), data))
        return place

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for x, here, data, tape, place in reversed(self.watched):
            if x._tape is self.tape and x._id == here:  # it was not assigned to meanwhile
                x._data, x._tape, x._id = data, tape, place
        if not self.nested:
            self.tape.open = False
            _current.tape = None
            del open_tapes[id(self.tape)]


def tape_of(inputs: Sequence[Any]) -> Tape | None:
    """The open tape that one of these tensors is on; where there are two, that of the innermost gradient."""
    found: Tape | None = None
    for x in inputs if open_tapes else ():
        tape: Tape | None = getattr(x, "_tape", None)
        if tape is not None and tape.open and (found is None or tape is _current.tape):
            found = tape
    return found


def current_tape_of(inputs: Sequence[Any]) -> Tape | None:
    """The tape that this thread writes to now, if one of these tensors is on it."""
    now = _current.tape
    return now if now is not None and any(getattr(x, "_tape", None) is now for x in inputs) else None


def put(tape: Tape, step: TapeOp, inputs: Sequence[Any], held: tuple[Any, ...], out: Any) -> int:
    """Record one step and give the place of its result; several results have the places that follow."""
    places = tuple([x._id if getattr(x, "_tape", None) is tape else -1 for x in inputs])
    tape.append((step, places, tuple([i >= 0 for i in places]), held, out))
    here = len(tape) - 1
    if out.__class__ is tuple:
        tape.extend((None, (), (), (), o) for o in out)
        return here + 1
    return here


# ------------------------------------------------------------------------------------------------------ hooks of leaves
#
# What is computed while a gradient is taken carries its hooks on the tape. An argument or a parameter is there before
# any tape is, so its hooks wait here, by who it is, until a gradient with respect to it has come together.


class Registered:
    """A hook on the gradient of a tensor, which can be removed."""

    def __init__(self, hook: Callable[[Tensor], Any]) -> None:
        self.hook: Callable[[Tensor], Any] | None = hook

    def remove(self) -> None:
        """Let gradients pass as they are from now on.

        >>> handle = Registered(abs)
        >>> handle.remove()
        >>> handle.hook is None
        True
        """
        self.hook = None
        for key, (_, handles) in list(hooked.items()):
            handles[:] = [h for h in handles if h is not self]
            if not handles:
                hooked.pop(key, None)

    def called(self, grad: Tensor) -> Tensor:
        """The gradient, or what the hook makes of it."""
        new = None if self.hook is None else self.hook(grad)
        return grad if new is None else new


hooked: dict[int, tuple[ref[Tensor], list[Registered]]] = {}
"""By the id of a tensor that lives: the hooks on its gradient. While it is empty, nobody looks for hooks."""


def hook(x: Tensor, *handles: Registered) -> None:
    """Let hooks see the gradients with respect to `x`, as long as it lives."""
    key = id(x)
    if key not in hooked:
        hooked[key] = ref(x, lambda _: hooked.pop(key, None)), []
    hooked[key][1].extend(handles)


def share_hooks(x: Tensor, leaf: Tensor) -> Tensor:
    """`leaf`, which stands for `x` while a gradient is taken, with its hooks: a gradient of the gradient meets it."""
    if id(x) in hooked:
        hook(leaf, *hooked[id(x)][1])
    return leaf


def after_hooks(x: Tensor, grad: Tensor) -> Tensor:
    """The gradient with respect to `x` after its hooks, in the order in which they were registered."""
    for handle in tuple(hooked[id(x)][1]) if id(x) in hooked else ():
        grad = handle.called(grad)
    return grad
