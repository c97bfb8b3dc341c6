"""A function in pieces: programs behind guards, and between them the statements that only Python can run.

A statement that is no part of a program runs as it stands, on the real variables of the function, which are cells. The
blocks inside it are suites again, so a loop that prints still has compiled turns, and a real `try`, `with` or `for`
keeps its meaning.
"""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import inspect
import operator
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

from mycelia.capture.capturing import capture_piece
from mycelia.capture.slots import PieceRoot
from mycelia.capture.source import Definition
from mycelia.capture.statements import FALLS, Exit
from mycelia.degradations import Instead, Subject, concerning, degrade, fault
from mycelia.errors import origin
from mycelia.syntax import parsed

RUN_SUITE = "outcome = suites[NUMBER].run(root)\n"
RUN_BLOCK = "if outcome.kind != 'falls': return outcome"
TOLD = "try:\n  SUITE\nexcept anything as error:\n  without_us(error)\n  raise\n"
RUN_TURN = "if outcome.kind == 'return': return outcome\nif outcome.kind == 'break': break"
FEATURES = functools.reduce(operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
NOT_RUN, UNFIT = object(), object()  # the program was not run to its end; its guard does not accept the call


class FailedRun:
    """A program has failed, and has changed nothing: Python runs the call. It raises the same, or the fault is ours."""

    kind = "raise"

    def __init__(self, error: Exception, ours: bool = True) -> None:
        self.error, self.ours = error, ours

    def instead(self, python: Callable[[], Any], subject: Subject) -> Any:
        """What Python gives; afterwards nobody holds the error any more, which holds all that the program has seen."""
        try:
            outcome = python()
            self.was_ours(subject)
            return outcome
        finally:
            del self.error

    def was_ours(self, subject: Subject) -> None:
        """Python has run the call, and has raised nothing."""
        with concerning(subject):
            if self.ours:
                fault("Python runs a call, because its program has failed", self.error)
            else:
                said = str(self.error).splitlines()[0] if str(self.error) else type(self.error).__name__
                degrade(Instead.PYTHON, f"its program has stopped, and Python has not: {said}", origin(self.error))


def variables(code: CodeType) -> list[str]:
    """The names of all variables of a function, free ones included."""
    return list(dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars)))


class Suite:
    """A list of statements of one function, with the programs found so far for each place in it."""

    def __init__(self, stmts: list[ast.stmt], code: CodeType, unit: list[ast.stmt], runner: Any) -> None:
        self.stmts, self.code, self.unit, self.runner = stmts, code, unit, runner
        self.ways: dict[int, Any] = {}
        self.statements: dict[int, Statement] = {}
        self.faulty: set[int] = set()  # places where capturing shows a mistake of ours

    def run(self, root: PieceRoot) -> Exit:
        """The outcome of all statements."""
        place = 0
        while place < len(self.stmts):
            outcome, place = self.step(place, root)
            if outcome is not FALLS:
                return outcome
        return FALLS

    def step(self, place: int, root: PieceRoot) -> tuple[Exit, int]:
        """Run the statement at a place, and more where they are one program; the outcome, and where to go on."""
        end, done = self.attempt(place, root)
        if done is not UNFIT and done is not NOT_RUN and done.kind != "raise":
            return done, end
        statement = self.statement(place)
        if isinstance(done, FailedRun):
            return done.instead(lambda: statement(root), self.runner.subject), place + 1
        return statement(root), place + 1

    def statement(self, place: int) -> Statement:
        """One statement as Python runs it: with its blocks as suites, or as it stands, should we fail at that."""
        if place not in self.statements:
            try:
                self.statements[place] = Statement(self.stmts[place], self)
            except Exception as error:
                self.statements[place] = Statement(self.stmts[place], self, with_blocks=False)
                with concerning(self.runner.subject):
                    fault("Python runs a statement whole, because its blocks could not be prepared", error)
        return self.statements[place]

    def attempt(self, place: int, root: PieceRoot) -> tuple[int, Any]:
        """The statement behind a program that begins here, and what it gives; UNFIT or NOT_RUN if there is none."""
        if place not in self.ways:
            self.ways[place] = self.runner.no_ways()
        ways = self.ways[place]
        way, done = ways.attempt(root)
        if way is not None or place in self.faulty:
            return getattr(way, "end", place), done
        try:
            way = ways.make(
                root,
                lambda varying, naming: self.runner.way(
                    capture_piece(root, self.stmts, place, self.code, varying, naming), place
                ),
                {},
            )
        except Exception as error:  # a mistake of ours: the world is as it was, and Python knows the statement
            self.faulty.add(place)
            return place, FailedRun(error)
        return getattr(way, "end", place), way.attempt(root)

    def pieces(self) -> list[Any]:
        """All programs, and the reasons where there is none."""
        found = [way for ways in self.ways.values() for way in ways.ways]
        for statement in self.statements.values():
            for suite in statement.suites:
                found += suite.pieces()
        return found


