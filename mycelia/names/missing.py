"""What is said about a name that a module or an object does not have."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

from mycelia.errors import PACKAGE, Location, MyceliaError, a, again, caller, location_of
from mycelia.names.habits import NAMES
from mycelia.names.paths import elsewhere, shorts

LIBRARY = str(Path(dis.__file__).parent / "importlib")
IMPORT_FROM = dis.opmap["IMPORT_FROM"]
PLACES = ("mycelia", "mycelia.ops", "mycelia.nn", "mycelia.common.initializer", "mycelia.train", "mycelia.dataset")
"""Where else a name is looked for."""


class MissingName(MyceliaError, AttributeError):
    """A module or an object was asked for a name that it does not have.

    The message is made when it is read: programs also ask just to know whether there is such a name.
    """

    def __init__(self, place: Any, name: str, at: Location | None = None) -> None:
        self.place, self.where = place, at or caller()
        AttributeError.__init__(self, name=name, obj=place)

    def __str__(self) -> str:
        what, hint = _said(self.place, str(self.name))
        return MyceliaError(what, at=self.where, hint=hint).args[0]  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return again, (MissingAttribute, str(self), self.where)  # without the object that lacks the name


class MissingAttribute(MyceliaError, AttributeError):
    """The same, as another process reports it."""


class MissingImport(MyceliaError, ImportError):
    """`from mycelia import name`, where there is no such name."""


class MissingModule(MyceliaError, ModuleNotFoundError):
    """`import mycelia.name`, where there is no such module."""


class Finder:
    """Asked last for a module: it finds none, and says what may have been meant by one of ours."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        place, _, last = name.rpartition(".")
        asker = sys._getframe(1)
        if not asker.f_code.co_filename.startswith("<frozen "):  # no import statement: a tool that walks the finders
            return
        frame: FrameType | None = asker
        while frame is not None and frame.f_code.co_filename.startswith("<frozen "):
            if frame.f_code.co_name == "_handle_fromlist":  # `from mycelia import name`: the module is asked next
                return
            frame = frame.f_back
        asks = frame is None or frame.f_code.co_filename.startswith((PACKAGE, LIBRARY))  # who only wants to know
        if place.split(".")[0] != "mycelia" or place not in sys.modules or asks or last.startswith("_"):
            return
        what, hint = _said(sys.modules[place], last)
        raise MissingModule(what, hint=hint, at=location_of(frame.f_code, frame.f_lasti, frame.f_lineno))  # type: ignore[union-attr]


def explain_modules() -> None:
    """Let a missing module be told of in words."""
    if all(getattr(finder, "__module__", "") != Finder.__module__ for finder in sys.meta_path):
        sys.meta_path.append(Finder)


def explain_missing(*modules: ModuleType) -> None:
    """Let modules say what may have been meant by a name that they do not have."""
    for module in modules:
        module.__dict__.setdefault("__getattr__", missing_in(module.__name__))


