"""jit: a Python function as one native program for each kind of arguments."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from types import FunctionType
from typing import Any, overload

from mycelia import capture
from mycelia.api.described import Described
from mycelia.api.family import Family, kin, shapes_of
from mycelia.api.interpreted import Interpreted
from mycelia.api.numbers import CHANGING, MUTABLE, Kind, has_numbers
from mycelia.api.specialise import Compiled, Fallback, always, plain_signature, signature
from mycelia.api.world import WORLD
from mycelia.backends import NATIVE, Backend, usable
from mycelia.degradations import RECORD, Instead, Subject, concerning, degrade
from mycelia.eager.dispatch import captures, mode
from mycelia.errors import ArgumentError, CaptureError
from mycelia.interpreter.pieces import NOT_RUN
from mycelia.tree import Structure, flatten, unflatten
from mycelia.types import Type

CHOICES: dict[str, tuple[Any, ...]] = {
    "capture_mode": ("ast",),  # there is one way to capture
    "jit_level": ("", "O0"),  # and one compiler, which does all it can
    "jit_syntax_level": ("", "STRICT", "LAX"),  # STRICT: as fullgraph
    "dynamic": (0, 1),
    "fullgraph": (False, True),
}
# what MindSpore hands to its back ends, and what would change nothing here
ELSEWHERE = ("infer_boost", "disable_format_transform", "exec_order", "exc_mode", "debug_level", "ge_options")
REMEMBERED = 128  # kinds of arguments whose programs are kept: those that were used last
CROWDED = 64  # kinds of arguments from which on it is noted which were used last
MANY = 16  # specialisations of one kind of arguments, after which Python runs the function: its guards never settle


@overload
def jit(fn: Callable[..., Any], **settings: Any) -> Jitted: ...
@overload
def jit(fn: None = None, **settings: Any) -> Callable[[Callable[..., Any]], Jitted]: ...


def jit(
    fn: Callable[..., Any] | None = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    fallback: bool = True,
    **options: Any,
) -> Any:
    """The function, method or Cell, compiled for each kind of arguments that it is called with.

    Branches, loops and recursion that depend on tensors become part of the program. What a program cannot do runs in
    Python: `explain()` tells where; with `fallback=False` or `fullgraph=True` it is an error. `backend` names where it
    runs, if not on the device of the session: see docs/backends.md.

    >>> from mycelia.eager import Tensor
    >>> @jit
    ... def clipped(x):
    ...     if x.sum() > 1.0:
    ...         return x * 0.5
    ...     return x
    >>> clipped(Tensor([1.0, 3.0])).tolist()
    [0.5, 1.5]
    """
    given = {
        "capture_mode": capture_mode,
        "jit_level": jit_level,
        "dynamic": dynamic,
        "fullgraph": fullgraph,
        "backend": backend,
    }
    settings = {**given, **options}
    for name, value in settings.items():
        _check(name, value)
    lenient = fallback and not fullgraph and settings.get("jit_syntax_level") != "STRICT"
    if fn is None:
        return lambda fn: Jitted(fn, lenient, settings)
    if not callable(fn):
        raise ArgumentError(
            f"jit compiles functions, methods and Cells, not {type(fn).__name__}",
            given={"fn": fn},
            hint="pass the function itself, jit(f)(x), and not what it returns, jit(f(x))",
        )
    return Jitted(fn, lenient, settings)


def enable_dynamic(**kwargs: Any) -> Callable[[Jitted], Jitted]:
    """A decorator above `jit`: tensors without data say, by the names of parameters, which dimensions may change.

    These are symbolic from the first call on. A call with other shapes than described is an error.

    >>> from mycelia.eager import Tensor
    >>> from mycelia.types import float32
    >>> @enable_dynamic(x=Tensor(shape=(None, 2), dtype=float32))
    ... @jit
    ... def total(x):
    ...     return x.sum(0)
    >>> total(Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [4.0, 6.0]
    >>> print(total.explain().splitlines()[1])
      one native call: (f32[s0, 2]) -> (f32[2])
    """

    def described(fn: Jitted) -> Jitted:
        if not isinstance(fn, Jitted):
            raise ArgumentError("enable_dynamic goes above jit", given={"fn": fn}, hint="write @jit below it")
        fn.described = Described.of(fn.__captured__, (), kwargs)
        return fn

    return described


def _check(name: str, value: Any) -> None:
    """Complain about a setting that nobody knows, or a value that it cannot have."""
    known = {**CHOICES, "backend": (), "input_signature": ()}
    if name in ELSEWHERE:
        raise ArgumentError(
            f"jit has no {name}: it steers MindSpore's back ends, and would change nothing here",
            given={name: value},
            hint="leave it out",
        )
    if name not in known:
        near = get_close_matches(name, [*known, "fallback"], 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join([*known, 'fallback'])}"
        raise ArgumentError(f"jit has no setting {name}", given={name: value}, hint=hint)
    if known[name] and value not in known[name]:
        raise ArgumentError(f"{name} cannot be {value!r}", hint=f"choose one of {', '.join(map(repr, known[name]))}")


def _backend(name: str) -> Backend | None:
    """The back end that a function is to run on; None for that of the session."""
    if name == "":
        return None
    return usable(NATIVE if name == "ms_backend" else name)  # MindSpore calls its own compiler so


class Jitted:
    """A function that is compiled for each kind of arguments; see `jit`."""

    def __init__(self, fn: Callable[..., Any], fallback: bool, settings: dict[str, Any]) -> None:
        functools.update_wrapper(self, fn, updated=())
        self.__captured__ = fn
        self._fallback, self._settings = fallback, settings
        self._backend = _backend(settings["backend"])
        self._subject = Subject(getattr(fn, "__qualname__", type(fn).__name__))
        self._interpreted = Interpreted(fallback, bool(settings["dynamic"]), self._backend, self._subject)
        self._ways: dict[Any, list[Compiled | Fallback]] = {}
        self._kinds: dict[Any, Kind] = {}
        self._families: dict[Any, Family] = {}
        self.described: Described | None = None  # see `enable_dynamic`
        if (signature := settings.get("input_signature")) is not None:
            given = signature if isinstance(signature, tuple | list) else (signature,)
            self.described = Described.of(fn, tuple(given), {})
        self._cuts: dict[int, tuple[Any, tuple[Jitted, ...]]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fn = self.__captured__
        if mode.capturing:
            return fn(*args, **kwargs) if capture.current() is None else capture.call(fn, *args, **kwargs)
        if self.described is None and getattr(getattr(fn, "__self__", fn), "_described", None) is None:
            out = self._interpreted(fn, args, kwargs)
            if out is not NOT_RUN:
                return out
            if self._interpreted.past:
                family = self._families.setdefault(kin(self._key(args, kwargs)[1]), Family())
                for shapes in self._interpreted.past:
                    family.note(shapes)
                self._interpreted.past = []
        leaves, key = self._key(args, kwargs)
        ways = self._ways.get(key, ())
        for i, way in enumerate(ways):
            if way.holds():
                if i:
                    self._ways[key].insert(0, self._ways[key].pop(i))  # it will probably be the next one too
                if len(self._ways) > CROWDED:
                    self._ways[key] = self._ways.pop(key)
                return way.run(args, kwargs, leaves)
        with captures, concerning(self._subject):
            way, leaves = self._found(args, kwargs)
        return way.run(args, kwargs, leaves)

    @staticmethod
    def _key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Sequence[Any], Any]:
        """The leaves of the arguments, and what a specialisation depends on."""
        key = None if kwargs else plain_signature(args)
        if key is not None:
            return args, key
        leaves, structure = flatten((args, kwargs))
        return leaves, (structure, signature(leaves))

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Compiled | Fallback, Sequence[Any]]:
        """A way to run, and the leaves it takes: one that another thread has made meanwhile, or a new one."""
        leaves, key = self._key(args, kwargs)  # again: while another thread captured, tensors were symbols
        for way in self._ways.get(key, ()):
            if way.holds():
                return way, leaves
        family = _used(self._families, kin(key), Family)
        general = self._for_all_sizes(family, key, args, kwargs, leaves)
        if general is not None:
            return general, leaves
        if has_numbers(leaves):
            found = self._with_numbers(key, args, kwargs, leaves)
        else:
            found = self._specialised(key, args, kwargs, leaves), leaves
        family.went_well()
        return found

    def _for_all_sizes(
        self, family: Family, key: Any, args: Any, kwargs: Any, leaves: Sequence[Any]
    ) -> Compiled | None:
        """A program for shapes like these, if calls with other shapes were seen before."""
        described = self._described(args, kwargs)
        shapes = shapes_of(leaves)
        family.failure = None
        way: Compiled | None = family.fitting(shapes)
        if way is None and not family.refused:
            family.note(shapes)
            family.open |= described
            if self._settings["dynamic"]:
                family.open |= {(i, axis) for i, shape in enumerate(shapes) for axis in range(len(shape or ()))}
            way = family.generalise(leaves, functools.partial(self._symbolic, family, args, kwargs, leaves))
        if way is not None:
            self._remember(key, way)
        elif len(family.seen) > 1:
            family.specialised()
        return way

    def _described(self, args: Any, kwargs: Any) -> set[tuple[int, int]]:
        """The dimensions that were said to change; an error if the arguments are not as they were described."""
        fn = self.__captured__
        about = self.described or getattr(getattr(fn, "__self__", fn), "_described", None)
        return about.places(args, kwargs) if isinstance(about, Described) else set()

    def _symbolic(self, family: Family, args: Any, kwargs: Any, leaves: Any, types: Mapping[int, Type]) -> Any:
        """The function captured and compiled for symbolic sizes; None if it has to be seen at actual ones."""
        fn = self.__captured__
        try:
            with _no_collection():
                way = Compiled(capture.capture(WORLD, fn, args, kwargs, types), fn, leaves, self._backend)
                way.native.prepare()
        except capture.Unstageable as reason:
            family.refused = reason.why  # Python runs it, at any size
            return None
        except Exception as error:  # the user's, or ours: it shows at actual sizes, or it does not
            family.failure = error
            return None
        return way

    def _remember(self, key: Any, way: Compiled | Fallback) -> None:
        """Find this way at once when arguments of this kind come again; what was not met for long is let go."""
        _used(self._ways, key, list).insert(0, way)

    def _with_numbers(
        self, key: Any, args: Any, kwargs: Any, leaves: Sequence[Any]
    ) -> tuple[Compiled | Fallback, Sequence[Any]]:
        """A call with Python numbers not met before: what has changed since the first call is a tensor now."""
        structure = key[0]
        types = tuple(x.__class__ if x.__class__ in CHANGING else s for x, s in zip(leaves, key[1], strict=True))
        kind = _used(self._kinds, (structure, types), Kind)
        way: Compiled | Fallback | None = kind.fitting(leaves)
        if way is None and kind.first is not None:
            way = kind.generalise(leaves, functools.partial(self._opened, structure))
        if way is not None:
            return way, kind.opened(leaves)
        kind.calls += 1
        if kind.calls > MANY and self._fallback:
            way = kind.sample = self._given_up("a number that must be known changes", leaves)
            return way, leaves
        way = self._specialised(key, args, kwargs, leaves)
        if kind.first is None:
            kind.first, kind.sample = list(leaves), way
            if any(x.__class__ in MUTABLE for x in leaves):  # they are known to change
                general = kind.generalise(leaves, functools.partial(self._opened, structure))
                if general is not None:
                    self._ways.pop(key, None)  # it is not the way for this number alone
                    return general, kind.opened(leaves)
        return way, leaves

    def _opened(self, structure: Structure, leaves: list[Any]) -> Compiled | Fallback:
        args, kwargs = unflatten(structure, leaves)
        return self._captured(args, kwargs, leaves)

    def _specialised(self, key: Any, args: Any, kwargs: Any, leaves: Sequence[Any]) -> Compiled | Fallback:
        ways = _used(self._ways, key, list)
        way: Compiled | Fallback
        if len(ways) >= MANY:
            broken = ", ".join(ways[-1].captured.guards.broken()) if isinstance(ways[-1], Compiled) else ""
            way = self._given_up(f"it reads things that change with each call: {broken}", args)
            ways.clear()
        else:
            way = self._captured(args, kwargs, leaves)
        self._remember(key, way)
        return way

    def _given_up(self, why: str, alive: Any) -> Fallback:
        degrade(Instead.GIVEN_UP, f"Python runs it, because {why}")
        return Fallback(why, None, always, self.__captured__, alive)

    def _captured(self, args: Any, kwargs: Any, leaves: Sequence[Any]) -> Compiled | Fallback:
        fn = self.__captured__
        try:
            with _no_collection():
                return Compiled(capture.capture(WORLD, fn, args, kwargs), fn, leaves, self._backend)
        except capture.Unstageable as reason:
            if self._fallback:
                degrade(Instead.PYTHON, reason.why, reason.at)
                fn, parts = self._pieces(reason.line)
                return Fallback(reason.why, reason.at, reason.holds, fn, leaves, parts)
            raise CaptureError(
                f"this cannot be part of a compiled program: {reason.why}",
                at=reason.at,
                hint="with fallback=True Python runs the function",
            ) from None

    def _pieces(self, line: int) -> tuple[Callable[..., Any], tuple[Jitted, ...]]:
        """The function in pieces around a line that Python has to run, and those that are compiled."""
        fn = self.__captured__
        plain = getattr(fn, "__func__", fn)
        if line not in self._cuts:
            parts: list[Jitted] = []

            def compiled(piece: Callable[..., Any]) -> Jitted:
                parts.append(Jitted(piece, True, self._settings))
                return parts[-1]

            cut = capture.in_pieces(plain, line, compiled) if isinstance(plain, FunctionType) and line else None
            self._cuts[line] = (plain if cut is None else cut), tuple(parts)
        cut, made = self._cuts[line]
        return (cut if plain is fn else cut.__get__(fn.__self__)), made  # type: ignore[attr-defined]  # a method

    def explain(self) -> str:
        """How the function runs, for each kind of arguments it was called with: compiled, or where Python takes over.

        >>> from mycelia.eager import Tensor
        >>> double = jit(lambda x: x + x)
        >>> _ = double(Tensor([1.0]))
        >>> print(double.explain().splitlines()[1])
          one native call: (f32[1]) -> (f32[1])
        """
        settings = ", ".join(f"{k}={v!r}" for k, v in self._settings.items())
        lines = [f"{self._subject.name} ({settings})", *self._interpreted.explain()]
        lines += [f"  {line}" for d in RECORD.about(self._subject) for line in str(d).splitlines()]
        everything: list[Any] = [way for ways in self._ways.values() for way in ways]
        for kind in self._kinds.values():
            everything += kind.ways
            everything += [kind.sample] if isinstance(kind.sample, Fallback) and kind.sample not in everything else []
        everything += [*self._families.values()]
        once = {id(thing): thing for thing in everything}.values()  # many shapes share a program
        lines += [f"  {line}" for thing in once for line in str(thing).splitlines()]
        return "\n".join(lines)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else _Bound(self, owner)

    def __getattr__(self, name: str) -> Any:
        if name == "__captured__":
            raise AttributeError(name)
        return getattr(self.__captured__, name)

    def __repr__(self) -> str:
        return f"jit({self.__captured__!r})"


def _used(table: dict[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
    """What the table has for a key, or something new, as what was used last; what was not used for long goes."""
    found = table[key] = table.pop(key) if key in table else make()
    while len(table) > REMEMBERED:
        del table[next(iter(table))]
    return found


class _Bound:
    """A jitted method of an object."""

    def __init__(self, method: Jitted, owner: Any) -> None:
        self.__func__, self.__self__ = method, owner

    @property
    def __captured__(self) -> Any:
        return self.__func__.__captured__.__get__(self.__self__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def explain(self) -> str:
        """How the method runs."""
        return self.__func__.explain()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Inside the block no garbage is collected: capturing makes many objects that stay, and looking at them is slow."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
