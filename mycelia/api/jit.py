"""jit: a Python function as one native program for each kind of arguments."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from numbers import Integral
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakKeyDictionary

from mycelia.api.described import Described
from mycelia.backends import NATIVE, Backend, usable
from mycelia.degradations import RECORD, PlainText, Subject
from mycelia.eager import Tensor
from mycelia.eager.dispatch import mode
from mycelia.errors import ArgumentError
from mycelia.options import NOTHING_ASKED, Memory, Wishes
from mycelia.passes import check_names
from mycelia.tree import flatten

if TYPE_CHECKING:
    from mycelia.api.profiling import TimeProfile

CHOICES: dict[str, tuple[Any, ...]] = {
    "capture_mode": ("ast",),  # there is one way to capture
    "jit_level": ("", "O0"),  # and one compiler, which does all it can
    "jit_syntax_level": ("", "STRICT", "LAX"),  # STRICT: as fullgraph
    "dynamic": (0, 1),
    "fullgraph": (False, True),
}
OURS = ("fallback", "keep", "memory_budget", "passes_off", "verify")  # what MindSpore has not
# what MindSpore hands to its back ends, and what would change nothing here
ELSEWHERE = ("infer_boost", "disable_format_transform", "exec_order", "exc_mode", "debug_level", "ge_options")


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
    keep: str = "everything",
    memory_budget: int | None = None,
    passes_off: Sequence[str] = (),
    verify: bool = False,
    **options: Any,
) -> Any:
    """The function, method or Cell, compiled for each kind of arguments that it is called with.

    Branches, loops and recursion that depend on tensors become part of the program. What a program cannot do runs in
    Python: `explain()` tells where; with `fallback=False` or `fullgraph=True` it is an error. `backend` names where it
    runs, if not on the device of the session: see docs/backends.md. `keep` says which values wait in memory for the way
    back, and `memory_budget` in how many bytes a program may compute: see docs/memory.md.
    For who looks for a fault of ours: `passes_off` names passes that do not run, and `verify` checks the graph after
    each of the others: see docs/compiler.md.

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
    check_names(passes_off)
    whole = isinstance(memory_budget, Integral) and not isinstance(memory_budget, bool)
    budget = int(memory_budget) if whole else memory_budget  # type: ignore[arg-type]  # NumPy's too
    wishes = Wishes(Memory(keep, budget), frozenset(passes_off), verify)
    settings = {**given, **options}
    for name, value in settings.items():
        _check(name, value)
    lenient = fallback and not fullgraph and settings.get("jit_syntax_level") != "STRICT"
    if fn is None:
        return lambda fn: Jitted(fn, lenient, settings, wishes)
    if not callable(fn):
        raise ArgumentError(
            f"jit compiles functions, methods and Cells, not {type(fn).__name__}",
            given={"fn": fn},
            hint="pass the function itself, jit(f)(x), and not what it returns, jit(f(x))",
        )
    return Jitted(fn, lenient, settings, wishes)


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
        near = get_close_matches(name, [*known, *OURS], 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join([*known, *OURS])}"
        raise ArgumentError(f"jit has no setting {name}", given={name: value}, hint=hint)
    if known[name] and value not in known[name]:
        raise ArgumentError(f"{name} cannot be {value!r}", hint=f"choose one of {', '.join(map(repr, known[name]))}")


def _backend(name: str) -> Backend | None:
    """The back end that a function is to run on; None for that of the session."""
    if name == "":
        return None
    return usable(NATIVE if name == "ms_backend" else name)  # MindSpore calls its own compiler so


class _Told(str):
    """A text of one of our classes, which of its objects is that of what they stand for: `__doc__`, `__module__`."""

    def __new__(cls, text: str, name: str) -> _Told:
        made = super().__new__(cls, text)
        made.name = name
        return made

    name: str

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return str(self) if owner is None else getattr(owner.__captured__, self.name)