class Statement:
    """One statement, run by Python on the real cells, with its blocks as suites."""

    def __init__(self, stmt: ast.stmt, suite: Suite, with_blocks: bool = True) -> None:
        self.suites: list[Suite] = []
        self.suite = suite
        names = [n for n in variables(suite.code) if n.isidentifier()]
        globals_ = sorted({n for s in suite.unit for d in ast.walk(s) if isinstance(d, ast.Global) for n in d.names})
        own = [n for n in names if n != "__class__"]
        scope: list[ast.stmt] = [ast.Nonlocal(own)] * bool(own) + [ast.Global(globals_)] * bool(globals_)
        visit = self.visit if with_blocks else Plain().visit
        body = [] if isinstance(stmt, ast.Global | ast.Nonlocal) else [visit(copy.deepcopy(stmt))]
        ours = _arguments([".suites", ".root", ".exit", ".anything", ".without_us"])
        inner = ast.FunctionDef("statement", ours, [*scope, *body, ast.Pass()], [])
        inner.lineno = inner.end_lineno = suite.code.co_firstlineno  # the frame that the user sees
        outer = ast.FunctionDef("frame", _arguments(names), [inner], [])
        module = ast.fix_missing_locations(ast.copy_location(ast.Module([outer], []), stmt))
        whole = compile(module, suite.code.co_filename, "exec", suite.code.co_flags & FEATURES, dont_inherit=True)
        (frame,) = (c for c in whole.co_consts if isinstance(c, CodeType))
        code = next(c for c in frame.co_consts if isinstance(c, CodeType))
        self.code = renamed_code(code, code.co_qualname, suite.code.co_qualname).replace(co_name=suite.code.co_name)

    def __call__(self, root: PieceRoot) -> Exit:
        cells = root.cells
        run = FunctionType(self.code, root.globals, closure=tuple(cells[n] for n in self.code.co_freevars))
        try:
            return run(self.suites, root, Exit, BaseException, without_us) or FALLS
        except NameError as error:
            if not self.is_unbound(error):
                raise
            told = unbound_local(error)
        try:
            raise told
        finally:
            del told  # which knows this frame

    def is_unbound(self, error: NameError) -> bool:
        """Whether an error is about a free variable of this statement, which is a local one to the user."""
        trace = error.__traceback__ and error.__traceback__.tb_next
        here = trace is not None and trace.tb_next is None and trace.tb_frame.f_code is self.code
        local = here and error.name not in self.suite.code.co_freevars
        return local and type(error) is NameError and "free variable" in str(error)

    def visit(self, stmt: ast.stmt) -> ast.stmt:
        """The same statement with its blocks run as suites, and `return v` made an outcome."""
        if isinstance(stmt, ast.Return):
            return outcome_of("return", stmt.value or ast.Constant(None))
        if isinstance(stmt, ast.Break | ast.Continue):
            return outcome_of("break" if isinstance(stmt, ast.Break) else "continue")
        if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return stmt
        if isinstance(stmt, ast.AnnAssign):  # in a function the annotation is never evaluated
            return plain_target(stmt)
        handlers = () if isinstance(stmt, ast.TryStar) else getattr(stmt, "handlers", ())  # nothing leaves `except*`
        for part in (stmt, *handlers, *getattr(stmt, "cases", ())):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(part, name, None)
                if isinstance(block, list) and block:
                    loops = isinstance(stmt, ast.For | ast.While) and name == "body"
                    setattr(part, name, self.block(block, loops))
        return stmt

    def block(self, stmts: list[ast.stmt], loops: bool) -> list[ast.stmt]:
        suite = self.suite
        self.suites.append(Suite(stmts, suite.code, suite.unit, suite.runner))
        run = TOLD.replace("SUITE", RUN_SUITE.replace("NUMBER", str(len(self.suites) - 1)))
        text = run + (RUN_TURN if loops else RUN_BLOCK)
        tree = parsed(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = f".{node.id}"  # a name that no user can write
            if isinstance(node, ast.ExceptHandler):
                node.name = f".{node.name}"
            if hasattr(node, "lineno"):
                ast.copy_location(node, stmts[0])
        return tree.body


class Plain(ast.NodeTransformer):
    """A statement as it stands, where only what leaves it is an outcome."""

    def __init__(self) -> None:
        self.loops = 0  # around, inside the statement

    def visit_FunctionDef(self, node: Any) -> Any:
        """What returns inside of a function does not leave the statement."""
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return outcome_of("return", node.value or ast.Constant(None))

    def visit_Break(self, node: ast.Break) -> ast.stmt:
        return node if self.loops else outcome_of("break")

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:
        return node if self.loops else outcome_of("continue")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return plain_target(node)

    def visit_For(self, node: Any) -> Any:
        """A loop, which what is inside it leaves first."""
        self.loops += 1
        node.body = [self.visit(stmt) for stmt in node.body]
        self.loops -= 1
        node.orelse = [self.visit(stmt) for stmt in node.orelse]
        return node

    visit_While = visit_For


def plain_target(stmt: ast.AnnAssign) -> ast.stmt:
    """An assignment without its annotation; of a target without a value, Python evaluates what it is a part of.

    >>> [ast.unparse(plain_target(stmt)) for stmt in ast.parse("f().x: int; y: int; g[h()]: int").body]
    ['f()', 'pass', '(g, h())']
    """
    target: Any = stmt.target
    if stmt.value is not None:
        return ast.Assign([target], stmt.value)
    if isinstance(target, ast.Name):
        return ast.Pass()
    parts = [target.value, target.slice] if isinstance(target, ast.Subscript) else [target.value]
    return ast.Expr(parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load()))


