"""Expressions with hooks: what Python computes without asking, we are asked about first."""

from __future__ import annotations

import ast

from mycelia.capture.jumps import hook, placed

# These look at the frame that calls them.
FRAME_READERS = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}


class Expressions(ast.NodeTransformer):
    """The expressions of one function: its class, for private names, and its first argument, for `super()`."""

    cls: str
    first: str

    def visit_Assert(self, s: ast.Assert) -> ast.stmt:
        message = self.visit(s.msg) if s.msg else ast.copy_location(ast.Constant(None), s)
        return run(hook("assert_", [self.visit(s.test), thunk(message, s)], s.test))

    def visit_Raise(self, s: ast.Raise) -> ast.stmt:
        self.generic_visit(s)
        return s

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            node.value = self.visit(node.value)
            return node
        name = ast.copy_location(ast.Constant(self.spelled(node.attr)), node)
        return hook("attribute", [self.visit(node.value), name], node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        f = node.func
        if isinstance(f, ast.Name) and f.id in FRAME_READERS and not (f.id in ("vars", "dir") and node.args):
            if f.id == "super" and not node.args and self.first:  # blocks have no first argument to find
                node.args = [load("__class__", node), load(self.first, node)]
            return node
        new = hook("call", [self.visit(f), *[self.visit(a) for a in node.args]], node)
        new.keywords = [self.visit(k) for k in node.keywords]
        return new

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if _unmovable(node):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        first, *others = [self.visit(v) for v in node.values]
        return hook(name, [first, *[thunk(o, o) for o in others]], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return hook("not_", [operand], node)
        node.operand = operand
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if _unmovable(node):
            return node
        test, body, orelse = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        return hook("choose", [test, thunk(body, node.body), thunk(orelse, node.orelse)], node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1 or _unmovable(node):
            self.generic_visit(node)
            return node
        first = self.visit(node.left)
        links: list[ast.expr] = []
        for op, right in zip(node.ops, node.comparators, strict=True):
            compare = ast.Compare(load("a", node), [op], [load("b", node)])
            pair = ast.arguments([], [ast.arg("a"), ast.arg("b")], None, [], [], None, [])
            links += [placed(ast.Lambda(pair, compare), node), thunk(self.visit(right), right)]
        return hook("chain", [first, *links], node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return hook("text", [self._piece(part) for part in node.values], node)

    def _piece(self, part: ast.expr) -> ast.expr:
        if not isinstance(part, ast.FormattedValue):
            return part
        spec = self.visit(part.format_spec) if part.format_spec else ast.Constant("")
        return placed(ast.Tuple([self.visit(part.value), ast.Constant(part.conversion), spec], ast.Load()), part)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.visit_defaults(node.args)
        return node

    def visit_defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(d) for d in args.defaults]
        args.kw_defaults = [None if d is None else self.visit(d) for d in args.kw_defaults]

    def spelled(self, name: str) -> str:
        """An attribute as the class body spells it."""
        if self.cls and name.startswith("__") and not name.endswith("__"):
            return f"_{self.cls.lstrip('_')}{name}"
        return name


def _unmovable(node: ast.AST) -> bool:
    """Whether parts of an expression cannot be put into a function of their own."""
    return any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for n in ast.walk(node))


def load(name: str, at: ast.AST) -> ast.Name:
    """A variable, read at the place of `at`."""
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def thunk(body: ast.expr, at: ast.AST) -> ast.expr:
    """An expression that is computed when it is called."""
    return placed(ast.Lambda(ast.arguments([], [], None, [], [], None, []), body), at)


def run(value: ast.expr) -> ast.stmt:
    """An expression as a statement."""
    return ast.copy_location(ast.Expr(value), value)
