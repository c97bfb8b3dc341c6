"""A function of the graph IR that tensors can be given to: one native call, and one node of the tape."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from mycelia.api.devices import current
from mycelia.api.options import options
from mycelia.backends import Backend
from mycelia.degradations import concerning, fault, subject
from mycelia.eager import Tensor, wrap
from mycelia.eager.dispatch import mode
from mycelia.eager.tape import put, tape_of
from mycelia.eager.trace import run
from mycelia.eager.writing import writing
from mycelia.errors import CaptureError, MyceliaError
from mycelia.ir import Function, Value, inner_functions, interpret, sized, sizes_of, tells_sizes
from mycelia.loops.status import Stopped
from mycelia.options import ALL_KEPT, NOTHING_ASKED, Wishes
from mycelia.primitives import HostCall, replaying, writing_down
from mycelia.runtime.arena import Arena
from mycelia.runtime.reference import Foreign, interpreted
from mycelia.runtime.resizable import Resizable
from mycelia.runtime.seen import Seen, taker
from mycelia.sizes import NeedsSize
from mycelia.transforms import Parts, decisions, depends, jvp, parted, placed, saves, vjp
from mycelia.types import Array, TensorType, Type

Mask = tuple[bool, ...]


KEPT = 256  # sizes for which a question is kept


def executor(
    fn: Function, donated: Mapping[int, int], backend: Backend, wishes: Wishes, asks: int = 0
) -> Callable[..., tuple[Any, ...]]:
    """`fn` as a program of a back end; by the interpreter, with a warning, if our own compiler fails."""
    try:
        return backend.compile(fn, dict(donated), replace(options(wishes), asks=asks))
    except MyceliaError:
        raise
    except Exception as error:
        if backend.name != "CPU":
            raise
        fault("a function is interpreted, because it could not be compiled", error)
        return lambda *arrays: tuple(interpreted(fn, asks, arrays))


class Native:
    """A compiled function of tensors, on a back end, or else on the one that the session has chosen. With `asking`, the
    same function with further results in front, it raises `Stopped` if one of these is true, before it does anything.
    """

    def __init__(
        self,
        function: Function,
        donated: Mapping[int, int] | None = None,
        backend: Backend | None = None,
        wishes: Wishes = NOTHING_ASKED,
        asking: Function | None = None,
    ) -> None:
        self.function, self.donated, self.backend, self.wishes = function, dict(donated or {}), backend, wishes
        self.asking = asking or function
        self.asks = len(self.asking.results) - len(function.results)
        self._questions: dict[tuple[Any, ...], Function] = {}  # at the sizes that were met
        self.subject = subject()
        self._made: dict[Backend, Callable[..., tuple[Any, ...]]] = {}
        self._recorded: dict[tuple[Mask, Backend], Recorded] = {}  # the last for each choice of what is differentiated
        self._tells = True  # the arguments of its parts, forward and backward, tell all sizes
        self._spent = sorted(set(self.donated.values()))
        self._take, self._seen = taker(self._spent), Seen(len(self._spent))  # arrays that own their memory
        self._lock = threading.RLock()
        self._locks: dict[int, threading.RLock] = {}

    def prepare(self, arrays: Sequence[Array] = ()) -> Callable[..., tuple[Any, ...]]:
        """Compile it now, for the back end that it will run on and for the sizes of `arrays`, if that was not done."""
        backend = self.backend or current()
        made = self._made.get(backend)
        if made is None:
            with concerning(self.subject):
                asking, asks = (self.asking, self.asks) if backend.asks else (self.function, 0)
                made = self._made[backend] = executor(asking, self.donated, backend, self.wishes, asks)
        if arrays and isinstance(made, Resizable):
            made.chosen(*arrays)
        return made

    def made(self) -> Callable[..., tuple[Any, ...]] | None:
        """What runs on the back end that is chosen now, if it is compiled, and all that there is to do."""
        backend = self.backend or current()
        whole = not (self._spent and backend.donates) and (not self.asks or backend.asks)
        return self._made.get(backend) if whole else None

    def ready(self, arrays: Sequence[Array]) -> bool:
        """Whether nothing has to be compiled for the sizes of `arrays`."""
        made = self._made.get(self.backend or current())
        return made is not None and (not isinstance(made, Resizable) or made.knows(*arrays))

    def run(self, arrays: list[Array]) -> tuple[Any, ...]:
        """The results at these arrays. A donated array that someone else holds is copied before."""
        backend = self.backend or current()
        run = self._made.get(backend) or self.prepare()
        if self.asks and not backend.asks and self.refuses(arrays):
            raise Stopped(f"a program of {backend.name} was asked whether it can go on, and cannot")
        if not self._spent or not backend.donates:
            return run(*arrays)
        with Arena.turn:
            return self._in_place(run, arrays)

    def try_out(self, make: Callable[[Sequence[Type]], list[Array]]) -> None:
        """Run it once on arrays that are made for it: nothing that anybody holds changes."""
        if self.function.roots:
            self.run(make(self.function.types))

    def refuses(self, arrays: Sequence[Array]) -> bool:
        """Whether the answer to one of the questions at these arrays is yes, by NumPy."""
        sizes = sizes_of(self.asking, arrays)
        key = tuple(sizes.values())
        if key not in self._questions:
            if len(self._questions) >= KEPT:
                self._questions.clear()
            self._questions[key] = sized(Function(self.asking.params, self.asking.results[: self.asks]), sizes)
        return any(interpret(self._questions[key], *arrays))

    def _in_place(self, run: Callable[..., tuple[Any, ...]], arrays: list[Array]) -> tuple[Any, ...]:
        """The results, some of them in the memory of arrays that are given, where nobody else can see that."""
        spent = self._take(arrays)
        changed = self._seen.changed(spent)
        if changed:
            self._locks = dict.fromkeys(map(id, spent), self._lock)
        with self._lock:
            try:
                writing.update(self._locks)
                # held by its tensor, by the list, by the tuple, and as an argument: nobody else may see it change
                if changed or max(map(sys.getrefcount, spent)) > 4:
                    for k, i in enumerate(self._spent):
                        if sys.getrefcount(spent[k]) > 4 or not _owns(spent[k]):
                            writing.pop(id(spent[k]), None)
                            arrays[i] = spent[k].copy()
                    self._seen.keep(spent, [k for k in changed if _owns(spent[k])])
                return run(*arrays)
            finally:
                writing.clear()  # nobody else has entered anything: programs take turns

    def show(self, stage: str) -> str:
        """What the function is at a stage of its compilation; if gradients were taken, also its two parts."""
        backend = self.backend or current()
        asking, asks = (self.asking, self.asks) if backend.asks else (self.function, 0)
        text = backend.show(stage, asking, self.donated, replace(options(self.wishes), asks=asks))
        for step in self._recorded.values():
            for title, part in (("forward", step.first), ("backward", step.second)):
                text += f"\n\n{title}, where a gradient is taken:\n{part.show(stage)}"
        return text

    def apply(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The results at these tensors, recorded if a gradient is being taken or a graph is being written."""
        if mode.capturing and any(x._data.__class__ is Value for x in tensors):
            return run(self.function, tensors)
        tape = tape_of(tensors)
        if tape is None:
            return [wrap(a) for a in self.run([x._data for x in tensors])]
        types = self.function.types
        wrt = tuple(x._tape is tape and t.differentiable for x, t in zip(tensors, types, strict=True))
        backend = self.backend or current()  # it comes back from where it went
        held = tuple(x._data for x in tensors)
        step = self._recorded.get((wrt, backend))
        if step is None or not self._tells:
            step = self._recorded[wrt, backend] = self._record(wrt, backend, held)
        past: list[Any] = []
        with writing_down() if step.asks_python else nullcontext(past) as past:
            out, kept = step.forward(held)
        place = put(tape, TapeCall(step, kept, tuple(past)), tensors, held, out)
        live = zip(out, step.live, strict=True)
        return [wrap(o, tape, place + i if moves or tape.whole else -1) for i, (o, moves) in enumerate(live)]

    def _record(self, wrt: Mask, backend: Backend, held: tuple[Array, ...]) -> Recorded:
        """The two parts of the function; for the sizes of these arrays, where its parts do not tell them."""
        with undecided():
            step = recorded(self.function, wrt, backend, self.wishes)
            if step.sized:
                return step
            self._tells = False
            return recorded(sized(self.function, sizes_of(self.function, held)), wrt, backend, self.wishes)


