"""Routines: plain Python over whole numbers and arrays, written once, read as Python and run as machine code.

For what is no tensor program: bit streams, tables, parsers. A routine is a function of annotated parameters, `int` or
an array of a kind in words.py, that gives an `int`. Its body is made of assignments, `if`, `while`, `for` over `range`,
`break`, `continue` and `return`; of `+ - * // & | ^ << >>`, comparisons, `and or not`, `min`, `max`, elements of
arrays, constants and tuples of its module, and calls of other routines. Numbers have 64 bits, elements of arrays up to
`Words` have 32, and where both meet, 64; a constant takes the width of what it meets.

What it cannot mean is a CompileError: a name without a value on some way to its use, a routine that calls itself, a
constant beyond 64 bits. Four things nothing checks, so a routine must: that an index lies inside, that a shift is less
than the width of what it shifts, that a divisor is above 0, and that numbers do not overflow. Its tests run it as
Python, which does.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from llvmlite import ir

from mycelia.errors import CompileError
from mycelia.routines.source import Source
from mycelia.routines.words import FUNCTIONS, MASK

i1, i8, i32, i64 = (ir.IntType(n) for n in (1, 8, 32, 64))
ELEMENTS: dict[str, tuple[ir.IntType, bool]] = {
    "Bytes": (i8, False),
    "Octets": (i8, True),
    "Halves": (ir.IntType(16), True),
    "Words": (i32, True),
    "Longs": (i64, True),
}
COMPARISONS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
OPERATIONS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
FIXED = (
    ast.Constant | ast.Name | ast.Attribute | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.expr_context
)
HALF = 1 << 31


def emit(sources: Sequence[Source], triple: str) -> str:
    """LLVM IR of a routine under the name `run`, and of all that it calls: what `reached` gives, the entry last.

    >>> def twice(x: int) -> int:
    ...     return x + x
    >>> "define i64" in emit(reached(twice), "x86_64-unknown-linux-gnu")  # doctest: +SKIP
    True
    """
    module = ir.Module("routine")
    module.triple = triple
    written(sources, module, "run").linkage = "external"
    return f"; optimise\n{module}"


def written(sources: Sequence[Source], module: ir.Module, name: str) -> ir.Function:
    """The function `name` of a module for the last of some routines, and functions for the others."""
    known: dict[FunctionType, ir.Function] = {}
    for source in sources:
        called = name if source is sources[-1] else f"routine.{len(known)}.{source.name}"
        known[source.fn] = _Writer(module, source, known, called).function
    return known[sources[-1].fn]


class _Writer:
    """Writes one routine."""

    def __init__(self, module: ir.Module, source: Source, known: dict[FunctionType, ir.Function], name: str) -> None:
        self.module, self.source, self.fn, self.known = module, source, source.fn, known
        tree, kinds = source.tree, source.kinds
        types = [i64 if kind == "int" else ELEMENTS[kind][0].as_pointer() for kind in kinds.values()]
        self.function = ir.Function(module, ir.FunctionType(i64, types), name)
        self.function.linkage = "internal"
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.start = self.b.block
        self.places: dict[str, Any] = {}
        self.arrays: dict[str, tuple[Any, bool]] = {}
        self.loops: list[tuple[Any, Any]] = []
        for (argument, kind), value in zip(kinds.items(), self.function.args, strict=True):
            if kind == "int":
                self._store(tree, argument, value)
            else:
                value.add_attribute("noalias")
                value.add_attribute("nonnull")
                self.arrays[argument] = (value, ELEMENTS[kind][1])
        self._body(tree.body)
        if not self.b.block.is_terminated:
            self.b.ret(i64(0))

    def _error(self, node: ast.AST, message: str) -> CompileError:
        return self.source.error(node, message)

    # ---------------------------------------------------------------------------------------------- statements

    def _body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.b.block.is_terminated:
                return
            handler = getattr(self, "_" + type(statement).__name__.lower(), None)
            if handler is None:
                raise self._error(statement, f"a routine has no {type(statement).__name__}")
            handler(statement)

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self._value(node.value)

    def _assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        values = [self._value(value) for _, value in pairs]
        for (place, _), value in zip(pairs, values, strict=True):
            self._put(place, value)

    def _augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):  # found once: its index may be a call
            pointer, signed = self._element(node.target)
            old = self._wide(self.b.load(pointer), signed)
            value = self._operation(node, node.op, old, self._value(node.value))
            self.b.store(self._sized(value, pointer.type.pointee), pointer)
        else:
            self._put(node.target, self._operation(node, node.op, self._value(node.target), self._value(node.value)))

    def _put(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._store(target, target.id, value)
        elif isinstance(target, ast.Subscript):
            pointer, _ = self._element(target)
            self.b.store(self._sized(value, pointer.type.pointee), pointer)
        else:
            raise self._error(target, "only names and elements of arrays can be assigned")

    def _store(self, node: ast.AST, name: str, value: Any) -> None:
        if value.type == i1:
            value = self.b.zext(value, i64)
        place = self.places.get(name)
        if place is None:
            with self.b.goto_entry_block():
                place = self.b.alloca(value.type, name=name)
            self.places[name] = place
        if value.type.width > place.type.pointee.width and not _fits(value):
            raise self._error(node, f"{name} has 32 bits, and this value 64")
        self.b.store(self._sized(value, place.type.pointee), place)

    def _if(self, node: ast.If) -> None:
        test = self._truth(node.test)
        then, after = (self.function.append_basic_block(n) for n in ("then", "after"))
        otherwise = self.function.append_basic_block("else") if node.orelse else after
        self.b.cbranch(test, then, otherwise)
        for block, body in ((then, node.body), (otherwise, node.orelse)):
            if body:
                self.b.position_at_end(block)
                self._body(body)
                if not self.b.block.is_terminated:
                    self.b.branch(after)
        self.b.position_at_end(after)

    def _while(self, node: ast.While) -> None:
        head, body, after = (self.function.append_basic_block(n) for n in ("head", "body", "after"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(self._truth(node.test), body, after)
        self._loop(node.body, body, head, after)

    def _for(self, node: ast.For) -> None:
        call = node.iter
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "range" and isinstance(node.target, ast.Name)):
            raise self._error(node, "a loop runs over range(…)")
        if not 1 <= len(call.args) <= 3 or call.keywords:
            raise self._error(node, "range takes one to three numbers")
        given = [self._sized(self._value(a), i64) for a in call.args]
        first, end = (i64(0), given[0]) if len(given) == 1 else given[:2]
        step = given[2] if len(given) == 3 else i64(1)
        if not isinstance(step, ir.Constant) or step.constant < 1:
            raise self._error(node, "the step of a range is a constant above 0")
        with self.b.goto_entry_block():
            counter = self.b.alloca(i64)
        self.b.store(first, counter)
        head, body, turn, after = (self.function.append_basic_block(n) for n in ("head", "body", "turn", "after"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(self.b.icmp_signed("<", self.b.load(counter), end), body, after)
        self.b.position_at_end(turn)
        self.b.store(self.b.add(self.b.load(counter), step, flags=("nsw",)), counter)
        self.b.branch(head)
        self.b.position_at_end(body)
        self._store(node, node.target.id, self.b.load(counter))
        self._loop(node.body, body, turn, after)

    def _loop(self, statements: list[ast.stmt], body: Any, again: Any, after: Any) -> None:
        self.b.position_at_end(body)
        self.loops.append((again, after))
        self._body(statements)
        self.loops.pop()
        if not self.b.block.is_terminated:
            self.b.branch(again)
        self.b.position_at_end(after)

    def _break(self, node: ast.Break) -> None:
        self.b.branch(self.loops[-1][1])

    def _continue(self, node: ast.Continue) -> None:
        self.b.branch(self.loops[-1][0])

    def _return(self, node: ast.Return) -> None:
        self.b.ret(self._sized(self._value(node.value) if node.value else i64(0), i64))

    def _pass(self, node: ast.Pass) -> None:
        """Nothing."""

    # --------------------------------------------------------------------------------------------- expressions

    def _value(self, node: ast.expr) -> Any:
        constant = self._constant(node)
        if constant is not None:
            return i64(constant)
        match node:
            case ast.Name(id=name):
                if name not in self.places:
                    raise self._error(node, f"{name} has no value here")
                return self.b.load(self.places[name])
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(node, op, self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._operation(node, ast.Sub(), i64(0), self._value(operand))
            case ast.UnaryOp(op=ast.Not()) | ast.Compare() | ast.BoolOp():
                if not _is_truth(node):
                    raise self._error(node, "`and` and `or` decide, and are no values: write `a if a else b`")
                return self._truth(node)
            case ast.IfExp():
                return self._choice(node)
            case ast.Subscript():
                pointer, signed = self._element(node)
                return self._wide(self.b.load(pointer), signed)
            case ast.Call():
                return self._call(node)
        raise self._error(node, f"a routine has no {type(node).__name__}")

    def _operation(self, node: ast.AST, op: ast.operator, x: Any, y: Any) -> Any:
        if type(op) not in OPERATIONS and not isinstance(op, ast.FloorDiv):
            raise self._error(node, f"a routine has no {type(op).__name__}")
        x, y = self._alike(x, y)
        if (
            isinstance(op, ast.LShift | ast.RShift)
            and isinstance(y, ir.Constant)
            and not 0 <= y.constant < y.type.width
        ):
            raise self._error(node, f"a shift of {y.type.width} bits by {y.constant}")
        if isinstance(op, ast.FloorDiv):
            rest = self.b.srem(x, y)
            below = self.b.icmp_signed("<", rest, rest.type(0))  # rounded down, as Python does
            return self.b.sub(self.b.sdiv(x, y), self.b.zext(below, rest.type))
        return getattr(self.b, OPERATIONS[type(op)])(x, y)

    def _choice(self, node: ast.IfExp) -> Any:
        """One of two values. What reads memory or calls is done only when it is chosen."""
        test = self._truth(node.test)
        if not any(isinstance(n, ast.Subscript | ast.Call) for arm in (node.body, node.orelse) for n in ast.walk(arm)):
            return self.b.select(test, *self._alike(self._value(node.body), self._value(node.orelse)))
        blocks = [self.function.append_basic_block(n) for n in ("then", "else", "chosen")]
        self.b.cbranch(test, *blocks[:2])
        made = []
        for block, arm in zip(blocks, (node.body, node.orelse), strict=False):
            self.b.position_at_end(block)
            made.append((self._value(arm), self.b.block))
        kind = _common(*(value.type if not _fits(value) else None for value, _ in made))
        seen = []
        for value, block in made:
            self.b.position_at_end(block)
            seen.append((self._sized(value, kind), block))
            self.b.branch(blocks[2])
        self.b.position_at_end(blocks[2])
        phi = self.b.phi(kind)
        for value, block in seen:
            phi.add_incoming(value, block)
        return phi

    def _constant(self, node: ast.expr) -> int | None:
        """The value of an expression that does not depend on the run."""
        for part in ast.walk(node):
            if not isinstance(part, FIXED) or (isinstance(part, ast.Name) and part.id in self.source.names):
                return None
        try:
            value = eval(ast.unparse(node), self.fn.__globals__)
        except (NameError, TypeError, AttributeError):
            return None
        except (ArithmeticError, ValueError) as error:
            raise self._error(node, f"{ast.unparse(node)} has no value: {error}") from None
        if type(value) is not int:
            return None
        if not -(1 << 63) <= value < 1 << 63:
            raise self._error(node, f"{ast.unparse(node)} is beyond 64 bits")
        return value

    def _truth(self, node: ast.expr) -> Any:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                if type(op) not in COMPARISONS:
                    raise self._error(node, f"a routine has no {type(op).__name__}")
                x, y = self._alike(self._value(left), self._value(right))
                return self.b.icmp_signed(COMPARISONS[type(op)], x, y)
            case ast.Compare():
                raise self._error(node, "two values are compared at a time: join two comparisons by `and`")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.b.not_(self._truth(operand))
            case ast.BoolOp(op=op, values=values):
                return self._chain(isinstance(op, ast.And), values)
        value = self._value(node)
        return value if value.type == i1 else self.b.icmp_signed("!=", value, value.type(0))

    def _chain(self, all_of: bool, values: list[ast.expr]) -> Any:
        """`and` and `or`: the rest is looked at only when it matters."""
        after = self.function.append_basic_block("decided")
        seen = []
        for value in values[:-1]:
            test = self._truth(value)
            seen.append((i1(not all_of), self.b.block))
            rest = self.function.append_basic_block("rest")
            self.b.cbranch(test, *((rest, after) if all_of else (after, rest)))
            self.b.position_at_end(rest)
        seen.append((self._truth(values[-1]), self.b.block))
        self.b.branch(after)
        self.b.position_at_end(after)
        phi = self.b.phi(i1)
        for value, block in seen:
            phi.add_incoming(value, block)
        return phi

    def _call(self, node: ast.Call) -> Any:
        name = ast.unparse(node.func)
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise self._error(node, f"arguments of {name} are given by place")
        callee = None if name in self.source.names else self.fn.__globals__.get(name)
        if callee is None and name in ("min", "max") and name not in self.source.names:
            if len(node.args) != 2:
                raise self._error(node, f"{name} takes two values")
            x, y = self._alike(*(self._value(a) for a in node.args))
            return self.b.select(self.b.icmp_signed("<" if name == "min" else ">", x, y), x, y)
        if not isinstance(callee, FunctionType) or (callee not in FUNCTIONS and callee not in self.known):
            raise self._error(node, f"{name} is not a routine")
        if len(node.args) != callee.__code__.co_argcount:
            raise self._error(node, f"{name} takes {callee.__code__.co_argcount} arguments, not {len(node.args)}")
        if callee in FUNCTIONS:
            return self._function(callee.__name__, node)
        given: list[Any] = []
        for argument, wanted in zip(node.args, self.known[callee].args, strict=True):
            if isinstance(wanted.type, ir.PointerType):
                given.append(self._array(argument, wanted.type.pointee))
                if given[-1] in given[:-1]:
                    raise self._error(argument, f"{ast.unparse(argument)} is given twice: arrays must not overlap")
            else:
                given.append(self._sized(self._value(argument), i64))
        return self.b.call(self.known[callee], given)

    def _array(self, node: ast.expr, element: ir.IntType) -> Any:
        """An array as it is passed on."""
        array, _ = self.arrays.get(ast.unparse(node), (None, False))
        if array is None or array.type.pointee != element:
            raise self._error(node, f"{ast.unparse(node)} is no array with elements of {element.width} bits")
        return array

    def _function(self, name: str, node: ast.Call) -> Any:
        if name in ("eight", "eight_back"):
            array = self._array(node.args[0], i8)
            pointer = self.b.gep(array, [self._sized(self._value(node.args[1]), i64)])
            word = self.b.load(self.b.bitcast(pointer, i64.as_pointer()), align=1)
            swap = self.module.declare_intrinsic("llvm.bswap", [i64])
            return self.b.call(swap, [word]) if name == "eight" else word
        if name == "read":
            return self._read(node)
        if name == "mirror":
            self._mirror(self._array(node.args[0], i32))
            return i64(0)
        x, *rest = (self._sized(self._value(a), i64) for a in node.args)
        if name == "word":
            return self.b.trunc(x, i32)
        if name == "full_byte":  # a byte of the complement is zero: the classic test with a borrow out of it
            borrow = self.b.sub(self.b.not_(x), i64(MASK // 255))
            high = self.b.and_(self.b.and_(borrow, x), i64(MASK // 255 * 128))
            return self.b.icmp_signed("!=", high, i64(0))
        if name == "dropped":
            return self.b.shl(x, rest[0])
        return self.b.lshr(x, rest[0] if name == "under" else self.b.sub(i64(64), rest[0]))

    def _read(self, node: ast.Call) -> Any:
        """The system's own call, which gives back how many bytes came."""
        kind = ir.FunctionType(i64, [i32, i8.as_pointer(), i64, i64])
        function = self.module.globals.get("pread") or ir.Function(self.module, kind, "pread")
        array = self._array(node.args[1], i8)
        file, place, size, begin = (self._sized(self._value(node.args[i]), i64) for i in (0, 2, 3, 4))
        return self.b.call(function, [self.b.trunc(file, i32), self.b.gep(array, [place]), size, begin])

    def _mirror(self, square: Any) -> None:
        """Eight rows in registers change their elements in steps of one, two and four."""
        row = ir.VectorType(i32, 8)
        places = [self.b.bitcast(self.b.gep(square, [i64(8 * i)]), row.as_pointer()) for i in range(8)]
        rows = [self.b.load(p, align=4) for p in places]
        for step in (1, 2, 4):
            for i in (i for i in range(8) if not i & step):
                pair = rows[i], rows[i + step]
                for half in (0, step):
                    take = [
                        (j ^ step if bool(j & step) != bool(half) else j) | (8 if j & step else 0) for j in range(8)
                    ]
                    rows[i + half] = self.b.shuffle_vector(*pair, ir.Constant(ir.VectorType(i32, 8), take))
        for place, value in zip(places, rows, strict=True):
            self.b.store(value, place, align=4)

    def _element(self, node: ast.Subscript) -> tuple[Any, bool]:
        """Where an element lies, and whether it has a sign."""
        name = ast.unparse(node.value)
        place = self._sized(self._value(node.slice), i64)
        table = () if name in self.source.names else self.fn.__globals__.get(name)
        if isinstance(place, ir.Constant) and (place.constant < 0 or (table and place.constant >= len(table))):
            raise self._error(node, f"an index of {place.constant} is outside of {name}")
        if name in self.arrays:
            array, signed = self.arrays[name]
            return self.b.gep(array, [place], inbounds=True), signed
        if not isinstance(table, tuple) or not table or not all(type(v) is int and -HALF <= v < HALF for v in table):
            raise self._error(node, f"{name} is no array, and no tuple of numbers of 32 bits")
        return self.b.gep(self._table(f"{self.fn.__module__}.{name}", table), [i64(0), place], inbounds=True), True

    def _table(self, name: str, values: tuple[int, ...]) -> Any:
        """A tuple of the module, as a constant array of 32-bit numbers."""
        if name in self.module.globals:
            return self.module.globals[name]
        kind = ir.ArrayType(i32, len(values))
        table = ir.GlobalVariable(self.module, kind, name)
        table.linkage, table.global_constant, table.initializer = "internal", True, ir.Constant(kind, list(values))
        return table

    def _wide(self, value: Any, signed: bool) -> Any:
        """A loaded element as it is computed with: 32 bits at least."""
        if value.type.width >= 32:
            return value
        return self.b.sext(value, i32) if signed else self.b.zext(value, i32)

    def _alike(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Two values with as many bits; a constant takes those of the other."""
        kind = _common(*(v.type if not _fits(v) else None for v in (x, y)))
        return self._sized(x, kind), self._sized(y, kind)

    def _sized(self, value: Any, kind: ir.IntType) -> Any:
        if value.type == kind:
            return value
        if isinstance(value, ir.Constant):
            half = 1 << kind.width - 1
            return kind((value.constant + half) % (2 * half) - half)
        if value.type == i1:
            return self.b.zext(value, kind)
        return self.b.sext(value, kind) if value.type.width < kind.width else self.b.trunc(value, kind)


def _fits(value: Any) -> bool:
    """Whether a value is a constant that takes the width of what it meets."""
    return isinstance(value, ir.Constant) and -HALF <= value.constant < HALF


def _common(x: ir.IntType | None, y: ir.IntType | None) -> ir.IntType:
    """The width of two values together; None stands for a small constant."""
    kinds = {i64 if kind == i1 else kind for kind in (x, y) if kind is not None}
    return i32 if kinds == {i32} else i64


def _is_truth(node: ast.expr) -> bool:
    """Whether an expression is 0 or 1 in Python too."""
    if isinstance(node, ast.BoolOp):
        return all(_is_truth(v) for v in node.values)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
