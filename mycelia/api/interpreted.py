"""Calls of a jitted function by programs that the interpreter has captured."""

from __future__ import annotations

import threading
from types import CodeType, FunctionType, MethodType
from typing import Any

from mycelia.api.family import Family, shapes_of
from mycelia.api.programs import PieceWay, Replay, Way
from mycelia.backends import Backend
from mycelia.degradations import Instead, Subject, concerning, degrade, fault
from mycelia.errors import CaptureError, Location, MyceliaError
from mycelia.interpreter.capturing import Call, Piece, capture, changed
from mycelia.interpreter.guards import guard_of
from mycelia.interpreter.pieces import CALLERS, NOT_RUN, UNFIT, Suite, frame_of, mentions, suite_of
from mycelia.interpreter.source import definition, is_resumed
from mycelia.interpreter.values import Break
from mycelia.interpreter.world import Path
from mycelia.primitives import replaying
from mycelia.tree import flatten
from mycelia.types import TensorType

MANY = 24  # programs for one kind of call


class Refusal:
    """A call that is no program: why, while everything that was read is as it was."""

    def __init__(self, reason: Break, guard: Any) -> None:
        self.why, self.at, self.guard = reason.why, reason.at, guard

    def __str__(self) -> str:
        return f"{self.why}" + (f"\n  at {self.at.caret()}" if isinstance(self.at, Location) else "")


def _spelled(path: Path) -> str:
    """A thing that is reached on this path, in words.

    >>> _spelled((("arg", 0), ("attr", "rate"), ("items", None), 2)), _spelled((("kwarg", "n"),))
    ('argument 0 .rate [2]', 'n')
    """
    words = {"arg": "argument {}", "kwarg": "{}", "attr": ".{}", "member": ".{}", "key": "[{!r}]", "cell": "{}"}
    parts = [f"[{p}]" if not isinstance(p, tuple) else words.get(p[0], "").format(p[1]) for p in path]
    return " ".join(filter(None, parts)) or "a number"


