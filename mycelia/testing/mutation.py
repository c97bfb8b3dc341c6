"""Seeded faults: do the laws bite? Each fault is one small change in one rule of one op, made in its syntax tree.

A fault is caught when some law, or some promised mistake, fails for an op that has the faulty rule. Nobody wrote the
faults by hand: every operator, constant, comparison, argument order and branch of every rule is changed in turn.
"""

from __future__ import annotations

import ast
import gc
import inspect
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import Any

from mycelia.frozen import frozen
from mycelia.interning import Interned
from mycelia.ir import Op, registry, value
from mycelia.testing.executors import EXECUTORS
from mycelia.testing.laws import LAWS, UNFIT_FOR_COMPLEX
from mycelia.testing.samples import complex_samples

RULES = ("infer", "outcome", "reference", "element", "scalar", "expand", "vjp", "pull", "vmap", "axes", "local")
REPRESENTATIVES = 4  # of a rule that a family gives to many ops
PATIENCE = 10.0  # seconds that one op may take under a fault; a loop without end is a failure, too

FIRST = {  # the laws that are most likely to see a fault in a rule
    "infer": "infer_tells_the_type",
    "vjp": "gradient_equals_differences",
    "pull": "gradient_equals_differences",
    "vmap": "vmap_equals_a_loop",
    "axes": "shards_equal_the_whole",
    "local": "shards_equal_the_whole",
}
SIGNS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
}
UNORDERED = ("zip", "isinstance", "max", "min", "maximum", "minimum", "logical_and", "broadcast_shape")
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@frozen
class Fault:
    """One change in one rule, and the ops that have this rule."""

    owner: type[Op]
    rule: str
    ops: tuple[type[Op], ...]
    before: str
    after: str
    made: Callable[[], Any]  # the changed rule: of all that could be seeded, few are

    def __str__(self) -> str:
        return f"{self.owner.__name__}.{self.rule}: {self.before}  =>  {self.after}"

    @contextmanager
    def seeded(self) -> Iterator[None]:
        """The fault holds inside the block, and nothing that was computed with it survives. It is interpreted only: a
        wrong index in machine code would end the process.
        """
        original = self.owner.__dict__[self.rule]
        interned = value._interned
        native = {name: EXECUTORS.pop(name) for name in list(EXECUTORS) if name != "elements"}
        setattr(self.owner, self.rule, self.made())
        value._interned = Interned()
        _forget()
        try:
            yield
        finally:
            setattr(self.owner, self.rule, original)
            value._interned = interned
            EXECUTORS.update(native)
            _forget()

    def caught(self) -> str:
        """The name of the law that fails, or nothing."""
        order = sorted(LAWS, key=lambda name: name != FIRST.get(self.rule))
        with self.seeded():
            for op in self.ops:
                found = _first_failure(op, order)
                if found:
                    return found
        return ""


def faults(*modules: str) -> list[Fault]:
    """Every fault that can be seeded in the rules of the ops that these modules define.

    >>> [fault.after for fault in faults("mycelia.primitives.unary") if fault.owner.__name__ == "Exp"][:2]
    ['return (-(ct * out),)', 'ct + out']
    """
    rules: dict[tuple[type[Op], str], list[type[Op]]] = {}
    for op in dict.fromkeys(registry.values()):
        for rule in RULES:
            owner = next(c for c in op.__mro__ if rule in c.__dict__) if hasattr(op, rule) else Op
            if owner.__module__ in modules:
                rules.setdefault((owner, rule), []).append(op)
    return [f for (owner, rule), ops in rules.items() for f in _faults(owner, rule, ops)]


