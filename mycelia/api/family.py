"""Calls that differ only in the sizes of their tensors: a program for one size at first, then one for all sizes.

A dimension that has changed between two calls is symbolic from then on (`mycelia.sizes`); dimensions that always
changed together are one size. The guards that capturing and compiling leave behind say for which sizes the program is
right; other sizes get another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mycelia.capture.branch import origin
from mycelia.degradations import Instead, degrade, fault
from mycelia.eager import Parameter, Tensor
from mycelia.errors import Location, MyceliaError
from mycelia.sizes import Dim, Name, NeedsSize, Scope, Sym
from mycelia.tree import Structure
from mycelia.types import TensorType, dtype_of

Shapes = tuple[tuple[int, ...] | None, ...]  # of all leaves; None where a leaf is no tensor
SEEN = 8  # calls that are remembered to find out which dimensions go together
WARNED = 16  # programs for single shapes, after which it is said
PATTERNS = 16  # programs for symbolic sizes that are kept
TRIES = 4  # at one program, each with more sizes as numbers


def kin(key: Any) -> Any:
    """What calls of one family have in common: a signature without the extents of tensors."""
    if key and isinstance(key[0], Structure):
        structure, parts = key
        return structure, tuple(_without_extents(p) for p in parts)
    return tuple(len(part) if isinstance(part, tuple) else part for part in key)


def _without_extents(part: Any) -> Any:
    if isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], tuple):
        return part[0], len(part[1])
    return part


def shapes_of(leaves: Sequence[Any]) -> Shapes:
    """The shapes of the tensors among the arguments; a parameter keeps its own."""
    return tuple(x._data.shape if isinstance(x, Tensor) and not isinstance(x, Parameter) else None for x in leaves)


@dataclass(frozen=True)
class Pattern:
    """Shapes with names for the dimensions that change."""

    dims: tuple[tuple[Dim | Name, ...] | None, ...]
    scope: Scope

    def sizes(self, shapes: Shapes) -> dict[Name, int] | None:
        """What the names stand for in these shapes; None if they do not fit the pattern."""
        found: dict[Name, int] = {}
        for dims, shape in zip(self.dims, shapes, strict=True):
            if dims is None or shape is None:
                continue
            for d, n in zip(dims, shape, strict=True):
                if (found.setdefault(d, n) if isinstance(d, Name) else d) != n:
                    return None
        return found

    def fits(self, shapes: Shapes) -> bool:
        """Whether a program that was written for the pattern is right for these shapes."""
        sizes = self.sizes(shapes)
        return sizes is not None and self.scope.holds(sizes)

    def types(self, leaves: Sequence[Any]) -> dict[int, TensorType]:
        """The types of the arguments whose shapes have names."""
        found = {}
        for i, (dims, x) in enumerate(zip(self.dims, leaves, strict=True)):
            if dims is not None and any(isinstance(d, Name) for d in dims):
                shape = tuple(Sym((((d,), 1),)) if isinstance(d, Name) else d for d in dims)
                found[i] = TensorType(dtype_of(x._data), shape)  # type: ignore[arg-type]  # a size is typed as an int
        return found


@dataclass
class Family:
    """The calls of one kind: the same nest, the same element types, the same numbers of axes."""

    seen: list[Shapes] = field(default_factory=list)
    open: set[tuple[int, int]] = field(default_factory=set)  # (leaf, axis) that was asked to be symbolic
    numbers: dict[tuple[int, int], Location | None] = field(default_factory=dict)  # those that the line asks for
    ways: list[tuple[Pattern, Any]] = field(default_factory=list)
    refused: str = ""  # why there is no program for all sizes
    failure: Exception | None = None  # what went wrong at symbolic sizes, and may go wrong at actual ones too
    singles: int = 0  # programs for single sizes

    def fitting(self, shapes: Shapes) -> Any | None:
        """A way to run that is right for these shapes and still holds."""
        for i, (pattern, way) in enumerate(self.ways):
            if pattern.fits(shapes) and way.holds():
                if i:
                    self.ways.insert(0, self.ways.pop(i))
                return way
        return None

    def specialised(self) -> None:
        """One more program for single sizes; when there are many, somebody should know."""
        self.singles += 1
        if self.singles == WARNED:
            asked = [f"axis {axis} of tensor {i}{_because(at)}" for (i, axis), at in sorted(self.numbers.items())]
            why = f"it needs numbers for {'; '.join(asked)}" if asked else self.refused or "sizes of 0 and 1 differ"
            degrade(
                Instead.AGAIN,
                f"it has been compiled for {WARNED} different shapes, because {why} (explain() tells more); "
                "each new shape costs another compilation, and programs that are not used for long are let go",
                warn=True,
            )

    def went_well(self) -> None:
        """A program for the sizes at hand was made: what failed for symbolic ones was not the user's mistake."""
        error, self.failure = self.failure, None
        if error is None:
            return
        self.refused = self.refused or f"{type(error).__name__}: {error}"
        if isinstance(error, MyceliaError):
            degrade(Instead.GIVEN_UP, f"a program for all sizes: {self.refused.splitlines()[0]}", origin(error))
        else:
            fault("a program for all sizes could not be made", error, origin(error))

    def note(self, shapes: Shapes) -> None:
        """Remember a call."""
        if shapes not in self.seen:
            self.seen.append(shapes)
            del self.seen[1:-SEEN]  # the first one and the last few

    def changing(self) -> list[tuple[int, int]]:
        """The dimensions that are symbolic now: those that have changed, or were asked for."""
        (first, *others) = self.seen
        places = [(i, axis) for i, shape in enumerate(first) if shape is not None for axis in range(len(shape))]
        return [
            (i, axis)
            for i, axis in places
            if (i, axis) not in self.numbers
            and self.seen[-1][i][axis] > 1  # type: ignore[index]  # a shape
            and ((i, axis) in self.open or any(s[i][axis] != first[i][axis] for s in others))  # type: ignore[index]
        ]

    def pattern(self) -> Pattern | None:
        """A pattern for the last call; None if nothing changes."""
        places = self.changing()
        if not places:
            return None
        now = self.seen[-1]
        scope = Scope()
        name_of: dict[tuple[int, ...], Name] = {}
        for i, axis in places:
            history = tuple(s[i][axis] for s in self.seen)  # type: ignore[index]
            if history not in name_of:
                (name_of[history],) = scope.name(f"s{len(name_of)}", hint=now[i][axis]).names()  # type: ignore[index]
        dims = tuple(
            None
            if shape is None
            else tuple(
                name_of[tuple(s[i][axis] for s in self.seen)] if (i, axis) in places else n  # type: ignore[index]
                for axis, n in enumerate(shape)
            )
            for i, shape in enumerate(now)
        )
        return Pattern(dims, scope)

    def generalise(self, leaves: Sequence[Any], captured: Callable[[dict[int, TensorType]], Any]) -> Any | None:
        """A way to run for all sizes, if there is one. `captured` makes it from the types of the leaves."""
        for _ in range(TRIES):
            pattern = self.pattern()
            if pattern is None:
                return None
            try:
                way = captured(pattern.types(leaves))
            except NeedsSize as reason:
                line = origin(reason)
                for i, dims in enumerate(pattern.dims):
                    self.numbers.update({(i, axis): line for axis, d in enumerate(dims or ()) if d in reason.names})
                continue
            if way is not None:
                self.ways.insert(0, (pattern, way))
                del self.ways[PATTERNS:]
            return way
        return None

    def __str__(self) -> str:
        """Which sizes are numbers in the programs of this family, and why."""
        lines = [
            f"axis {axis} of tensor {i} is a number{_because(at)}" for (i, axis), at in sorted(self.numbers.items())
        ]
        if self.refused:
            lines.append(f"a program for each shape: {self.refused.splitlines()[0]}")
        return "\n".join(lines)


def _because(at: Location | None) -> str:
    return f", asked for at {at}" if at is not None else ", which the compiler asks for"
