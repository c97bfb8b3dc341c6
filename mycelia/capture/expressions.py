"""Expressions: one method for each kind of syntax; a kind without a method is left to Python."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any, ClassVar

from mycelia.capture.attributes import Super
from mycelia.capture.machine import MOST_NODES, TOO_LARGE, Frame, distributes
from mycelia.capture.making import Making
from mycelia.capture.slots import CONTENTS, MAPPINGS
from mycelia.capture.source import Definition, inner_code, owner
from mycelia.capture.values import MISSING, Either, HostNumber, Number, UserError, alternatives, is_atom, is_plain
from mycelia.capture.world import is_tensor
from mycelia.sizes import Sym

BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and_",
    ast.BitOr: "or_", ast.BitXor: "xor", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq",
    ast.NotEq: "ne",
}  # fmt: skip


class Expressions(Making):
    """Values of expressions."""

    ways_to_eval: ClassVar[dict[type, Callable[[Any, Any, Frame], Any]]] = {}  # by the kind of syntax, as they are met

    def eval(self, node: ast.expr, frame: Frame) -> Any:
        self.nodes += 1
        self.node = node
        if self.nodes > MOST_NODES:
            self.refuse(TOO_LARGE)
        do = self.ways_to_eval.get(node.__class__)
        if do is None:
            do = self.ways_to_eval[node.__class__] = getattr(
                type(self), f"eval_{type(node).__name__}", Expressions.left
            )
        return do(self, node, frame)

    def left(self, node: ast.expr, frame: Frame) -> Any:
        self.refuse(f"{type(node).__name__} is left to Python")

    def evals(self, nodes: list[ast.expr], frame: Frame) -> tuple[Any, ...]:
        """Values of arguments or elements, with `*` unpacked."""
        out: list[Any] = []
        for n in nodes:
            if isinstance(n, ast.Starred):
                out += self.all_items(self.eval(n.value, frame))
            else:
                out.append(self.eval(n, frame))
        return tuple(out)

    def eval_Constant(self, node: ast.Constant, frame: Frame) -> Any:
        return node.value

    def mangled(self, name: str, frame: Frame) -> str:
        """A private name as Python spells it inside a class."""
        if not name.startswith("__") or name.endswith("__"):
            return name
        cls = owner(frame.code).lstrip("_")
        return f"_{cls}{name}" if cls else name

    def eval_Name(self, node: ast.Name, frame: Frame) -> Any:
        name = node.id if node.id[:2] != "__" else self.mangled(node.id, frame)
        cell = frame.cells.get(name)
        if cell is not None:
            value = self.read(cell, CONTENTS)
            if value.__class__ is Either and any(v is MISSING for v in alternatives(value)):
                self.refuse(f"{name} may have no value")
            if value is MISSING:
                raise UserError(unbound(name, name in frame.code.co_freevars))
            return value
        value = self.read(frame.globals, ("key", name))
        if value is MISSING:
            value = self.read(builtins, ("attr", name))
        if isinstance(value, Either) and any(v is MISSING for v in alternatives(value)):
            self.refuse(f"{name} may have no value")
        if value is MISSING:
            raise UserError(NameError(f"name {name!r} is not defined", name=name))
        return value

    def eval_NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Any:
        value = self.eval(node.value, frame)
        self.assign(node.target, value, frame)
        return value

    def assign(self, target: ast.expr, value: Any, frame: Frame) -> None:
        raise AssertionError("statements know how")

    def eval_Tuple(self, node: ast.Tuple, frame: Frame) -> Any:
        return self.evals(node.elts, frame)

    def eval_List(self, node: ast.List, frame: Frame) -> Any:
        return self.store.container(list, self.evals(node.elts, frame))

    def eval_Set(self, node: ast.Set, frame: Frame) -> Any:
        return self.store.container(set, self.distinct(self.evals(node.elts, frame)))

    def eval_Dict(self, node: ast.Dict, frame: Frame) -> Any:
        out = self.store.container(dict, ())
        for k, v in zip(node.keys, node.values, strict=True):
            if k is None:
                more = self.eval(v, frame)
                if type(more) not in MAPPINGS:
                    self.refuse("** of something else than a dictionary")
                self.update(out, more)
            else:
                key, value = self.eval(k, frame), self.eval(v, frame)
                self.set_subscript(out, key, (value,))
        return out

    def eval_BinOp(self, node: ast.BinOp, frame: Frame) -> Any:
        x, y = self.eval(node.left, frame), self.eval(node.right, frame)
        self.node = node
        return self.binary(BINARY[type(node.op)], x, y)

    def eval_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Any:
        x = self.eval(node.operand, frame)
        self.node = node
        if isinstance(node.op, ast.Not):
            return self.negated(x)
        fn = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}[type(node.op)]
        return self.unary(fn, x)

    @distributes
    def unary(self, fn: Any, x: Any) -> Any:
        if is_tensor(x):
            return self.native(fn, (x,), {})
        if isinstance(x, HostNumber | Number):
            return self.negative(x) if fn is operator.neg else self.real(fn, self.plain(x))
        if is_plain(x) or type(x) is Sym:
            return self.real(fn, x)
        method = MISSING if type(x).__module__ == "builtins" else self.lookup(type(x), f"__{fn.__name__}__")
        if type(method) is FunctionType:
            return self.call(method, (x,), {})
        return self.refuse(f"{fn.__name__} of a {type(x).__name__}")

    def eval_BoolOp(self, node: ast.BoolOp, frame: Frame, i: int = 0) -> Any:
        """The values from one on."""
        x = self.eval(node.values[i], frame)
        if i == len(node.values) - 1:
            return x
        sides = (lambda: self.eval_BoolOp(node, frame, i + 1)), (lambda: x)
        return self.decide(x, *(sides if isinstance(node.op, ast.And) else sides[::-1]))

    def eval_IfExp(self, node: ast.IfExp, frame: Frame) -> Any:
        test = self.eval(node.test, frame)
        return self.decide(test, lambda: self.eval(node.body, frame), lambda: self.eval(node.orelse, frame))

    def eval_Compare(self, node: ast.Compare, frame: Frame) -> Any:
        return self.compared(node, frame, 0, self.eval(node.left, frame))

    def compared(self, node: ast.Compare, frame: Frame, i: int, x: Any) -> Any:
        """The comparisons from one on, of which `x` is the left side."""
        y = self.eval(node.comparators[i], frame)
        self.node = node
        found = self.compare(node.ops[i], x, y)
        if i == len(node.ops) - 1:
            return found
        return self.decide(found, lambda: self.compared(node, frame, i + 1, y), lambda: found)

    def compare(self, op: ast.cmpop, x: Any, y: Any) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            found = self.identical(x, y)
            return found if isinstance(op, ast.Is) else self.negated(found)
        if isinstance(op, ast.In | ast.NotIn):
            found = self.contains(x, y)
            return found if isinstance(op, ast.In) else self.negated(found)
        return self.binary(BINARY[type(op)], x, y)

    def eval_Attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        obj = self.eval(node.value, frame)
        self.node = node
        return self.attribute(obj, node.attr if node.attr[:2] != "__" else self.mangled(node.attr, frame))

    def eval_Subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        obj, index = self.eval(node.value, frame), self.eval(node.slice, frame)
        self.node = node
        return self.subscript(obj, index)

    def eval_Slice(self, node: ast.Slice, frame: Frame) -> Any:
        parts: list[Any] = [None if n is None else self.eval(n, frame) for n in (node.lower, node.upper, node.step)]
        parts = [q if type(q) is Sym else self.convert(int, q) if is_tensor(q) else self.plain(q) for q in parts]
        if not all(is_plain(q) or type(q) is Sym for q in parts):
            self.refuse("a slice between values")
        return slice(*parts)

    def eval_Call(self, node: ast.Call, frame: Frame) -> Any:
        fn = self.eval(node.func, frame)
        args = self.evals(node.args, frame)
        options: dict[str, Any] = {}
        for k in node.keywords:
            value = self.eval(k.value, frame)
            if k.arg is not None:
                more = {k.arg: value}
            elif type(value) in MAPPINGS:
                items = self.whole(value)
                more = dict(zip(items[::2], items[1::2], strict=True))
            else:
                self.refuse("** of something else than a dictionary")
            if options.keys() & more.keys() or not all(type(n) is str for n in more):
                self.refuse("an argument is given twice")
            options.update(more)
        self.node = node
        if fn is super:
            return self.call_super(args, frame)
        if fn in (locals, globals, vars, dir, eval, exec) if is_atom(fn) else False:
            self.refuse(f"{fn.__name__} is called")
        return self.call(fn, args, options)

    def call_super(self, args: tuple[Any, ...], frame: Frame) -> Any:
        if args:
            cls, obj = args if len(args) == 2 else self.refuse("super of one argument")
        else:
            cell = frame.cells.get("__class__")
            if cell is None or frame.first is None:
                self.refuse("super of nothing")
            cls, obj = self.whole(cell, CONTENTS), self.read(frame.first, CONTENTS)
        if (
            not isinstance(cls, type)
            or isinstance(obj, Either)
            or cls not in (obj if isinstance(obj, type) else type(obj)).__mro__
        ):
            self.refuse("super of something else")
        return Super(cls, obj)

    # ------------------------------------------------------------------------------------------------------ functions

    def eval_Lambda(self, node: Definition, frame: Frame) -> FunctionType:
        """A function is a real function from the start; only what its cells hold is in the store."""
        code = inner_code(frame.code, node)
        if code is None:
            self.refuse("a function whose code is not found")
        cells = tuple(self.cell_of(n, frame) for n in code.co_freevars)
        defaults = self.evals(node.args.defaults, frame) or None
        only: Any = None
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        named = tuple(x for a, d in pairs if d is not None for x in (a.arg, self.eval(d, frame)))
        if named:
            only = self.store.container(dict, named)
        fields = {
            "__code__": code, "__globals__": frame.globals, "__defaults__": defaults, "__kwdefaults__": only,
            "__closure__": cells or None, "__name__": code.co_name, "__qualname__": code.co_qualname,
            "__module__": self.read(frame.globals, ("key", "__name__")), "__doc__": None,
        }  # fmt: skip
        body = [] if isinstance(node, ast.Lambda) else node.body
        if (
            body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and type(body[0].value.value) is str
        ):
            fields["__doc__"] = code.co_consts[0]
        blank = FunctionType(code, frame.globals, code.co_name, None, cells)
        return self.store.make(blank, **fields)  # type: ignore[no-any-return]

    def cell_of(self, name: str, frame: Frame) -> CellType:
        return frame.cells[name] if name in frame.cells else self.refuse(f"the variable {name} is not found")

    # -------------------------------------------------------------------------------------------------- comprehensions

    # ------------------------------------------------------------------------------------------------------------ text

    def eval_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Any:
        return self.joined_text([self.plain(self.eval(v, frame)) for v in node.values])

    def eval_FormattedValue(self, node: ast.FormattedValue, frame: Frame) -> Any:
        value = self.eval(node.value, frame)
        spec = "" if node.format_spec is None else self.plain(self.eval(node.format_spec, frame))
        convert = {-1: None, 115: str, 114: repr, 97: ascii}[node.conversion]
        if convert is not None:
            value = self.text(convert, value)
        return self.text(format, value, spec)


def unbound(name: str, free: bool) -> NameError:
    """What Python says of a variable without a value."""
    if free:
        return NameError(
            f"cannot access free variable {name!r} where it is not associated with a value in enclosing scope",
            name=name,
        )
    return UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")