class Undecided(CaptureError):
    """The derivative of a program depends on a size that comes out of data in another way than as a number."""


@contextmanager
def undecided() -> Iterator[None]:
    """Inside the block, a size that must be known and is not is a mistake that can be told."""
    try:
        yield
    except NeedsSize as reason:
        raise Undecided(
            f"a derivative cannot be part of a compiled program: {reason}, and it comes out of data",
            hint="differentiate the function without jit",
        ) from None


def _owns(array: Array) -> bool:
    """Whether an array may be written to, and nobody sees it but those who hold the array itself."""
    return array.base is None and array.flags.writeable


class Recorded:
    """A function in two parts, forward and backward, for the parameters that are differentiated."""

    def __init__(self, function: Function, wrt: Mask, backend: Backend | None, wishes: Wishes) -> None:
        self.function, self.wrt, self.backend, self.wishes = function, wrt, backend, wishes
        moved = depends(function, wrt)
        self.live = tuple(m and t.differentiable for m, t in zip(moved, function.result_types, strict=True))
        n, m = len(function.params), len(function.results)
        joint = vjp(function, wrt, self.live)
        save = decisions if wishes.memory.keep == "nothing" else saves
        self.parts: Parts = parted(joint, n, m, save=save)
        wishes = replace(wishes, memory=ALL_KEPT)  # of the two parts together it is said what they keep
        self.first = Native(self.parts.forward, backend=backend, wishes=wishes)
        self.second = Native(self.parts.backward, backend=backend, wishes=wishes)
        self.pulled = Native(joint.with_results(joint.results[m:]), backend=backend, wishes=wishes)
        self.leaves = any(not isinstance(t, TensorType) for t in self.parts.backward.types)  # more than tensors
        self.sized = all(map(tells_sizes, (self.parts.forward, self.parts.backward, self.pulled.function)))
        # perhaps: functions inside an op are not looked into
        self.asks_python = any(isinstance(v.op, HostCall) or inner_functions(v.op) for v in function.values())

    def forward(self, arrays: tuple[Array, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The results, and what the way back needs."""
        outs = self.first.run(list(arrays))
        return outs[: len(self.function.results)], self.parts.kept(arrays, outs)

    def cotangents(self, given: Sequence[Any], outs: Sequence[Any], zeros: Callable[[Any], Any]) -> list[Any]:
        """A cotangent for each live result, zero where none flows."""
        return [zeros(out) if c is None else c for c, out, live in zip(given, outs, self.live, strict=True) if live]


@lru_cache(maxsize=1024)
def recorded(function: Function, wrt: Mask, backend: Backend | None, wishes: Wishes) -> Recorded:
    """The two parts of a function, made once."""
    return Recorded(function, wrt, backend, wishes)


@lru_cache(maxsize=1024)
def pushed(function: Function, moving: Mask, backend: Backend | None, wishes: Wishes) -> Native:
    """From parameters, and tangents of those that move, to tangents of the results; made once."""
    joint = jvp(function, moving)
    return Native(joint.with_results(joint.results[len(function.results) :]), backend=backend, wishes=wishes)


class TapeCall:
    """One call of a compiled function, on the tape."""

    __slots__ = ("kept", "past", "step")

    def __init__(self, step: Recorded, kept: tuple[Any, ...], past: tuple[Any, ...]) -> None:
        self.step, self.kept, self.past = step, kept, past  # the past: what Python gave when the program called it

    @property
    def whole(self) -> Function:
        """What is computed again where whole numbers are differentiated."""
        return self.step.function

    def pull(self, needed: Mask, ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        """Cotangents of the inputs, as arrays."""
        cts = list(map(np.asarray, self.step.cotangents(ct, out, np.zeros_like)))
        if not self.step.leaves:
            return placed(self.step.wrt, self.step.second.run([*self.kept, *cts]))
        return placed(self.step.wrt, self._pulled(cts, inputs))

    def _pulled(self, cts: list[Any], inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same, where the way forward has left sequences behind: if one of the two parts is machine code and the
        other is interpreted, neither can read what the other has made, and all is computed from the inputs.
        """
        if all(isinstance(x, np.ndarray) for x in self.kept):
            with suppress(Foreign):
                return self.step.second.run([*self.kept, *cts])
        with replaying(self.past):
            return self.step.pulled.run([*inputs, *cts])

    def derive(self, needed: Mask, ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        """Cotangents of the inputs, as tensors that can be differentiated again."""
        cts = self.step.cotangents(ct, out, lambda o: wrap(np.zeros(o.shape, o.dtype.numpy)))
        given = [c if isinstance(c, Tensor) else Tensor(c) for c in cts]
        with replaying(self.past):
            return placed(self.step.wrt, self.step.pulled.apply([*inputs, *given]))

    def push(self, tangents: Sequence[Tensor | None], inputs: Sequence[Tensor]) -> Sequence[Tensor | None]:
        """Tangents of the results, as tensors that can be differentiated again."""
        moving = tuple(t is not None for t in tangents)
        with undecided():
            step = pushed(self.step.function, moving, self.step.backend, self.step.wishes)
        smooth = [t.differentiable for t in self.step.function.result_types]
        with replaying(self.past):
            return placed(smooth, step.apply([*inputs, *[t for t in tangents if t is not None]]))
