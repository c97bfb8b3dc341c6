"""The written form of units and of bindings, for people and for files: `equal(parse_unit(show_unit(x)), x)`.

    unit {
      program(in1: f32[8, 4]) { ... }           see `mycelia.loops.printer`
      plan 1024 {                               the arena, in bytes
        in1 slot 0
        b2 at 64
        room 5 at 128                           what belongs to the library call that is step 5
      }
      plan "procedure" 256 stacked { ... }        its places depend on sizes
      streamed out3
      binding(f32[8, 4]) -> (f32[8] takes 0) {  an output that takes over the memory of an input
        threads 2
        steps 3
        arena 1024
        table input 0, arena, heap, call 5
        call Matmul[...]
        recipe 5 call 0 room 4096
        ...
      }
    }

The text of a binding alone also holds its constants and notes, which in a unit stand in the program. Nothing in a text
is evaluated: a file from elsewhere can be wrong, and no more than that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from mycelia.loops.expr import Buffer
from mycelia.loops.parser import ProgramReader
from mycelia.loops.printer import Writer, indented
from mycelia.loops.program import Called, Item, Place, Plan, Program, Stack
from mycelia.loops.unit import Binding, Callback, Recipe, Slot, Unit
from mycelia.notation import data_text, size_lines, tuple_text
from mycelia.sizes import Dim, Name, Sym
from mycelia.types import TensorType


def show_unit(unit: Unit) -> str:
    """The text of a unit."""
    writer = UnitWriter()
    lines = writer.unit(unit)
    return "\n".join([*size_lines(writer.sizes), *lines])


def parse_unit(text: str, callee: Callable[[str], Called] | None = None) -> Unit:
    """The unit that `show_unit` wrote. `callee` finds the Python functions that it calls, by their names."""
    reader = UnitReader(text, None, callee)
    reader.size_lines()
    unit = reader.unit()
    reader.end()
    return unit


def show_binding(binding: Binding) -> str:
    """The text of a binding, with its constants.

    >>> from mycelia.types import float32
    >>> x = TensorType(float32, (2,))
    >>> empty = Binding((Slot("input"),), (x,), (x,), (0,), (), 0, (), (), (), (), (), (), (), 0, False, False, 1)
    >>> print(show_binding(empty))
    binding(f32[2]) -> (f32[2] takes 0) {
      threads 1
      steps 0
      arena 0
      table input 0
    }
    >>> parse_binding(show_binding(empty)) == empty
    True
    """
    writer = UnitWriter()
    lines = writer.binding(binding, alone=True)
    return "\n".join([*size_lines(writer.sizes), *lines])


def parse_binding(text: str) -> Binding:
    """The binding that `show_binding` wrote."""
    reader = UnitReader(text)
    reader.size_lines()
    binding = reader.binding(None)
    reader.end()
    return binding


class UnitWriter(Writer):
    """The lines of units."""

    def unit(self, unit: Unit) -> list[str]:
        lines = [*self.program(unit.program), *self._plan("plan", unit.plan)]
        for name, plan in unit.procedures.items():
            lines += self._plan(f"plan {json.dumps(name)}", plan)
        if unit.streamed:
            lines.append(f"streamed {', '.join(sorted(b.name for b in unit.streamed))}")
        return ["unit {", *indented([*lines, *self.binding(unit.binding, alone=False)]), "}"]

    def _plan(self, head: str, plan: Plan) -> list[str]:
        stacked = "" if plan.stack is None else " stacked"
        lines = [f"{b} {self._place(place)}" for b, place in plan.places.items()]
        lines += [f"room {n} at {self.dim(at)}" for n, at in plan.rooms.items()]
        return [f"{head} {self.dim(plan.arena)}{stacked} {{", *indented(lines), "}"]

    def _place(self, place: Place) -> str:
        return f"at {self.dim(place.offset)}" if place.slot is None else f"slot {place.slot}"

    def binding(self, binding: Binding, alone: bool) -> list[str]:
        outputs = [self._output(binding, i) for i in range(len(binding.outputs))]
        head = f"binding({', '.join(map(self.type, binding.inputs))}) -> ({', '.join(outputs)}) {{"
        lines = [f"threads {binding.threads}", f"steps {binding.steps}"]
        lines += [word for word in ("loops", "procedures") if getattr(binding, word)]
        if binding.together is not True:
            told = 0 if binding.together is False else binding.together
            lines.append(f"together {self.dim(told)}")  # type: ignore[arg-type]  # a size
        lines.append(f"arena {self.dim(binding.arena)}")
        lines.append(f"table {', '.join(map(_slot, binding.table))}")
        lines += [f"call {self.described(call)}" for call in binding.calls]
        lines += [
            f"recipe {r.step} call {r.call}{'' if r.room is None else f' room {r.room}'}" for r in binding.recipes
        ]
        for c in binding.callbacks:
            inputs, outputs_ = (", ".join(map(self.type, side)) for side in (c.inputs, c.outputs))
            lines.append(f"callback {c.step} ({inputs}) -> ({outputs_})")
        for word, names in (("names", binding.names), ("births", binding.births)):
            lines += [f"{word} {', '.join(map(repr, names))}"] if names else []
            self.sizes |= set(names)
        for stack in binding.stacks:
            lines += self._stack(stack)
        lines += [f"numbers {', '.join(map(self.dim, binding.numbers))}"] if binding.numbers else []  # type: ignore[arg-type]  # sizes are typed as ints
        lines += [f"refused {json.dumps(call)}" for call in binding.refused]
        if alone:
            lines += [self._note(note) for note in binding.notes]
            lines += [f"constant {data_text(x)}" for x in binding.constants]
        return [head, *indented(lines), "}"]

    def _output(self, binding: Binding, i: int) -> str:
        donor = binding.donated[i]
        takes = "" if donor is None else f" takes {donor}"
        return f"{self.type(binding.outputs[i])}{takes}{' handle' if i in binding.handles else ''}"

    def _stack(self, stack: Stack) -> list[str]:
        self.sizes |= {*stack.names, stack.arena}
        lines = []
        for name, item, below in zip(stack.names, stack.items, stack.below, strict=True):
            over = f" above {tuple_text(map(str, below))}" if below else ""
            lines.append(f"{name}: {item.who} {self.dim(item.nbytes)} from {item.first} to {item.last}{over}")
        return [f"stack {stack.arena} {{", *indented(lines), "}"]


def _slot(slot: Slot) -> str:
    return f"{slot.kind} {slot.number}" if slot.kind in Slot.MANY else slot.kind


class UnitReader(ProgramReader):
    """Units, with the program that they hold."""

    what = "a unit"

    def unit(self) -> Unit:
        self.take("word", "unit")
        self.take("mark", "{")
        program = self.program()
        plans: list[tuple[str, Plan, bool]] = []
        while self.skip("plan"):
            plans.append(self._plan())
        streamed = frozenset(self._listed()) if self.skip("streamed") else frozenset[Buffer]()
        binding = self.binding(program)
        self.take("mark", "}")
        stacks = iter(binding.stacks)
        found = {
            name: Plan(plan.places, plan.rooms, plan.arena, next(stacks) if stacked else None)
            for name, plan, stacked in plans
        }
        main = found.pop("")
        return Unit(program, main, found, streamed, binding)

    def _plan(self) -> tuple[str, Plan, bool]:
        name = self.string() if self.next[0] == "string" else ""
        arena, stacked = self.dim(), self.skip("stacked")
        places: dict[Buffer, Place] = {}
        rooms: dict[int, Dim] = {}
        self.take("mark", "{")
        while not self.skip("}"):
            if self.skip("room"):
                number = self.number()
                self.take("word", "at")
                rooms[number] = self.dim()
            else:
                buffer = self.buffer()
                places[buffer] = Place(self.number()) if self.skip("slot") else Place(None, self._offset())
        return name, Plan(places, rooms, arena), stacked

    def _offset(self) -> Dim:
        self.take("word", "at")
        return self.dim()  # type: ignore[no-any-return]  # a size is typed as an int

    def binding(self, program: Program | None) -> Binding:
        """A binding; of a program, if it stands in a unit."""
        self.take("word", "binding")
        inputs = self.tuple(self._tensor)
        self.take("mark", "->")
        outputs = self.tuple(self._output)
        self.take("mark", "{")
        said: dict[str, list[object]] = {word: [] for word in LINES}
        while not self.skip("}"):
            word = self.take("word")
            if word not in LINES:
                raise self.wrong(f"has {word!r} where something of a binding should be")
            said[word].append(LINES[word](self))
        one = {word: self._one(said, word) for word in ("threads", "steps", "arena", "table")}
        several = {word: self._one(said, word) if said[word] else () for word in ("names", "births", "numbers")}
        return Binding(
            inputs=inputs,
            outputs=tuple(t for t, _, _ in outputs),
            donated=tuple(donor for _, donor, _ in outputs),
            handles=tuple(i for i, (_, _, handle) in enumerate(outputs) if handle),
            stacks=tuple(said["stack"]),  # type: ignore[arg-type]  # each line gives what its word says
            calls=tuple(said["call"]),  # type: ignore[arg-type]
            recipes=tuple(said["recipe"]),  # type: ignore[arg-type]
            callbacks=tuple(said["callback"]),  # type: ignore[arg-type]
            refused=tuple(said["refused"]),  # type: ignore[arg-type]
            together=self._together(said["together"]),
            loops=bool(said["loops"]),
            procedures=bool(said["procedures"]),
            notes=tuple(said["note"]) if program is None else program.notes,  # type: ignore[arg-type]
            constants=tuple(said["constant"] if program is None else program.constants.values()),  # type: ignore[arg-type]
            **one,  # type: ignore[arg-type]
            **several,  # type: ignore[arg-type]
        )

    def _together(self, said: list[object]) -> bool | Sym:
        if not said:
            return True
        (told,) = said
        return told if isinstance(told, Sym) else bool(told)

    def _one(self, said: Mapping[str, list[object]], word: str) -> object:
        if len(said[word]) != 1:
            raise self.wrong(f"ends a binding that says {word} {len(said[word])} times")
        return said[word][0]

    def _tensor(self) -> TensorType:
        t = self.type()
        if not isinstance(t, TensorType):
            raise self.wrong(f"has {t} where a type of tensors should be")
        return t

    def _output(self) -> tuple[TensorType, int | None, bool]:
        t = self._tensor()
        donor = self.number() if self.skip("takes") else None
        return t, donor, self.skip("handle")

    def _table(self) -> tuple[Slot, ...]:
        found = [self._slot()]
        while self.skip(","):
            found.append(self._slot())
        return tuple(found)

    def _slot(self) -> Slot:
        kind = self.take("word")
        if kind not in Slot.MANY and kind not in Slot.ONCE:
            raise self.wrong(f"has {kind!r} where something that a slot can hold should be")
        return Slot(kind, self.number() if kind in Slot.MANY else 0)

    def _recipe(self) -> Recipe:
        step = self.number()
        self.take("word", "call")
        return Recipe(step, self.number(), self.number() if self.skip("room") else None)

    def _callback(self) -> Callback:
        step, inputs = self.number(), self.tuple(self._tensor)
        self.take("mark", "->")
        return Callback(step, inputs, self.tuple(self._tensor))

    def _names(self) -> tuple[Name, ...]:
        found = [self.known("word", self.sizes)]
        while self.skip(","):
            found.append(self.known("word", self.sizes))
        return tuple(found)

    def _numbers(self) -> tuple[Dim, ...]:
        found = [self.dim()]
        while self.skip(","):
            found.append(self.dim())
        return tuple(found)

    def _stack(self) -> Stack:
        arena = self.known("word", self.sizes)
        names: list[Name] = []
        items: list[Item] = []
        below: list[tuple[int, ...]] = []
        self.take("mark", "{")
        while not self.skip("}"):
            names.append(self.known("word", self.sizes))
            self.take("mark", ":")
            who = self.number() if self.next[0] == "number" else self.take("word")
            nbytes = self.dim()
            self.take("word", "from")
            first = self.number()
            self.take("word", "to")
            items.append(Item(who, nbytes, first, self.number()))
            below.append(self.tuple(self.number) if self.skip("above") else ())
        return Stack(tuple(names), tuple(items), tuple(below), arena)


LINES: dict[str, Callable[[UnitReader], object]] = {
    "threads": UnitReader.number,
    "steps": UnitReader.number,
    "together": UnitReader.dim,
    "loops": lambda _: True,
    "procedures": lambda _: True,
    "arena": UnitReader.dim,
    "table": UnitReader._table,
    "call": UnitReader._described,
    "recipe": UnitReader._recipe,
    "callback": UnitReader._callback,
    "names": UnitReader._names,
    "births": UnitReader._names,
    "stack": UnitReader._stack,
    "numbers": UnitReader._numbers,
    "refused": UnitReader.string,
    "note": UnitReader._note,
    "constant": UnitReader.type_or_data,
}
