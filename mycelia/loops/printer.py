"""The written form of kernels and programs, for people and for files: `equal(parse(show(x)), x)`.

    program(in1: f32[8, 4]) {
      buffer b2: f32[8]
      buffer out3: f32[8, 4] strides (1, 8)

      launch 64 kernel(i0 < 8) {
        for (i1 < 4) {
          %0: f32 = fold add in1[4*i0 + i1]
          then b2[i0] = %0
        }
      }
      copy b2 -> out3
      return out3
    }

Rows of a kernel stand in its parentheses, columns in those of `for`. An expression that is used twice, or is deep, has
a line of its own: `%1 = exp(in1[i0])`. That is a name for it, and says nothing about when it is computed. A line that
begins with `then` sees finished folds. `b[i] add= x` is an update. Sizes, types and data are those of
`mycelia.notation`. The names of buffers are kept; loop variables and folds are numbered anew, and terms stand in an
order of their own (`loops/term_order.py`): equal kernels have equal texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from mycelia.loops.calls import Strided
from mycelia.loops.expr import COMPARISONS, PREDICATES, Buffer, Expr, Fold
from mycelia.loops.index import Atom, Datum, Index, Quotient, Remainder, Variable
from mycelia.loops.kernel import Kernel, Store, Sweep, Update
from mycelia.loops.program import (
    Birth,
    Block,
    Branch,
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
from mycelia.notation import data_text, dim_text, names_of_type, size_lines, tuple_text, type_text
from mycelia.sizes import Dim, Name, Sym, known_equal, same, text
from mycelia.types import DType, Type, bool_, row_major

DEEP = 6  # expressions inside one another on one line
PLAIN = ("load", "const", "folded", "position")  # what a name would not make shorter


def show(x: Kernel | Program) -> str:
    """The text of a kernel or a program.

    >>> from mycelia.loops import index, load
    >>> from mycelia.types import TensorType, float32
    >>> x, y = (Buffer.dense(name, TensorType(float32, (3,))) for name in "xy")
    >>> i = Variable(3)
    >>> e = load(x, (index(i),))
    >>> print(show(Kernel((i,), (Sweep((), actions=(Store(y, index(i), e * e),)),))))
    buffer x: f32[3]
    buffer y: f32[3]
    kernel(i0 < 3) {
      for () {
        y[i0] = mul(x[i0], x[i0])
      }
    }
    """
    writer = Writer()
    lines = writer.kernel_alone(x) if isinstance(x, Kernel) else writer.program(x)
    return "\n".join([*size_lines(writer.sizes), *lines])


class Writer:
    """Lines of text, and the names of sizes that they mention."""

    def __init__(self) -> None:
        self.sizes: set[Name] = set()

    # -------------------------------------------------------------------------------------------- programs

    def program(self, program: Program) -> list[str]:
        head = ", ".join(f"{b}: {self.laid_out(b)}" for b in program.inputs)
        lines = [*self._buffers(program), *map(self._note, program.notes)]
        for procedure in program.procedures:
            lines += ["", *self._procedure(procedure)]
        lines += ["", *self.steps(program.block)] if lines else self.steps(program.block)
        if program.handles:
            lines.append(f"handles {', '.join(b.name for b in program.outputs if b in program.handles)}")
        lines.append(f"return {', '.join(b.name for b in program.outputs)}".rstrip())
        return [f"program({head}) {{", *indented(lines), "}"]

    def _buffers(self, program: Program) -> list[str]:
        """What has to be said of the buffers that are no inputs."""
        found: dict[Buffer, None] = dict.fromkeys(program.inputs)
        for procedure in program.procedures:
            found |= dict.fromkeys((*procedure.inputs, *procedure.outputs))
        for block in [program.block, *(r.block for r in program.procedures)]:
            for step in block.walk():
                found |= dict.fromkeys((*step.reads(), *step.writes()))
                streams = (*step.reading, *step.writing) if isinstance(step, Repeat) else ()
                found |= dict.fromkeys(s.item for s in streams)
                found |= dict.fromkeys([step.predicate] if isinstance(step, Repeat) and step.predicate else ())
        found |= dict.fromkeys((*program.outputs, *program.shared, *program.shared.values()))
        said = {*program.inputs, *program.constants}
        constants = [f"constant {b}: {self.laid_out(b)} = {data_text(x)}" for b, x in program.constants.items()]
        buffers = [f"buffer {b}: {self.laid_out(b)}" for b in found if b not in said]
        return [*constants, *buffers, *[f"share {b} in {home}" for b, home in program.shared.items()]]

    def laid_out(self, x: Buffer | Strided) -> str:
        """The type of what lies in memory, and how it lies there if not row after row."""
        t = x.type if isinstance(x, Buffer) else None
        shape, dtype = (t.shape, t.dtype) if t is not None else (x.shape, x.dtype)  # type: ignore[union-attr]  # a layout
        written = f"{dtype.short}[{', '.join(self.inside(n) for n in shape)}]"
        if same(x.strides, row_major(shape)):
            return written
        return f"{written} strides {tuple_text(map(self.dim, x.strides))}"

    def _note(self, note: Note) -> str:
        place = "" if note.at is None else f" at {json.dumps(note.at.file)} {note.at.line}"
        columns = "" if note.at is None or note.at.columns is None else f" {tuple_text(map(str, note.at.columns))}"
        return f"note {json.dumps(note.text)}{place}{columns}"

    def _procedure(self, procedure: Procedure) -> list[str]:
        inputs, outputs = self.buffers(procedure.inputs), self.buffers(procedure.outputs)
        head = f"procedure {json.dumps(procedure.name)}{inputs} -> {outputs}"
        return [f"{head} {{", *indented(self.steps(procedure.block)), "}"]

    def buffers(self, buffers: Iterable[Buffer]) -> str:
        return f"({', '.join(b.name for b in buffers)})"

    # -------------------------------------------------------------------------------------------- steps

    def steps(self, block: Block) -> list[str]:
        """The lines of a block."""
        return [line for step in block.steps for line in self.step(step)]

    def step(self, step: Step) -> list[str]:
        """The lines of a step."""
        write: Callable[[Any], list[str]] = WRITERS[type(step)].__get__(self)
        return write(step)

    def launch(self, step: Launch) -> list[str]:
        first, *rest = self.kernel(step.kernel)
        return [f"launch {self.dim(step.work)} {first}", *rest]

    def invoke(self, step: Invoke) -> list[str]:
        inputs, outputs = (", ".join(map(self._operand, x)) for x in (step.inputs, step.outputs))
        return [f"invoke {self.described(step.call)}({inputs}) -> ({outputs})"]

    def _operand(self, x: Operand) -> str:
        return x.buffer.name if known_equal(x.offset, 0) else f"{x.buffer} + {self.dim(x.offset)}"

    def copy(self, step: Copy) -> list[str]:
        return [f"copy {step.source} -> {step.target}"]

    def branch(self, step: Branch) -> list[str]:
        then, otherwise = (indented(self.steps(b)) for b in (step.then, step.otherwise))
        return [f"if {step.predicate} {{", *then, "} else {", *otherwise, "}"]

    def repeat(self, step: Repeat) -> list[str]:
        said = [f"count={step.count}"]
        if step.length is not None:
            said.append(f"length={step.length if isinstance(step.length, Buffer) else self.dim(step.length)}")
        said += [f"while={step.predicate}"] if step.predicate is not None else []
        said += ["reverse"] if step.reverse else []
        for word, streams in (("reading", step.reading), ("writing", step.writing)):
            said += [f"{word}=({', '.join(map(self._stream, streams))})"] if streams else []
        head = f"repeat[{', '.join(said)}] {{"
        if step.condition is None:
            return [head, *indented(self.steps(step.body)), "}"]
        return [head, *indented(self.steps(step.condition)), "} do {", *indented(self.steps(step.body)), "}"]

    def _stream(self, s: Stream) -> str:
        return f"{s.item} of {s.handle}{' fixed' if s.fixed else ''}"

    def enter(self, step: Enter) -> list[str]:
        return [f"enter {json.dumps(step.procedure)}{self.buffers(step.inputs)} -> {self.buffers(step.outputs)}"]

    def runtime(self, step: Runtime) -> list[str]:
        types = f" types {tuple_text(map(self.type, step.types))}" if step.types else ""
        return [f"runtime {json.dumps(step.service)}{self.buffers(step.inputs)} -> {self.buffers(step.outputs)}{types}"]

    def host(self, step: Host) -> list[str]:
        called = json.dumps(step.call.written)  # it lives in this process only, and has a name
        return [f"host {called}{self.buffers(step.inputs)} -> {self.buffers(step.outputs)}"]

    def birth(self, step: Birth) -> list[str]:
        self.sizes.add(step.name)
        return [f"birth {step.name} = {step.count}"]

    def stop(self, step: Stop) -> list[str]:
        return [f"stop{self.buffers(step.flags)}"]

    def described(self, x: Any) -> str:
        """The description of a library call: dataclasses, types, numbers."""
        if isinstance(x, Strided):
            return self.laid_out(x)
        if is_dataclass(x) and not isinstance(x, Type):
            said = ", ".join(f"{f.name}={self.described(getattr(x, f.name))}" for f in fields(x))
            return f"{type(x).__name__}[{said}]"
        if isinstance(x, tuple):
            return tuple_text(map(self.described, x))
        if isinstance(x, DType):
            return x.short
        if isinstance(x, Sym):
            return self.dim(x)  # type: ignore[arg-type]  # a size is typed as an int
        return json.dumps(x) if isinstance(x, str) else repr(x)

    # -------------------------------------------------------------------------------------------- kernels

    def kernel_alone(self, kernel: Kernel) -> list[str]:
        """The lines of a kernel, after those of the buffers that it reads and writes."""
        return [*[f"buffer {b}: {self.laid_out(b)}" for b in kernel.buffers()], *self.kernel(kernel)]

    def kernel(self, kernel: Kernel) -> list[str]:
        """The lines of a kernel."""
        inside = KernelWriter(self, kernel)
        head = f"kernel({', '.join(map(inside.loop, kernel.rows))}) {{"
        scratch = [f"  scratch {b}: {self.laid_out(b)}" for b in kernel.scratch]
        return [head, *scratch, *indented(line for s in kernel.sweeps for line in inside.sweep(s)), "}"]

    # -------------------------------------------------------------------------------------------- sizes and types

    def dim(self, n: Dim) -> str:
        self._sees(n)
        return dim_text(n)

    def inside(self, n: Dim) -> str:
        """A size where nothing else can stand."""
        self._sees(n)
        return text(n)

    def type(self, t: Type) -> str:
        self.sizes |= names_of_type(t)
        return type_text(t)

    def _sees(self, *sizes: Dim) -> None:
        for n in sizes:
            self.sizes |= n.names() if isinstance(n, Sym) else set()


class KernelWriter:
    """The lines of one kernel: loop variables, folds and expressions that have a name."""

    def __init__(self, outer: Writer, kernel: Kernel) -> None:
        self.outer = outer
        self.variables: dict[Variable, str] = {}
        self.names: dict[Expr | Fold, str] = {}
        self.lines: list[str] = []
        self.named = _worth_a_name(kernel)
        self.order = kernel.term_order()

    def loop(self, v: Variable) -> str:
        """A loop variable as it stands where a loop begins."""
        name = self.variables.setdefault(v, f"i{len(self.variables)}")
        block = "" if v.within is None else f" within {self.variables[v.within[0]]} of {self.outer.dim(v.within[1])}"
        return f"{name} < {self.outer.dim(v.extent)}{block}"

    def sweep(self, sweep: Sweep) -> list[str]:
        head = f"for ({', '.join(map(self.loop, sweep.columns))}) {{"
        self.lines = []
        for fold, e in sweep.folds:
            value = self.expr(e)
            self.names[fold] = name = f"%{len(self.names)}"
            self.lines.append(f"{name}: {fold.dtype.short} = fold {fold.combine} {value}")
        for a in sweep.actions:
            self.action(a, "")
        for a in sweep.after:
            self.action(a, "then ")
        return [head, *indented(self.lines), "}"]

    def action(self, a: Store | Update, before: str) -> None:
        sign = f"{a.combine}=" if isinstance(a, Update) else "="
        value, place = self.expr(a.value), self.index(a.offset)
        self.lines.append(f"{before}{a.buffer}[{place}] {sign} {value}")

    def expr(self, e: Expr) -> str:
        """An expression; what has a name gets its line before."""
        found = self.names.get(e)
        if found is not None:
            return found
        for x in e.walk():  # arguments first, so that nothing is deep
            if x in self.named and x not in self.names:
                written = self._written(x)
                self.names[x] = name = f"%{len(self.names)}"
                self.lines.append(f"{name} = {written}")
        return self.names.get(e) or self._written(e)

    def _written(self, e: Expr) -> str:
        if e.kind == "load":
            return f"{e.attribute[0]}[{self.index(e.attribute[1])}]"
        if e.kind == "const":
            return f"{e.dtype.short}({e.attribute!r})"
        if e.kind == "folded":
            return self.names[e.attribute]
        if e.kind == "position":
            return f"position[{e.dtype.short}]({self.index(e.attribute)})"
        arguments = ", ".join(self.names.get(a) or self._written(a) for a in e.args)
        said = "" if e.dtype is usual(e.kind, e.args) else f"[{e.dtype.short}]"
        return f"{e.kind}{said}({arguments})"

    def index(self, at: Index) -> str:
        terms = [(self._atom(a), c) for a, c in self.order.terms(at)]
        parts = [a if known_equal(c, 1) else f"{self.outer.dim(c)}*{a}" for a, c in terms]
        shown = not known_equal(at.constant, 0) or not parts
        return " + ".join([*parts, self.outer.dim(at.constant)] if shown else parts)

    def _atom(self, a: Atom) -> str:
        if isinstance(a, Variable):
            return self.variables[a]
        if isinstance(a, Datum):
            return f"datum({self.expr(a.value)}, {self.outer.dim(a.low)}, {self.outer.dim(a.high)})"
        assert isinstance(a, Quotient | Remainder), f"{a} has no written form"
        return f"({self.index(a.index)} {'//' if isinstance(a, Quotient) else '%'} {self.outer.dim(a.divisor)})"


def usual(kind: str, args: Sequence[Expr]) -> DType | None:
    """The element type that an expression has if nothing else is said."""
    if kind in PREDICATES or kind in COMPARISONS:
        return bool_
    return None if kind == "cast" else args[-1].dtype


def _worth_a_name(kernel: Kernel) -> set[Expr]:
    """The expressions that are used more than once, or hold many others inside one another."""
    uses: dict[Expr, int] = {}
    depth: dict[Expr, int] = {}
    named: set[Expr] = set()
    stack = [x for s in kernel.sweeps for x in (*[e for _, e in s.folds], *[a.value for a in (*s.actions, *s.after)])]
    stack += [e for s in kernel.sweeps for a in (*s.actions, *s.after) for e in _data(a.offset)]
    seen: set[Expr] = set()
    while stack:
        root = stack.pop()
        uses[root] = uses.get(root, 0) + 1
        if root in seen:
            continue
        for e in root.walk():
            if e in seen:
                continue
            seen.add(e)
            for a in e.args:
                uses[a] = uses.get(a, 0) + 1
            at = e.attribute[1] if e.kind == "load" else e.attribute if e.kind == "position" else None
            stack += _data(at) if at is not None else []
            depth[e] = 1 + max((0 if a in named else depth[a] for a in e.args), default=0)
            if depth[e] > DEEP:
                named.add(e)
    return named | {e for e, n in uses.items() if n > 1 and e.kind not in PLAIN}


def _data(at: Index) -> list[Expr]:
    """The expressions that an index takes from the data."""
    found, atoms = [], [a for a, _ in at.terms]
    while atoms:
        atom = atoms.pop()
        if isinstance(atom, Datum):
            found.append(atom.value)
        elif isinstance(atom, Quotient | Remainder):
            atoms += [a for a, _ in atom.index.terms]
    return found


def indented(lines: Iterable[str]) -> list[str]:
    """Lines inside braces."""
    return [f"  {line}" if line else "" for line in lines]


WRITERS: dict[type, Any] = {
    Launch: Writer.launch,
    Invoke: Writer.invoke,
    Copy: Writer.copy,
    Branch: Writer.branch,
    Repeat: Writer.repeat,
    Enter: Writer.enter,
    Runtime: Writer.runtime,
    Host: Writer.host,
    Birth: Writer.birth,
    Stop: Writer.stop,
}
