"""Statements and their outcomes: a block falls through, exits, or does either."""

from __future__ import annotations
import __future__

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from types import EllipsisType, FunctionType, GenericAlias, ModuleType, NoneType, UnionType
from typing import Any, ClassVar, NoReturn

from mycelia.capture.comprehensions import Comprehensions
from mycelia.capture.expressions import BINARY
from mycelia.capture.machine import KINDS, Frame
from mycelia.capture.slots import CONTENTS
from mycelia.capture.source import Definition
from mycelia.capture.values import MISSING, Either, UserError, alternatives, either, is_plain, same, within


@dataclass(slots=True, unsafe_hash=True)  # nobody changes one; frozen, it would take three times as long to make
class Exit:
    """How a block ends, if it does not fall through."""

    kind: str  # return, break, continue, raise
    value: Any = None


FALLS = Exit("falls")
Outcome = Any  # an Exit, or Either of two outcomes


def raises(error: BaseException) -> Exit:
    """The outcome of a way on which the program raises."""
    return Exit("raise", error)


def falling(outcome: Outcome) -> Any:
    """Whether a block falls through, as a value."""
    if isinstance(outcome, Either):
        return either(outcome.cond, falling(outcome.yes), falling(outcome.no))
    return outcome is FALLS


def leaving(outcome: Outcome) -> Outcome | None:
    """An outcome where it is known that it does not fall through; None if it always does."""
    if not isinstance(outcome, Either):
        return None if outcome is FALLS else outcome
    yes, no = leaving(outcome.yes), leaving(outcome.no)
    return no if yes is None else yes if no is None else Either(outcome.cond, yes, no)


def is_type(value: Any) -> bool:
    """Whether a part of an annotation is a type, or looks like one, and runs no code of the user.

    >>> is_type((int, None, list[int])), is_type(type("Meta", (type,), {})("C", (), {}))
    (True, False)
    """
    if type(value) is tuple:
        return all(map(is_type, within(value)))
    return type(value) in TYPES or type(value).__module__ == "typing"


TYPES = (type, NoneType, EllipsisType, str, GenericAlias, UnionType)


