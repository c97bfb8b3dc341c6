"""Kernels and programs from their written form: see `mycelia.loops.printer`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mycelia.errors import Location
from mycelia.loops.calls import DESCRIBED, Strided
from mycelia.loops.expr import Buffer, Expr, Fold, const, folded
from mycelia.loops.index import Index, Quotient, Remainder, Variable, atoms_summed, datum, divided_atom
from mycelia.loops.kernel import Kernel, Store, Sweep, Update
from mycelia.loops.printer import usual
from mycelia.loops.program import (
    Birth,
    Block,
    Branch,
    Called,
    Copy,
    Enter,
    Host,
    Invoke,
    Launch,
    Note,
    Operand,
    Procedure,
    Program,
    Repeat,
    Runtime,
    Step,
    Stop,
    Stream,
)
from mycelia.notation import Tokens
from mycelia.sizes import Dim, Name
from mycelia.types import Array, DType, TensorType, dtype_named, row_major


def parse_program(
    text: str, callee: Callable[[str], Called] | None = None, sizes: Mapping[str, Name] | None = None
) -> Program:
    """The program that `show` wrote. `callee` finds the Python functions that it calls, by their names.

    >>> parse_program("program(in1: f32[2]) { buffer b2: f32[2]  copy in1 -> b2  return b2 }").outputs
    (b2,)
    """
    reader = ProgramReader(text, sizes, callee)
    reader.size_lines()
    program = reader.program()
    reader.end()
    return program


def parse_kernel(text: str, sizes: Mapping[str, Name] | None = None) -> Kernel:
    """The kernel that `show` wrote.

    >>> parse_kernel("buffer x: i32[3] kernel(i0 < 3) { for () { x[i0] add= i32(1) } }").written()
    (x,)
    """
    reader = ProgramReader(text, sizes)
    reader.size_lines()
    while reader.skip("buffer"):
        reader.declared()
    kernel = reader.kernel()
    reader.end()
    return kernel


@dataclass
class Inside:
    """What the names of one kernel stand for."""

    variables: dict[str, Variable] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)


class KernelReader(Tokens):
    """Kernels over known buffers."""

    what = "a kernel"

    def __init__(self, text: str, sizes: Mapping[str, Name] | None = None) -> None:
        super().__init__(text, sizes)
        self.buffers: dict[str, Buffer] = {}

    def buffer(self) -> Buffer:
        """A buffer that was declared."""
        return self.known("word", self.buffers)  # type: ignore[no-any-return]

    def declared(self) -> Buffer:
        """A buffer with its type, and its strides if they are not row after row."""
        made = self.laid_out_buffer()
        self.buffers[made.name] = made
        return made

    def laid_out_buffer(self) -> Buffer:
        name = self.take("word")
        self.take("mark", ":")
        t = self.type()
        assert isinstance(t, TensorType), f"{name} is no tensor"
        return Buffer(name, t, self.strides(t))

    def strides(self, t: TensorType) -> tuple[Dim, ...]:
        return self.tuple(self.dim) if self.skip("strides") else row_major(t.shape)

    def kernel(self) -> Kernel:
        """A kernel, whose buffers are known."""
        self.take("word", "kernel")
        inside = Inside(buffers=dict(self.buffers))
        rows = self.tuple(lambda: self._loop(inside))
        self.take("mark", "{")
        scratch = []
        while self.skip("scratch"):
            made = self.laid_out_buffer()
            inside.buffers[made.name] = made
            scratch.append(made)
        sweeps = []
        while not self.skip("}"):
            sweeps.append(self._sweep(inside))
        return Kernel(rows, tuple(sweeps), tuple(scratch))

    def _loop(self, inside: Inside) -> Variable:
        name = self.take("word")
        self.take("mark", "<")
        extent, within = self.dim(), None
        if self.skip("within"):
            block = self.known("word", inside.variables)
            self.take("word", "of")
            within = block, self.dim()
        if name not in inside.variables:
            inside.variables[name] = Variable(extent, within)
        return inside.variables[name]

    def _sweep(self, inside: Inside) -> Sweep:
        self.take("word", "for")
        columns = self.tuple(lambda: self._loop(inside))
        self.take("mark", "{")
        folds: list[tuple[Fold, Expr]] = []
        actions: list[Store | Update] = []
        after: list[Store] = []
        while not self.skip("}"):
            if self.next[0] == "value":
                folds += self._value(inside)
            elif self.skip("then"):
                action = self._action(inside)
                assert isinstance(action, Store), "what comes after a sweep stores"
                after.append(action)
            else:
                actions.append(self._action(inside))
        return Sweep(columns, tuple(folds), tuple(actions), tuple(after))

    def _value(self, inside: Inside) -> list[tuple[Fold, Expr]]:
        """A name for an expression; or a fold, which is given."""
        name = self.take("value")
        if self.skip(":"):
            dtype = self.dtype()
            self.take("mark", "=")
            self.take("word", "fold")
            fold = Fold(self.take("word"), dtype)
            e = self._expr(inside)
            inside.values[name] = folded(fold)
            return [(fold, e)]
        self.take("mark", "=")
        inside.values[name] = self._expr(inside)
        return []

    def _action(self, inside: Inside) -> Store | Update:
        buffer, offset = self._element(inside)
        if self.skip("="):
            return Store(buffer, offset, self._expr(inside))
        combine = self.take("word")
        self.take("mark", "=")
        return Update(buffer, offset, combine, self._expr(inside))

    def _element(self, inside: Inside) -> tuple[Buffer, Index]:
        buffer = self.known("word", inside.buffers)
        self.take("mark", "[")
        offset = self._index(inside)
        self.take("mark", "]")
        return buffer, offset

    def _expr(self, inside: Inside) -> Expr:
        kind, text, _ = self.next
        if kind == "value":
            return self.known("value", inside.values)  # type: ignore[no-any-return]
        if text in inside.buffers:
            buffer, offset = self._element(inside)
            return Expr("load", (), buffer.type.dtype, (buffer, offset))
        word, dtype = self.take("word"), None
        if self.skip("["):
            dtype = self.dtype()
            self.take("mark", "]")
        self.take("mark", "(")
        if word == "position":
            assert dtype is not None, "a position has an element type"
            made = Expr("position", (), dtype, self._index(inside))
            self.take("mark", ")")
            return made
        if self.next[0] == "number" or self.sees("True") or self.sees("False"):
            made = const(self.element(), dtype_named(word))
            self.take("mark", ")")
            return made
        args = tuple(self.several(")", lambda: self._expr(inside)))
        found: DType | None = dtype or usual(word, args)
        assert found is not None, f"{word} has an element type"
        return Expr(word, args, found)

    def _index(self, inside: Inside) -> Index:
        terms = [self._term(inside)]
        while self.skip("+"):
            terms.append(self._term(inside))
        return atoms_summed(terms)

    def _term(self, inside: Inside) -> tuple[Any, Dim]:
        """An atom and its coefficient; no atom, and the constant."""
        factor: Any = 1
        if self.next[0] == "number" or self.sees("{"):
            factor = self.dim()
            if not self.skip("*"):
                return None, factor
        if self.skip("("):
            of = self._index(inside)
            kind = Quotient if self.skip("//") else Remainder
            if kind is Remainder:
                self.take("mark", "%")
            atom = divided_atom(kind, of, self.dim())
            self.take("mark", ")")
            return atom, factor
        if self.skip("datum"):
            self.take("mark", "(")
            value = self._expr(inside)
            bounds = [self.dim() for _ in "lh" if self.take("mark", ",")]
            self.take("mark", ")")
            return datum(value, *bounds).terms[0][0], factor
        return self.known("word", inside.variables), factor


class ProgramReader(KernelReader):
    """Programs, step by step."""

    what = "a program"

    def __init__(
        self, text: str, sizes: Mapping[str, Name] | None = None, callee: Callable[[str], Called] | None = None
    ) -> None:
        super().__init__(text, sizes)
        self.callee = callee

    def program(self) -> Program:
        self.take("word", "program")
        inputs = self.tuple(self.declared)
        self.take("mark", "{")
        constants, shared = self._declarations()
        notes = []
        while self.skip("note"):
            notes.append(self._note())
        procedures = []
        while self.skip("procedure"):
            procedures.append(self._procedure())
        steps = self._steps("handles", "return")
        handles = frozenset(self._listed() if self.skip("handles") else ())
        self.take("word", "return")
        outputs = tuple(self.several("}", self.buffer))
        block = Block(tuple(steps))
        return Program(inputs, outputs, block, constants, shared, tuple(procedures), handles, tuple(notes))

    def _declarations(self) -> tuple[dict[Buffer, Array], dict[Buffer, Buffer]]:
        constants: dict[Buffer, Array] = {}
        shared: dict[Buffer, Buffer] = {}
        while True:
            if self.skip("buffer"):
                self.declared()
            elif self.skip("constant"):
                made = self.declared()
                self.take("mark", "=")
                constants[made] = self.type_or_data()
            elif self.skip("share"):
                made = self.buffer()
                self.take("word", "in")
                shared[made] = self.buffer()
            else:
                return constants, shared

    def _note(self) -> Note:
        said = self.string()
        if not self.skip("at"):
            return Note(said, None)
        file, line = self.string(), self.number()
        columns = self.tuple(self.number) if self.sees("(") else None
        return Note(said, Location(file, line, columns))

    def _procedure(self) -> Procedure:
        name, (inputs, outputs) = self.string(), self._passed()
        return Procedure(name, inputs, outputs, self._block())

    def _listed(self) -> list[Buffer]:
        found = [self.buffer()]
        while self.skip(","):
            found.append(self.buffer())
        return found

    def _passed(self) -> tuple[tuple[Buffer, ...], tuple[Buffer, ...]]:
        """What goes in, and what comes out."""
        inputs = self.tuple(self.buffer)
        self.take("mark", "->")
        return inputs, self.tuple(self.buffer)

    # -------------------------------------------------------------------------------------------- steps

    def _block(self) -> Block:
        self.take("mark", "{")
        steps = self._steps("}")
        self.take("mark", "}")
        return Block(tuple(steps))

    def _steps(self, *ends: str) -> list[Step]:
        found: list[Step] = []
        while not any(map(self.sees, ends)):
            found.append(self.known("word", STEPS)(self))
        return found

    def launch(self) -> Launch:
        work = self.dim()
        return Launch(self.kernel(), work)

    def invoke(self) -> Invoke:
        call = self._described()
        inputs = self.tuple(self._operand)
        self.take("mark", "->")
        return Invoke(call, inputs, self.tuple(self._operand))

    def _operand(self) -> Operand:
        buffer = self.buffer()
        return Operand(buffer, self.dim()) if self.skip("+") else Operand(buffer)

    def _described(self) -> Any:
        """A part of the description of a library call."""
        kind, text, _ = self.next
        if kind == "string":
            return self.string()
        if kind == "number" or self.sees("{"):
            return self.dim()
        if self.sees("("):
            return self.tuple(self._described)
        if text in ("True", "False", "None"):
            return {"True": True, "False": False, "None": None}[self.take("word")]
        if text in DESCRIBED:
            made = DESCRIBED[self.take("word")]
            self.take("mark", "[")
            return made(**dict(self.several("]", self._attribute)))
        t = self.type_or_data()
        return Strided(t.shape, self.strides(t), t.dtype) if isinstance(t, TensorType) else t

    def _attribute(self) -> tuple[str, Any]:
        name = self.take("word")
        self.take("mark", "=")
        return name, self._described()

    def copy(self) -> Copy:
        source = self.buffer()
        self.take("mark", "->")
        return Copy(source, self.buffer())

    def branch(self) -> Branch:
        predicate, then = self.buffer(), self._block()
        self.take("word", "else")
        return Branch(predicate, then, self._block())

    def repeat(self) -> Repeat:
        self.take("mark", "[")
        said = dict(self.several("]", self._said))
        first = self._block()
        condition, body = (first, self._block()) if self.skip("do") else (None, first)
        return Repeat(
            condition,
            said.get("while"),
            body,
            said["count"],
            said.get("length"),
            "reverse" in said,
            said.get("reading", ()),
            said.get("writing", ()),
        )

    def _said(self) -> tuple[str, Any]:
        """Something about a loop."""
        word = self.take("word")
        if not self.skip("="):
            return word, True
        if word in ("reading", "writing"):
            return word, self.tuple(self._stream)
        return word, self.buffer() if self.next[0] == "word" else self.dim()

    def _stream(self) -> Stream:
        item = self.buffer()
        self.take("word", "of")
        return Stream(self.buffer(), item, self.skip("fixed"))

    def enter(self) -> Enter:
        return Enter(self.string(), *self._passed())

    def runtime(self) -> Runtime:
        service, (inputs, outputs) = self.string(), self._passed()
        return Runtime(service, inputs, outputs, self.tuple(self.type) if self.skip("types") else ())

    def host(self) -> Host:
        name = self.string()
        if self.callee is None:
            raise self.wrong(f"calls {name}, and parse was not told how to find Python functions")
        return Host(self.callee(name), *self._passed())

    def birth(self) -> Birth:
        name = self.known("word", self.sizes)
        self.take("mark", "=")
        return Birth(name, self.buffer())

    def stop(self) -> Stop:
        return Stop(self.tuple(self.buffer))


STEPS = {
    "launch": ProgramReader.launch,
    "invoke": ProgramReader.invoke,
    "copy": ProgramReader.copy,
    "if": ProgramReader.branch,
    "repeat": ProgramReader.repeat,
    "enter": ProgramReader.enter,
    "runtime": ProgramReader.runtime,
    "host": ProgramReader.host,
    "birth": ProgramReader.birth,
    "stop": ProgramReader.stop,
}
