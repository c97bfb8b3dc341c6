"""Expressions of a custom operator: numbers, elements, operators, functions and conditions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager import as_dtype, cast
from mycelia.errors import MyceliaError
from mycelia.ops import arithmetic, choice, math
from mycelia.ops.arguments import tensor
from mycelia.ops.elements import Elements
from mycelia.ops.intrinsics import CASTS, FUNCTIONS
from mycelia.ops.quantities import Quantity, applied, as_tensor, both, one_of
from mycelia.types import bool_

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
COMBINE = {"add": operator.add, "mul": operator.mul, "max": arithmetic.maximum, "min": arithmetic.minimum}


class HybridExpressions(Elements):
    """What expressions are."""

    def index(self, node: ast.expr) -> list[Quantity]:
        """The places in an index."""
        if isinstance(node, ast.Slice) or (
            isinstance(node, ast.Tuple) and any(isinstance(e, ast.Slice) for e in node.elts)
        ):
            self.wrong("an element is named by whole numbers, not by slices", "write a loop")
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        found: list[Quantity] = []
        for part in parts:
            value = self.any_value(part)
            found.extend(value if isinstance(value, tuple) else [value])
        return found

    def value(self, node: ast.expr) -> Quantity:
        """What an expression is, as one quantity."""
        found = self.any_value(node)
        if not isinstance(found, Quantity):
            self.wrong(f"{ast.unparse(node)} is several numbers, or none")
        return found

    def plain(self, node: ast.expr) -> Any:
        """What is known beforehand: a shape, an element type."""
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(self.plain(e) for e in node.elts)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name) and node.id in CASTS:
            return node.id
        found = self.value(node)
        if not isinstance(found.data, int):
            self.wrong(f"{ast.unparse(node)} must be known beforehand")
        return found.data

    def any_value(self, node: ast.expr) -> Any:
        """What an expression is: a quantity, or a tuple of them."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return Quantity(node.value)
        if isinstance(node, ast.Name):
            return self.named(node.id)
        if isinstance(node, ast.BinOp):
            return self.binary(type(node.op), self.value(node.left), self.value(node.right))
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        if isinstance(node, ast.Compare | ast.BoolOp):
            return self.truth(node)
        if isinstance(node, ast.IfExp):
            return self.either(node)
        if isinstance(node, ast.Attribute):
            return tuple(Quantity(int(n)) for n in self.attribute(node))
        if isinstance(node, ast.Subscript):
            return self.subscript(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        return self.wrong(f"{ast.unparse(node)} is no expression of elements")

    def named(self, name: str) -> Any:
        """A variable; or all elements of an argument, in a function of elements."""
        if name in self.variables:
            found = self.variables[name].value
            return self.guarded(found) if isinstance(found, Quantity) else found
        if name in self.arrays and self.own:
            return self.guarded(Quantity(self.arrays[name]))
        hint = f"name one of its elements: {name}[i]" if name in self.arrays else "assign it first, in the same loop"
        return self.wrong(f"{name} is {'an array' if name in self.arrays else 'not known'} here", hint)

    def attribute(self, node: ast.Attribute) -> Any:
        """`x.shape`, `x.dtype`."""
        if (
            not isinstance(node.value, ast.Name)
            or node.value.id not in self.arrays
            or node.attr not in ("shape", "dtype")
        ):
            self.wrong(f"{ast.unparse(node)}: arrays have a shape and a dtype, and nothing else has anything")
        return getattr(self.arrays[node.value.id], node.attr)

    def subscript(self, node: ast.Subscript) -> Any:
        """`x[i, j]`, `x.shape[0]`, `place[0]`."""
        if isinstance(node.value, ast.Name) and node.value.id in self.arrays:
            return self.element(node.value.id, self.index(node.slice))
        items = self.any_value(node.value)
        if not isinstance(items, tuple):
            self.wrong(f"{ast.unparse(node.value)} has no elements")
        return items[self.plain(node.slice)]

    def binary(self, kind: type[ast.AST], x: Quantity, y: Quantity) -> Quantity:
        """An operator between two quantities."""
        if kind not in _BINARY:
            self.wrong(f"there is no operator {kind.__name__}")
        try:
            out = applied(_BINARY[kind], x, y)
        except ZeroDivisionError:
            self.wrong("something is divided by zero")
        return out

    def unary(self, node: ast.UnaryOp) -> Quantity:
        if isinstance(node.op, ast.Not):
            return applied(math.logical_not, self.truth(node.operand), known=np.logical_not)
        x = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return applied(operator.neg, x)
        return x if isinstance(node.op, ast.UAdd) else self.wrong("there is no operator ~")

    def truth(self, node: ast.expr) -> Quantity:
        """A condition. What stands behind `and` and `or` is computed where it is asked for."""
        if isinstance(node, ast.BoolOp):
            first, *rest = node.values
            out = self.truth(first)
            every = isinstance(node.op, ast.And)
            for part in rest:
                asked = out if every else applied(math.logical_not, out, known=np.logical_not)
                with self.where(asked):
                    more = self.truth(part)
                out = applied(both if every else one_of, out, more)
            return out
        if isinstance(node, ast.Compare):
            sides = [self.value(e) for e in (node.left, *node.comparators)]
            tests = [self.binary(type(o), a, b) for o, a, b in zip(node.ops, sides, sides[1:], strict=False)]
            return reduce(lambda x, y: applied(both, x, y), tests)
        found = self.value(node)
        if found.known:
            return Quantity(np.asarray(found.data, bool) if np.ndim(found.data) else bool(found.data), found.axes)
        return found if found.data.dtype is bool_ else applied(lambda x: p.not_equal(x, 0), found)

    def either(self, node: ast.IfExp) -> Quantity:
        """`x if test else y`, each computed where it is asked for."""
        test = self.truth(node.test)
        with self.where(test):
            yes = self.value(node.body)
        with self.where(applied(math.logical_not, test, known=np.logical_not)):
            no = self.value(node.orelse)
        if test.known and yes.known and no.known:
            return applied(np.where, test, yes, no)
        return applied(lambda t, a, b: choice.where(tensor(t), a, b), test, yes, no, known=np.where)

    def call(self, node: ast.Call) -> Quantity:
        """A function of elements."""
        word = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if word == "len" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            return Quantity(int(self.arrays[node.args[0].id].shape[0]))
        args = [self.value(a) for a in node.args]
        if word in CASTS and len(args) == 1:
            return self.converted(word, args[0])
        if word in ("max", "min") and len(args) > 1:
            known = np.maximum if word == "max" else np.minimum
            return reduce(lambda x, y: applied(COMBINE[word], x, y, known=known), args)
        if word not in FUNCTIONS:
            self.wrong(f"there is no function {word}", f"there are {', '.join(sorted(FUNCTIONS))}")
        function = FUNCTIONS[word]
        if len(args) != function.arity:
            self.wrong(f"{word} takes {function.arity} numbers, and got {len(args)}")
        try:
            return applied(function.of_tensors, *args, known=function.of_arrays)
        except MyceliaError as error:
            raise self.wrong(str(error)) from None

    def converted(self, word: str, x: Quantity) -> Quantity:
        """`int32(x)`: a number of another element type; what is known beforehand stays known as a whole number."""
        dtype = as_dtype("bool_" if word == "bool" else word)
        if x.known and dtype.is_integer:
            data = np.asarray(x.data).astype(np.int64)
            return Quantity(int(data) if not data.ndim else data, x.axes)
        x = x.now()
        return Quantity(cast(as_tensor(x, x.axes) if x.known else x.data, dtype), x.axes)