def missing_in(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module, which is asked for what the module does not have."""

    def __getattr__(name: str) -> Any:
        found = elsewhere(module, name)
        if found is not None:
            return found
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):  # modules that looked first
            frame = frame.f_back
        if name.startswith("_") or frame.f_code.co_filename.startswith("<frozen "):  # machinery, which only asks
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        if frame.f_code.co_code[frame.f_lasti] == IMPORT_FROM:  # which would swallow what an AttributeError says
            what, hint = _said(sys.modules[module], name)
            raise MissingImport(what, hint=hint, at=location_of(frame.f_code, frame.f_lasti, frame.f_lineno))
        raise MissingName(sys.modules[module], name)

    return __getattr__


def offered(module: str, *later: Iterable[str]) -> Callable[[], list[str]]:
    """The `__dir__` of a module: what it offers, with what is loaded when it is first asked for, and without the parts
    that it is made of. A prompt completes these names.

    >>> import mycelia
    >>> "save_checkpoint" in dir(mycelia), "interning" in dir(mycelia)
    (True, False)
    """

    def __dir__() -> list[str]:
        held = vars(sys.modules[module])
        public = {*held.get("__all__", ()), *shorts(module), *(name for names in later for name in names)}
        return sorted(public | {name for name, thing in held.items() if not isinstance(thing, ModuleType)})

    return __dir__


def missing_attribute(self: Any, name: str) -> NoReturn:
    """The `__getattr__` of a class, which is asked for what an object does not have."""
    if name.startswith("_"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
    raise MissingName(self, name)


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at what was meant by a name, of those that are known.

    >>> nearest("bach", ["batch", "map"])
    'did you mean batch?'
    """
    names = list(known)
    by_lower = {n.lower(): n for n in reversed(names)}
    near = get_close_matches(name.lower(), by_lower, 1, 0.7)
    return f"did you mean {by_lower[near[0]]}?" if near else f"there are {', '.join(names)}"


def _said(place: Any, name: str) -> tuple[str, str]:
    """What is missing, and what may have been meant."""
    module = isinstance(place, ModuleType)
    classes = () if module else type(place).__mro__
    habits = [NAMES.get(p, {}) for p in ([place.__name__] if module else [c.__name__ for c in classes])]
    what = f"{place.__name__ if module else a(type(place).__name__)} has no {name}"
    habit = next((names[name] for names in habits if name in names), None)
    if habit is not None:
        return what, habit
    near = _nearest(place, name)
    if any(_has(path, name) for path in ([_their_path(place)] if module else map(_their_path, classes))):
        return f"{what}: MindSpore has it, Mycelia does not yet", near or "docs/coverage.md tells which names exist"
    if not (module or type(place).__module__.startswith("mycelia.")):  # a class of the user, who chose its names
        return what, near or "assign it in __init__"
    elsewhere = [path for path in _record() if _has(path, name)]
    theirs = f"MindSpore has {elsewhere[0]}.{name}" if elsewhere else f"MindSpore has no {name} either"
    return what, f"{near} ({theirs})" if near else f"{theirs}; docs/coverage.md tells which names exist"


def _nearest(place: Any, name: str) -> str:
    """The name that was probably meant: here, or the same one elsewhere."""
    elsewhere = [
        p for p in PLACES if p in sys.modules and p != getattr(place, "__name__", "") and _holds(sys.modules[p], name)
    ]
    if elsewhere:
        return f"it is {elsewhere[0]}.{name}"
    known = {n.lower(): n for n in sorted(_public(place))}
    near = get_close_matches(name.lower(), known, 2, 0.75)
    return f"did you mean {' or '.join(known[n] for n in near)}?" if near else ""


def _holds(module: ModuleType, name: str) -> bool:
    return name in vars(module) and not isinstance(vars(module)[name], ModuleType)


def _public(place: Any) -> Iterator[str]:
    names = getattr(place, "__all__", None) if isinstance(place, ModuleType) else None
    return (n for n in (names or dir(place)) if not n.startswith("_"))


# ------------------------------------------------------------------------------------------------- MindSpore's names


def _their_path(place: Any) -> str | None:
    """What MindSpore calls a module or a class of ours; None for what is the user's."""
    if isinstance(place, ModuleType):
        return "mindspore" + place.__name__.removeprefix("mycelia")
    if not place.__module__.startswith("mycelia."):
        return None
    return next((p for p in _record() if p.rpartition(".")[2] == place.__name__ and "mint" not in p), None)


def _has(path: str | None, name: str) -> bool:
    return path is not None and name in _record().get(path, ())


@cache
def _record() -> dict[str, frozenset[str]]:
    """The names of MindSpore, by module and class: see docs/names.py."""
    text = (Path(__file__).parent / "mindspore.txt").read_text().replace("\n  ", " ")
    pairs = (line.partition(": ") for line in text.splitlines())
    return {place: frozenset(names.split()) for place, _, names in pairs}
