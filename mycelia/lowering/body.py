"""The body of a function: group what one kernel can compute, order groups and steps, write them down."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mycelia.cost import kept_aside
from mycelia.frozen import frozen
from mycelia.ir import Function, Param, Project, Value, may_repeat, names_in
from mycelia.loops import Buffer, Expr, Index, Launch, Operand, Origin, Step, cast, load
from mycelia.lowering.anchors import anchors
from mycelia.lowering.empty import without_empty
from mycelia.lowering.group import Group
from mycelia.lowering.kernels import kernel_of
from mycelia.lowering.nest import same_place
from mycelia.lowering.plain import copy, offset_of, stored
from mycelia.lowering.shared import Shared
from mycelia.lowering.steps import follows, layout_of, lower_step, may_end, reads_elements
from mycelia.lowering.takeover import Takeovers, share, takeovers
from mycelia.lowering.toposort import in_sequence
from mycelia.lowering.values import base, full_index, in_order, is_expression, is_reduction, is_step, is_view, op_of
from mycelia.primitives import Constant, Positions
from mycelia.sizes import Dim, hint, known_equal, same
from mycelia.types import TensorType, TupleType, row_major


@frozen
class View:
    """A part of a buffer seen as a tensor."""

    buffer: Buffer
    offset: Dim
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]


@dataclass(eq=False)
class Task:
    """A group, or a step of its own."""

    number: int
    group: Group | None = None
    step: Value | None = None
    before: set[int] = field(default_factory=set)  # tasks that it reads from
    needs: set[int] = field(default_factory=set)  # tasks that come before, directly or not


class Body:
    """The lowering of one function into steps."""

    def __init__(
        self, fn: Function, params: Sequence[Buffer], shared: Shared, scope: Mapping[str, str] | None = None
    ) -> None:
        fn = without_empty(fn)
        self.fn, self.shared, self.scope = fn, shared, scope or {}  # the scope names procedures
        self.memory: dict[Value, Buffer] = dict(zip(fn.params, params, strict=True))
        self.value_in: dict[Buffer, Value] = {b: v for v, b in self.memory.items()}
        self.births = {v.op.born: v for v in fn.values() if isinstance(v.op, Positions)}
        self.anchor: set[Value] = set()
        self.tasks: list[Task] = []
        self.made_by: dict[Value, Task] = {}
        self.ordered: list[Task] = []  # effects, one after the other
        self.ending: set[int] = set()  # numbers of tasks that may end the program
        self.in_place: set[Buffer] = set()
        self.taken: Takeovers = {}  # updates in place
        self.steps: list[Step] = []

    # -------------------------------------------------------------------------------------------- the whole

    def run(self, donated: Mapping[int, int], outermost: bool = False) -> tuple[list[Step], list[Buffer]]:
        """Steps, and where the results are afterwards. The outermost body may end early, by an exception in an effect
        or in a loop, and what was given away must be as it was then.
        """
        values = self.fn.values()
        operands = {base(x) for v in values if is_step(v) and not reads_elements(op_of(v)) for x in v.inputs}
        results = {base(r) if is_view(r) else r for r in self.fn.results}
        chosen = set(anchors(self.fn, {x for x in operands if is_expression(x)}))
        self.anchor = chosen
        for v in values:
            if isinstance(v.op, Constant):
                self.memory[v] = self._constant(v)
                self.value_in[self.memory[v]] = v
            elif is_step(v):
                self._add_step(v)
            elif v in chosen:
                self._add_anchor(v)
        read = {u for v in values if is_step(v) for u in self._read_by(v)}
        needed = {self.memory[v] for v in operands | results | set(self.fn.results) | read if v in self.memory}
        for task in self.tasks:
            if task.group is not None:
                needed |= set(task.group.outside)
        if outermost:
            self.ending = {n.number for n in self.tasks if n.step is not None and may_end(op_of(n.step))}
        order, donors = self._order(donated)
        aside = kept_aside(self.shared.options.target)
        share(self, self.taken)
        for task in order:
            if task.group is not None:
                launch = kernel_of(task.group, lambda m: self.memory[m] if self.memory[m] in needed else None, aside)
                if launch.kernel.sweeps:
                    self.steps.append(launch)
                    self._note_all(task.group.members, launch)
            else:
                assert task.step is not None
                lower_step(op_of(task.step), task.step, self)
        out = [self.result(r) for r in self.fn.results]
        self._settle(donors, donated, out)
        return self.steps, out

    def result(self, r: Value) -> Buffer:
        """Where a result is; a view of something else is copied out."""
        return self.memory[r] if r in self.memory else self.dense(r)

    def _constant(self, v: Value) -> Buffer:
        """One place in the program for each constant."""
        if v not in self.shared.constant_of:
            buffer = self.shared.buffer(v.type, hint="const")
            self.shared.constant_of[v] = buffer
            self.shared.constants[buffer] = v.op.data  # type: ignore[union-attr]
        return self.shared.constant_of[v]

    # -------------------------------------------------------------------------------------------- tasks

    def _task(self, **what: object) -> Task:
        task = Task(len(self.tasks), **what)  # type: ignore[arg-type]
        self.tasks.append(task)
        return task

    def _add_step(self, v: Value) -> None:
        task = self._task(step=v)
        self._after(task, {self.made_by[u] for u in self._read_by(v) if u in self.made_by})
        if not may_repeat(v):
            self._after(task, set(self.ordered[-1:]))
            self.ordered.append(task)
        types = v.type.elements if isinstance(v.type, TupleType) else (v.type,)
        outs = [Value(Project(i), (v,)) for i in range(len(types))] if isinstance(v.type, TupleType) else [v]
        for i, (out, t) in enumerate(zip(outs, types, strict=True)):
            strides = layout_of(op_of(v), i, t) if isinstance(t, TensorType) else None
            if strides is None and follows(op_of(v)) and v not in self.fn.results:
                strides = self._strides(v)
            self._place(out, self.shared.buffer(t, strides), task)
        self.made_by[v] = task

    def _place(self, v: Value, buffer: Buffer, task: Task) -> None:
        self.memory[v], self.value_in[buffer], self.made_by[v] = buffer, v, task
        self._note(v, buffer)

    def _note(self, v: Value, buffer: Buffer) -> None:
        """Note what is computed into a buffer, with all that is computed on the way, if somebody wants to know."""
        if not self.shared.options.clocked:
            return
        found: dict[Value, None] = {}
        stack = [v]
        while stack:
            u = stack.pop()
            u = u.inputs[0] if isinstance(u.op, Project) else u
            if u not in found and not isinstance(u.op, Param):
                found[u] = None
                inlined = is_expression(u) or is_reduction(u)
                stack += [x for x in u.inputs if inlined and is_expression(x) and x not in self.memory]
        self.shared.origins[buffer] = tuple(Origin(u.op.name, u.location) for u in found)

    def _note_all(self, members: Sequence[Value], launch: Launch) -> None:
        """A kernel that writes any of its members computes them all."""
        origins = self.shared.origins
        found = dict.fromkeys(o for m in reversed(members) for o in origins.get(self.memory[m], ()))
        if found:
            origins.update(dict.fromkeys(launch.writes(), tuple(found)))

    def _add_anchor(self, v: Value) -> None:
        domain = v.inputs[0].shape if is_reduction(v) else v.shape
        near = sorted({self.made_by[u] for u in self._read_by(v) if u in self.made_by}, key=lambda n: -n.number)
        candidates = [n for n in near if n.group is not None]
        inputs = {u for u in self._read_by(v) if hint(u.tensor.size) * 4 > hint(v.tensor.size)}
        for task in reversed(self.tasks[-12:]):
            if task.group is not None and same(task.group.domain, domain) and task not in candidates:
                read = {self.value_in.get(b) for b in task.group.outside}
                if inputs & read:
                    candidates.append(task)
        for task in candidates:
            group = task.group
            assert group is not None
            others = {n for n in near if n is not task}
            if any(task.number in n.needs for n in others):
                continue
            if group.add(v):
                self._after(task, others)
                self._place(v, self.shared.buffer(v.type, self._strides(v)), task)
                return
        group = Group(domain, self.load, lambda u: u in self.anchor, self._axis_order(v, domain))
        fits = group.add(v)
        assert fits, f"{v} does not fit a group of its own"
        task = self._task(group=group)
        self._after(task, set(near))
        self._place(v, self.shared.buffer(v.type, self._strides(v)), task)

    def _strides(self, v: Value) -> tuple[Dim, ...] | None:
        """The layout of what an anchor reads at the same places, unless the value leaves the function."""
        if v in self.fn.results or is_reduction(v):
            return None
        for u in self._read_by(v):
            buffer = self.memory.get(u)
            if buffer is not None and len(u.shape) == len(v.shape) and not same(buffer.strides, row_major(u.shape)):
                return in_order(v.shape, buffer.strides)
        return None

    def _axis_order(self, v: Value, domain: tuple[Dim, ...]) -> list[int]:
        """The axes of a domain as they lie in memory, from the outermost, by what is read over the whole of it."""
        for u in self._read_by(v):
            buffer = self.memory.get(u)
            if buffer is not None and same(u.shape, domain) and not same(buffer.strides, row_major(domain)):
                strides = buffer.strides
                return sorted(range(len(domain)), key=lambda a: -hint(strides[a]))
        return list(range(len(domain)))

    def _after(self, task: Task, before: set[Task]) -> None:
        for b in before - {task}:
            task.before.add(b.number)
            task.needs |= {b.number} | b.needs
        for other in self.tasks:
            if task.number in other.needs:
                other.needs |= task.needs

    def _read_by(self, v: Value) -> list[Value]:
        """The values in memory that computing `v` reads, through everything that is computed on the way."""
        found: dict[Value, None] = {}
        stack, seen = list(v.inputs), set()
        while stack:
            u = stack.pop()
            if u in seen:
                continue
            seen.add(u)
            if u in self.anchor or not is_expression(u):
                found[u] = None
            else:
                stack.extend(u.inputs)
                found.update(dict.fromkeys(self._counts(u)))
        found.update(dict.fromkeys(self._counts(v)))
        return list(found)

    def _counts(self, v: Value) -> list[Value]:
        """The values that sizes come out of, where computing `v` depends on those."""
        if not self.births:
            return []
        return [self.births[name] for name in names_in(v) if name in self.births and self.births[name] is not v]

    def load(self, v: Value, at: tuple[Index, ...]) -> Expr:
        return load(self.memory[v], at)

    # -------------------------------------------------------------------------------------------- order and memory

    def _order(self, donated: Mapping[int, int]) -> tuple[list[Task], dict[int, Task]]:
        """Nodes so that each comes after what it reads, and writers of memory that is taken over after its readers."""
        after = {n.number: set(n.before) for n in self.tasks}
        donors: dict[int, Task] = {}
        readers: defaultdict[Value, set[int]] = defaultdict(set)
        for n in self.tasks:
            for v in self._values_read(n):
                readers[v].add(n.number)
        # an effect may raise, a loop may be interrupted, and what was given away would be lost: it is overwritten later
        for p in self.fn.params:
            readers[p].update(self.ending, [n.number for n in self.ordered])
        looked_at = Counter(base(r) for r in self.fn.results)
        for result, param in donated.items():
            old, new = self.fn.params[param], self.fn.results[result]
            writer = self.made_by.get(new)
            if writer is None or looked_at[old]:
                continue
            others = readers[old] - {writer.number}
            if not any(writer.number in self.tasks[n].needs for n in others):
                after[writer.number] |= others
                donors[result] = writer
        self.taken = takeovers(self, donated, readers)
        further = {n: set(before) for n, before in after.items()}
        for v, x in self.taken.items():
            further[self.made_by[v].number] |= readers[x] - {self.made_by[v].number}
        order = in_sequence(further)
        if order is None:
            order, self.taken = in_sequence(after), {}
        if order is None:  # memory would have to be given away in a circle: copy instead
            order, donors = in_sequence({n.number: n.before for n in self.tasks}), {}
        assert order is not None, "groups depend on each other in a circle"
        return [self.tasks[n] for n in order], donors

    def _values_read(self, task: Task) -> list[Value]:
        if task.group is not None:
            return [v for b in task.group.outside if (v := self.value_in.get(b)) is not None]
        assert task.step is not None
        return self._read_by(task.step)

    def _settle(self, donors: dict[int, Task], donated: Mapping[int, int], out: list[Buffer]) -> None:
        """Which results may be written straight into the memory that they take over."""
        for result, task in donors.items():
            source, target = out[result], self.memory[self.fn.params[donated[result]]]
            if source in self.shared.aliases or task.number in self.ending:  # it is there already, or must not be yet
                continue
            launches = [s for s in self.steps if isinstance(s, Launch) and source in s.writes()]
            reading = target in (b for s in launches for b in s.reads())
            safe = all(same_place(s.kernel, target, source) for s in launches) if reading else task.group is not None
            if safe and launches and same(source.strides, target.strides) and out.count(source) == 1:
                self.in_place.add(source)

    # -------------------------------------------------------------------------------------------- for steps

    def view(self, x: Value) -> View:
        """`x` as a strided part of memory; computed into memory of its own where that is impossible."""
        if (part := self._part(x)) is not None:
            return part
        fresh = self.dense(x)
        return View(fresh, 0, x.shape, fresh.strides)

    def _part(self, x: Value) -> View | None:
        """`x` as a strided part of memory, if it is one."""
        if x in self.memory:
            buffer = self.memory[x]
            return View(buffer, 0, x.shape, buffer.strides)
        variables, at = full_index(x.shape)
        e = self.element(x, at)
        if e.kind == "load":
            buffer, where = e.attribute
            if all(a in variables for a, _ in where.terms):
                return View(buffer, where.constant, x.shape, tuple(where.coefficient(v) for v in variables))
        return None

    def dense(self, x: Value, strides: tuple[Dim, ...] | None = None) -> Buffer:
        """`x` in row-major order, or with the given strides, computed or copied where it is not."""
        want = strides or row_major(x.shape)
        if x in self.memory and same(self.memory[x].strides, want):
            return self.memory[x]
        out = self.shared.buffer(x.type, want)
        self._note(x, out)
        self._compute(x, out)
        return out

    def lying(self, x: Value, strides: tuple[Dim, ...] | None = None) -> Operand:
        """`x` in row-major order, or with the given strides, as a call sees it: where it is, if it lies so there."""
        part, want = self._part(x), strides or row_major(x.shape)
        long = [axis for axis, n in enumerate(x.shape) if not known_equal(n, 1)]  # along one element nothing goes on
        if part is not None and all(known_equal(part.strides[axis], want[axis]) for axis in long):
            return Operand(part.buffer, part.offset)
        return Operand(self.dense(x, strides))

    def element(self, x: Value, at: Sequence[Index]) -> Expr:
        """One element of `x`, read from memory or computed from what is there."""
        if x in self.memory:
            return load(self.memory[x], tuple(at))
        group = Group(x.shape, self.load, lambda u: u in self.memory)
        return group.element(x, tuple(at))

    def operand(self, x: Value) -> Buffer:
        """`x` in memory of its own."""
        return self.memory[x] if x in self.memory else self.dense(x)

    def handed(self, x: Value) -> Buffer:
        """`x` for whoever knows its type alone: a tensor row by row, wherever it comes from."""
        return self.dense(x) if isinstance(x.type, TensorType) else self.operand(x)

    def fill(self, x: Value, out: Buffer) -> None:
        """Bring `x` into `out`."""
        if x in self.memory and self.memory[x].type.dtype is out.type.dtype:
            self.steps.append(copy(self.memory[x], out))
        else:
            self._compute(x, out)

    def _compute(self, x: Value, out: Buffer) -> None:
        variables, at = full_index(x.shape)
        value = cast(self.element(x, at), out.type.dtype)
        self.steps.append(stored(variables, out, offset_of(at, out.strides), value))
