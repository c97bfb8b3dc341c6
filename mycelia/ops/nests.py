"""Which loops of a custom operator may be computed at once: what each turn reads and writes, and the proof that no turn
needs another (*dependence analysis*, *loop distribution*). What is not proven runs turn by turn.

A nest may be computed at once, statement by statement, when for everything that is written in it
- all accesses name the same element by the same loop variables, so that turns of those loops touch different elements;
- a write inside further loops is a running sum, product, maximum or minimum;
- inside those further loops nobody else touches the element.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from mycelia.frozen import frozen

LOOPS = ("range", "serial", "vectorize", "parallel", "reduce")
"""Words for a loop that counts; all of them mean `range`."""
_FOLDS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "add", ast.Mult: "mul"}
_EXTREMES = {"max": "max", "min": "min"}


@frozen(eq=False)
class RunningFold:
    """A statement that adds a value to an element, multiplies it by one, or takes the larger or smaller of both."""

    kind: str
    value: ast.expr
    negative: bool = False


@frozen(eq=False)
class Access:
    """One mention of a name: which element, inside which loops, and whether it is read, written or folded into."""

    name: str
    element: str  # the index as it is written; empty for a variable
    index: ast.expr | None
    loops: tuple[ast.For, ...]
    kind: str  # "read", "write", or the kind of a fold


def fold_of(statement: ast.stmt) -> RunningFold | None:
    """What a statement folds into its target, if that is all that it does with it.

    >>> fold_of(ast.parse("c[i] = c[i] + a[i, k]").body[0]).kind, fold_of(ast.parse("c = c * c").body[0])
    ('add', None)
    """
    if isinstance(statement, ast.AugAssign):
        kind = _FOLDS.get(type(statement.op))
        value, target = statement.value, statement.target
        negative = isinstance(statement.op, ast.Sub)
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, given = statement.targets[0], statement.value  # type: ignore[assignment]  # one that can be assigned to
        found = _folded(target, given)
        if found is None:
            return None
        kind, value, negative = found
    else:
        return None
    name = _named(target)
    if kind is None or name is None or any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)):
        return None
    return RunningFold(kind, value, negative)


def _folded(target: ast.expr, given: ast.expr) -> tuple[str, ast.expr, bool] | None:
    if isinstance(given, ast.BinOp) and type(given.op) in _FOLDS:
        negative = isinstance(given.op, ast.Sub)
        if same(given.left, target):
            return _FOLDS[type(given.op)], given.right, negative
        return (_FOLDS[type(given.op)], given.left, False) if same(given.right, target) and not negative else None
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and len(given.args) == 2:
        kind = _EXTREMES.get(given.func.id)
        others = [a for a in given.args if not same(a, target)]
        return (kind, others[0], False) if kind is not None and len(others) == 1 else None
    return None


def same(x: ast.expr, y: ast.expr) -> bool:
    """Whether two expressions are written alike.

    >>> same(ast.parse("c[i, 0]").body[0].value, ast.parse("c[i,0]").body[0].value)
    True
    """
    return ast.unparse(x) == ast.unparse(y)


def _named(target: ast.expr) -> str | None:
    if isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def targets(loop: ast.For) -> tuple[str, ...]:
    """The variables of a loop."""
    found = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
    return tuple(t.id for t in found if isinstance(t, ast.Name))


def accesses(statements: Sequence[ast.stmt], loops: tuple[ast.For, ...] = ()) -> Iterator[Access]:
    """Every mention of a name in these statements, in order."""
    for s in statements:
        if isinstance(s, ast.For):
            yield from _reads(s.iter, loops)
            yield from accesses(s.body, (*loops, s))
        elif isinstance(s, ast.If):
            yield from _reads(s.test, loops)
            yield from accesses([*s.body, *s.orelse], loops)
        elif isinstance(s, ast.With):
            yield from accesses(s.body, loops)
        elif isinstance(s, ast.Assign | ast.AugAssign):
            yield from _assignment(s, loops)
        else:
            for child in ast.iter_child_nodes(s):
                yield from _reads(child, loops)


def _assignment(s: ast.Assign | ast.AugAssign, loops: tuple[ast.For, ...]) -> Iterator[Access]:
    target = s.target if isinstance(s, ast.AugAssign) else s.targets[0]
    fold = fold_of(s)
    yield from _reads(s.value if fold is None else fold.value, loops)
    index = target.slice if isinstance(target, ast.Subscript) else None
    if index is not None:
        yield from _reads(index, loops)
    name, element = _named(target), "" if index is None else ast.unparse(index)
    if name is not None:
        if fold is None and isinstance(s, ast.AugAssign):
            yield Access(name, element, index, loops, "read")
        yield Access(name, element, index, loops, "write" if fold is None else fold.kind)


def _reads(node: ast.AST, loops: tuple[ast.For, ...]) -> Iterator[Access]:
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        yield Access(node.value.id, ast.unparse(node.slice), node.slice, loops, "read")
        yield from _reads(node.slice, loops)
    elif isinstance(node, ast.Attribute):
        return  # a shape or an element type: not what the elements are
    elif isinstance(node, ast.Name):
        yield Access(node.id, "", None, loops, "read")
    else:
        for child in ast.iter_child_nodes(node):
            yield from _reads(child, loops)


def at_once(nest: ast.For, arrays: frozenset[str], known: frozenset[str]) -> bool:
    """Whether a nest may be computed at once. `arrays` are the arrays; `known` are variables from before the nest.

    >>> loop = ast.parse("for i in range(n):\\n  s = a[i]\\n  c[i] = s * s").body[0]
    >>> at_once(loop, frozenset("ac"), frozenset())
    True
    >>> at_once(ast.parse("for i in range(n): c[i] = c[i - 1]").body[0], frozenset("c"), frozenset())
    False
    """
    found: dict[str, list[Access]] = {}
    variables = {t for n in ast.walk(nest) if isinstance(n, ast.For) for t in targets(n)}
    for access in accesses([nest]):
        if access.name not in variables:
            found.setdefault(access.name, []).append(access)
    changing = {name for name, mentions in found.items() if any(a.kind != "read" for a in mentions)}
    for name in changing:
        mentions = found[name]
        own = _elements(mentions, variables, changing) if name in arrays else _variable(mentions, name in known)
        if own is None or not _apart(mentions, own):
            return False
    return True


def _apart(mentions: Sequence[Access], own: Sequence[tuple[ast.For, ...]]) -> bool:
    """Whether no turn needs another, as far as one name is concerned; turns of `own` loops have their own."""
    further = [[loop for loop in a.loops if loop not in o] for a, o in zip(mentions, own, strict=True)]
    for a, inside in zip(mentions, further, strict=True):
        if a.kind == "write" and inside:
            return False
        for b, others in zip(mentions, further, strict=True):
            alike = a is b or (a.kind == b.kind and a.kind != "write")
            if a.kind != "read" and not alike and any(loop in others for loop in inside):
                return False
    return True


def _variable(mentions: Sequence[Access], known: bool) -> list[tuple[ast.For, ...]] | None:
    """For each mention of a variable the loops whose turns have one of their own: those around its first assignment."""
    first = mentions[0]
    if known:
        return [()] * len(mentions)
    if first.kind != "write" or any(a.loops[: len(first.loops)] != first.loops for a in mentions):
        return None
    return [first.loops] * len(mentions)


def _elements(mentions: Sequence[Access], variables: set[str], changing: set[str]) -> list[tuple[ast.For, ...]] | None:
    """For each mention of an array the loops whose turns touch different elements, if that is plain: at each place of
    the index stands everywhere the same loop variable, or everywhere something that no turn changes.
    """
    if any(a.index is None for a in mentions):
        return None
    rows = [a.index.elts if isinstance(a.index, ast.Tuple) else [a.index] for a in mentions if a.index is not None]
    if len({len(row) for row in rows}) != 1:
        return None
    words = []
    for column in zip(*rows, strict=True):
        inside = {n.id for part in column for n in ast.walk(part) if isinstance(n, ast.Name)}
        if len({ast.unparse(part) for part in column}) == 1 and ast.unparse(column[0]) in variables:
            words.append(ast.unparse(column[0]))
        elif not inside.isdisjoint(variables | changing):
            return None
    owns = []
    for a in mentions:
        own = tuple(loop for loop in a.loops if any(t in words for t in targets(loop)))
        if sorted(t for loop in own for t in targets(loop)) != sorted(words):
            return None
        owns.append(own)
    return owns
