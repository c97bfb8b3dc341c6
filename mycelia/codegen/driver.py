"""The driver: one native function that runs a whole program, step after step.

    i32 run(ptr table[])

The table holds every pointer that the program cannot know when it is compiled: inputs, outputs, constants, the arena,
prepared library calls, and the numbers that symbolic sizes and the places that depend on them come to. So the machine
code can be kept on disk and used again by another process, and for other sizes.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from hashlib import sha256

from llvmlite import ir

from mycelia.codegen.code_key import code_key
from mycelia.codegen.emitted_function import VOID, EmittedFunction, flush
from mycelia.codegen.extents import numbers_of
from mycelia.codegen.fourier import emit_fourier, fourier_name
from mycelia.codegen.heap import Heap
from mycelia.codegen.kernel import KERNEL_TYPE, emit_kernel, pointer
from mycelia.codegen.own_routines import emit_routine, routine_name, routine_type
from mycelia.codegen.scalar import i32, i64, seen_as
from mycelia.codegen.tiles import emit_tiles, tile_name, tile_type
from mycelia.codegen.written import Written
from mycelia.frozen import frozen
from mycelia.loops import FourierKind, Kernel, Procedure, Repeat, RoutineCall, Runtime, TileKind, Unit
from mycelia.options import FastMath, Options
from mycelia.sizes import Atom, Dim, Name, Sym, low
from mycelia.target import Target

_written = Written()


@frozen
class Emitted:
    """The IR of a program, and the sizes that its code wants as numbers, in the order of their table."""

    modules: tuple[str, ...]
    numbers: tuple[Sym, ...]


def emit_program(unit: Unit, options: Options, name: str) -> Emitted:
    """The IR of the driver `name`, with `name.release` if results stay in its heap, and of every kernel it launches,
    each by itself: so equal kernels of different programs are one object in the cache.
    """
    module = ir.Module(name)
    module.triple = options.target.triple
    driver = Driver(module, unit, options, name)
    driver.run()
    own = [_own(kind, options.target, options.fast_math) for kind in driver.own]
    text = str(module) if driver.uses_heap or unit.binding.handles else f"; once\n{module}"
    modules = (text, *driver.modules, *own, *driver.routines.values())
    return Emitted(modules, tuple(driver.numbers))


@lru_cache(maxsize=100)
def _own(kind: TileKind | FourierKind, target: Target, fast_math: FastMath) -> str:
    """The module of a function of ours, which many programs call: it takes longer to write than most of them."""
    options = Options(target, 1, fast_math)
    return emit_tiles(kind, options) if isinstance(kind, TileKind) else emit_fourier(kind, options)


class Driver:
    """Emits the functions of one program."""

    def __init__(self, module: ir.Module, unit: Unit, options: Options, name: str) -> None:
        self.module, self.unit, self.options, self.name = module, unit, options, name
        self.slots = {slot: n for n, slot in enumerate(unit.binding.table)}
        self.steps = enumerate(unit.program.walk())  # in the order in which they are written
        self.together = unit.binding.together
        self.heap = Heap(module, self.number_at)
        self.kernels: dict[str, ir.Function] = {}
        self.modules: list[str] = []
        self.own: dict[TileKind | FourierKind, ir.Function] = {}
        self.routines: dict[str, str] = {}  # the text of each module, by the name of its function
        self.numbers: list[Sym] = []
        self.born: dict[Name, ir.Function] = {}
        self.places: dict[tuple[Sym, ...], int] = {}
        self.procedures: dict[str, ir.Function] = {}
        for r in unit.program.procedures:
            kind = ir.FunctionType(i32, [pointer, pointer, i64])
            self.procedures[r.name] = ir.Function(module, kind, f"{name}.{r.name}")
            self.procedures[r.name].linkage = "internal"

    def run(self) -> None:
        if self.unit.binding.handles:
            self.release()
        function = ir.Function(self.module, ir.FunctionType(i32, [pointer]), self.name)
        frame = EmittedFunction(self, function, function.args[0], self.unit.plan)
        frame.base = frame.pointed("arena")
        frame.flush_subnormals()
        if self.unit.program.procedures:
            frame.bound_stack()
        if self.uses_heap:
            frame.guard_memory()
        frame.block(self.unit.program.block)
        if not self.unit.binding.handles:  # else the caller lets the heap go
            frame.release()
        frame.finish()
        for procedure in self.unit.program.procedures:
            self._procedure(procedure)
        self._births()

    def number_at(self, *sizes: Sym) -> int:
        """Where in the table of numbers these sizes stand, one after the other."""
        if sizes not in self.places:
            self.places[sizes] = len(self.numbers)
            self.numbers += sizes
        return self.places[sizes]

    def birth(self, name: Name) -> ir.Function:
        """Function `birth(numbers, count)`: the name stands for a number now, and all that depends on it is known."""
        if name not in self.born:
            kind = ir.FunctionType(VOID, [pointer, i64])
            self.born[name] = ir.Function(self.module, kind, f"{self.name}.birth{len(self.born)}")
            self.born[name].linkage = "internal"
            self.number_at(name.alone())
        return self.born[name]

    def _births(self) -> None:
        """Write these functions, when it is known what depends on the names."""
        for name in self.born:
            for n in list(self.numbers):
                if name in n.names():
                    for other in n.names():
                        self.number_at(other.alone())
        for name, function in self.born.items():
            numbers, count = function.args
            b = ir.IRBuilder(function.append_basic_block("entry"))
            known = {name: count}
            for place, n in enumerate(self.numbers):
                if name in n.names():
                    Heap.set(b, numbers, place, self._evaluated(b, numbers, n, known))
            b.ret_void()

    def _evaluated(self, b: ir.IRBuilder, numbers: ir.Value, n: Dim | Sym, known: dict[Name, ir.Value]) -> ir.Value:
        """A size from the numbers that its names stand for."""
        if isinstance(n, int):
            return i64(n)
        total: ir.Value = i64(0)
        for atoms, c in n.terms:
            product: ir.Value = i64(c)
            for a in atoms:
                product = b.mul(product, self._factor(b, numbers, a, known))
            total = b.add(total, product)
        return total

    def _factor(self, b: ir.IRBuilder, numbers: ir.Value, a: Atom, known: dict[Name, ir.Value]) -> ir.Value:
        if isinstance(a, Name):
            if a not in known:
                known[a] = Heap.get(b, numbers, self.number_at(a.alone()), i64)
            return known[a]
        over, under = (self._evaluated(b, numbers, x, known) for x in (a.over, a.under))
        if low(a.under) <= 0:  # of what comes out of data; then nothing is read at this number
            under = b.select(b.icmp_signed("==", under, i64(0)), i64(1), under)
        rest = b.srem(over, under)
        below = b.icmp_signed("<", rest, i64(0))  # rounded down, as Python does
        return b.sub(b.sdiv(over, under), b.zext(below, i64))

    @cached_property
    def uses_heap(self) -> bool:
        """Whether the program allocates anything. One that does not has no loops of its own, and calls nobody twice."""
        steps = self.unit.program.block.walk()
        return bool(self.unit.program.procedures) or any(isinstance(s, Repeat | Runtime) for s in steps)

    def release(self) -> ir.Function:
        """The function that gives back what the program allocated."""
        return self.heap.release(f"{self.name}.release")

    def _procedure(self, procedure: Procedure) -> None:
        function = self.procedures[procedure.name]
        plan = self.unit.procedures[procedure.name]
        frame = EmittedFunction(self, function, function.args[0], plan, function.args[1], function.args[2])
        frame.arguments = {b: i for i, b in enumerate((*procedure.inputs, *procedure.outputs))}
        frame.enter(plan.arena)
        frame.poll()
        frame.block(procedure.block)
        frame.finish()

    def kernel(self, kernel: Kernel) -> ir.Function:
        """The function of a kernel, in a module of its own; equal kernels over other buffers share it."""
        key = code_key(kernel, self.unit.streamed)
        if key not in self.kernels:
            name = f"kernel.{sha256(key.encode()).hexdigest()[:24]}"
            self.modules.append(self._text(kernel, key, name))
            self.kernels[key] = ir.Function(self.module, KERNEL_TYPE, name)
        return self.kernels[key]

    def _text(self, kernel: Kernel, key: str, name: str) -> str:
        """The module of a kernel. Where all sizes are numbers it is that of any equal kernel which was written before;
        else what is known of the sizes is no part of the key.
        """

        def write() -> str:
            streamed = frozenset(b for b in kernel.written() if b in self.unit.streamed)
            own = ir.Module("kernel")
            own.triple = self.options.target.triple
            emit_kernel(own, kernel, name, self.options, streamed)
            return str(own)

        if numbers_of(kernel):
            return write()
        return _written.find((key, self.options.target, self.options.fast_math), write)

    def own_function(self, kind: TileKind | FourierKind) -> ir.Function:
        """The function for products or transforms of this kind, which is a module of its own."""
        if kind not in self.own:
            name = tile_name(kind) if isinstance(kind, TileKind) else fourier_name(kind)
            self.own[kind] = ir.Function(self.module, tile_type(), name)
        return self.own[kind]

    def routine(self, call: RoutineCall) -> ir.Function:
        """The function for calls of this kind, which is a module of its own."""
        name = routine_name(call)
        if name not in self.routines:
            self.routines[name] = emit_routine(call, self.options.target.triple)
            ir.Function(self.module, routine_type(), name)
        return self.module.globals[name]

    def share_routine(self) -> ir.Function:
        """The function that runs one thread's part of a phase; of (function, operands, sizes, threads, phase)."""
        found = self.module.globals.get("share.routine")
        if found is not None:
            return found
        f = ir.Function(self.module, ir.FunctionType(VOID, [pointer]), "share.routine")
        f.linkage = "internal"
        b = ir.IRBuilder(f.append_basic_block("entry"))
        flush(b, self.module, self.options.fast_math.flush)
        function, operands, sizes = (Heap.get(b, f.args[0], n) for n in range(3))
        most, phase = (Heap.get(b, f.args[0], n, i64) for n in (3, 4))
        me, all_ = self._thread(b, most)
        with b.if_then(b.icmp_signed("<", me, all_)):  # there is room for so many
            b.call(seen_as(function, routine_type().as_pointer()), [operands, sizes, phase, me, all_])
        b.ret_void()
        return f

    def _thread(self, b: ir.IRBuilder, most: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The number of this thread, and how many there are, of which so many work."""
        me, all_ = (
            b.sext(b.call(self.heap.external(n, i32), []), i64) for n in ("omp_get_thread_num", "omp_get_num_threads")
        )
        return me, b.select(b.icmp_signed("<", all_, most), all_, most)

    def share_own(self) -> ir.Function:
        """The function that runs one thread's part of such a one; of a record (function, operands, sizes, threads)."""
        found = self.module.globals.get("share.own")
        if found is not None:
            return found
        f = ir.Function(self.module, ir.FunctionType(VOID, [pointer]), "share.own")
        f.linkage = "internal"
        b = ir.IRBuilder(f.append_basic_block("entry"))
        flush(b, self.module, self.options.fast_math.flush)
        function, operands, sizes = (Heap.get(b, f.args[0], n) for n in range(3))
        me, all_ = self._thread(b, Heap.get(b, f.args[0], 3, i64))
        with b.if_then(b.icmp_signed("<", me, all_)):  # there is room for so many
            b.call(seen_as(function, tile_type().as_pointer()), [operands, sizes, me, all_])
        b.ret_void()
        return f

    def share(self) -> ir.Function:
        """The function that runs one thread's part of a kernel; of a record (kernel, buffers, span, grain)."""
        found = self.module.globals.get("share")
        if found is not None:
            return found
        f = ir.Function(self.module, ir.FunctionType(VOID, [pointer]), "share")
        f.linkage = "internal"
        b = ir.IRBuilder(f.append_basic_block("entry"))
        flush(b, self.module, self.options.fast_math.flush)
        work = f.args[0]
        kernel, buffers = Heap.get(b, work, 0), Heap.get(b, work, 1)
        total, grain = Heap.get(b, work, 2, i64), Heap.get(b, work, 3, i64)
        me, all_ = (
            b.sext(b.call(self.heap.external(n, i32), []), i64) for n in ("omp_get_thread_num", "omp_get_num_threads")
        )
        pieces = b.udiv(b.add(total, b.sub(grain, i64(1))), grain)

        def bound(thread: ir.Value) -> ir.Value:
            at = b.mul(b.udiv(b.mul(pieces, thread), all_), grain)
            return b.select(b.icmp_unsigned("<", at, total), at, total)

        run = seen_as(kernel, KERNEL_TYPE.as_pointer())
        b.call(run, [buffers, bound(me), bound(b.add(me, i64(1)))])
        b.ret_void()
        return f
