"""Sizes that change between calls: which dimensions are names in a capture, and which are numbers.

A dimension that has changed between two calls is symbolic from then on (`mycelia.sizes`); dimensions that always
changed together are one size. The guards that capturing and compiling leave behind say for which sizes the program is
right; other sizes get another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mycelia.degradations import Instead, degrade, fault
from mycelia.eager import Parameter
from mycelia.errors import Location, MyceliaError, origin
from mycelia.sizes import Name, NeedsSize, Scope, Sym
from mycelia.types import Shape, TensorType, dtype_of

Path = tuple[Any, ...]
Place = tuple[Path, int]  # how a tensor is reached, and an axis of it
Shapes = dict[Path, Shape]
SEEN = 8  # calls that are remembered to find out which dimensions go together
WARNED = 16  # programs for single shapes, after which it is said


@dataclass
class Naming:
    """The names of one capture."""

    sizes: Sizes
    asked: Mapping[int, Sequence[int]]  # axes that were said to change, by the ids of tensors
    scope: Scope = field(default_factory=Scope)
    names: dict[tuple[Any, ...], Name] = field(default_factory=dict)
    places: dict[Name, list[Place]] = field(default_factory=dict)

    def type_of(self, tensor: Any, path: Path, array: Any) -> TensorType | None:
        """The type of a tensor with names in it; None if there is nothing to name."""
        said = self.asked.get(id(tensor), ())
        shape: list[Any] = list(array.shape)
        for axis, n in enumerate(array.shape):
            changes = axis in said or (path, axis) in self.sizes.open
            if n > 1 and changes and (path, axis) not in self.sizes.numbers:
                shape[axis] = self.name(path, axis, n).alone()
        if all(type(n) is not Sym for n in shape) or (isinstance(tensor, Parameter) and said):
            return None
        return TensorType(dtype_of(array), tuple(shape))

    def name(self, path: Path, axis: int, now: int) -> Name:
        """Dimensions that have had the same sizes in all calls so far are one."""
        history = (*[extent(seen.get(path), axis) for seen in self.sizes.seen], now)
        if history not in self.names:
            (self.names[history],) = self.scope.name(f"s{len(self.names)}", hint=now).names()
        self.places.setdefault(self.names[history], []).append((path, axis))
        return self.names[history]


def extent(shape: tuple[int, ...] | None, axis: int) -> int | None:
    """The extent of an axis that a tensor of another call had; None if there was no such tensor, or no such axis.

    >>> extent((2, 3), 1), extent((2,), 1), extent(None, 0)
    (3, None, None)
    """
    return None if shape is None or axis >= len(shape) else shape[axis]


@dataclass
class Sizes:
    """What is known of the sizes of tensors, over all calls of one kind."""

    open: set[Place] = field(default_factory=set)  # dimensions that have changed
    numbers: dict[Place, Location | None] = field(default_factory=dict)  # those that the line asks for
    seen: list[Shapes] = field(default_factory=list)
    refused: str = ""  # why there is no program for all sizes
    failure: Exception | None = None  # what went wrong at symbolic sizes, and may go wrong at actual ones too
    singles: int = 0  # programs for single sizes

    def note(self, shapes: Shapes) -> None:
        """Remember a call for which a program was made."""
        if shapes not in self.seen:
            self.seen.append(shapes)
            del self.seen[1:-SEEN]  # the first one and the last few

    def needs(self, naming: Naming, reason: NeedsSize, at: Location | None) -> bool:
        """Take sizes as numbers from now on; false if they are none that we have named."""
        places = [place for name in reason.names for place in naming.places.get(name, ())]
        self.numbers.update(dict.fromkeys(places, at))
        return bool(places)

    def specialised(self) -> None:
        """One more program for single sizes; when there are many, somebody should know."""
        self.singles += 1
        if self.singles == WARNED:
            asked = [f"axis {axis} of {spelled(path)}{_because(at)}" for (path, axis), at in self.numbers.items()]
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

    def __str__(self) -> str:
        """Which sizes are numbers, and why."""
        lines = [
            f"axis {axis} of {spelled(path)} is a number{_because(at)}" for (path, axis), at in self.numbers.items()
        ]
        if self.refused:
            lines.append(f"a program for each shape: {self.refused.splitlines()[0]}")
        return "\n".join(lines)


def spelled(path: Path) -> str:
    """A thing that is reached on this path, in words.

    >>> spelled((("arg", 0), ("attr", "rate"), ("items", None), 2)), spelled((("kwarg", "n"),))
    ('argument 0 .rate [2]', 'n')
    """
    words = {"arg": "argument {}", "kwarg": "{}", "attr": ".{}", "member": ".{}", "key": "[{!r}]", "cell": "{}"}
    parts = [f"[{p}]" if not isinstance(p, tuple) else words.get(p[0], "").format(p[1]) for p in path]
    return " ".join(filter(None, parts)) or "a number"


def _because(at: Location | None) -> str:
    return f", asked for at {at}" if at is not None else ", which the compiler asks for"