class Statements(Comprehensions):
    """One method for each kind of statement."""

    ways_to_do: ClassVar[dict[type, Callable[[Any, Any, Frame], Any]]] = {}  # by the kind of syntax, as they are met

    def body(self, node: Definition, frame: Frame) -> Any:
        if isinstance(node, ast.Lambda):
            return self.eval(node.body, frame)
        return self.returned(self.block(node.body, frame))

    def returned(self, outcome: Outcome) -> Any:
        """What a call gives."""
        outcome = self.settled(outcome)
        if isinstance(outcome, Either):
            yes, no = outcome.yes, outcome.no
            return self.branch(outcome.cond, lambda: self.returned(yes), lambda: self.returned(no))
        if outcome.kind == "raise":
            raise UserError(outcome.value)
        return outcome.value

    def block(self, stmts: list[ast.stmt], frame: Frame) -> Outcome:
        for i, stmt in enumerate(stmts):
            outcome = self.statement(stmt, frame)
            if outcome is not FALLS:
                rest = stmts[i + 1 :]
                return self.follow(outcome, lambda rest=rest: self.block(rest, frame))  # type: ignore[misc]
        return FALLS

    def follow(self, outcome: Outcome, rest: Callable[[], Outcome]) -> Outcome:
        """The rest runs where the outcome falls through, and nowhere else."""
        outcome = self.settled(outcome)
        if isinstance(outcome, Either):
            falls = sum(o is FALLS for o in alternatives(outcome))
            if not falls:
                return outcome
            if falls > 1:  # one condition for all of them, or the rest would be interpreted several times
                goes_on = self.select(falling(outcome), KINDS[bool])
                return self.branch(goes_on, rest, lambda: leaving(outcome) or FALLS, exits=raises)
            yes, no = outcome.yes, outcome.no
            return self.branch(
                outcome.cond, lambda: self.follow(yes, rest), lambda: self.follow(no, rest), exits=raises
            )
        return rest() if outcome is FALLS else outcome

    def statement(self, stmt: ast.stmt, frame: Frame) -> Outcome:
        self.visit(stmt)
        do = self.ways_to_do.get(stmt.__class__)
        if do is None:
            do = self.ways_to_do[stmt.__class__] = getattr(type(self), f"do_{type(stmt).__name__}", Statements.left_out)
        return do(self, stmt, frame) or FALLS

    def left_out(self, stmt: ast.stmt, frame: Frame) -> NoReturn:
        self.refuse(f"{type(stmt).__name__} is left to Python")

    def do_Pass(self, stmt: ast.stmt, frame: Frame) -> None: ...

    do_Global = do_Nonlocal = do_Pass  # the code object knows the scopes

    def do_Expr(self, stmt: ast.Expr, frame: Frame) -> None:
        self.eval(stmt.value, frame)

    def do_Return(self, stmt: ast.Return, frame: Frame) -> Outcome:
        return Exit("return", None if stmt.value is None else self.eval(stmt.value, frame))

    def do_Break(self, stmt: ast.Break, frame: Frame) -> Outcome:
        return Exit("break")

    def do_Continue(self, stmt: ast.Continue, frame: Frame) -> Outcome:
        return Exit("continue")

    # ----------------------------------------------------------------------------------------------------- assignment

    def do_Assign(self, stmt: ast.Assign, frame: Frame) -> None:
        value = self.eval(stmt.value, frame)
        for target in stmt.targets:
            self.assign(target, value, frame)

    def do_AnnAssign(self, stmt: ast.AnnAssign, frame: Frame) -> None:
        if stmt.value is not None:
            self.assign(stmt.target, self.eval(stmt.value, frame), frame)
        elif not isinstance(stmt.target, ast.Name):
            self.eval(stmt.target.value, frame)
            if isinstance(stmt.target, ast.Subscript):
                self.eval(stmt.target.slice, frame)

    def assign(self, target: ast.expr, value: Any, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            name = self.mangled(target.id, frame)
            if name in frame.cells:
                self.store.write(frame.cells[name], CONTENTS, value)
            else:
                self.read(frame.globals, ("key", name))
                self.store.write(frame.globals, ("key", name), value)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(self.eval(target.value, frame), self.mangled(target.attr, frame), (value,))
        elif isinstance(target, ast.Subscript):
            obj, index = self.eval(target.value, frame), self.eval(target.slice, frame)
            self.node = target
            self.set_subscript(obj, index, (value,))
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target.elts, value, frame)
        else:
            self.refuse(f"a {type(target).__name__} is assigned to")

    def unpack(self, targets: list[ast.expr], value: Any, frame: Frame) -> None:
        stars = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
        items = self.all_items(value) if stars else self.first_items(value, len(targets) + 1)
        if not stars:
            if len(items) != len(targets):
                few = len(items) < len(targets)
                what = f"not enough values to unpack (expected {len(targets)}, got {len(items)})"
                raise UserError(ValueError(what if few else f"too many values to unpack (expected {len(targets)})"))
            for t, v in zip(targets, items, strict=True):
                self.assign(t, v, frame)
            return
        (star,) = stars
        after = len(targets) - star - 1
        if len(items) < star + after:
            what = f"not enough values to unpack (expected at least {star + after}, got {len(items)})"
            raise UserError(ValueError(what))
        middle = self.store.container(list, items[star : len(items) - after])
        values = (*items[:star], middle, *items[len(items) - after :])
        for t, v in zip(targets, values, strict=True):
            self.assign(t.value if isinstance(t, ast.Starred) else t, v, frame)

    def do_AugAssign(self, stmt: ast.AugAssign, frame: Frame) -> None:
        target: Any = stmt.target
        name = f"i{BINARY[type(stmt.op)].rstrip('_')}"
        if isinstance(target, ast.Attribute):
            obj, attr = self.eval(target.value, frame), self.mangled(target.attr, frame)
            old = self.attribute(obj, attr)
            new = self.binary(name, old, self.eval(stmt.value, frame))
            self.set_attribute(obj, attr, (new,))
        elif isinstance(target, ast.Subscript):
            obj, index = self.eval(target.value, frame), self.eval(target.slice, frame)
            old = self.subscript(obj, index)
            new = self.binary(name, old, self.eval(stmt.value, frame))
            self.set_subscript(obj, index, (new,))
        else:
            old = self.eval_Name(target, frame)
            new = self.augmented(name, old, self.eval(stmt.value, frame))
            self.assign(target, new, frame)

    def augmented(self, name: str, old: Any, value: Any) -> Any:
        return self.binary(name, old, value)

    def do_Delete(self, stmt: ast.Delete, frame: Frame) -> None:
        for target in stmt.targets:
            if isinstance(target, ast.Name):
                cell = frame.cells.get(self.mangled(target.id, frame))
                if cell is None or any(v is MISSING for v in alternatives(self.read(cell, CONTENTS))):
                    self.refuse("a variable is deleted")
                self.store.write(cell, CONTENTS, MISSING)
            elif isinstance(target, ast.Attribute):
                self.set_attribute(self.eval(target.value, frame), self.mangled(target.attr, frame), ())
            elif isinstance(target, ast.Subscript):
                self.set_subscript(self.eval(target.value, frame), self.eval(target.slice, frame), ())
            else:
                self.refuse("several things are deleted")

    # ------------------------------------------------------------------------------------------------------ functions

    def do_FunctionDef(self, stmt: ast.FunctionDef, frame: Frame) -> None:
        decorators = [self.eval(d, frame) for d in stmt.decorator_list]
        fn: Any = self.eval_Lambda(stmt, frame)
        if not frame.code.co_flags & __future__.annotations.compiler_flag:
            self.annotations(stmt.args, stmt.returns, frame)
        for decorator in reversed(decorators):
            fn = self.call(decorator, (fn,), {})
        self.assign(ast.Name(stmt.name), fn, frame)

    def annotations(self, spec: ast.arguments, returns: ast.expr | None, frame: Frame) -> None:
        """What Python evaluates beside a function."""
        every = (*spec.args, *spec.posonlyargs, spec.vararg, *spec.kwonlyargs, spec.kwarg)
        for expr in (*[a.annotation for a in every if a is not None], returns):
            if expr is not None:
                self.annotation(expr, frame)

    def annotation(self, node: ast.expr, frame: Frame) -> Any:
        """Names of types, and what is made of them without any code of the user."""
        if isinstance(node, ast.Constant | ast.Name | ast.Attribute):
            return self.settled(self.eval(node, frame))
        if isinstance(node, ast.Tuple | ast.List):
            return tuple([self.annotation(part, frame) for part in node.elts])
        if isinstance(node, ast.Subscript):
            of, parts = self.annotation(node.value, frame), self.annotation(node.slice, frame)
            generic = isinstance(of, type) and of.__module__ == "builtins" and hasattr(of, "__class_getitem__")
            if generic or (type(of).__module__ == "typing" and is_type(parts)):
                return self.real(operator.getitem, of, parts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            pair = self.annotation(node.left, frame), self.annotation(node.right, frame)
            if is_type(pair):
                return self.real(operator.or_, *pair)
        self.refuse("an annotation that is computed")

    def do_Import(self, stmt: ast.Import, frame: Frame) -> None:
        import sys

        for alias in stmt.names:
            module = self.whole(sys.modules, ("key", alias.name))
            if type(module) is not ModuleType or ("." in alias.name and alias.asname is None):
                self.refuse("a module is imported")
            self.assign(ast.Name(alias.asname or alias.name), module, frame)

    def do_ImportFrom(self, stmt: ast.ImportFrom, frame: Frame) -> None:
        import sys

        module = self.whole(sys.modules, ("key", stmt.module)) if stmt.level == 0 else None
        if type(module) is not ModuleType:
            self.refuse("a module is imported")
        for alias in stmt.names:
            found = MISSING if alias.name == "*" else self.read(module, ("attr", alias.name))
            if any(v is MISSING for v in alternatives(found)):
                self.refuse("a module is imported")
            self.assign(ast.Name(alias.asname or alias.name), found, frame)

    # ----------------------------------------------------------------------------------------------- ways and errors

    def do_If(self, stmt: ast.If, frame: Frame) -> Outcome:
        test = self.eval(stmt.test, frame)
        self.node = stmt.test
        return self.decide(
            test, lambda: self.block(stmt.body, frame), lambda: self.block(stmt.orelse, frame), exits=raises
        )

    def do_Assert(self, stmt: ast.Assert, frame: Frame) -> Outcome:
        def fails() -> Outcome:
            if not self.tries:
                raise UserError(AssertionError())  # Python runs the call, and says the rest
            given = () if stmt.msg is None else (self.plain(self.eval(stmt.msg, frame)),)
            if not all(map(is_plain, given)):
                self.refuse("an assertion fails")
            raise UserError(AssertionError(*given))

        test = self.truth(self.eval(stmt.test, frame))
        if not isinstance(test, bool) and not self.tries:
            self.must(test)
            return FALLS
        return self.decide(test, lambda: FALLS, fails, exits=raises)

    def do_Raise(self, stmt: ast.Raise, frame: Frame) -> Outcome:
        if stmt.exc is None or stmt.cause is not None:
            self.refuse("an exception is raised again, or from another")
        error = self.settled(self.eval(stmt.exc, frame))
        if isinstance(error, type) and issubclass(error, BaseException):
            error = self.call(error, (), {})
        if not isinstance(error, Exception):
            self.refuse("an exception of its own kind")
        raise UserError(error)

    def do_Try(self, stmt: ast.Try, frame: Frame) -> Outcome:
        self.tries += 1
        try:
            outcome = self.block(stmt.body, frame)
        except UserError as raised:
            outcome = raises(raised.error)
        finally:
            self.tries -= 1
        outcome = self.handled(stmt, outcome, frame)
        return self.finally_(stmt.finalbody, outcome, frame)

    def handled(self, stmt: ast.Try, outcome: Outcome, frame: Frame) -> Outcome:
        """An outcome of the block of a `try`, after its `except` or `else`."""
        outcome = self.settled(outcome)
        if isinstance(outcome, Either):
            yes, no = outcome.yes, outcome.no
            return self.branch(
                outcome.cond,
                lambda: self.handled(stmt, yes, frame),
                lambda: self.handled(stmt, no, frame),
                exits=raises,
            )
        try:
            if outcome is FALLS:
                return self.block(stmt.orelse, frame)
            if outcome.kind == "raise":
                for handler in stmt.handlers:
                    if self.catches(handler, outcome.value, frame):
                        return self.handle(handler, outcome.value, frame)
        except UserError as raised:
            return raises(raised.error)
        return outcome

    def catches(self, handler: ast.ExceptHandler, error: BaseException, frame: Frame) -> bool:
        kinds = BaseException if handler.type is None else self.eval(handler.type, frame)
        listed = kinds if type(kinds) is tuple else (kinds,)
        if not all(isinstance(k, type) and issubclass(k, BaseException) and type(k) is type for k in listed):
            self.refuse("an exception is caught by something else than a class")
        return isinstance(error, tuple(listed))

    def handle(self, handler: ast.ExceptHandler, error: BaseException, frame: Frame) -> Outcome:
        if handler.name is not None:
            self.refuse("an exception is looked at")
        if any(isinstance(n, ast.Raise) and n.exc is None for s in handler.body for n in ast.walk(s)):
            self.refuse("an exception is raised again")
        return self.block(handler.body, frame)

    def finally_(self, stmts: list[ast.stmt], outcome: Outcome, frame: Frame) -> Outcome:
        """The block that runs whatever the outcome was, and then the outcome, unless the block has one of its own."""
        if not stmts:
            if isinstance(outcome, Exit) and outcome.kind == "raise" and not self.path:
                raise UserError(outcome.value)
            return outcome
        last = self.block(stmts, frame)
        outcome = self.follow(last, lambda: outcome) if last is not FALLS else outcome
        if isinstance(outcome, Exit) and outcome.kind == "raise":
            raise UserError(outcome.value)
        return outcome

    def do_With(self, stmt: ast.With, frame: Frame) -> Outcome:
        return self.with_(stmt.items, stmt.body, frame)

    def with_(self, items: list[ast.withitem], stmts: list[ast.stmt], frame: Frame) -> Outcome:
        if not items:
            return self.block(stmts, frame)
        manager = self.settled(self.eval(items[0].context_expr, frame))
        if type(manager).__module__ == "mycelia.api.models":
            return self.with_(items[1:], stmts, frame)
        if isinstance(manager, Either) or type(manager).__module__ == "builtins":
            self.refuse("a context manager")
        enter, leave = (self.lookup(type(manager), n) for n in ("__enter__", "__exit__"))
        if type(enter) is not FunctionType or type(leave) is not FunctionType:
            self.refuse(f"a {type(manager).__name__} is a context manager")
        value = self.call(enter, (manager,), {})
        try:
            if items[0].optional_vars is not None:
                self.assign(items[0].optional_vars, value, frame)
            outcome = self.with_(items[1:], stmts, frame)
        except UserError:
            self.refuse("a context manager sees an error")
        if any(o.kind == "raise" for o in alternatives(outcome)):
            self.refuse("a context manager sees an error")
        self.call(leave, (manager, None, None, None), {})
        return outcome

    # ----------------------------------------------------------------------------------------------------------- match


__all__ = ["FALLS", "Exit", "Outcome", "Statements", "either", "raises", "same"]
