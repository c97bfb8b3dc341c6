"""Faults by rule: small changes of the text of a module, of kinds that people make.

Nobody chooses them by hand: every place where a rule fits is a fault. A change keeps all lines where they are. What is
said to people (messages, representations, documentation) is left alone, and so is what no result depends on: how long
one waits, how much a cache keeps, which branch is called likely, whether a truth is a `bool` or as true as one.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARES = {"capture": 40, "api": 30, "eager": 35, "lowering": 40, "codegen": 35, "runtime": 40, "nn": 30, "train": 20,
          "dataset": 45, "mindrecord": 15}  # fmt: skip
BOUNDS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SIGNS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
UNORDERED = re.compile(
    r"(zip|isinstance|issubclass|max|min|maximum|minimum|logical_and|logical_or|add|fma|same|known_equal|broadcast_shape|"
    r"\w*Error|gcd)$"
)
COPIES = re.compile(r"(copy|deepcopy|array|ascontiguousarray|bytes|bytearray|cast|astype|int|float)$")
KEYS = re.compile(r"key|guard|signature|stamp|token")
SAID = re.compile(r"(__repr__|__str__|explain|extend_repr|describe|show\w*|_said\w*|_text|_message)$")
SAYS = re.compile(r"(\w*Error|warn\w*|\w*Warning|format|print|log|note|info|debug)$")


@dataclass(frozen=True)
class Fault:
    """One change of one module: what stands between two places of its text (in bytes) is something else."""

    path: str
    number: int  # among the faults of its module
    rule: str
    function: str
    line: int
    start: int
    end: int
    after: str

    @property
    def key(self) -> str:
        return f"{self.path}:{self.number}"

    @property
    def package(self) -> str:
        return self.path.split("/")[1]

    def source(self) -> bytes:
        """The text of the module with the fault; every line is where it was."""
        text = (ROOT / self.path).read_bytes()
        lost = text[self.start : self.end].count(b"\n") - self.after.count("\n")
        after = self.after[:-1] + "\n" * lost + ")" if self.after.endswith(")") else self.after + "\n" * lost
        return text[: self.start] + after.encode() + text[self.end :]

    @property
    def before(self) -> str:
        return " ".join((ROOT / self.path).read_bytes()[self.start : self.end].decode().split())

    @property
    def told(self) -> str:
        """A name that outlives changes around it."""
        return f"{self.path} {self.function} [{self.rule}] {self.before}  =>  {self.after}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line} [{self.rule}] {self.before[:90]}  =>  {self.after[:90]}"


def faults_of(path: Path) -> list[Fault]:
    """All faults of a module."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[Fault] = []
    for node, function in _inside_functions(ast.parse(text)):
        for rule, begin, end, after in _changes(node, function):
            places = (starts[line - 1] + column for line, column in (begin, end))
            found.append(Fault(str(path.relative_to(ROOT)), len(found), rule, function, begin[0], *places, after))
    return found


