"""The seam between the compiler and what runs programs: a back end, and the list of those that there are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, ClassVar

from mycelia.errors import ArgumentError, DependencyError
from mycelia.ir import Function
from mycelia.options import Options
from mycelia.passes import CANONICAL, Pass, canonical, pass_by_pass
from mycelia.primitives.pairing import has_complex, in_pairs
from mycelia.runtime.pairs import Paired
from mycelia.types import Array

Executable = Callable[..., tuple[Any, ...]]  # arrays of the back end, or of NumPy, to arrays of NumPy


class Backend(ABC):
    """Something that compiles functions and runs them.

    A back end says which passes follow the canonical ones, how a function becomes something that runs, and how arrays
    are held. Defining a subclass and calling `register` is all there is to a new one.
    """

    name: ClassVar[str]
    passes: ClassVar[tuple[Pass, ...]] = ()  # after the canonical ones
    donates: ClassVar[bool] = False  # whether programs overwrite what is donated
    asks: ClassVar[bool] = False  # whether programs answer questions before they run, see `Options.asks`

    def missing(self) -> str:
        """Why it cannot be used here, in words that tell what to install; nothing if it can."""
        return ""

    def devices(self) -> tuple[str, ...]:
        """The names of its devices that are present."""
        return () if self.missing() else (self.name,)

    def compile(self, fn: Function, donated: Mapping[int, int], options: Options) -> Executable:
        """`fn` as something that runs. Result `i` may overwrite parameter `donated[i]`, which is then gone."""
        if why := self.missing():
            raise DependencyError(f"{self.name} cannot run programs here: {why}")
        if has_complex(fn):
            return Paired(fn, self.build(canonical(in_pairs(fn), options, self.passes), donated, options), donated)
        return self.build(canonical(fn, options, self.passes), donated, options)

    @abstractmethod
    def build(self, fn: Function, donated: Mapping[int, int], options: Options) -> Executable:
        """A function that went through the passes, as something that runs."""

    def show(self, stage: str, fn: Function, donated: Mapping[int, int], options: Options) -> str:
        """What a function is at a stage of its compilation (`mycelia.options.STAGES`)."""
        if stage == "graph":
            return str(fn)
        fn = in_pairs(fn) if has_complex(fn) else fn
        if stage == "passes":
            return pass_by_pass(fn, options, (*CANONICAL, *self.passes))
        return f"{self.name} compiles it: there is no {stage} of ours"

    @abstractmethod
    def hold(self, array: Array) -> Any:
        """A NumPy array as this back end holds it."""

    def holds(self, array: Any) -> bool:
        """Whether a NumPy array is a view of something that this back end holds."""
        return False

    @abstractmethod
    def numpy(self, held: Any) -> Array:
        """What the back end holds, as a NumPy array; without a copy where that is possible, and then not writeable."""

    def dlpack(self, held: Any) -> Any:
        """What the back end holds, with `__dlpack__` for other frameworks: NumPy's view of it, or something better."""
        return self.numpy(held)


NATIVE = "CPU"  # the name of the processor at hand, by machine code of our own
ON_DEMAND = {  # modules that register these, and are loaded when they are asked for
    "stablehlo": "mycelia.backends.xla",
    "iree": "mycelia.backends.iree",
    "iree-vulkan": "mycelia.backends.iree",
}
_backends: dict[str, Backend] = {}


def register(backend: Backend) -> Backend:
    """Make a back end known by its name."""
    _backends[backend.name] = backend
    return backend


def unregister(name: str) -> None:
    """Forget a back end."""
    del _backends[name]


def backend(name: str) -> Backend:
    """The back end of this name.

    >>> backend("ascend")
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: there is no back end 'ascend'
    ...
    """
    if name in ON_DEMAND and name not in _backends:
        import_module(ON_DEMAND[name])
    if name not in _backends:
        raise ArgumentError(f"there is no back end {name!r}", hint=f"there are {', '.join(known())}")
    return _backends[name]


def known() -> tuple[str, ...]:
    """The names of all back ends.

    >>> known()[:2]
    ('CPU', 'stablehlo')
    """
    return tuple(dict.fromkeys((NATIVE, *ON_DEMAND, *_backends)))


def usable(name: str, number: int = 0) -> Backend:
    """The back end of this name, if it has a device with this number here; else an error that says what to do."""
    if name not in known():
        raise ArgumentError(
            f"device_target cannot be {name!r}: Mycelia has no back end for it",
            hint=f"choose one of {', '.join(map(repr, known()))}; docs/backends.md tells how to add one",
        )
    found = backend(name)
    if why := found.missing():
        raise DependencyError(f"{name} cannot run programs here: {why}")
    if number not in range(len(found.devices())):
        raise ArgumentError(f"there is no device {name}:{number}", given={"devices": ", ".join(found.devices())})
    return found


def home(array: Any) -> str:
    """The name of the back end that holds the data of an array; that of the processor, if none does."""
    return next((b.name for b in _backends.values() if b.holds(array)), NATIVE)


def backends() -> dict[str, Backend]:
    """All back ends, by name, also those that cannot be used here."""
    return {name: backend(name) for name in known()}
