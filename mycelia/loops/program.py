"""Programs: kernels, library calls and control flow over buffers, in order. What lowering makes and the driver runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Protocol

from mycelia.cost import Cost, multiplied, worth
from mycelia.errors import Location
from mycelia.frozen import frozen
from mycelia.loops.expr import Buffer
from mycelia.loops.kernel import Kernel
from mycelia.sizes import Dim, Name, Sym, comes_from_data, hint
from mycelia.types import Array, TensorType, Type


@frozen
class Launch:
    """Run a kernel. `work` is how many additions, or what takes as long, threads can share: 0 if they cannot."""

    kernel: Kernel
    work: Dim
    dear: ClassVar[bool] = False  # it passes over memory, and can be done again for little more than that

    @property
    def cost(self) -> Cost:
        """What running it takes."""
        return Cost(flops=hint(self.work), bytes=_moved(self), launches=1)

    def reads(self) -> tuple[Buffer, ...]:
        return self.kernel.read()

    def writes(self) -> tuple[Buffer, ...]:
        return self.kernel.written()


@frozen
class Operand:
    """A part of a buffer, from an element on, as a library call sees it."""

    buffer: Buffer
    offset: Dim = 0


@frozen
class Invoke:
    """Call a library. `call` is a description that the runtime knows how to prepare; operands are in its order."""

    call: Any
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    dear: ClassVar[bool] = True  # many operations for each number that it moves

    @property
    def cost(self) -> Cost:
        """What running it takes."""
        return Cost(flops=multiplied(hint(self.call.multiplications)), bytes=_moved(self), launches=1)

    def reads(self) -> tuple[Buffer, ...]:
        return tuple(o.buffer for o in self.inputs)

    def writes(self) -> tuple[Buffer, ...]:
        return tuple(o.buffer for o in self.outputs)


@frozen
class Copy:
    """Copy one whole buffer onto another of the same size."""

    source: Buffer
    target: Buffer
    dear: ClassVar[bool] = False

    @property
    def cost(self) -> Cost:
        """What running it takes."""
        return Cost(bytes=_moved(self), launches=1)

    def reads(self) -> tuple[Buffer, ...]:
        return (self.source,)

    def writes(self) -> tuple[Buffer, ...]:
        return (self.target,)


def _moved(step: Launch | Invoke | Copy) -> int:
    """The bytes that a step reads and writes, each once."""
    touched = dict.fromkeys((*step.reads(), *step.writes()))
    return sum(hint(b.type.size) * b.type.dtype.itemsize for b in touched)


@frozen
class Branch:
    """Run one block or the other."""

    predicate: Buffer
    then: Block
    otherwise: Block

    def reads(self) -> tuple[Buffer, ...]:
        return (self.predicate, *self.then.reads(), *self.otherwise.reads())

    def writes(self) -> tuple[Buffer, ...]:
        return (*self.then.writes(), *self.otherwise.writes())


@frozen
class Stream:
    """A value of each turn of a loop, kept in a sequence: `handle` holds the sequence, `item` one element.

    With `fixed`, the sequence is a tensor and the elements are its slices along the first axis.
    """

    handle: Buffer
    item: Buffer
    fixed: bool


@frozen
class Repeat:
    """Run `body` while `condition` leaves true in `predicate`, or `length` times; append `streams` each turn."""

    condition: Block | None
    predicate: Buffer | None
    body: Block
    count: Buffer  # int64[]: turns that were made
    length: Buffer | Dim | None  # of a counted loop
    reverse: bool
    reading: tuple[Stream, ...]
    writing: tuple[Stream, ...]

    def reads(self) -> tuple[Buffer, ...]:
        blocks = [b for b in (self.condition, self.body) if b]
        inner = [x for b in blocks for x in b.reads()]
        length = [self.length] if isinstance(self.length, Buffer) else []
        return (*inner, *length, *(s.handle for s in self.reading))

    def writes(self) -> tuple[Buffer, ...]:
        blocks = [b for b in (self.condition, self.body) if b]
        return (*(x for b in blocks for x in b.writes()), self.count, *(s.handle for s in self.writing))


@frozen
class Enter:
    """Call a procedure, which may call itself."""

    procedure: str
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]

    def reads(self) -> tuple[Buffer, ...]:
        return self.inputs

    def writes(self) -> tuple[Buffer, ...]:
        return self.outputs


@frozen
class Runtime:
    """Call a service of the runtime on handles: make or open a frame, add sequences, read a null one."""

    service: str
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    types: tuple[Type, ...] = ()

    def reads(self) -> tuple[Buffer, ...]:
        return self.inputs

    def writes(self) -> tuple[Buffer, ...]:
        return self.outputs


ALIGN = 64  # bytes: where buffers begin


class Called(Protocol):
    """A Python function that programs call: from arrays to arrays of these types. In written programs it has a name."""

    @property
    def written(self) -> str: ...

    def __call__(self, arrays: Sequence[Array], types: Sequence[TensorType]) -> Sequence[Array]: ...


@frozen(eq=False)
class Host:
    """Call Python, on the thread that runs the program, with arrays of the inputs. It gives arrays of the types of the
    outputs; an exception ends the program.
    """

    call: Called
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]

    def reads(self) -> tuple[Buffer, ...]:
        return self.inputs

    def writes(self) -> tuple[Buffer, ...]:
        return self.outputs


@frozen
class Birth:
    """A size comes out of data: from here on the name stands for the number in `count`, an int64[]."""

    name: Name
    count: Buffer

    def reads(self) -> tuple[Buffer, ...]:
        return (self.count,)

    def writes(self) -> tuple[Buffer, ...]:
        return ()


@frozen
class Stop:
    """End the program here if one of these bools holds."""

    flags: tuple[Buffer, ...]

    def reads(self) -> tuple[Buffer, ...]:
        return self.flags

    def writes(self) -> tuple[Buffer, ...]:
        return ()


Step = Launch | Invoke | Copy | Branch | Repeat | Enter | Runtime | Host | Birth | Stop


@frozen
class Block:
    """Steps in order."""

    steps: tuple[Step, ...]

    def reads(self) -> tuple[Buffer, ...]:
        return tuple(dict.fromkeys(b for s in self.steps for b in s.reads()))

    def writes(self) -> tuple[Buffer, ...]:
        return tuple(dict.fromkeys(b for s in self.steps for b in s.writes()))

    def work(self) -> Dim | None:
        """How many additions, or what takes as long, threads can share in all; None where nobody knows."""
        total: Dim = 0
        for s in self.steps:
            more = _work(s)
            if more is None:
                return None
            total += more
        return total

    def walk(self) -> Iterator[Step]:
        """Every step, also inside branches and loops."""
        for s in self.steps:
            yield s
            if isinstance(s, Branch):
                yield from s.then.walk()
                yield from s.otherwise.walk()
            elif isinstance(s, Repeat):
                if s.condition is not None:
                    yield from s.condition.walk()
                yield from s.body.walk()


def _work(step: Step) -> Dim | None:
    match step:
        case Launch():
            return step.work
        case Invoke():
            products: Dim = step.call.multiplications
            return products * round(multiplied(1 << 10)) // (1 << 10)
        case Branch():
            ways = step.then.work(), step.otherwise.work()
            return None if ways[0] is None or ways[1] is None else ways[0] + ways[1]
        case Repeat() if isinstance(step.length, int | Sym) and step.condition is None:
            turn = step.body.work()
            return None if turn is None else turn * step.length
        case Repeat() | Enter() | Runtime():
            return None
        case _:
            return 0


@frozen
class Procedure:
    """A part of the program that has a memory of its own each time it is entered."""

    name: str
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    block: Block


@frozen
class Note:
    """What a user should know of how a program computes something, and the line that asked for it."""

    text: str
    at: Location | None


@frozen
class Origin:
    """An operation that a step computes, and the line that asked for it."""

    op: str
    at: Location | None


@frozen
class Program:
    """Everything that one native call does."""

    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    block: Block
    constants: dict[Buffer, Array] = field(default_factory=dict)
    shared: dict[Buffer, Buffer] = field(default_factory=dict)  # lives in the memory of another buffer
    procedures: tuple[Procedure, ...] = ()
    handles: frozenset[Buffer] = frozenset()  # results that are sequences or frames
    notes: tuple[Note, ...] = ()
    # what is computed into a buffer, where somebody wants to know; no part of what a program is
    origins: Mapping[Buffer, tuple[Origin, ...]] = field(default_factory=dict, compare=False)

    def together(self, bound: int) -> bool | Sym:
        """Whether all of it is more work than a bound; or a number that is positive then, when sizes are known. What
        nobody knows is much.
        """
        work = self.block.work()
        return True if work is None or comes_from_data(work) else worth(work, bound)

    def walk(self) -> Iterator[Step]:
        """Every step, of the main block and then of procedures. The number of a step is its place among them."""
        yield from self.block.walk()
        for procedure in self.procedures:
            yield from procedure.block.walk()

    def __str__(self) -> str:
        from mycelia.loops.printer import show  # the printer knows programs, and programs can be printed

        return show(self)


@frozen
class Place:
    """Where a buffer is: in a slot of a table of pointers, or `offset` bytes into the arena."""

    slot: int | None
    offset: Dim = 0


@frozen
class Item:
    """Something that wants room from one step to another: a buffer, known by its name, or a library call for itself,
    known by the number of its step.
    """

    who: str | int
    nbytes: Dim
    first: int
    last: int

    def meets(self, other: Item) -> bool:
        """Whether both are alive at some step."""
        return self.first <= other.last and other.first <= self.last


@frozen
class Stack:
    """Items in an order in which each can be placed when those below it are; offsets have names."""

    names: tuple[Name, ...]
    items: tuple[Item, ...]
    below: tuple[tuple[int, ...], ...]  # for each item, which earlier ones end before it begins
    arena: Name

    def offsets(self, nbytes: Sequence[int]) -> list[int]:
        """The offset of each item, when they have these sizes; then the size of the whole."""
        ends: list[int] = []
        found: list[int] = []
        top = 0
        for size, below in zip(nbytes, self.below, strict=True):
            at = 0
            for i in below:
                if ends[i] > at:
                    at = ends[i]
            end = at + (size + ALIGN - 1) // ALIGN * ALIGN
            ends.append(end)
            found.append(at)
            if end > top:
                top = end
        return [*found, top]


@frozen
class Plan:
    """Places of all buffers, the room that library calls need beside their operands, and the size of the arena. Where
    these depend on sizes, the stack says how.
    """

    places: Mapping[Buffer, Place]
    rooms: Mapping[int, Dim]  # number of a step -> offset of its own room
    arena: Dim
    stack: Stack | None = None
