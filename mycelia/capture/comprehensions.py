"""Comprehensions: loops with variables of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CellType
from typing import Any

from mycelia.capture.expressions import Expressions
from mycelia.capture.machine import Frame, Items


class Comprehensions(Expressions):
    """`[f(x) for x in y if c]`."""

    def comprehension(self, node: Any, frame: Frame, each: Any) -> None:
        """The loops of a comprehension, which have variables of their own."""
        names = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        first = self.eval(node.generators[0].iter, frame)
        cells = frame.cells | {n: self.store.make(CellType()) for n in names}
        inner = Frame(cells, frame.globals, self.comprehension_code(node, frame), frame.function)
        self.loops_of(node, inner, each, 0, first)

    def loops_of(self, node: Any, inner: Frame, each: Any, depth: int, over: Any) -> None:
        """The loops of a comprehension from one on."""
        loop = node.generators[depth]
        if loop.is_async:
            self.refuse("an asynchronous comprehension")
        for item in self.iterate(over):
            self.assign(loop.target, item, inner)
            if not self.kept(loop.ifs, inner):
                continue
            if depth + 1 < len(node.generators):
                self.loops_of(node, inner, each, depth + 1, self.eval(node.generators[depth + 1].iter, inner))
            else:
                each(inner)

    def comprehension_code(self, node: Any, frame: Frame) -> Any:
        """The code of the frame itself: functions inside are looked for below it."""
        return frame.code

    def kept(self, tests: list[ast.expr], frame: Frame) -> bool:
        for test in tests:
            truth = self.truth(self.eval(test, frame))
            if not isinstance(truth, bool):
                self.refuse("a length depends on values")
            if not truth:
                return False
        return True

    def eval_ListComp(self, node: ast.ListComp, frame: Frame) -> Any:
        out: list[Any] = []
        self.comprehension(node, frame, lambda inner: out.append(self.eval(node.elt, inner)))
        return self.store.container(list, tuple(out))

    def eval_SetComp(self, node: ast.SetComp, frame: Frame) -> Any:
        out: list[Any] = []
        self.comprehension(node, frame, lambda inner: out.append(self.eval(node.elt, inner)))
        return self.store.container(set, self.distinct(tuple(out)))

    def eval_DictComp(self, node: ast.DictComp, frame: Frame) -> Any:
        out = self.store.container(dict, ())

        def each(inner: Frame) -> None:
            key, value = self.eval(node.key, inner), self.eval(node.value, inner)
            self.set_subscript(out, key, (value,))

        self.comprehension(node, frame, each)
        return out

    def eval_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Any:
        names = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        first = self.iterate(self.eval(node.generators[0].iter, frame))
        cells = frame.cells | {n: self.store.make(CellType()) for n in names}
        inner = Frame(cells, frame.globals, frame.code, frame.function)
        if any(g.is_async for g in node.generators):
            self.refuse("an asynchronous generator")
        return Items(self, self.generated(node, inner, self.file, 0, first))

    def generated(self, node: ast.GeneratorExp, inner: Frame, file: str, depth: int, over: Any) -> Iterator[Any]:
        """The items that the loops of a generator from one on give."""
        loop = node.generators[depth]
        for item in over:
            before, self.file = self.file, file
            self.assign(loop.target, item, inner)
            if self.kept(loop.ifs, inner):
                if depth + 1 < len(node.generators):
                    more = self.iterate(self.eval(node.generators[depth + 1].iter, inner))
                    yield from self.generated(node, inner, file, depth + 1, more)
                else:
                    value = self.eval(node.elt, inner)
                    self.file = before
                    yield value
            self.file = before