def outcome_of(kind: str, *value: ast.expr) -> ast.Return:
    """The statement that leaves others with an outcome."""
    return ast.Return(ast.Call(ast.Name(".exit", ast.Load()), [ast.Constant(kind), *value], []))


def without_us(error: BaseException) -> None:
    """Let the traceback of an error that leaves a block begin where Python's would: at the statement inside of it. It
    begins with the statement around, which is the same frame to the user, and with us, who have run the block.
    """
    trace = error.__traceback__ and error.__traceback__.tb_next
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    if trace is not None:
        error.__traceback__ = trace


def unbound_local(error: NameError) -> UnboundLocalError:
    """An error about a free variable, told about a local one."""
    text = str(error).replace("free variable", "local variable").replace(" in enclosing scope", "")
    told = UnboundLocalError(text).with_traceback(error.__traceback__)
    told.__context__ = error.__context__
    return told


def renamed_code(code: CodeType, old: str, new: str) -> CodeType:
    """The same code, where the names of functions and classes inside say that they stand in the user's function."""
    held = [
        renamed_code(c, old, new) if isinstance(c, CodeType) else
        c.replace(old, new, 1) if isinstance(c, str) and c.startswith(f"{old}.<locals>.") else c
        for c in code.co_consts
    ]  # fmt: skip
    return code.replace(co_qualname=code.co_qualname.replace(old, new, 1), co_consts=tuple(held))


def _arguments(names: list[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


def frame_of(fn: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> PieceRoot | None:
    """The variables of a call, as real cells; None if the arguments do not fit."""
    code = fn.__code__
    try:
        bound = inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    cells = {n: CellType() for n in dict.fromkeys((*code.co_varnames, *code.co_cellvars))}
    for name, value in bound.arguments.items():
        cells[name].cell_contents = value
    return PieceRoot(cells | dict(zip(code.co_freevars, fn.__closure__ or (), strict=True)), fn.__globals__)


def suite_of(node: Definition, code: CodeType, runner: Any) -> Suite:
    """The suite of a whole function."""
    body: Any = node.body
    stmts = [ast.copy_location(ast.Return(body), body)] if isinstance(node, ast.Lambda) else body
    return Suite(stmts, code, stmts, runner)


def mentions(stmts: list[ast.stmt], names: frozenset[str]) -> bool:
    """Whether the statements call something that asks for the frame that they stand in."""
    return any(isinstance(n, ast.Name) and n.id in names for s in stmts for n in ast.walk(s))


CALLERS = frozenset(("locals", "vars", "dir", "eval", "exec", "super", "__class__", "globals"))
