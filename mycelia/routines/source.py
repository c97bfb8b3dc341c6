"""The text of a routine, read and checked before it is written as machine code: what Python would refuse when it runs,
and what the subset does not have, is told with its line.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from types import FunctionType

from mycelia.errors import CompileError
from mycelia.routines.words import FUNCTIONS, KINDS
from mycelia.syntax import parsed


class Source:
    """A routine as Python's own syntax tree.

    >>> def twice(x: int) -> int:
    ...     return x + x
    >>> Source(twice).kinds
    {'x': 'int'}
    """

    def __init__(self, fn: FunctionType, elements: str = "") -> None:
        self.fn, self.name, self.elements = fn, fn.__name__, elements
        self.tree = self._read()
        self.kinds = self._parameters()  # `int`, or a kind of array
        assigned = {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.names = assigned | set(self.kinds)  # they hide those of the module

    def _read(self) -> ast.FunctionDef:
        try:
            (tree,) = parsed(textwrap.dedent(inspect.getsource(self.fn))).body
        except (OSError, TypeError, SyntaxError, ValueError) as error:
            raise CompileError(f"the source of {self.name} cannot be read: {error}") from None
        if not isinstance(tree, ast.FunctionDef):
            raise CompileError(f"{self.name} is no function with a name: a routine is made by def")
        if tree.name != self.fn.__code__.co_name:
            raise CompileError(f"the file of {self.name} has changed since it was imported")
        return tree

    def _parameters(self) -> dict[str, str]:
        args = self.tree.args
        if args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg or args.defaults:
            raise self.error(self.tree, "parameters are plain: none by keyword only, no defaults, no *")
        kinds = {a.arg: ast.unparse(a.annotation) if a.annotation else "" for a in args.args}
        kinds = {a: self.elements if kind == "Elements" and self.elements else kind for a, kind in kinds.items()}
        for argument, kind in kinds.items():
            if kind != "int" and kind not in KINDS:
                raise self.error(self.tree, f"the parameter {argument} must be annotated int or {', '.join(KINDS)}")
        return kinds

    @property
    def called(self) -> list[FunctionType]:
        """The functions of its module that it calls, without those of words.py."""
        names = {n.func.id for n in ast.walk(self.tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        found = [self.fn.__globals__.get(name) for name in sorted(names - self.names)]
        return [f for f in found if isinstance(f, FunctionType) and f not in FUNCTIONS]

    def error(self, node: ast.AST, message: str) -> CompileError:
        """What is wrong, and where."""
        line = self.fn.__code__.co_firstlineno + getattr(node, "lineno", 1) - 1
        return CompileError(f"{self.name}, line {line}: {message}")

    def check(self) -> None:
        """Raise if a name may have no value where it is used, or a statement has a part that is not known."""
        for free in self.fn.__code__.co_freevars:
            raise self.error(self.tree, f"{free} belongs to an enclosing function: make it a parameter")
        for node in ast.walk(self.tree):
            match node:
                case ast.For(orelse=[_, *_]) | ast.While(orelse=[_, *_]):
                    raise self.error(node, "a loop of a routine has no else")
                case ast.Assign(targets=[_, _, *_]):
                    raise self.error(node, "one assignment has one target: write two")
                case ast.Assign(targets=[ast.Tuple(elts=places)], value=value) if not isinstance(
                    value, ast.Tuple
                ) or len(value.elts) != len(places):
                    raise self.error(node, f"{len(places)} names need as many values, written out")
                case ast.Name(id=name, ctx=ast.Store()) if self.kinds.get(name, "int") != "int":
                    raise self.error(node, f"{name} is an array, and cannot become something else")
        self._flow(self.tree.body, set(self.kinds))

    def _flow(self, statements: Iterable[ast.stmt], sure: set[str]) -> set[str] | None:
        """The names that surely have a value after statements; None if what follows is never reached."""
        for statement in statements:
            match statement:
                case ast.Assign(targets=[target], value=value):
                    self._reads(value, sure)
                    sure = self._written(target, sure)
                case ast.AugAssign(target=target, value=value):
                    self._reads(value, sure)
                    self._reads(ast.copy_location(parsed(ast.unparse(target)).body[0], statement), sure)
                case ast.If(test=test, body=body, orelse=orelse):
                    self._reads(test, sure)
                    ways = [w for w in (self._flow(body, sure), self._flow(orelse, sure)) if w is not None]
                    if not ways:
                        return None
                    sure = set.intersection(*ways)
                case ast.While(test=test, body=body):
                    self._reads(test, sure)
                    self._flow(body, sure)
                case ast.For(target=target, iter=over, body=body):
                    self._reads(over, sure)
                    self._flow(body, self._written(target, sure))
                case ast.Return() | ast.Break() | ast.Continue():
                    self._reads(statement, sure)
                    return None
                case _:
                    self._reads(statement, sure)
        return sure

    def _written(self, target: ast.expr, sure: set[str]) -> set[str]:
        if isinstance(target, ast.Tuple):
            for place in target.elts:
                sure = self._written(place, sure)
            return sure
        if isinstance(target, ast.Name):
            return sure | {target.id}
        self._reads(target, sure)
        return sure

    def _reads(self, node: ast.AST, sure: set[str]) -> None:
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and name.id in self.names and name.id not in sure:
                raise self.error(
                    name if hasattr(node, "value") else node,
                    f"{name.id} has no value here, or not on every way: give it one before the branch or loop",
                )


def reached(entry: Callable[..., int], elements: str = "") -> list[Source]:
    """A routine and those that it calls, each once, callers last. `elements` is the kind of arrays of `Elements`.

    >>> def twice(x: int) -> int:
    ...     return x + x
    >>> [s.name for s in reached(twice)]
    ['twice']
    """
    order: dict[FunctionType, Source] = {}

    def visit(fn: FunctionType, above: tuple[FunctionType, ...]) -> None:
        if fn in order:
            return
        source = Source(fn, elements)
        if fn in above:
            way = " -> ".join(f.__name__ for f in (*above[above.index(fn) :], fn))
            raise source.error(source.tree, f"a routine cannot call itself: {way}")
        source.check()
        for callee in source.called:
            visit(callee, (*above, fn))
        order[fn] = source

    if not isinstance(entry, FunctionType):
        raise CompileError(f"a routine is made of a Python function, and this is {entry!r}")
    visit(entry, ())
    return list(order.values())
