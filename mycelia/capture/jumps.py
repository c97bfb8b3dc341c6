"""Jumps as data: `break`, `continue` and `return` inside loops, `with` and `try` become flags, and what they jump over
is asked for (`if go(flags): ...`). A flag may then depend on a tensor, like any other variable.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import count
from typing import TypeVar

HOOKS = "__ms__"
ITEM = "__ms_item__"  # what a `for` has taken
RETURNED, RESULT = "__ms_returned__", "__ms_result__"
N = TypeVar("N", bound=ast.AST)
Jump = ast.Break | ast.Continue | ast.Return
Loop = ast.While | ast.For
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
BLOCKS = ("body", "orelse", "finalbody")


def hook(name: str, args: Sequence[ast.expr], at: ast.AST) -> ast.Call:
    """A call of one of our hooks, at the place of `at`."""
    made = ast.Call(ast.Attribute(_load(HOOKS), name, ast.Load()), list(args), [])
    return placed(made, at)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def placed(node: N, at: ast.AST) -> N:
    """The node, in which everything without a place has that of `at`."""
    for n in ast.walk(node):
        if "lineno" in n._attributes and not hasattr(n, "lineno"):
            ast.copy_location(n, at)
    return node


def assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    """`name = value`, at the place of `at`."""
    return placed(ast.Assign([ast.Name(name, ast.Store())], value), at)


def inside(node: ast.AST | Sequence[ast.AST]) -> list[ast.AST]:
    """Everything in a statement that belongs to the same function."""
    found: list[ast.AST] = []
    stack = list(node) if isinstance(node, Sequence) else [node]
    while stack:
        n = stack.pop()
        found.append(n)
        if not isinstance(n, SCOPES):
            stack.extend(ast.iter_child_nodes(n))
    return found


def returns(node: ast.AST | Sequence[ast.AST]) -> bool:
    """Whether a `return` of this function is in it."""
    return any(isinstance(n, ast.Return) for n in inside(node))


def _breaks(stmts: Sequence[ast.stmt], kind: type[ast.stmt]) -> bool:
    """Whether a `break` or `continue` of the loop around these statements is in them."""
    for s in stmts:
        if isinstance(s, kind):
            return True
        blocks = ("orelse",) if isinstance(s, Loop | ast.AsyncFor) else BLOCKS
        if not isinstance(s, SCOPES) and any(_breaks(b, kind) for b in _blocks(s, blocks)):
            return True
    return False


def _blocks(s: ast.stmt, names: Sequence[str] = BLOCKS) -> list[list[ast.stmt]]:
    found = [getattr(s, name) for name in names if getattr(s, name, None)]
    parts = (*getattr(s, "handlers", ()), *getattr(s, "cases", ()))
    return found + [part.body for part in parts]


class Flags:
    """The flags that stand for the jumps out of one place: of the loop around it, and of the function."""

    def __init__(self, loop: int | None) -> None:
        self.brk, self.cont = f"__ms_break_{loop}__", f"__ms_continue_{loop}__"

    def of(self, stmts: Sequence[ast.stmt]) -> list[str]:
        """The flags that these statements may set."""
        found = [self.brk] if _breaks(stmts, ast.Break) else []
        found += [self.cont] if _breaks(stmts, ast.Continue) else []
        return found + ([RETURNED] if returns(stmts) else [])


class Lowering:
    """One function, with its jumps as data."""

    def __init__(self) -> None:
        self.numbers = count()

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of a function: jumps stay where only `if` is around them."""
        lowered: list[ast.stmt] = []
        for s in body:
            if isinstance(s, ast.If):
                s.body, s.orelse = self.function(s.body), self.function(s.orelse)
                lowered.append(s)
            elif isinstance(s, SCOPES | Jump):
                lowered.append(s)
            else:
                returned = returns(s)
                lowered += self.statement(s, Flags(None))
                if returned:
                    leave = ast.Return(placed(_load(RESULT), s))
                    lowered.append(placed(ast.If(_load(RETURNED), [leave], []), s))
        return lowered

    def statement(self, s: ast.stmt, flags: Flags) -> list[ast.stmt]:
        """A statement somewhere inside a loop, `with` or `try`."""
        if isinstance(s, ast.Break | ast.Continue):
            return [assign(flags.brk if isinstance(s, ast.Break) else flags.cont, ast.Constant(True), s)]
        if isinstance(s, ast.Return):
            value = s.value or ast.Constant(None)
            return [assign(RESULT, value, s), assign(RETURNED, ast.Constant(True), s)]
        if isinstance(s, Loop):
            return self.loop(s, flags)
        if isinstance(s, SCOPES):
            return [s]
        jumps = flags.of(s.body) if isinstance(s, ast.Try) else []
        for block in _blocks(s):
            block[:] = self.block(block, flags)
        if isinstance(s, ast.Try) and s.orelse and jumps:
            s.orelse = [self.guarded(s.orelse, jumps)]
        return [s]

    def block(self, stmts: Sequence[ast.stmt], flags: Flags) -> list[ast.stmt]:
        """Statements in order; after one that may jump, the others are asked for."""
        lowered: list[ast.stmt] = []
        for i, s in enumerate(stmts):
            jumps = flags.of([s])
            lowered += self.statement(s, flags)
            rest = stmts[i + 1 :]
            if isinstance(s, Jump):
                break
            if jumps and rest:
                lowered.append(self.guarded(self.block(rest, flags), jumps))
                break
        return lowered

    def guarded(self, stmts: Sequence[ast.stmt], jumps: Sequence[str]) -> ast.stmt:
        """`if go(jumps): stmts`."""
        at = stmts[0]
        return placed(ast.If(hook("go", [_load(j) for j in jumps], at), list(stmts), []), at)

    def loop(self, s: Loop, outer: Flags) -> list[ast.stmt]:
        """A loop whose own jumps are data; its `else` belongs to what is around it."""
        if isinstance(s, ast.While) and any(isinstance(n, ast.NamedExpr) for n in inside(s.test)):
            leave = placed(ast.If(placed(ast.UnaryOp(ast.Not(), s.test), s.test), [ast.Break()], []), s.test)
            s.body.insert(0, leave)
            s.test = placed(ast.Constant(True), s)
        flags = Flags(next(self.numbers))
        jumps = flags.of(s.body)
        body = self.block(s.body, flags)
        before: list[ast.stmt] = []
        if flags.cont in jumps:
            body.insert(0, assign(flags.cont, ast.Constant(False), s))
        stops = [j for j in jumps if j != flags.cont]
        if flags.brk in jumps:
            before.append(assign(flags.brk, ast.Constant(False), s))
        if stops:
            goes = hook("go", [_load(j) for j in stops], s)
            if isinstance(s, ast.While):
                s.test = placed(ast.BoolOp(ast.And(), [goes, s.test]), s.test)
            else:
                taken = placed(ast.Assign([s.target], _load(ITEM)), s.target)  # not after a jump
                body = [placed(ast.If(goes, [taken, *body], []), s)]
                s.stops = stops  # type: ignore[attr-defined]  # for `rewrite`, which makes the loop
        s.body = body
        after = self.block(s.orelse, outer) if s.orelse else []
        if after and stops:
            after = [self.guarded(after, stops)]
        s.orelse = []
        return [*before, s, *after]
