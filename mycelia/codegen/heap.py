"""What a running program takes beyond its arena: growing sequences, frames of recursive calls.

Everything hangs on one record of words, so that it can be let go at once:

    0 sequences   1 slabs   2 free byte   3 end of slab   4 free byte of the stack   5 end of it   6 deepest call
    7 lowest address that the thread's own stack may reach   8 the table of numbers, for sizes that are not constants
    9 where to go when there is no memory left   10 segment of the stack   11 a segment to spare

The stack of procedures is made of segments, each twice as large as the one before, so that nothing is reserved which is
not used. A segment begins with the one before it, the free byte and the end there, and its own size.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from mycelia.codegen.scalar import FLOAT, INTEGER, i8, i32, i64, memory_type, room
from mycelia.loops.status import NO_MEMORY, TOO_DEEP
from mycelia.sizes import Dim
from mycelia.types import FrameType, SequenceType, TensorType, Type, frame_fields

pointer = ir.PointerType()
SLAB = 1 << 20
SEGMENT = 1 << 16  # bytes of the first segment
LARGEST = 1 << 31  # bytes of a segment that is too large
HEAD = 32  # bytes at the beginning of a segment
JUMP = 32  # words that hold a place to go to; C's library needs 25
VOID = ir.VoidType()


class Heap:
    """The functions of one module that work on the heap, each made when it is first needed."""

    def __init__(self, module: ir.Module, number_at: Callable[..., int]) -> None:
        self.module, self.number_at = module, number_at
        self.made: dict[object, ir.Function] = {}

    def external(self, name: str, result: ir.Type, *args: ir.Type) -> ir.Function:
        found = self.module.globals.get(name)
        return found or ir.Function(self.module, ir.FunctionType(result, args), name)

    def define(self, key: object, result: ir.Type, *args: ir.Type) -> tuple[ir.Function, ir.IRBuilder | None]:
        """The function called `key`, and a builder for its body if it is new."""
        if key in self.made:
            return self.made[key], None
        f = ir.Function(self.module, ir.FunctionType(result, args), f"heap{len(self.made)}")
        f.linkage = "internal"
        f.attributes.add("nounwind")
        self.made[key] = f
        return f, ir.IRBuilder(f.append_basic_block("entry"))

    def size(self, b: ir.IRBuilder, record: ir.Value, n: Dim) -> ir.Value:
        """A size as a number: a constant, or what the table says."""
        return i64(n) if isinstance(n, int) else self.get(b, self.get(b, record, 8), self.number_at(n), i64)

    # -------------------------------------------------------------------------------------------- words

    @staticmethod
    def word(b: ir.IRBuilder, base: ir.Value, n: int) -> ir.Value:
        return b.gep(base, [i64(n)], inbounds=True, source_etype=i64)

    @classmethod
    def get(cls, b: ir.IRBuilder, base: ir.Value, n: int, kind: ir.Type = pointer) -> ir.Value:
        return b.load(cls.word(b, base, n), typ=kind)

    @classmethod
    def set(cls, b: ir.IRBuilder, base: ir.Value, n: int, value: ir.Value) -> None:
        b.store(value, cls.word(b, base, n))

    @staticmethod
    def beyond(b: ir.IRBuilder, base: ir.Value, nbytes: ir.Value) -> ir.Value:
        return b.gep(base, [nbytes], inbounds=True, source_etype=i8)

    def copy(self, b: ir.IRBuilder, target: ir.Value, source: ir.Value, nbytes: int | ir.Value) -> None:
        """Copy a number of bytes; a few go through a register."""
        if not isinstance(nbytes, int):
            b.call(self.external("memcpy", pointer, pointer, pointer, i64), [target, source, nbytes])
        elif nbytes in (1, 2, 4, 8):
            kind = ir.IntType(8 * nbytes)
            loaded = b.load(source, typ=kind)
            loaded.align = 1
            b.store(loaded, target).align = 1
        elif nbytes:
            memcpy = self.external("memcpy", pointer, pointer, pointer, i64)
            b.call(memcpy, [target, source, i64(nbytes)])

    def clear(self, b: ir.IRBuilder, target: ir.Value, nbytes: int | ir.Value) -> None:
        if not isinstance(nbytes, int) or nbytes:
            memset = self.external("memset", pointer, pointer, i32, i64)
            b.call(memset, [target, i32(0), i64(nbytes) if isinstance(nbytes, int) else nbytes])

    # -------------------------------------------------------------------------------------------- allocation

    def _allocate(self, b: ir.IRBuilder, heap: ir.Value, size: ir.Value, old: ir.Value | None = None) -> ir.Value:
        """Memory of the C library; the program ends in an error where there is none."""
        if old is None:
            got = b.call(self.external("malloc", pointer, i64), [size])
        else:
            got = b.call(self.external("realloc", pointer, pointer, i64), [old, size])
        self._fail(b, heap, b.icmp_unsigned("==", got, pointer(None)), NO_MEMORY)
        return got

    def _fail(self, b: ir.IRBuilder, heap: ir.Value, condition: ir.Value, status: int) -> None:
        """If `condition` holds, leave everything that was called since `guard`."""
        with b.if_then(condition, likely=False):
            leave = self.external("longjmp", VOID, pointer, i32)
            leave.attributes.add("noreturn")
            b.call(leave, [self.get(b, heap, 9), i32(status)])
            b.unreachable()

    def guard(self, b: ir.IRBuilder, heap: ir.Value, place: ir.Value) -> ir.Value:
        """The status with which something that was called from here failed, 0 at first."""
        self.set(b, heap, 9, place)
        come_back = self.external("_setjmp", i32, pointer)
        come_back.attributes.add("returns_twice")
        return b.call(come_back, [place])

    def grow(self) -> ir.Function:
        """Function `grow(heap, bytes)`: another segment of the stack, in which there is room for that."""
        f, b = self.define("grow", VOID, pointer, i64)
        if b is None:
            return f
        heap, need = f.args
        need = b.add(need, i64(HEAD + 64))
        before, spare = self.get(b, heap, 10), self.get(b, heap, 11)
        twice = room(b, i64)
        b.store(i64(SEGMENT), twice)
        with b.if_then(b.icmp_unsigned("!=", before, pointer(None))):
            b.store(b.shl(self.get(b, before, 3, i64), i64(1)), twice)
        size = b.load(twice, typ=i64)
        size = b.select(b.icmp_unsigned(">", need, size), need, size)
        made = room(b, pointer)
        b.store(spare, made)
        fits = room(b, i8)
        b.store(i8(0), fits)
        with b.if_then(b.icmp_unsigned("!=", spare, pointer(None))):
            b.store(b.zext(b.icmp_unsigned(">=", self.get(b, spare, 3, i64), need), i8), fits)
        with b.if_else(b.icmp_unsigned("!=", b.load(fits, typ=i8), i8(0))) as (then, otherwise):
            with then:
                self.set(b, heap, 11, pointer(None))
            with otherwise:
                self._fail(b, heap, b.icmp_unsigned(">", size, i64(LARGEST)), TOO_DEEP)
                b.store(self._allocate(b, heap, size), made)
                self.set(b, b.load(made, typ=pointer), 3, size)
        segment = b.load(made, typ=pointer)
        for n, value in enumerate((before, self.get(b, heap, 4), self.get(b, heap, 5))):
            self.set(b, segment, n, value)
        begin = b.ptrtoint(segment, i64)
        self.set(b, heap, 4, b.and_(b.add(begin, i64(HEAD + 63)), i64(-64)))
        self.set(b, heap, 5, b.add(begin, self.get(b, segment, 3, i64)))
        self.set(b, heap, 10, segment)
        b.ret_void()
        return f

    def shrink(self) -> ir.Function:
        """Function `shrink(heap)`: back to the segment before; this one is kept to spare."""
        f, b = self.define("shrink", VOID, pointer)
        if b is None:
            return f
        (heap,) = f.args
        segment = self.get(b, heap, 10)
        for n, word in enumerate((10, 4, 5)):
            self.set(b, heap, word, self.get(b, segment, n))
        b.call(self.external("free", VOID, pointer), [self.get(b, heap, 11)])
        self.set(b, heap, 11, segment)
        b.ret_void()
        return f

    def unstack(self) -> ir.Function:
        """Function `unstack(heap)`: give back all segments of the stack."""
        f, b = self.define("unstack", VOID, pointer)
        if b is None:
            return f
        (heap,) = f.args
        head, body, done = (b.append_basic_block(n) for n in ("head", "body", "done"))
        b.branch(head)
        b.position_at_end(head)
        b.cbranch(b.icmp_unsigned("==", self.get(b, heap, 10), pointer(None)), done, body)
        b.position_at_end(body)
        b.call(self.shrink(), [heap])
        b.branch(head)
        b.position_at_end(done)
        b.call(self.external("free", VOID, pointer), [self.get(b, heap, 11)])
        for word in (4, 5, 11):
            self.set(b, heap, word, i64(0))
        b.ret_void()
        return f

    def bump(self) -> ir.Function:
        """Function `bump(heap, bytes)`: room that lives until the heap is let go."""
        f, b = self.define("bump", pointer, pointer, i64)
        if b is None:
            return f
        heap, size = f.args
        size = b.and_(b.add(size, i64(63)), i64(-64))
        free, end = self.get(b, heap, 2, i64), self.get(b, heap, 3, i64)
        with b.if_then(b.icmp_unsigned(">", b.add(free, size), end), likely=False):
            ask = b.select(b.icmp_unsigned(">", size, i64(SLAB)), size, i64(SLAB))
            slab = self._allocate(b, heap, b.add(ask, i64(128)))
            b.store(self.get(b, heap, 1), slab)
            self.set(b, heap, 1, slab)
            start = b.and_(b.add(b.ptrtoint(slab, i64), i64(127)), i64(-64))
            self.set(b, heap, 2, start)
            self.set(b, heap, 3, b.add(start, ask))
        at = self.get(b, heap, 2, i64)
        self.set(b, heap, 2, b.add(at, size))
        b.ret(b.inttoptr(at, pointer))
        return f

    def sequence(self) -> ir.Function:
        """Function `sequence(heap, length, bytes)`: a new one, of words length, capacity, data, next."""
        f, b = self.define("sequence", pointer, pointer, i64, i64)
        if b is None:
            return f
        heap, length, size = f.args
        made = b.call(self.bump(), [heap, i64(32)])
        self.set(b, made, 0, length)
        self.set(b, made, 1, length)
        self.set(b, made, 2, self._allocate(b, heap, b.add(b.mul(length, size), i64(1))))
        self.set(b, made, 3, self.get(b, heap, 0))
        self.set(b, heap, 0, made)
        b.ret(made)
        return f

    def append(self, nbytes: int | None) -> ir.Function:
        """Function `append(heap, sequence, item)`: one more item; doubles the room when it is full. Without a known
        number of bytes this is a fourth argument.
        """
        f, b = self.define(("append", nbytes), VOID, *[pointer] * 3, *([i64] if nbytes is None else []))
        if b is None:
            return f
        heap, sequence, item, *given = f.args
        size = given[0] if nbytes is None else i64(nbytes)
        length, capacity = self.get(b, sequence, 0, i64), self.get(b, sequence, 1, i64)
        with b.if_then(b.icmp_unsigned("==", length, capacity), likely=False):
            more = b.select(b.icmp_unsigned("==", length, i64(0)), i64(64), b.shl(length, i64(1)))
            data = self._allocate(b, heap, b.add(b.mul(more, size), i64(1)), self.get(b, sequence, 2))
            self.set(b, sequence, 2, data)
            self.set(b, sequence, 1, more)
        data = self.get(b, sequence, 2)
        self.copy(b, self.beyond(b, data, b.mul(length, size)), item, size if nbytes is None else nbytes)
        self.set(b, sequence, 0, b.add(length, i64(1)))
        b.ret_void()
        return f

    def release(self, name: str) -> ir.Function:
        """Function `release(heap)`: give back everything that was allocated."""
        found = self.module.globals.get(name)
        if found is not None:
            return found
        f = ir.Function(self.module, ir.FunctionType(VOID, [pointer]), name)
        b = ir.IRBuilder(f.append_basic_block("entry"))
        (heap,) = f.args
        free = self.external("free", VOID, pointer)
        for word, link, inner in ((0, 3, 2), (1, 0, None)):
            before = b.block
            head, body, done = (b.append_basic_block(n) for n in ("head", "body", "done"))
            first = self.get(b, heap, word)
            b.branch(head)
            b.position_at_end(head)
            at = b.phi(pointer)
            at.add_incoming(first, before)
            b.cbranch(b.icmp_unsigned("==", at, pointer(None)), done, body)
            b.position_at_end(body)
            following = self.get(b, at, link)
            b.call(free, [self.get(b, at, inner) if inner is not None else at])
            at.add_incoming(following, b.block)
            b.branch(head)
            b.position_at_end(done)
        for word in range(4):
            self.set(b, heap, word, i64(0))
        b.ret_void()
        return f

    # -------------------------------------------------------------------------------------------- cotangents

    def add(self, t: Type) -> ir.Function:
        """Function `add(heap, x, y)`: the sum of two sequences or frames of cotangents; null is zero."""
        f, b = self.define(("add", t), pointer, pointer, pointer, pointer)
        if b is None:
            return f
        heap, x, y = f.args
        for one, other in ((x, y), (y, x)):
            with b.if_then(b.icmp_unsigned("==", one, pointer(None))):
                b.ret(other)
        if isinstance(t, FrameType):
            fields = frame_fields(t)
            out = b.call(self.bump(), [heap, self.size(b, heap, sum(item_bytes(u) for u in fields))])
            at = 0
            for u in fields:
                places = [self.beyond(b, z, self.size(b, heap, at)) for z in (out, x, y)]
                self._add_item(b, u, heap, *places)
                at += item_bytes(u)
            b.ret(out)
            return f
        assert isinstance(t, SequenceType), f"{t} has no cotangents of this kind"
        size = self.size(b, heap, item_bytes(t.element))
        length = self.get(b, x, 0, i64)
        out = b.call(self.sequence(), [heap, length, size])
        data = [self.get(b, z, 2) for z in (out, x, y)]

        def one_item(i: ir.Value) -> None:
            places = [self.beyond(b, d, b.mul(i, size)) for d in data]
            self._add_item(b, t.element, heap, *places)

        count(b, length, one_item)
        b.ret(out)
        return f

    def _add_item(self, b: ir.IRBuilder, t: Type, heap: ir.Value, out: ir.Value, x: ir.Value, y: ir.Value) -> None:
        if not isinstance(t, TensorType):
            b.store(b.call(self.add(t), [heap, b.load(x, typ=pointer), b.load(y, typ=pointer)]), out)
            return
        kind = memory_type(t.dtype)

        def one(i: ir.Value) -> None:
            from mycelia.codegen.scalar import from_memory, to_memory

            at = [b.gep(z, [i], inbounds=True, source_etype=kind) for z in (out, x, y)]
            a, c = (from_memory(b, b.load(z, typ=kind), t.dtype) for z in at[1:])
            total = FLOAT["add"](b, a, c) if t.dtype.is_float else INTEGER["add"](b, t.dtype, a, c)
            b.store(to_memory(b, total, t.dtype), at[0])

        count(b, self.size(b, heap, t.size), one)


def count(b: ir.IRBuilder, length: ir.Value, body: object) -> None:
    """`for i in range(length): body(i)`."""
    before = b.block
    head, inner, done = (b.append_basic_block(n) for n in ("head", "item", "done"))
    b.branch(head)
    b.position_at_end(head)
    i = b.phi(i64)
    i.add_incoming(i64(0), before)
    b.cbranch(b.icmp_signed("<", i, length), inner, done)
    b.position_at_end(inner)
    body(i)  # type: ignore[operator]
    i.add_incoming(b.add(i, i64(1)), b.block)
    b.branch(head)
    b.position_at_end(done)


def item_bytes(t: Type) -> Dim:
    """What one value takes where it is kept: its elements, rounded up to whole words, or a handle."""
    return (t.nbytes + 7) // 8 * 8 if isinstance(t, TensorType) else 8
