"""A function of symbolic sizes that runs at any: by one program for all of them, or by one for each where it must.

The one program is right where the guards of its sizes hold (`mycelia.sizes`). Where they do not, or where some step of
the compiler needed a number, the function is compiled for the sizes at hand, and the last few of these are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia.degradations import concerning, subject
from mycelia.ir import Function, sized
from mycelia.runtime.arena import Arena
from mycelia.sizes import Name, NeedsSize, solver
from mycelia.types import Array, TensorType

Run = Callable[..., tuple[Any, ...]]
SINGLE = 16  # programs for single sizes that are kept
REMEMBERED = 4096  # sizes whose way to run is known


class Resizable:
    """A compiled function of arrays, whose shapes may change from call to call."""

    def __init__(self, fn: Function, names: tuple[Name, ...], compiled: Callable[[Function], Run]) -> None:
        self.fn, self.names, self._compiled, self.subject = fn, names, compiled, subject()
        self.scope = names[0].scope
        self.whole: Run | None = None
        self.refused: NeedsSize | None = None  # why there is no program for all sizes
        Arena.expect_sizes()
        try:
            self.whole = compiled(fn)
        except NeedsSize as reason:
            self.refused = reason
        self._solve = solver([t.shape if isinstance(t, TensorType) else () for t in fn.types], names)
        self._chosen: dict[tuple[int, ...], Run] = {}
        self._single: dict[tuple[int, ...], Run] = {}

    @property
    def programs(self) -> int:
        """How many programs were compiled and are kept."""
        return (self.whole is not None) + len(self._single)

    def __call__(self, *arrays: Array) -> tuple[Any, ...]:
        """The results at these arrays."""
        return self.chosen(*arrays)(*arrays)

    def knows(self, *arrays: Array) -> bool:
        """Whether what runs at the sizes of these arrays is compiled."""
        return self._solve(*[x.shape for x in arrays]) in self._chosen

    def chosen(self, *arrays: Array) -> Run:
        """The program for arrays of these sizes, compiled now if there is none."""
        sizes = self._solve(*[x.shape for x in arrays])
        run = self._chosen.get(sizes)
        return self._choose(sizes) if run is None else run

    def _choose(self, sizes: tuple[int, ...]) -> Run:
        at = dict(zip(self.names, sizes, strict=True))
        if self.whole is not None and self.scope.holds(at):
            run = self.whole
        else:
            with concerning(self.subject):
                run = self._single.pop(sizes) if sizes in self._single else self._compiled(sized(self.fn, at))
            self._single[sizes] = run
            while len(self._single) > SINGLE:
                old = next(iter(self._single))
                del self._single[old]
                self._chosen.pop(old, None)
        if len(self._chosen) >= REMEMBERED:
            self._chosen.clear()
        self._chosen[sizes] = run
        return run
