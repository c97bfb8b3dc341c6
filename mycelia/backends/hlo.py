"""What back ends that read StableHLO have in common: results that stay where they are, sequences that grow."""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mycelia.backends.backend import Backend, Executable
from mycelia.errors import MyceliaError
from mycelia.frozen import frozen
from mycelia.ir import Function
from mycelia.ir.resize import names_of, sized, sizes_of
from mycelia.options import Options
from mycelia.passes import canonical
from mycelia.stablehlo import Module, module
from mycelia.types import Array, TensorType

FIRST = 16  # elements that a sequence has room for at first
MOST = 1 << 20
SIZES = 16  # programs of one function, each for its sizes, that are kept
Run = Callable[[Sequence[Any]], Sequence[Any]]  # held arrays to held arrays


@frozen
class Stored:
    """A sequence that a program gave back: its length, and the tensors that hold its elements."""

    leaves: tuple[Array, ...]
    shape: ClassVar[tuple[int, ...]] = ()  # no size can be read from it


class ReadsHlo(Backend):
    """A back end whose compiler reads StableHLO.

    A result is a view of what the back end holds, which nobody can write to; given to a program, it is not copied.
    """

    name: ClassVar[str]

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Array], Any]] = {}

    @abstractmethod
    def load(self, program: Module) -> Run:
        """A module as something that runs."""

    @abstractmethod
    def put(self, array: Array) -> Any:
        """A NumPy array on the device."""

    @abstractmethod
    def get(self, held: Any) -> Array:
        """An array of the device for NumPy, which nobody can write to."""

    def build(self, fn: Function, donated: Mapping[int, int], options: Options) -> Executable:
        return Sized(self, fn) if names_of(fn) else HloExecutable(self, fn)

    def show(self, stage: str, fn: Function, donated: Mapping[int, int], options: Options) -> str:
        if stage != "program" or names_of(fn):
            return super().show(stage, fn, donated, options)
        return module(canonical(fn, options, self.passes), FIRST).text

    def hold(self, array: Array) -> Any:
        known = self._known.get(id(array))
        if known is not None and known[0]() is array:
            return known[1]
        return self.put(array)

    def holds(self, array: Any) -> bool:
        known = self._known.get(id(array))
        return known is not None and known[0]() is array

    def numpy(self, held: Any) -> Array:
        array = self.get(held)
        assert not array.flags.writeable, "what is remembered must not change"
        key = id(array)

        def forget(_: Any) -> None:
            self._known.pop(key, None)

        self._known[key] = weakref.ref(array, forget), held
        return array


class HloExecutable:
    """A compiled function of arrays. Where a loop leaves more behind than fits, it is compiled anew with more room."""

    def __init__(self, backend: ReadsHlo, fn: Function) -> None:
        self.backend, self.fn = backend, fn
        self._compile(FIRST)

    def _compile(self, capacity: int) -> None:
        if capacity > MOST:
            raise MyceliaError(
                f"a loop leaves more than {MOST} elements behind, more than {self.backend.name} is given room for",
                hint="run it on the CPU, whose sequences grow",
            )
        self.module = module(self.fn, capacity)
        self.run = self.backend.load(self.module)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        longest = max((len(leaf) for x in arrays if isinstance(x, Stored) for leaf in x.leaves[1:2]), default=0)
        if longest > self.module.capacity:
            self._compile(longest)
        while True:
            out = list(self.run([x for held in map(self._taken, arrays, self.module.params) for x in held]))
            if not self.module.flagged or not self.backend.get(out.pop()):
                return self._given(out)
            self._compile(4 * self.module.capacity)

    def _taken(self, x: Any, leaves: Sequence[TensorType]) -> list[Any]:
        if isinstance(x, Stored):
            return [self.backend.hold(_fitted(a, t)) for a, t in zip(x.leaves, leaves, strict=True)]
        (t,) = leaves
        x = np.asarray(x)
        assert x.shape == t.shape, f"an array of shape {x.shape} where {t.shape} was compiled"
        return [self.backend.hold(x if x.dtype == t.dtype.numpy else x.astype(t.dtype.numpy))]

    def _given(self, out: Sequence[Any]) -> tuple[Any, ...]:
        arrays = iter(map(self.backend.numpy, out))
        grouped = [tuple(next(arrays) for _ in leaves) for leaves in self.module.results]
        return tuple(Stored(g) if len(g) > 1 else g[0] for g in grouped)


class Sized:
    """A function whose sizes are known only when it is called; a program knows its sizes, so there is one for each."""

    def __init__(self, backend: ReadsHlo, fn: Function) -> None:
        self.backend, self.fn = backend, fn
        self.programs: dict[tuple[int, ...], HloExecutable] = {}

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        sizes = sizes_of(self.fn, arrays)
        key = tuple(sizes.values())
        program = self.programs.pop(key, None) or HloExecutable(self.backend, sized(self.fn, sizes))
        self.programs[key] = program  # the one that was used last goes last
        while len(self.programs) > SIZES:
            del self.programs[next(iter(self.programs))]
        return program(*arrays)


def _fitted(array: Array, t: TensorType) -> Array:
    """A tensor of a sequence with the room that a program gives it."""
    if array.shape == t.shape:
        return array
    out = np.zeros(t.shape, t.dtype.numpy)
    out[tuple(slice(0, n) for n in array.shape)] = array
    return out
