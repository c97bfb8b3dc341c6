"""Routines: plain Python over whole numbers and arrays, written once, read as Python and run as machine code.

For what is no tensor program: bit streams, tables, parsers. A routine is a function of annotated parameters, `int` or
an array of a kind in words.py, that gives an `int`. Its body is made of assignments, `if`, `while`, `for` over `range`,
`break`, `continue` and `return`; of `+ - * & | ^ << >>`, comparisons, `and or not`, `min`, `max`, elements of
arrays, constants and tuples of its module, and calls of other routines. Numbers have 64 bits, elements of arrays up to
`Words` have 32, and where both meet, 64. Nothing checks an index: a routine must, and its tests run it as Python, which
does.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType
from typing import Any

from llvmlite import ir

from mycelia.codegen.words import FUNCTIONS, MASK
from mycelia.errors import CompileError

i1, i8, i32, i64 = (ir.IntType(n) for n in (1, 8, 32, 64))
ELEMENTS: dict[str, tuple[ir.IntType, bool]] = {
    "Bytes": (i8, False),
    "Halves": (ir.IntType(16), True),
    "Words": (i32, True),
    "Longs": (i64, True),
}
COMPARISONS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
OPERATIONS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip


def source_of(fn: Callable[..., int]) -> str:
    """The text of a routine."""
    return textwrap.dedent(inspect.getsource(fn))


def reached(entry: Callable[..., int]) -> list[FunctionType]:
    """A routine and those that it calls, each once, callers last.

    >>> [f.__name__ for f in reached(source_of)]
    ['source_of']
    """
    order: list[FunctionType] = []

    def visit(fn: FunctionType) -> None:
        if fn in order or (fn in FUNCTIONS and fn is not entry):
            return
        for name in sorted({n.id for n in ast.walk(ast.parse(source_of(fn))) if isinstance(n, ast.Name)}):
            callee = fn.__globals__.get(name)
            if isinstance(callee, FunctionType) and callee is not fn:
                visit(callee)
        order.append(fn)

    assert isinstance(entry, FunctionType)
    visit(entry)
    return order


def emit(entry: Callable[..., int], triple: str) -> str:
    """LLVM IR of a routine under the name `run`, and of all that it calls.

    >>> def twice(x: int) -> int:
    ...     return x + x
    >>> "define i64" in emit(twice, "x86_64-unknown-linux-gnu")  # doctest: +SKIP
    True
    """
    module = ir.Module("routine")
    module.triple = triple
    known: dict[FunctionType, ir.Function] = {}
    for fn in reached(entry):
        known[fn] = _Writer(module, fn, known, "run" if fn is entry else f"routine.{fn.__name__}").function
    return f"; optimise\n{module}"


class _Writer:
    """Writes one routine."""

    def __init__(self, module: ir.Module, fn: FunctionType, known: dict[FunctionType, ir.Function], name: str) -> None:
        self.module, self.fn, self.known = module, fn, known
        tree = ast.parse(source_of(fn)).body[0]
        assert isinstance(tree, ast.FunctionDef)
        kinds = [(a.arg, ast.unparse(a.annotation) if a.annotation else "") for a in tree.args.args]
        for argument, kind in kinds:
            if kind != "int" and kind not in ELEMENTS:
                raise self._error(tree, f"the parameter {argument} must be annotated int or {', '.join(ELEMENTS)}")
        types = [i64 if kind == "int" else ELEMENTS[kind][0].as_pointer() for _, kind in kinds]
        self.function = ir.Function(module, ir.FunctionType(i64, types), name)
        self.function.linkage = "external" if name == "run" else "internal"
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.start = self.b.block
        self.places: dict[str, Any] = {}
        self.arrays: dict[str, tuple[Any, bool]] = {}
        self.loops: list[tuple[Any, Any]] = []
        for (argument, kind), value in zip(kinds, self.function.args, strict=True):
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
        line = self.fn.__code__.co_firstlineno + getattr(node, "lineno", 1) - 1
        return CompileError(f"{self.fn.__name__}, line {line}: {message}")

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
        old = ast.Name(node.target.id) if isinstance(node.target, ast.Name) else node.target
        whole = ast.copy_location(ast.BinOp(old, node.op, node.value), node)
        self._put(node.target, self._value(whole))

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
        if value.type.width > place.type.pointee.width and not isinstance(value, ir.Constant):
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
                if type(op) not in OPERATIONS:
                    raise self._error(node, f"a routine has no {type(op).__name__}")
                x, y = self._alike(self._value(left), self._value(right))
                return getattr(self.b, OPERATIONS[type(op)])(x, y)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.b.neg(self._value(operand))
            case ast.UnaryOp(op=ast.Not()) | ast.Compare() | ast.BoolOp():
                return self._truth(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                x, y = self._alike(self._value(body), self._value(orelse))
                return self.b.select(self._truth(test), x, y)
            case ast.Subscript():
                pointer, signed = self._element(node)
                return self._wide(self.b.load(pointer), signed)
            case ast.Call():
                return self._call(node)
        raise self._error(node, f"a routine has no {type(node).__name__}")

    def _constant(self, node: ast.expr) -> int | None:
        """The value of an expression that does not depend on the run."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        inner = any(isinstance(n, ast.Call | ast.Subscript) for n in ast.walk(node))
        if inner or names & (self.places.keys() | self.arrays.keys()):
            return None
        with suppress(NameError, TypeError):
            value = eval(ast.unparse(node), self.fn.__globals__)
            return value if type(value) is int else None
        return None

    def _truth(self, node: ast.expr) -> Any:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                x, y = self._alike(self._value(left), self._value(right))
                return self.b.icmp_signed(COMPARISONS[type(op)], x, y)
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
        if name in ("min", "max"):
            x, y = self._alike(*(self._value(a) for a in node.args))
            return self.b.select(self.b.icmp_signed("<" if name == "min" else ">", x, y), x, y)
        callee = self.fn.__globals__.get(name)
        if callee in FUNCTIONS:
            return self._function(name, node)
        if callee not in self.known:
            raise self._error(node, f"{name} is not a routine")
        function = self.known[callee]
        given = []
        for argument, wanted in zip(node.args, function.args, strict=True):
            if isinstance(wanted.type, ir.PointerType):
                given.append(self.arrays[ast.unparse(argument)][0])
            else:
                given.append(self._sized(self._value(argument), i64))
        return self.b.call(function, given)

    def _function(self, name: str, node: ast.Call) -> Any:
        if name == "eight":
            place = self._sized(self._value(node.args[1]), i64)
            pointer = self.b.gep(self.arrays[ast.unparse(node.args[0])][0], [place])
            word = self.b.load(self.b.bitcast(pointer, i64.as_pointer()), align=1)
            return self.b.call(self.module.declare_intrinsic("llvm.bswap", [i64]), [word])
        if name == "mirror":
            self._mirror(self.arrays[ast.unparse(node.args[0])][0])
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
        if name in self.arrays:
            array, signed = self.arrays[name]
            return self.b.gep(array, [place], inbounds=True), signed
        table = self.fn.__globals__.get(name)
        if not isinstance(table, tuple):
            raise self._error(node, f"{name} is no array")
        return self.b.gep(self._table(name, table), [i64(0), place], inbounds=True), True

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
        x, y = (self.b.zext(v, i64) if v.type == i1 else v for v in (x, y))
        if x.type == y.type:
            return x, y
        small = i32 if isinstance(x if x.type == i64 else y, ir.Constant) else i64
        return self._sized(x, small), self._sized(y, small)

    def _sized(self, value: Any, kind: ir.IntType) -> Any:
        if value.type == kind:
            return value
        if isinstance(value, ir.Constant):
            return kind(value.constant)
        if value.type == i1:
            return self.b.zext(value, kind)
        return self.b.sext(value, kind) if value.type.width < kind.width else self.b.trunc(value, kind)