def _faults(owner: type[Op], rule: str, ops: Sequence[type[Op]]) -> Iterator[Fault]:
    original = owner.__dict__[rule]
    function = original.__func__ if isinstance(original, staticmethod) else original
    if not inspect.isfunction(function) or function.__module__ != owner.__module__:
        return  # a rule made by another function, as `zero_gradient` is
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    chosen = tuple(ops[:: max(1, len(ops) // REPRESENTATIVES)][:REPRESENTATIVES])
    for place, variant, before, after in _changes(tree):
        yield Fault(owner, rule, chosen, before, after, partial(_changed, owner, rule, tree, place, variant))


def _changed(owner: type[Op], rule: str, tree: ast.Module, place: int, variant: int) -> Any:
    """The rule with one change, as it stands in its class."""
    original = owner.__dict__[rule]
    changed = deepcopy(tree)
    _replace(changed, place, variant)
    if isinstance(original, staticmethod):
        return staticmethod(_compiled(changed, rule, owner, original.__func__))
    return _compiled(changed, rule, owner, original)


def _compiled(tree: ast.Module, rule: str, owner: type[Op], function: Any) -> Any:
    """The changed rule as a function; the factory around it gives `super()` its class."""
    factory = ast.parse("def factory(__class__):\n    return None").body[0]
    assert isinstance(factory, ast.FunctionDef), "that is what was written"
    factory.body = [*tree.body, ast.Return(ast.Name(rule, ast.Load()))]
    module = ast.fix_missing_locations(ast.Module([factory], []))
    namespace = dict(function.__globals__)
    exec(compile(module, function.__code__.co_filename, "exec"), namespace)
    return namespace["factory"](owner)


def _changes(tree: ast.Module) -> Iterator[tuple[int, int, str, str]]:
    """The number of each node that can be changed, the number of the change, and both texts."""
    skipped = {id(inner) for node in ast.walk(tree) if is_message(node) for inner in ast.walk(node)}
    for place, node in enumerate(ast.walk(tree)):
        if id(node) not in skipped:
            for variant, new in enumerate(variants(node)):
                yield place, variant, _text(node), _text(new)


def is_message(node: ast.AST) -> bool:
    """Whether a node says something to people or to the type checker, or checks what holds anyway."""
    if isinstance(node, ast.Raise | ast.Assert | ast.arguments | ast.JoinedStr | ast.AnnAssign):
        return True
    if isinstance(node, ast.keyword) and node.arg in ("strict", "copy"):
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _replace(tree: ast.Module, place: int, variant: int) -> None:
    target = list(ast.walk(tree))[place]
    exchange(tree, target, list(variants(target))[variant])


def exchange(tree: ast.Module, target: ast.AST, new: ast.AST) -> None:
    """Put `new` where `target` stands in a tree.

    >>> tree = ast.parse("a + b")
    >>> exchange(tree, tree.body[0].value.left, ast.Name("c", ast.Load()))
    >>> ast.unparse(tree)
    'c + b'
    """
    ast.copy_location(new, target)
    for parent in ast.walk(tree):
        for name, child in ast.iter_fields(parent):
            if child is target:
                setattr(parent, name, new)
            elif isinstance(child, list) and any(c is target for c in child):
                setattr(parent, name, [new if c is target else c for c in child])


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What might stand here by mistake."""
    match node:
        case ast.BinOp(left, op, right):
            if type(op) in SIGNS:
                yield ast.BinOp(left, SIGNS[type(op)](), right)
            if isinstance(op, ast.Mult | ast.Div | ast.Sub):
                yield left  # a forgotten factor or term
            if isinstance(op, ast.Sub | ast.Div):
                yield ast.BinOp(right, op, left)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield operand
        case ast.Constant(bool() as truth):
            yield ast.Constant(not truth)
        case ast.Constant(int() as number):
            yield ast.Constant(number + 1)
        case ast.Constant(float() as number):
            yield ast.Constant(number * 1.5 + 0.25)
        case ast.Compare(left, [op], [right]) if type(op) in COMPARISONS:
            yield ast.Compare(left, [COMPARISONS[type(op)]()], [right])
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.BoolOp(op, [first, *rest]):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), [first, *rest])
        case ast.Call(function, [first, second, *rest], keywords) if _text(function).split(".")[-1] not in UNORDERED:
            if _text(first) != _text(second):
                yield ast.Call(function, [second, first, *rest], keywords)
        case ast.Return(ast.Tuple([first, second, *rest])) if _text(first) != _text(second):
            yield ast.Return(ast.Tuple([second, first, *rest], ast.Load()))
        case ast.Return(ast.Tuple([only])):
            yield ast.Return(ast.Tuple([ast.UnaryOp(ast.USub(), only)], ast.Load()))


def _text(node: ast.AST) -> str:
    lines = ast.unparse(ast.fix_missing_locations(deepcopy(node))).splitlines()
    return lines[0] + (" ..." if len(lines) > 1 else "")


def _first_failure(op: type[Op], order: Sequence[str]) -> str:
    """The law that `op` breaks, or nothing. Any exception is a failure, and so is taking too long."""
    law = "samples"
    try:
        with _impatient():
            for law in order:
                for sample in (*op.samples(), *(() if law in UNFIT_FOR_COMPLEX else complex_samples(op, 2))):
                    LAWS[law](sample)
            law = "mistakes"
            for mistake in op.mistakes():
                _explains(mistake)
    except Exception:
        return law
    return ""


def _explains(mistake: Any) -> None:
    said = ""
    try:
        mistake.call()
    except mistake.error as error:
        said = str(error)
    assert mistake.message in said, f"{mistake.message!r} was promised, and {said!r} said"


@contextmanager
def _impatient() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError(f"no answer within {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE, 0.5)  # again, where a callback swallowed the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _forget() -> None:
    """Empty every cache of rules that were applied."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("mycelia.transforms", "mycelia.primitives")):
            for cached in list(vars(module).values()):
                if hasattr(cached, "cache_clear"):
                    cached.cache_clear()
    gc.collect(0)
