"""Calls of a jitted function by programs that the interpreter has captured."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

from mycelia.api.described import Described
from mycelia.api.programs import PieceWay, Replay, Way
from mycelia.api.showing import announce_source, shown
from mycelia.api.ways import Refusal, Ways
from mycelia.backends import Backend
from mycelia.capture.capturing import CallRoot, Piece, capture
from mycelia.capture.pieces import CALLERS, NOT_RUN, UNFIT, FailedRun, Suite, frame_of, mentions, suite_of
from mycelia.capture.program import CapturedProgram
from mycelia.capture.source import definition, is_resumed
from mycelia.capture.statements import Exit
from mycelia.degradations import Instead, Subject, concerning, degrade, fault
from mycelia.eager import Parameter, Tensor
from mycelia.eager.own_operators import of_parameters, of_tensors
from mycelia.errors import CaptureError, MyceliaError
from mycelia.options import NOTHING_ASKED, Wishes
from mycelia.primitives import replaying
from mycelia.tree import flatten


class Interpreted:
    """The programs of one jitted function."""

    def __init__(
        self, fallback: bool, dynamic: bool, backend: Backend | None, subject: Subject, wishes: Wishes = NOTHING_ASKED
    ) -> None:
        self.fallback, self.dynamic, self.backend, self.subject = fallback, dynamic, backend, subject
        self.wishes = wishes
        self.ways: dict[Any, Ways] = {}
        self.suites: dict[CodeType, Suite | None] = {}
        self.python = 0  # calls that Python ran alone
        self.capturing = threading.RLock()  # threads that need the same program wait for the first

    def __call__(
        self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], described: Callable[[], Described | None]
    ) -> Any:
        """The result of a call."""
        call = CallRoot(fn, args, kwargs)
        if not of_tensors.stand() or not of_parameters.stand():
            return self.with_others_operators(call)
        key = len(args), tuple(kwargs)
        ways = self.ways.get(key)
        if ways is None:
            ways = self.ways.setdefault(key, Ways(self.subject))
        way, out = ways.attempt(call)
        if out.__class__ is Exit:
            return out.value
        if way is None:
            asked = self.asked(args, kwargs, described())
            with self.capturing:
                way = ways.known(call) or self.made(call, ways, asked)  # another thread may have made it meanwhile
            if isinstance(way, Way):
                out = way.attempt(call)
        if way is None:
            return self.by_python(call)
        return self.result(out, call) if isinstance(way, Way) else self.in_pieces(call, ways)

    def made(self, call: CallRoot, ways: Ways, asked: Mapping[int, Sequence[int]]) -> Way | Refusal | None:
        """A new way for a call; None if capturing it shows a mistake of ours."""
        try:
            way = ways.make(call, lambda varying, naming: self.way_of(capture(call, varying, naming)), asked)
            announce_source(call.fn, self.subject)
            return way
        except MyceliaError:
            raise
        except Exception as error:
            if not self.fallback:
                raise
            with concerning(self.subject):
                fault("a function runs in Python, because it could not be captured", error)
            return None

    def asked(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], described: Described | None
    ) -> Mapping[int, Sequence[int]]:
        """The axes of tensors that were said to change; an error if the arguments are not as they were described."""
        places = set() if described is None else described.places(args, kwargs)
        return all_axes(args, kwargs) if self.dynamic else axes(args, kwargs, places)

    def result(self, out: Any, call: CallRoot) -> Any:
        """What a program returned; Python runs the call where it raises, and says what there is to say."""
        if out is NOT_RUN or out is UNFIT:
            return self.by_python(call)
        if isinstance(out, FailedRun):
            return out.instead(lambda: self.by_python(call), self.subject)
        if isinstance(out, Replay):
            with replaying(out.past):
                return self.by_python(call)
        return out.value

    def with_others_operators(self, call: CallRoot) -> Any:
        """A call while operators of somebody else stand on `Tensor`: no program knows them."""
        why = "operators that are not Mycelia's stand on Tensor"
        if not self.fallback:
            raise CaptureError(f"this cannot be compiled: {why}", hint="with fallback=True Python runs the function")
        with concerning(self.subject):
            degrade(Instead.PYTHON, why, warn=True)
        return self.by_python(call)

    def by_python(self, call: CallRoot) -> Any:
        self.python += 1
        return call.fn(*call.args, **call.kwargs)

    def in_pieces(self, call: CallRoot, ways: Ways) -> Any:
        """A call of which Python runs some statements."""
        if not self.fallback:
            why, at = ways.reason()
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
            self.suites[code] = self.suite(node, code)
        suite = self.suites[code]
        return self.by_python(call) if suite is None else suite.run(root).value

    def suite(self, node: Any, code: CodeType) -> Suite | None:
        """The statements of a function, of which Python can run the first; None if that shows a mistake of ours."""
        try:
            suite = suite_of(node, code, self)
            suite.statement(0)
            return suite
        except Exception as error:
            with concerning(self.subject):
                fault("a function runs in Python, because its statements could not be prepared", error)
            return None

    def way(self, piece: Piece, place: int) -> PieceWay:
        return PieceWay(piece, place, self.backend, self.wishes)

    def way_of(self, program: CapturedProgram) -> Way:
        return Way(program, self.backend, self.wishes)

    def no_ways(self) -> Ways:
        return Ways(self.subject)

    def whole(self) -> list[Way]:
        """The programs of whole calls, the oldest first."""
        found = [way for ways in self.ways.values() for way in ways.ways if isinstance(way, Way)]
        return sorted(found, key=lambda way: way.number)

    def pieces(self) -> list[PieceWay]:
        """The programs of statements between which Python runs others."""
        found = [piece for suite in self.suites.values() if suite is not None for piece in suite.pieces()]
        return [piece for piece in found if piece.program.ending.function.results]

    def show(self, stage: str, fn: Any) -> str:
        """A stage of every program, see `Jitted.show`."""
        pieces = [(f"piece, {piece.signature}", piece.native) for piece in self.pieces()]
        return shown(stage, fn, self.subject, [*[(way.signature, way.native) for way in self.whole()], *pieces])

    def explain(self) -> list[str]:
        """How the calls ran."""
        lines: list[str] = []
        for way in self.whole():
            lines += str(way).splitlines()
        for piece in self.pieces():
            lines += [f"  {line}" for line in str(piece).splitlines()]
        lines += [line for ways in self.ways.values() for line in str(ways.sizes).splitlines()]
        return [f"  {line}" for line in lines]


def all_axes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int, Sequence[int]]:
    """All axes of all tensors among the arguments, by the ids of the tensors."""
    tensors = [x for x in flatten((args, kwargs))[0] if isinstance(x, Tensor) and not isinstance(x, Parameter)]
    return {id(x): range(x._data.ndim) for x in tensors}


def axes(args: tuple[Any, ...], kwargs: dict[str, Any], places: set[tuple[int, int]]) -> Mapping[int, Sequence[int]]:
    """The axes that were described as open, by the ids of tensors."""
    if not places:
        return {}
    leaves = flatten((args, kwargs))[0]
    found: dict[int, list[int]] = {}
    for i, axis in places:
        found.setdefault(id(leaves[i]), []).append(axis)
    return found


def _body(node: Any) -> list[Any]:
    return node.body if isinstance(node.body, list) else [node.body]


def resolved(call: CallRoot) -> tuple[FunctionType, tuple[Any, ...]] | None:
    """The function with source that a call runs, and its arguments; None if it is hidden behind other code."""
    fn, args = call.fn, call.args
    if type(fn) is FunctionType:
        return fn, args
    if type(fn) is MethodType and type(fn.__func__) is FunctionType:
        return fn.__func__, (fn.__self__, *args)
    return None
