"""Generators: their bodies run step by step, in the interpreter, as they are asked for items."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from mycelia.capture.loops import Loops
from mycelia.capture.machine import Frame, Items
from mycelia.capture.rolling import caught
from mycelia.capture.statements import FALLS, Outcome
from mycelia.capture.values import MISSING, Either

Steps = Iterator[Any]


class Generators(Loops):
    """`yield`: statements that contain one are run by generators of Python; all others as everywhere."""

    def generate(self, node: Any, frame: Frame) -> Items:
        if isinstance(node, ast.Lambda):
            self.refuse("a lambda that yields")
        return Items(self, self.steps(node, frame))

    def steps(self, node: ast.FunctionDef, frame: Frame) -> Steps:
        file = frame.code.co_filename
        inner = self.block_steps(node.body, frame)
        while True:
            before, self.file = (self.node, self.file), file
            try:
                item = next(inner)
            except StopIteration:
                return
            finally:
                self.node, self.file = before
            yield item

    def block_steps(self, stmts: list[ast.stmt], frame: Frame) -> Any:
        """Yields the items, and returns the outcome."""
        for stmt in stmts:
            outcome = yield from self.statement_steps(stmt, frame)
            if isinstance(outcome, Either):
                self.refuse("a generator goes on by a tensor")
            if outcome is not FALLS:
                return outcome
        return FALLS

    def statement_steps(self, stmt: ast.stmt, frame: Frame) -> Any:
        if not yields(stmt):
            return self.statement(stmt, frame)
        self.visit(stmt)
        if isinstance(stmt, ast.Expr | ast.Assign) and isinstance(stmt.value, ast.Yield):
            yield None if stmt.value.value is None else self.eval(stmt.value.value, frame)
            if isinstance(stmt, ast.Assign):
                for target in stmt.targets:
                    self.assign(target, None, frame)
            return FALLS
        if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.YieldFrom):
            yield from self.iterate(self.eval(stmt.value.value, frame))
            return FALLS
        if isinstance(stmt, ast.If):
            truth = self.truth(self.eval(stmt.test, frame))
            if not isinstance(truth, bool):
                self.refuse("a generator goes on by a tensor")
            return (yield from self.block_steps(stmt.body if truth else stmt.orelse, frame))
        if isinstance(stmt, ast.For):
            return (yield from self.for_steps(stmt, frame))
        if isinstance(stmt, ast.While):
            return (yield from self.while_steps(stmt, frame))
        return self.refuse(f"a generator yields inside {type(stmt).__name__}")

    def for_steps(self, stmt: ast.For, frame: Frame) -> Any:
        at, i = self.cursor(self.eval(stmt.iter, frame)), 0
        while (item := at(i)) is not MISSING:
            i += 1
            self.assign(stmt.target, item, frame)
            outcome: Outcome = caught("continue", (yield from self.block_steps(stmt.body, frame)))
            if outcome is not FALLS:
                return caught("break", outcome)
        return (yield from self.block_steps(stmt.orelse, frame))

    def while_steps(self, stmt: ast.While, frame: Frame) -> Any:
        while True:
            truth = self.truth(self.eval(stmt.test, frame))
            if not isinstance(truth, bool):
                self.refuse("a generator goes on by a tensor")
            if not truth:
                return (yield from self.block_steps(stmt.orelse, frame))
            outcome: Outcome = caught("continue", (yield from self.block_steps(stmt.body, frame)))
            if outcome is not FALLS:
                return caught("break", outcome)


def yields(stmt: ast.AST) -> bool:
    """Whether a statement yields, itself and not by a function inside it."""
    todo = [stmt]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef)
        todo += [] if inner and node is not stmt else list(ast.iter_child_nodes(node))
    return False