def _inside_functions(node: ast.AST, function: str = "", names: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Everything in the bodies of functions that does something, with the name of its function."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        if SAID.match(node.name):
            return
        names = f"{names}.{node.name}" if names else node.name
        function = function if isinstance(node, ast.ClassDef) else names
        inner: list[ast.AST] = [*node.body]
    elif _is_said(node):
        return
    else:
        if function:
            yield node, function
        inner = [node.value] if isinstance(node, ast.AnnAssign) and node.value else list(ast.iter_child_nodes(node))
    for child in inner:
        yield from _inside_functions(child, function, names)


def _is_said(node: ast.AST) -> bool:
    """Whether a node speaks to people or to the type checker, or checks what holds anyway."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.keyword):
        return node.arg in ("strict", "stacklevel", "hint", "copy", "timeout", "maxsize", "likely")
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _is_said(node.value)
    if isinstance(node, ast.Call):
        words = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant)  # ", ".join
        return words or bool(SAYS.match(_name(node.func)))
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _name(node: ast.AST) -> str:
    """The last word of the name of what is called."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _changes(node: ast.AST, function: str) -> Iterator[tuple[str, tuple[int, int], tuple[int, int], str]]:
    for rule, target, new in _variants(node, function):
        begin, end = (target.lineno, target.col_offset), (target.end_lineno, target.end_col_offset)
        yield rule, begin, end, new if isinstance(new, str) else f"({_text(new)})"
    if isinstance(node, ast.With) and all(
        i.optional_vars is None and "lock" in _text(i.context_expr) for i in node.items
    ):
        last = node.items[-1].context_expr
        yield "lock", (node.lineno, node.col_offset), (last.end_lineno or 0, last.end_col_offset or 0), "if True"


def _variants(node: ast.AST, function: str) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.expr | str]]:
    """What might stand here by mistake: the rule, what is replaced, and by what."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in BOUNDS:
            yield "comparison", node, ast.Compare(left, [BOUNDS[type(op)]()], [right])
        case ast.BoolOp(op, values):
            for v in values:
                rest = [w for w in values if w is not v]
                yield "condition", node, rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.If(test, body, orelse):
            yield "branch", test, "(False)"
            if orelse:
                yield "branch", test, "(True)"
        case ast.IfExp(_, body, orelse):
            yield "branch", node, body
            yield "branch", node, orelse
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield "sign", node, operand
        case ast.Constant(bool() as truth):
            yield "constant", node, ast.Constant(not truth)
        case ast.Constant(int() as number):
            yield "constant", node, ast.Constant(number + 1)
            if number > 1:
                yield "constant", node, ast.Constant(number - 1)
        case ast.Constant(float() as number):
            yield "constant", node, ast.Constant(number * 1.5 + 0.25)
        case ast.BinOp(left, op, right) if not any(isinstance(x, _WORDS) for x in (left, right)):
            if type(op) in SIGNS:
                yield "arithmetic", node, ast.BinOp(left, SIGNS[type(op)](), right)
                yield "arithmetic", node, left
            if isinstance(op, ast.Sub | ast.Div | ast.FloorDiv):
                yield "order", node, ast.BinOp(right, op, left)
            if isinstance(op, ast.BitOr | ast.BitAnd):
                yield "condition", node, left
        case ast.Call(f, [first, second, *rest], keywords) if not UNORDERED.match(_name(f)):
            if _text(first) != _text(second) and not isinstance(first, ast.Starred):
                yield "order", node, ast.Call(f, [second, first, *rest], keywords)
        case ast.Call(ast.Attribute(value, "copy" | "astype"), _):
            yield "copy", node, value
        case ast.Call(f, [only], []) if COPIES.match(_name(f)) and not isinstance(only, ast.Starred):
            yield "copy", node, only
        case ast.Return(ast.Tuple([first, second, *rest])) if _text(first) != _text(second):
            yield "order", node, f"return ({_text(ast.Tuple([second, first, *rest], ast.Load()))})"
        case ast.Expr(ast.Call()) | ast.AugAssign():
            yield "statement", node, "pass"
        case ast.Assign(targets) if all(isinstance(t, ast.Attribute | ast.Subscript) for t in targets):
            yield "statement", node, "pass"
    match node:
        case ast.Return(ast.Tuple(parts)) | ast.Assign(value=ast.Tuple(parts)) if len(parts) > 2:
            into = function if isinstance(node, ast.Return) else _text(node.targets[0])
            value = node.value
            if KEYS.search(into.lower()) and value is not None:
                for part in parts:
                    yield "key", value, ast.Tuple([q for q in parts if q is not part], ast.Load())


_WORDS = ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(deepcopy(node))).splitlines())


def chosen(count: int, packages: list[str], seed: int) -> list[Fault]:
    """Faults spread over packages as `SHARES` says, over rules evenly, and over functions: one in each, at most."""
    found: list[Fault] = []
    for package in packages:
        rng = random.Random(seed)  # the same faults, whichever other packages are looked at
        rules: dict[str, list[Fault]] = {}
        for path in sorted((ROOT / "mycelia" / package).rglob("*.py")):
            for fault in faults_of(path):
                rules.setdefault(fault.rule, []).append(fault)
        for rule in sorted(rules):
            rng.shuffle(rules[rule])
        taken: set[tuple[str, str]] = set()
        wanted = round(count * SHARES[package] / sum(SHARES.values()))
        while wanted and any(rules.values()):
            for rule in sorted(rules):
                while wanted and rules[rule]:
                    fault = rules[rule].pop()
                    if (fault.path, fault.function) not in taken and _compiles(fault):
                        taken.add((fault.path, fault.function))
                        found.append(fault)
                        wanted -= 1
                        break
    return found


def _compiles(fault: Fault) -> bool:
    try:
        ast.parse(fault.source())
    except SyntaxError:
        return False
    return True
