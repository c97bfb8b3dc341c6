"""A function of the graph IR that tensors can be given to: one native call, and one node of the tape."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
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
from mycelia.errors import MyceliaError
from mycelia.ir import Function, Value, interpret, sized, sizes_of, tells_sizes
from mycelia.primitives import replaying, writing_down
from mycelia.runtime.resizable import Resizable
from mycelia.transforms import Split, depends, jvp, split, spread, vjp
from mycelia.types import Array

Mask = tuple[bool, ...]


def executor(fn: Function, donated: Mapping[int, int], backend: Backend) -> Callable[..., tuple[Any, ...]]:
    """`fn` as a program of a back end; by the interpreter, with a warning, if our own compiler fails."""
    try:
        return backend.compile(fn, dict(donated), options())
    except MyceliaError:
        raise
    except Exception as error:
        if backend.name != "CPU":
            raise
        fault("a function is interpreted, because it could not be compiled", error)
        return lambda *arrays: interpret(sized(fn, sizes_of(fn, arrays)), *arrays)


class Native:
    """A compiled function of tensors, on a back end, or else on the one that the session has chosen."""

    def __init__(
        self, function: Function, donated: Mapping[int, int] | None = None, backend: Backend | None = None
    ) -> None:
        self.function, self.donated, self.backend = function, dict(donated or {}), backend
        self.subject = subject()
        self._made: dict[Backend, Callable[..., tuple[Any, ...]]] = {}
        self._spent = sorted(set(self.donated.values()))

    def prepare(self, arrays: Sequence[Array] = ()) -> Callable[..., tuple[Any, ...]]:
        """Compile it now, for the back end that it will run on and for the sizes of `arrays`, if that was not done."""
        backend = self.backend or current()
        made = self._made.get(backend)
        if made is None:
            with concerning(self.subject):
                made = self._made[backend] = executor(self.function, self.donated, backend)
        if arrays and isinstance(made, Resizable):
            made.chosen(*arrays)
        return made

    def ready(self, arrays: Sequence[Array]) -> bool:
        """Whether nothing has to be compiled for the sizes of `arrays`."""
        made = self._made.get(self.backend or current())
        return made is not None and (not isinstance(made, Resizable) or made.knows(*arrays))

    def run(self, arrays: list[Array]) -> tuple[Any, ...]:
        """The results at these arrays. A donated array that someone else holds is copied before."""
        run = self.prepare()
        if not self._spent or not (self.backend or current()).donates:
            return run(*arrays)
        keys = [id(arrays[i]) for i in self._spent]
        lock = threading.RLock()
        with lock:
            try:
                writing.update(dict.fromkeys(keys, lock))
                for i in self._spent:
                    # held by its tensor, by the list, and as an argument: nobody else may see it change
                    if sys.getrefcount(arrays[i]) > 3 or arrays[i].base is not None or not arrays[i].flags.writeable:
                        writing.pop(id(arrays[i]))
                        arrays[i] = arrays[i].copy()
                return run(*arrays)
            finally:
                for key in keys:
                    writing.pop(key, None)

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
        step = recorded(self.function, wrt, backend)
        if not step.sized:
            step = recorded(sized(self.function, sizes_of(self.function, held)), wrt, backend)
        with writing_down() as past:
            out, kept = step.forward(held)
        place = put(tape, Node(step, kept, tuple(past)), tensors, held, out)
        live = zip(out, step.live, strict=True)
        return [wrap(o, tape, place + i if moves else -1) for i, (o, moves) in enumerate(live)]


class Recorded:
    """A function in two parts, forward and backward, for the parameters that are differentiated."""

    def __init__(self, function: Function, wrt: Mask, backend: Backend | None) -> None:
        self.function, self.wrt, self.backend = function, wrt, backend
        moved = depends(function, wrt)
        self.live = tuple(m and t.differentiable for m, t in zip(moved, function.result_types, strict=True))
        n, m = len(function.params), len(function.results)
        joint = vjp(function, wrt, self.live)
        self.parts: Split = split(joint, n, m)
        self.first = Native(self.parts.forward, backend=backend)
        self.second = Native(self.parts.backward, backend=backend)
        self.pulled = Native(joint.with_results(joint.results[m:]), backend=backend)
        self.sized = all(map(tells_sizes, (self.parts.forward, self.parts.backward, self.pulled.function)))

    def forward(self, arrays: tuple[Array, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The results, and what the way back needs."""
        outs = self.first.run(list(arrays))
        return outs[: len(self.function.results)], self.parts.kept(arrays, outs)

    def cotangents(self, given: Sequence[Any], outs: Sequence[Any], zeros: Callable[[Any], Any]) -> list[Any]:
        """A cotangent for each live result, zero where none flows."""
        return [zeros(out) if c is None else c for c, out, live in zip(given, outs, self.live, strict=True) if live]


@lru_cache(maxsize=1024)
def recorded(function: Function, wrt: Mask, backend: Backend | None) -> Recorded:
    """The two parts of a function, made once."""
    return Recorded(function, wrt, backend)


@lru_cache(maxsize=1024)
def pushed(function: Function, moving: Mask, backend: Backend | None) -> Native:
    """From parameters, and tangents of those that move, to tangents of the results; made once."""
    joint = jvp(function, moving)
    return Native(joint.with_results(joint.results[len(function.results) :]), backend=backend)


class Node:
    """One call of a compiled function, on the tape."""

    __slots__ = ("kept", "past", "step")

    def __init__(self, step: Recorded, kept: tuple[Any, ...], past: tuple[Any, ...]) -> None:
        self.step, self.kept, self.past = step, kept, past  # the past: what Python gave when the program called it

    def pull(self, needed: Mask, ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        """Cotangents of the inputs, as arrays."""
        cts = self.step.cotangents(ct, out, np.zeros_like)
        return spread(self.step.wrt, self.step.second.run([*self.kept, *map(np.asarray, cts)]))

    def derive(self, needed: Mask, ct: Any, out: Any, inputs: tuple[Any, ...]) -> Sequence[Any]:
        """Cotangents of the inputs, as tensors that can be differentiated again."""
        cts = self.step.cotangents(ct, out, lambda o: wrap(np.zeros(o.shape, o.dtype.numpy)))
        given = [c if isinstance(c, Tensor) else Tensor(c) for c in cts]
        with replaying(self.past):
            return spread(self.step.wrt, self.step.pulled.apply([*inputs, *given]))

    def push(self, tangents: Sequence[Tensor | None], inputs: Sequence[Tensor]) -> Sequence[Tensor | None]:
        """Tangents of the results, as tensors that can be differentiated again."""
        step = pushed(self.step.function, tuple(t is not None for t in tangents), self.step.backend)
        smooth = [t.differentiable for t in self.step.function.result_types]
        with replaying(self.past):
            return spread(smooth, step.apply([*inputs, *[t for t in tangents if t is not None]]))