class Jitted:
    """A function that is compiled for each kind of arguments; see `jit`.

    It looks like what it stands for: names, defaults and attributes of the user's are read, set and deleted there. It
    is copied and pickled as that is; a copy starts without programs.
    """

    __slots__ = (
        "__backend", "__captured__", "__fallback", "__settings", "__subject", "__weakref__", "_interpreted",
        "described",
    )  # fmt: skip

    def __new__(cls, fn: Any, *settings: Any, **more: Any) -> Jitted:
        return object.__new__(_kind_for(type(fn)))

    def __init__(
        self, fn: Callable[..., Any], fallback: bool, settings: dict[str, Any], wishes: Wishes = NOTHING_ASKED,
        strict: bool | None = None,
    ) -> None:  # fmt: skip
        from mycelia.api.interpreted import Interpreted  # the interpreter of Python, which eager programs do without

        self.__captured__ = fn
        self.__fallback, self.__settings = fallback, settings
        self.__backend = _backend(settings["backend"])
        self.__subject = Subject(
            getattr(fn, "__qualname__", type(fn).__name__), not fallback if strict is None else strict
        )
        self._interpreted = Interpreted(fallback, bool(settings["dynamic"]), self.__backend, self.__subject, wishes)
        self.described: Described | None = None  # see `enable_dynamic`
        if (signature := settings.get("input_signature")) is not None:
            given = signature if isinstance(signature, tuple | list) else (signature,)
            stray = [leaf for leaf in flatten(tuple(given))[0] if not isinstance(leaf, Tensor)]
            if stray or not given:
                raise ArgumentError(
                    "input_signature describes each argument by a tensor, or a nest of tensors",
                    given={"input_signature": signature},
                    hint="for example input_signature=Tensor(shape=(None, 3), dtype=ms.float32)",
                )
            self.described = Described.of(fn, tuple(given), {})

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        fn = self.__captured__
        if mode.capturing:
            return fn(*args, **kwargs)
        return self._interpreted(fn, args, kwargs, self._about)

    def _about(self) -> Described | None:
        """What the arguments look like, where that was said."""
        owner: Any = self.__captured__
        if isinstance(owner, MethodType):
            owner = owner.__self__
        about = self.described or (owner._described if hasattr(type(owner), "_described") else None)
        return about if isinstance(about, Described) else None

    def explain(self) -> str:
        """How the function runs, for each kind of arguments it was called with: compiled, or where Python takes over.

        >>> from mycelia.eager import Tensor
        >>> double = jit(lambda x: x + x)
        >>> _ = double(Tensor([1.0]))
        >>> print(double.explain().splitlines()[1])
          one native call: (f32[1]) -> (f32[1])
        """
        settings = ", ".join(f"{k}={v!r}" for k, v in self.__settings.items())
        lines = [f"{self.__subject.name} ({settings})", *self._interpreted.explain()]
        lines += [f"  {line}" for d in RECORD.about(self.__subject) for line in str(d).splitlines()]
        return PlainText("\n".join(lines))

    def show(self, stage: str) -> str:
        """What the function is at a stage, for each kind of arguments it was called with: "source", "graph" (what was
        captured), "passes" (what each pass makes of it), "program" (kernels, library calls and control flow, in order),
        "kernels", "llvm" or "memory". MYCELIA_SHOW=graph,program prints them when something is compiled.

        >>> from mycelia.eager import Tensor
        >>> double = jit(lambda x: x + x)
        >>> _ = double(Tensor([1.0]))
        >>> print(double.show("graph"))
        (f32[1]) -> (f32[1]):
        fn(%0: f32[1]) {
          %1: f32[1] = add(%0, %0)
          return %1
        }
        """
        return self._interpreted.show(stage, self.__captured__)

    def profile(self, *args: Any, **kwargs: Any) -> TimeProfile:
        """How long each kernel and each of your lines takes, what it moves, and what share of the machine's peak it is.

        With arguments the function is called with them, some ten times, and does what it does. Without, the programs
        that were compiled for earlier calls run on made-up numbers of the same types, and change nothing.

        >>> from mycelia.eager import Tensor
        >>> double = jit(lambda x: x + x)
        >>> double.profile(Tensor([1.0])).steps[0].name
        'add'
        """
        from mycelia.api.profiling import invented, profiled  # which few programs need

        whole, pieces = self._interpreted.whole(), self._interpreted.pieces()
        if args or kwargs or (0, ()) in self._interpreted.ways:
            return profiled(lambda: self(*args, **kwargs))
        if not whole and not pieces:
            raise ArgumentError(
                f"{self.__subject.name} has no program to measure: it was not called yet, or Python runs it",
                hint="give profile() the arguments of a call",
            )

        def all_once() -> None:
            for way in (*whole, *pieces):
                way.native.try_out(invented)

        return profiled(all_once)

    def draw(self) -> str:
        """The graph that was captured last, as a picture: SVG, with data and order, branches and loops as boxes.

        >>> from mycelia.eager import Tensor
        >>> double = jit(lambda x: x + x)
        >>> _ = double(Tensor([1.0]))
        >>> double.draw()[:4]
        '<svg'
        """
        found = [*self._interpreted.pieces(), *self._interpreted.whole()]
        if not found:
            raise ArgumentError(
                f"{self.__subject.name} has no program to draw: it was not called yet, or Python runs it",
                hint="call it once; explain() tells what runs",
            )
        return max(found, key=lambda way: way.number).program.ending.function.draw()

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self
        fn = self.__captured__
        return _Bound(self, owner) if type(fn) is FunctionType else self._got(fn, owner, kind)

    def _got(self, fn: Any, owner: Any, kind: Any) -> Any:
        """What the class of an object gives for this attribute, where it is no function: not all become methods."""
        get = getattr(type(fn), "__get__", None)
        if get is None or type(fn) in (MethodType, staticmethod):
            return self
        found = get(fn, owner, kind)
        method = type(found) in (MethodType, _Bound) and found.__func__ is fn and found.__self__ is owner
        return _Bound(self, owner) if method else found

    def __set_name__(self, owner: Any, name: str) -> None:
        fn: Any = self.__captured__
        if name in ("__init_subclass__", "__class_getitem__") and type(fn) is FunctionType:
            setattr(owner, name, classmethod(self))  # as Python makes of functions with these names
        elif (told := getattr(type(fn), "__set_name__", None)) is not None:
            told(fn, owner, name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What `isinstance` is told: a compiled Cell is a Cell, and belongs to cells that it is put into."""
        fn = self.__captured__
        kind = fn.__class__ if issubclass(type(fn), Jitted) else type(fn)
        return type(self) if kind.__module__ == "builtins" or issubclass(kind, type) else kind

    def __getattr__(self, name: str) -> Any:
        if name in OWN:
            raise AttributeError(name)
        fn = self.__captured__
        return getattr(fn, name, fn) if name == "__wrapped__" else getattr(fn, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self.__captured__, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__captured__, name)

    def __copy__(self) -> Jitted:
        return self._around(copy.copy(self.__captured__))

    def __deepcopy__(self, memo: dict[int, Any]) -> Jitted:
        return self._around(copy.deepcopy(self.__captured__, memo))

    def _around(self, fn: Any) -> Jitted:
        """The same for a copy of what is compiled; a function is its own copy."""
        same = fn is self.__captured__ and type(fn) is FunctionType
        return self if same else _jitted(fn, *self._said())

    def _said(self) -> tuple[Any, ...]:
        return self.__fallback, self.__settings, self._interpreted.wishes, self.described

    def __reduce_ex__(self, protocol: Any) -> Any:
        fn = self.__captured__
        found: Any = sys.modules.get(getattr(fn, "__module__", None) or "")
        name = getattr(fn, "__qualname__", "")
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (_jitted, (fn, *self._said()))

    def __repr__(self) -> str:
        return f"jit({self.__captured__!r})"


OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
SPECIAL = tuple(
    f"__{name}__"
    for name in (
        *OPERATORS, *(f"r{name}" for name in OPERATORS), "neg", "pos", "invert", "abs", "bool", "int", "float", "index",
        "eq", "ne", "lt", "le", "gt", "ge", "hash", "len", "getitem", "setitem", "delitem", "iter", "next", "contains",
        "reversed", "enter", "exit", "aenter", "aexit", "aiter", "anext", "await",
    )
)  # fmt: skip
_kinds: WeakKeyDictionary[type, type[Jitted]] = WeakKeyDictionary()


def _kind_for(kind: type) -> type[Jitted]:
    """The class of jitted objects of a class: one with the operators that they have, as Python looks at classes."""
    if kind.__module__ == "builtins" or issubclass(kind, type):
        return Jitted
    found = _kinds.get(kind)
    if found is None:
        own = [name for name in SPECIAL if getattr(kind, name, None) is not getattr(object, name, None)]
        space = {"__slots__": (), **{name: vars(Jitted)[name] for name in ("__doc__", "__module__")}}
        found = (
            type("Jitted", (Jitted,), {**space, **{name: _forwarded(kind, name) for name in own}}) if own else Jitted
        )
        _kinds[kind] = found
    return found


def _forwarded(kind: type, name: str) -> Any:
    if getattr(kind, name) is None:  # as `__hash__` of what is not hashed
        return None

    def forwarded(self: Jitted, *args: Any) -> Any:
        fn = self.__captured__
        return getattr(type(fn), name)(fn, *args)

    return forwarded


OWN = frozenset(vars(Jitted)) & frozenset((*Jitted.__slots__, *(f"_Jitted{name}" for name in Jitted.__slots__)))


def _jitted(fn: Any, fallback: bool, settings: dict[str, Any], wishes: Wishes, described: Described | None) -> Jitted:
    """What was copied, or read from a file."""
    made = Jitted(fn, fallback, settings, wishes)
    made.described = described
    return made


class _Bound:
    """A jitted method of an object; equal to another one of the same, as Python's are."""

    __slots__ = ("__func__", "__self__", "__weakref__")

    def __init__(self, method: Jitted, owner: Any) -> None:
        self.__func__, self.__self__ = method, owner

    @property
    def __captured__(self) -> Any:
        return self.__func__.__captured__.__get__(self.__self__)

    __wrapped__ = __captured__

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in ("__func__", "__self__"):
            raise AttributeError(name)
        return getattr(self.__func__, name)

    def __eq__(self, other: Any) -> Any:
        if type(other) is not _Bound:
            return NotImplemented
        return self.__self__ is other.__self__ and self.__func__ is other.__func__

    def __hash__(self) -> int:
        return hash((id(self.__self__), self.__func__))

    def __deepcopy__(self, memo: dict[int, Any]) -> _Bound:
        return _Bound(self.__func__, copy.deepcopy(self.__self__, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return getattr, (self.__self__, self.__func__.__name__)

    def __repr__(self) -> str:
        return repr(self.__captured__)

    def explain(self) -> str:
        """How the method runs."""
        return self.__func__.explain()

    def show(self, stage: str) -> str:
        """What the method is at a stage; see `Jitted.show`."""
        return self.__func__.show(stage)

    def profile(self, *args: Any, **kwargs: Any) -> TimeProfile:
        """How long the method takes, and where; see `Jitted.profile`."""
        return self.__func__.profile(*((self.__self__, *args) if args or kwargs else ()), **kwargs)

    def draw(self) -> str:
        """The graph of the method; see `Jitted.draw`."""
        return self.__func__.draw()


for _kind in (Jitted, _Bound):
    for _name in ("__doc__", "__module__"):
        setattr(_kind, _name, _Told(getattr(_kind, _name), _name))
