"""A function with hooks: the same program, in which branches, loops, calls and reads of objects ask us first.

    if test: A                 def then(): A
    else: B             ->     def other(): B
                               if_(test, then, other, variables)

Every position stays, so that tracebacks and carets point into the file that the user wrote. The blocks of a branch or
a loop become functions inside the function, which share its variables (`nonlocal`).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Sequence
from itertools import count

from mycelia.capture.expressions import Expressions, load, run, thunk
from mycelia.capture.jumps import HOOKS, ITEM, RETURNED, Lowering, assign, hook, inside, placed, returns
from mycelia.capture.source import Definition

NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
OUTER, FUNCTION = "__ms_outer__", "__ms_function__"  # names that no variable of the program has


def rewritten(node: Definition, free: Sequence[str], cls: str) -> ast.Module:
    """A module that defines the function with hooks, inside a function that has its free variables."""
    node = copy.deepcopy(node)
    at = node
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
    else:
        body = node.body
    writer = Writer(node.args, body, cls)
    made = ast.FunctionDef(FUNCTION, bare(node.args), writer.function(), [], None)
    ast.copy_location(made, at)
    wrapped: ast.stmt = made
    if cls:  # private names are spelled with the name of the class
        wrapped = ast.ClassDef(cls, [], [], [made], [])
    parameters = [ast.arg(n) for n in (HOOKS, *free)]
    outer = ast.FunctionDef(OUTER, ast.arguments([], parameters, None, [], [], None, []), [wrapped], [], None)
    module = ast.Module([outer], [])
    return placed(module, at)


def bare(args: ast.arguments) -> ast.arguments:
    """The parameters without defaults, which the new function takes from the old one."""
    bare = copy.deepcopy(args)
    none = ast.Constant(None)
    bare.defaults = [none for _ in args.defaults]
    bare.kw_defaults = [None if d is None else none for d in args.kw_defaults]
    for a in ast.walk(bare):
        if isinstance(a, ast.arg):
            a.annotation = None
    return bare


def bound(nodes: ast.AST | Sequence[ast.AST]) -> list[str]:
    """The names that these statements bind, in the order of their first appearance."""
    names: dict[str, None] = {}
    for n in inside(nodes):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del):
            names[n.id] = None
        elif isinstance(n, NAMED) and n.name:
            names[n.name] = None
        elif isinstance(n, ast.alias):
            names[(n.asname or n.name).partition(".")[0]] = None
    return list(names)


class _Hidden(ast.NodeTransformer):
    """Marks the variables of comprehensions, which are not those of the function."""

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        for n in ast.walk(node.target):
            if isinstance(n, ast.Name):
                n.ctx = ast.Load()
        return node


def names_bound(stmts: Sequence[ast.stmt]) -> list[str]:
    """The variables of the function that these statements bind."""
    return sorted(set(bound([_Hidden().visit(copy.deepcopy(s)) for s in stmts])))


class Writer(Expressions):
    """One function, being written with hooks."""

    def __init__(self, args: ast.arguments, body: list[ast.stmt], cls: str) -> None:
        self.cls, self.numbers = cls, count()
        self.body = body
        self.arguments = [
            a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg) if a
        ]
        self.first = self.arguments[0] if self.arguments else ""
        nodes = inside(body)
        self.globals = {n for s in nodes if isinstance(s, ast.Global) for n in s.names}
        self.nonlocals = {n for s in nodes if isinstance(s, ast.Nonlocal) for n in s.names}

    def function(self) -> list[ast.stmt]:
        """The new body."""
        first = self.body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        declared = [s for s in self.body if isinstance(s, ast.Global | ast.Nonlocal)]
        self.body = [s for s in self.body if s not in declared]
        lowered = Lowering().function(self.body[1:] if documented else self.body)
        outside = self.globals | self.nonlocals
        self.locals = [n for n in names_bound(lowered) if n not in outside and n not in self.arguments]
        at = first
        start: list[ast.stmt] = list(declared)
        if RETURNED in self.locals:
            start.append(assign(RETURNED, ast.Constant(False), at))
        empty = [n for n in self.locals if n != RETURNED]
        start += [assign(n, hook("unbound", [ast.Constant(n)], at), at) for n in empty]
        self.locals += self.arguments
        written = sorted(outside & set(bound(lowered)))
        start += [run(hook("writes_outside", [ast.Constant(n), thunk(load(n, at), at)], at)) for n in written]
        return [*start, *self.tail(lowered)] or [ast.copy_location(ast.Pass(), at)]

    # --------------------------------------------------------------------------------------------------- statements

    def tail(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements up to the end of the function, where an `if` that may return takes what follows along."""
        out: list[ast.stmt] = []
        for i, s in enumerate(stmts):
            if not (isinstance(s, ast.If) and returns(s)):
                out += self.statement(s)
                continue
            rest = list(stmts[i + 1 :])
            then, other = list(s.body), list(s.orelse)
            if not _always_returns(then) and not _always_returns(other) and rest:
                name = f"__ms_rest_{next(self.numbers)}__"
                call = ast.copy_location(ast.Call(load(name, s), [], []), s)
                out.append(self.block(name, rest, self.tail(rest)))
                rest = [ast.copy_location(ast.Return(call), s)]
                then, other = then + rest, other + rest
            else:
                then = then if _always_returns(then) else then + rest
                other = other if _always_returns(other) else other + rest
            written = [*s.body, *s.orelse, *stmts[i + 1 :]]
            made, parts = self.branch(s, lambda b=then, o=other: (self.tail(b), self.tail(o)), written)  # type: ignore[misc]  # bound now
            return [*out, *made, ast.copy_location(ast.Return(hook("tail_if", parts, s.test)), s)]
        return out

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        """One statement that does not leave the function."""
        if isinstance(s, ast.If):
            body, orelse = s.body, s.orelse
            made, parts = self.branch(s, lambda: (self.statements(body), self.statements(orelse)), [*body, *orelse])
            return [*made, run(hook("if_", parts, s.test))]
        if isinstance(s, ast.While):
            return self.while_(s)
        if isinstance(s, ast.For):
            return self.for_(s)
        if isinstance(s, ast.AugAssign) and not isinstance(s.target, ast.Name):
            return self.augmented(s)
        if isinstance(s, ast.AugAssign):
            return [run(hook("augmenting", [load(s.target.id, s)], s)), self.visit(s)]  # type: ignore[union-attr]  # a name
        if isinstance(s, ast.ClassDef):
            return [s]
        if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef):
            s.decorator_list = [self.visit(d) for d in s.decorator_list]
            self.visit_defaults(s.args)
            return [s]
        if isinstance(s, ast.With | ast.Try | ast.Match):
            return [self.compound(s)]
        if isinstance(s, ast.Assign) and not all(isinstance(t, ast.Name) for t in s.targets):
            return self.assigned(s)
        if isinstance(s, ast.AnnAssign):
            if s.value is None:
                return []
            s = ast.copy_location(ast.Assign([s.target], s.value), s)
            return self.statement(s)
        if isinstance(s, ast.Delete):
            return self.deleted(s)
        return [self.visit(s)]

    def statements(self, stmts: Iterable[ast.stmt]) -> list[ast.stmt]:
        return [new for s in stmts for new in self.statement(s)]

    def compound(self, s: ast.stmt) -> ast.stmt:
        """`with`, `try` and `match`: Python runs them; what is inside has hooks."""
        for name, old in ast.iter_fields(s):
            if name in ("body", "orelse", "finalbody"):
                setattr(s, name, self.statements(old))
            elif name in ("handlers", "cases"):
                for part in old:
                    part.body = self.statements(part.body)
                    if isinstance(part, ast.ExceptHandler):
                        part.body.insert(0, run(hook("caught", [], part)))
            elif name == "items":
                for item in old:
                    item.context_expr = self.visit(item.context_expr)
            elif isinstance(old, ast.expr):
                setattr(s, name, self.visit(old))
        if isinstance(s, ast.With | ast.Try):
            inside = ast.With([ast.withitem(hook("trying", [], s))], s.body)
            s.body = [placed(inside, s.body[0])]
        return s

    def block(self, name: str, old: Sequence[ast.stmt], new: list[ast.stmt], *parameters: str) -> ast.stmt:
        """A function that runs a block on the variables of the function around it."""
        names = names_bound(old)
        declared: list[ast.stmt] = []
        if shared := [n for n in names if n in self.locals or n in self.nonlocals]:
            declared.append(ast.Nonlocal(shared))
        if outside := [n for n in names if n in self.globals]:
            declared.append(ast.Global(outside))
        args = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
        made = ast.FunctionDef(name, args, [*declared, *(new or [ast.Pass()])], [], None)
        return placed(made, old[0] if old else self.body[0])

    def variables(self, stmts: Sequence[ast.AST], at: ast.AST) -> tuple[ast.stmt, list[ast.expr]]:
        """A function that sets the variables that a block binds; and: a function that gets them, that one, and their
        names.
        """
        names = [n for n in names_bound(stmts) if n in self.locals]  # type: ignore[arg-type]  # statements and expressions
        setter = f"__ms_set_{next(self.numbers)}__"
        new = [f"__ms_new_{i}__" for i in range(len(names))]
        pairs: list[ast.stmt] = [assign(n, load(v, at), at) for n, v in zip(names, new, strict=True)]
        declared: list[ast.stmt] = [ast.Nonlocal(names)] if names else []
        args = ast.arguments([], [ast.arg(v) for v in new], None, [], [], None, [])
        made = placed(ast.FunctionDef(setter, args, [*declared, *(pairs or [ast.Pass()])], [], None), at)
        got = _tuple([load(n, at) for n in names], at)
        called = _tuple([ast.copy_location(ast.Constant(n), at) for n in names], at)
        return made, [thunk(got, at), load(setter, at), called]

    def branch(
        self, s: ast.If, make: Callable[[], tuple[list[ast.stmt], list[ast.stmt]]], written: Sequence[ast.stmt]
    ) -> tuple[list[ast.stmt], list[ast.expr]]:
        n = next(self.numbers)
        then, other = f"__ms_then_{n}__", f"__ms_else_{n}__"
        setter, parts = self.variables(written, s)
        test, blocks = self.visit(s.test), make()
        made = [
            self.block(then, written or s.body, blocks[0]),
            self.block(other, written or s.body, blocks[1]),
            setter,
        ]
        return made, [test, load(then, s), load(other, s), *parts]

    def while_(self, s: ast.While) -> list[ast.stmt]:
        n = next(self.numbers)
        body, test = f"__ms_body_{n}__", f"__ms_test_{n}__"
        setter, parts = self.variables([s.test, *s.body], s)
        asked = ast.copy_location(ast.Return(self.visit(s.test)), s.test)
        made = [self.block(test, [], [asked]), self.block(body, s.body, self.statements(s.body)), setter]
        return [*made, run(hook("while_", [load(test, s), load(body, s), *parts], s.test))]

    def for_(self, s: ast.For) -> list[ast.stmt]:
        body = f"__ms_body_{next(self.numbers)}__"
        flags = getattr(s, "stops", ())
        old = list(s.body)
        if not flags:
            old.insert(0, ast.copy_location(ast.Assign([s.target], load(ITEM, s.target)), s.target))
        setter, parts = self.variables(old, s)
        block = self.block(body, old, self.statements(old), ITEM)
        stops = thunk(_tuple([load(f, s) for f in flags], s), s)
        return [block, setter, run(hook("for_", [self.visit(s.iter), load(body, s), *parts, stops], s.iter))]

    def assigned(self, s: ast.Assign) -> list[ast.stmt]:
        """An assignment to attributes and items asks first; the value is computed before."""
        value = self.visit(s.value)
        simple = [t for t in s.targets if isinstance(t, ast.Attribute | ast.Subscript)]
        if len(simple) == len(s.targets) == 1:
            return [self.stored(simple[0], value)]
        name = f"__ms_value_{next(self.numbers)}__"
        out = [assign(name, value, s)]
        for t in s.targets:
            out += self.unpacked(t, load(name, s))
        return out

    def unpacked(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        if isinstance(target, ast.Attribute | ast.Subscript):
            return [self.stored(target, value)]
        if not isinstance(target, ast.Tuple | ast.List):
            return [ast.copy_location(ast.Assign([target], value), target)]
        out: list[ast.stmt] = []
        later: list[tuple[ast.expr, str]] = []
        for node in list(ast.walk(target)):
            for field in ("elts", "value"):
                old = getattr(node, field, None)
                if isinstance(node, ast.Tuple | ast.List) and field == "elts":
                    node.elts = [self._held(e, later) for e in node.elts]
                elif isinstance(node, ast.Starred) and isinstance(old, ast.expr):
                    node.value = self._held(old, later)
        out.append(ast.copy_location(ast.Assign([target], value), target))
        out += [self.stored(t, load(name, t)) for t, name in later]
        return out

    def _held(self, target: ast.expr, later: list[tuple[ast.expr, str]]) -> ast.expr:
        """A variable in place of an attribute or item, which is stored afterwards."""
        if not isinstance(target, ast.Attribute | ast.Subscript):
            return target
        later.append((target, f"__ms_value_{next(self.numbers)}__"))
        return ast.copy_location(ast.Name(later[-1][1], ast.Store()), target)

    def stored(self, target: ast.expr, value: ast.expr) -> ast.stmt:
        if isinstance(target, ast.Attribute):
            name = ast.copy_location(ast.Constant(self.spelled(target.attr)), target)
            return run(hook("set_attribute", [self.visit(target.value), name, value], target))
        assert isinstance(target, ast.Subscript), f"{target} is no target"
        return run(hook("set_item", [self.visit(target.value), _index(self.visit(target.slice)), value], target))

    def augmented(self, s: ast.AugAssign) -> list[ast.stmt]:
        """`a.b += c`: the object is looked up once."""
        target, n = s.target, next(self.numbers)
        assert isinstance(target, ast.Attribute | ast.Subscript), f"{target} is a name"
        holder, key = f"__ms_holder_{n}__", f"__ms_key_{n}__"
        out = [assign(holder, self.visit(target.value), s)]
        old: ast.expr
        if isinstance(target, ast.Attribute):
            name = ast.copy_location(ast.Constant(self.spelled(target.attr)), target)
            old = hook("attribute", [load(holder, s), name], target)
            store, place = "set_attribute", name
        else:
            out.append(assign(key, _index(self.visit(target.slice)), s))
            old = ast.copy_location(ast.Subscript(load(holder, s), load(key, s), ast.Load()), target)
            store, place = "set_item", load(key, s)  # type: ignore[assignment]  # both are expressions
        value = f"__ms_value_{n}__"
        out.append(assign(value, old, s))
        aug = ast.AugAssign(ast.Name(value, ast.Store()), s.op, self.visit(s.value))
        out.append(placed(aug, s))
        out.append(run(hook(store, [load(holder, s), place, load(value, s)], target)))
        return out

    def deleted(self, s: ast.Delete) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for t in s.targets:
            if isinstance(t, ast.Subscript):
                out.append(run(hook("delete_item", [self.visit(t.value), _index(self.visit(t.slice))], t)))
            elif isinstance(t, ast.Attribute):
                name = ast.copy_location(ast.Constant(self.spelled(t.attr)), t)
                out.append(run(hook("delete_attribute", [self.visit(t.value), name], t)))
            else:
                assert isinstance(t, ast.Name), f"{t} cannot be deleted"
                out.append(assign(t.id, hook("unbound", [ast.Constant(t.id)], t), t))
        return out


def _always_returns(stmts: Sequence[ast.stmt]) -> bool:
    """Whether the statements never come to their end."""
    if not stmts:
        return False
    last = stmts[-1]
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def _tuple(parts: list[ast.expr], at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Tuple(parts, ast.Load()), at)


def _index(slice_: ast.expr) -> ast.expr:
    """What stands in brackets, as a value."""
    if isinstance(slice_, ast.Tuple):
        slice_.elts = [_index(e) for e in slice_.elts]
    if not isinstance(slice_, ast.Slice):
        return slice_
    ends = [e or placed(ast.Constant(None), slice_) for e in (slice_.lower, slice_.upper, slice_.step)]
    return hook("interval", ends, slice_)
