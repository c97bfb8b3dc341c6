"""Programs that the interpreter has captured, with the native functions that run them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from mycelia.api.native import Native, Undecided
from mycelia.backends import Backend
from mycelia.capture.capturing import Piece
from mycelia.capture.holding import dies_aloud
from mycelia.capture.pieces import NOT_RUN, UNFIT, FailedRun
from mycelia.capture.program import CapturedProgram, New, ObjectBuilder, Outside, Result
from mycelia.capture.slots import DATA, fetch, restore
from mycelia.capture.statements import Exit
from mycelia.capture.texts import Printing, keeping
from mycelia.capture.values import same
from mycelia.capture.world import Array, Read
from mycelia.degradations import Instead, concerning, degrade
from mycelia.eager import Tensor, wrap
from mycelia.eager.tape import hooked, open_tapes, recording
from mycelia.eager.views import root_of
from mycelia.errors import LibraryFailed, MyceliaError
from mycelia.loops.status import Stopped
from mycelia.options import NOTHING_ASKED, Wishes
from mycelia.primitives import writing_down
from mycelia.runtime.arena import Arena
from mycelia.runtime.interrupts import Poll, whole

_numbers = count()


class Replay:
    """A Python function that a program calls has raised: Python runs the call, and is told what happened so far."""

    def __init__(self, past: list[Any]) -> None:
        self.past = past


def overlap(objects: Sequence[Any]) -> bool:
    """Whether two of these are tensors that share memory."""
    roots = [id(root_of(x)) for x in objects if isinstance(x, Tensor)]
    return len(set(roots)) < len(roots)


class Way:
    """A program, and the native function that runs it."""

    end, why, at = 0, "", None

    def __init__(
        self, program: CapturedProgram, backend: Backend | None = None, wishes: Wishes = NOTHING_ASKED
    ) -> None:
        self.program, self.guard, self.number = program, program.guard, next(_numbers)
        world, ending = program.world, program.ending
        self.native = Native(ending.function, program.donated, backend, wishes, ending.asking)
        parents = {r.expect.input: r.parent for r in world.reads if isinstance(r, Read) and r.slot == DATA
                   and isinstance(r.expect, Array)}  # fmt: skip
        self.parents = [parents.get(i) for i in ending.inputs]
        self.value, self.writes, self.flags = ending.outcome, ending.writes, ending.flags
        self.idle, self.sized = ending.function.roots == (), bool(program.sizes)
        called = ending.called
        self.targets = [obj.number for obj, slot, _ in ending.writes if slot == DATA]
        self.replaced = [(obj.number, slot) for obj, slot, _ in ending.writes if slot != DATA]
        self.calls = list(dict.fromkeys(c.name.rpartition(".")[0] for c in called))
        prints = [c.python for c in called if isinstance(c.python, Printing)]
        self.unknown = len(prints) < len(called)  # functions of the user, which may do anything
        self.keeps = bool(prints) and (ending.fallible or any(q.fallible for q in prints))
        self.short = self.in_short()
        self.shows = bool(prints) and not self.keeps  # words appear while it runs
        more = self.writes or self.flags or self.shows or self.idle or self.sized
        self.direct = None if self.short is None or more else self.short[0]

    def attempt(self, root: Any) -> Any:
        """What a call gives that the guard accepts; UNFIT if it does not. No program of another thread runs between
        what is read and what is written: two steps that train the same parameters are one after the other. What has to
        be compiled is compiled before: nobody waits for that.
        """
        if self.direct is not None and not open_tapes:
            native = self.native.made()
            if native is not None:
                with Arena.turn.of(False):
                    found = self.guard(root)
                    if found is None:
                        return UNFIT
                    if hooked and self.is_waited_for(found):
                        return NOT_RUN
                    try:  # it gives one new tensor, and does nothing else: the most frequent program
                        return Exit("return", wrap(native(*found[2])[self.direct]))
                    except Exception as error:
                        return self.failed(error)
        if hooked and (found := self.guard(root)) is not None and self.is_waited_for(found):
            return NOT_RUN
        if recording():
            found = self.guard(root)
            return UNFIT if found is None else self.run(found)
        changes, found = bool(self.writes), None
        if self.sized:
            with Arena.turn.of(changes):
                found = self.guard(root)
                if found is None:
                    return UNFIT
                if self.native.ready(found[2]):
                    return self.run(found)
        try:
            if found is not None:
                self.native.prepare(found[2])
            elif not self.idle:
                self.native.prepare()
        except MyceliaError:
            raise
        except Exception as error:
            return FailedRun(error)
        with Arena.turn.of(changes):
            found = self.guard(root)
            return UNFIT if found is None else self.run(found)

    def is_waited_for(self, found: Any) -> bool:
        """Whether a hook waits for the gradient of a tensor that the program reads: Python runs the call then."""
        if not any(id(x) in hooked for x in found[0]):
            return False
        with concerning(self.native.subject):
            degrade(Instead.PYTHON, "a hook waits for the gradient of a tensor that it reads")
        return True

    @staticmethod
    def failed(error: Exception) -> Any:
        """The outcome of a program that gives one new tensor, and has raised."""
        if Poll.has_told(error):
            raise error
        ours = isinstance(error, LibraryFailed) or not isinstance(error, MyceliaError)
        return FailedRun(error, ours)

    def run(self, found: Any) -> Any:
        """The result; NOT_RUN, with nothing changed, where the program raises or cannot run. Ctrl-C finds all that it
        changes as before, or all as after it.
        """
        if not self.writes:
            return self.ran(found)
        with whole():
            return self.ran(found)

    def fits(self, found: Any) -> bool:
        """Whether what a program writes shares no memory with something else that it knows, and all positions exist,
        as far as that is known before and the native function is not going to ask.
        """
        objects, _, inputs, _ = found
        for n in self.targets:
            if getattr(objects[n], "_kin", None) is not None and overlap(objects):
                return False
        return not (self.native.asks and (self.idle or recording()) and self.native.refuses(inputs))

    def ran(self, found: Any) -> Any:
        if (self.targets or self.native.asks) and not self.fits(found):
            return NOT_RUN
        objects, _, inputs, _ = found
        old = [fetch(objects[n], slot) for n, slot in self.replaced]  # it lives until all is written
        if old and any(map(dies_aloud, old)):
            return NOT_RUN  # code of the user would run between two writes
        words: list[Any] = []
        try:
            if self.short is not None and not recording():
                return self.shortly(self.short, objects, self.results(objects, inputs))
            if self.keeps:
                with keeping() as words:
                    done = self.finished(found, self.results(objects, inputs))
            elif self.unknown:
                done = self.with_unknown(found)
            else:
                done = self.finished(found, self.results(objects, inputs))
        except Exception as error:
            overwritten = self.native.donated and (not self.keeps or isinstance(error, LibraryFailed))
            if self.shows or self.unknown or overwritten or Poll.has_told(error):
                raise  # something was seen, or memory was overwritten; or it came from outside
            return FailedRun(error)  # Python raises it again, where it belongs
        if done.__class__ is not tuple:
            return done
        value, writes = done
        for say in words:
            say()
        for obj, slot, new in writes:
            if slot is DATA and isinstance(new, Tensor):
                obj.become(new)
            else:
                restore(obj, slot, new)
        return value

    def in_short(self) -> tuple[int, list[tuple[int, int]]] | None:
        """The place of the result that is returned, and tensors by number with the places of the results that they get:
        where a program returns a new tensor and gives other data to tensors, and that is all.
        """
        ending = self.program.ending
        value = ending.outcome.value if isinstance(ending.outcome, Exit) and ending.outcome.kind == "return" else None
        if type(value) is not New or value.kind is not Tensor or value.key in ending.kin or self.keeps or self.unknown:
            return None
        slots = ending.slots[value.key]
        found = [(obj.number, new) for obj, slot, new in self.writes if slot == DATA]
        plain = [(n, new.place) for n, new in found if new.__class__ is Result]
        made = len(slots) == 1 and slots[0][0] == DATA and isinstance(slots[0][1], Result)
        return (slots[0][1].place, plain) if made and len(plain) == len(self.writes) else None

    def shortly(self, short: tuple[int, list[tuple[int, int]]], objects: Sequence[Any], results: Any) -> Any:
        """The outcome of such a program."""
        if results.__class__ is not tuple and results.__class__ is not list:
            return results
        if self.flags and any(results[i] for i in self.flags):
            return NOT_RUN
        only, plain = short
        for n, place in plain:
            objects[n].renew(results[place])
        return Exit("return", wrap(results[only]))

    def results(self, objects: Sequence[Any], inputs: list[Any]) -> Any:
        """What the native function gives; NOT_RUN if it cannot."""
        if recording():
            tensors = [wrap(a) if n is None else objects[n] for n, a in zip(self.parents, inputs, strict=True)]
            try:
                return [x if x._tape is not None else x._data for x in self.native.apply(tensors)]
            except Undecided as reason:
                if self.native.subject.strict:
                    raise
                with concerning(self.native.subject):
                    degrade(Instead.PYTHON, str(reason).splitlines()[0])
                return NOT_RUN
        if self.idle:
            return ()
        try:
            return self.native.run(inputs)
        except Stopped:
            return NOT_RUN
        except LibraryFailed:
            raise  # the program went on: what it has overwritten is lost
        except MyceliaError as error:
            if self.shows or self.unknown or Poll.has_told(error):
                raise
            return FailedRun(error, ours=False)

    def finished(self, found: Any, results: Any) -> Any:
        """The result and the writes; NOT_RUN if the program turns out to raise."""
        objects, hosts, _, sizes = found
        if results.__class__ is not tuple and results.__class__ is not list:
            return results
        if any(results[i] for i in self.flags):
            return NOT_RUN
        build = ObjectBuilder(self.program.ending, objects, hosts, results, sizes)
        value = build(self.value)
        if value.kind == "raise":
            return NOT_RUN  # Python runs it, and raises what is to be raised
        return value, [(build(obj), slot, build(new)) for obj, slot, new in self.writes]

    def with_unknown(self, found: Any) -> Any:
        """A program that calls functions of the user: what it read must be the same when they have run."""
        objects, _, inputs, _ = found
        held = list(inputs)
        with writing_down() as past:
            try:
                results = self.results(objects, inputs)
            except BaseException as error:
                if past and error is past[-1]:
                    return Replay(past)
                raise
        again = self.guard(objects[0])
        changed = [n for n, a, b in zip(self.parents, held, again[2], strict=True) if n is not None and a is not b] \
            if again is not None else []  # fmt: skip
        numbers = again is not None and not all(map(same, found[1], again[1]))
        if again is None or changed or numbers:
            which = getattr(objects[changed[0]], "name", "a tensor") if changed else "something else"
            raise MyceliaError(
                f"a Python function that a program calls has changed {which}, which the program reads",
                hint="let the function give the new numbers, and assign them outside of it",
            )
        return self.finished(found, results)

    @property
    def signature(self) -> str:
        """The types that the program takes and gives."""
        fn = self.program.ending.function
        return f"({', '.join(map(str, fn.types))}) -> ({', '.join(map(str, fn.result_types))})"

    def __str__(self) -> str:
        fn, world = self.program.ending.function, self.program.world
        outside = sum(1 for r in world.reads if isinstance(r, Read) and r.slot == DATA and not _argument(world, r))
        changed = _few(dict.fromkeys(_words(obj, slot) for obj, slot, _ in self.program.ending.writes))
        lines = [
            f"one native call: ({_few(fn.types)}) -> ({_few(fn.result_types)})",
            f"  values: {len(fn.values())}, guards: {len(world.reads)}, tensors from outside: {outside}",
        ]
        names = self.program.sizes
        sizes = [*[f"{n} >= {n.low}" for n in names], *(map(str, names[0].scope.guards) if names else ())]
        lines += [f"  for sizes where {', '.join(sizes)}"] if sizes else []
        lines += [f"  changes: {changed}"] if changed else []
        lines += [f"  calls Python: {', '.join(self.calls)}"] if self.calls else []
        return "\n".join(lines)


class PieceWay(Way):
    """Some statements as a program, and where to go on."""

    def __init__(self, piece: Piece, place: int, backend: Backend | None, wishes: Wishes) -> None:
        super().__init__(piece.program, backend, wishes)
        self.end, self.why, self.at, self.empty = piece.end, piece.why, piece.at, piece.end == place

    def attempt(self, root: Any) -> Any:
        if not self.empty:
            return super().attempt(root)
        return UNFIT if self.guard(root) is None else NOT_RUN


def _few(things: Iterable[Any], most: int = 12) -> str:
    """A list as one reads it: a step of a large network takes and changes hundreds of tensors."""
    words = list(map(str, things))
    if len(words) <= most:
        return ", ".join(words)
    return f"{', '.join(words[: most - 4])}, ... and {len(words) - most + 4} more"


def _argument(world: Any, read: Read) -> bool:
    path = world.paths[read.parent]
    return len(path) > 0 and path[0][0] in ("arg", "kwarg")


def _words(obj: Outside, slot: Any) -> str:
    if slot == DATA:
        return obj.name
    return f"{obj.kind}.{slot[1]}" if slot[0] == "attr" else f"a {obj.kind}"