class Interpreted:
    """The programs of one jitted function."""

    def __init__(self, fallback: bool, dynamic: bool, backend: Backend | None, subject: Subject) -> None:
        self.fallback, self.dynamic, self.backend, self.subject = fallback, dynamic, backend, subject
        self.families: dict[Any, Family] = {}
        self.past: list[Any] = []  # the shapes that were seen before the sizes changed
        self.retired = dynamic  # sizes change: the capture that is being replaced serves all of them with one program
        self.ways: dict[Any, list[Way | Refusal]] = {}
        self.varying: set[Path] = set()
        self.suites: dict[CodeType, Suite] = {}
        self.python = 0  # calls that Python ran alone
        self.capturing = threading.RLock()  # threads that need the same program wait for the first

    def __call__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call; NOT_RUN where it is no program."""
        call = Call(fn, args, kwargs)
        key = len(args), tuple(kwargs)
        way: Way | Refusal | None
        ways = self.ways.get(key)
        if ways is None:
            ways = self.ways.setdefault(key, [])
        for way in ways:
            if isinstance(way, Way):
                out = way.attempt(call)
                if out is not UNFIT:
                    return self.result(out, call)
            elif way.guard(call) is not None:
                return self.in_pieces(call)
        if self.retired:
            return NOT_RUN
        with self.capturing, concerning(self.subject):
            for way in tuple(ways):  # another thread may have made it meanwhile
                if way.guard(call) is not None:
                    break
            else:
                if self.sizes_change(call):
                    self.retired = True
                    for known in self.ways.values():  # programs for the sizes before stay
                        known[:] = [way for way in known if isinstance(way, Way)]
                    return NOT_RUN
                try:
                    way = self.captured(call, ways)
                except MyceliaError:
                    raise
                except Exception as error:
                    if not self.fallback:
                        raise
                    fault("a function runs in Python, because it could not be captured", error)
                    way = None
        if isinstance(way, Refusal):  # behind the lock: Python may wait for other threads
            return self.in_pieces(call)
        return self.by_python(call) if way is None else self.result(way.attempt(call), call)

    def result(self, out: Any, call: Call) -> Any:
        """What a program returned; Python runs the call where it raises, and says what there is to say."""
        if out is NOT_RUN or out is UNFIT:
            return self.by_python(call)
        if isinstance(out, Replay):
            with replaying(out.past):
                return self.by_python(call)
        return out.value

    def by_python(self, call: Call) -> Any:
        self.python += 1
        return call.fn(*call.args, **call.kwargs)

    def in_pieces(self, call: Call) -> Any:
        """A call of which Python runs some statements; NOT_RUN for one whose effects are parts of programs, see jit."""
        if not self.fallback:
            why, at = self.reason(call)
            raise CaptureError(
                f"this cannot be part of a compiled program: {why}",
                at=at,
                hint="with fallback=True Python runs the function",
            )
        target = resolved(call)
        if target is None:
            return self.by_python(call)
        fn, args = target
        code = fn.__code__
        node = definition(code)
        if node is None or is_resumed(code) or mentions(_body(node), CALLERS):
            return self.by_python(call)
        root = frame_of(fn, args, call.kwargs)
        if root is None:
            return self.by_python(call)
        if code not in self.suites:
            self.suites[code] = suite_of(node, code, self)
        return self.suites[code].run(root).value

    def sizes_change(self, call: Call) -> bool:
        """Whether calls differ in the sizes of tensors, or a number was said to change."""
        leaves, structure = flatten((call.args, call.kwargs))
        shapes = shapes_of(leaves)
        both = zip(leaves, shapes, strict=True)
        kinds = tuple((x._data.dtype, x._data.ndim) if s is not None else type(x) for x, s in both)
        family = self.families.setdefault((structure, kinds), Family())
        self.past = list(family.seen)
        family.note(shapes)
        return len(family.seen) > 1 or any(type(x).__module__ == "mycelia.api.mutable" for x in leaves)

    def for_all_sizes(self, call: Call) -> Way | None:
        """A program for shapes like these, if calls with other shapes were seen before."""
        leaves, structure = flatten((call.args, call.kwargs))
        shapes = shapes_of(leaves)
        if not any(shapes):
            return None
        kinds = tuple(
            (x._data.dtype, x._data.ndim) if s is not None else type(x) for x, s in zip(leaves, shapes, strict=True)
        )
        family = self.families.setdefault((structure, kinds), Family())
        if family.refused:
            return None
        family.failure = None
        family.note(shapes)
        if self.dynamic:
            family.open |= {(i, axis) for i, shape in enumerate(shapes) for axis in range(len(shape or ()))}
        way: Way | None = family.generalise(leaves, lambda types: self.symbolic(call, family, leaves, types))
        if way is None and len(family.seen) > 1:
            family.specialised()
        return way

    def symbolic(self, call: Call, family: Family, leaves: list[Any], types: dict[int, TensorType]) -> Way | None:
        """A call captured and compiled for symbolic sizes; None if it has to be seen at actual ones."""
        try:
            way = Way(
                capture(call, frozenset(self.varying), {id(leaves[i]): t for i, t in types.items()}), self.backend
            )
            way.native.prepare()
        except Break as reason:
            family.refused = reason.why
            return None
        except Exception as error:  # the user's, or ours: it shows at actual sizes, or it does not
            family.failure = error
            return None
        return way

    def reason(self, call: Call) -> tuple[str, Location | None]:
        """Why a call is no program."""
        found = [w for w in self.ways[len(call.args), tuple(call.kwargs)] if isinstance(w, Refusal)]
        return (found[-1].why, found[-1].at) if found else ("it reads things that change with each call", None)

    def way(self, piece: Piece) -> PieceWay:
        return PieceWay(piece, self.backend)

    def changed(self, way: Way, root: Any) -> set[Path]:
        return changed(way.program, root)

    def captured(self, call: Call, ways: list[Way | Refusal]) -> Way | Refusal:
        """A new way for a call."""
        if len(ways) >= MANY:
            degrade(Instead.GIVEN_UP, "Python runs it, because it reads things that change with each call", warn=True)
            return Refusal(Break("it reads things that change with each call"), None)
        for way in ways:
            if isinstance(way, Way):
                others = changed(way.program, call)
                self.varying |= others
                if others:
                    degrade(Instead.AGAIN, f"{', '.join(sorted(map(_spelled, others)))} changed")
        general = self.for_all_sizes(call)
        if general is not None:
            ways.insert(0, general)
            return general
        try:
            way = Way(capture(call, frozenset(self.varying)), self.backend)
        except Break as reason:
            refused = Refusal(
                reason, guard_of(reason.world, ()) if getattr(reason, "world", None) else lambda call: None
            )
            ways.append(refused)
            degrade(Instead.PYTHON, reason.why, reason.at)
            return refused
        for family in self.families.values():
            family.went_well()
        ways.insert(0, way)
        return way

    def explain(self) -> list[str]:
        """How the calls ran."""
        found: list[Any] = [way for ways in self.ways.values() for way in ways]
        lines: list[str] = []
        for way in found:
            if isinstance(way, Way):
                lines += str(way).splitlines()
        for suite in self.suites.values():
            for piece in suite.pieces():
                if piece.program.plan.function.results:
                    lines += [f"  {line}" for line in str(piece).splitlines()]
        return [f"  {line}" for line in lines]


def _body(node: Any) -> list[Any]:
    return node.body if isinstance(node.body, list) else [node.body]


def resolved(call: Call) -> tuple[FunctionType, tuple[Any, ...]] | None:
    """The function with source that a call runs, and its arguments; None if it is hidden behind other code."""
    fn, args = call.fn, call.args
    if type(fn) is FunctionType:
        return fn, args
    if type(fn) is MethodType and type(fn.__func__) is FunctionType:
        return fn.__func__, (fn.__self__, *args)
    return None
