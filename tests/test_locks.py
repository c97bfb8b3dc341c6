"""Who has a lock says what it guards, and touches that under the lock only: a race is seldom seen, its cause always."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mycelia.api.devices import current
from mycelia.api.native import Native
from mycelia.eager.writing import writing, written
from mycelia.ir import Function
from mycelia.types import TensorType, float32

PACKAGE = Path(__file__).resolve().parents[1] / "mycelia"


@dataclass(frozen=True)
class Guarded:
    """What a lock of a class guards. Some functions run when nobody else is there, or are called under the lock."""

    lock: str
    what: tuple[str, ...]
    but: tuple[str, ...] = ()


GUARDED = [
    Guarded("lock", ("bytes", "misses"), ("get_stat",)),
    Guarded("changed", ("epochs", "steps", "ended"), ("ready",)),
    Guarded("lock", ("free",), ("_waiting", "forget")),
    Guarded("lock", ("waiting", "numbered", "bell", "ring", "rung")),
    Guarded("lock", ("waiting", "wanted")),
    Guarded("changed", ("first", "gone")),
    Guarded("lock", ("tasks", "idle")),
    Guarded("_turn", ("_next",)),
    Guarded("lock", ("kept", "turns"), ("_held",)),
    Guarded("lock", ("pools",)),
    Guarded("changed", ("items", "ended")),
    Guarded("lock", ("source",)),
    Guarded("changed", ("allowed", "enabled"), ("open", "reset")),
    Guarded("lock", ("given",), ("clean",)),
    Guarded("lock", ("asked", "new"), ("forget", "useful")),
    Guarded("lock", ("times",)),
    Guarded("_lock", ("_known",), ("forget", "get")),
    Guarded("_lock", ("_code", "_sources")),
    Guarded("lock", ("thread",), ("forget",)),
    Guarded("_lock", ("_idle",), ("_anew",)),
    Guarded("_lock", ("_thread",)),
    Guarded("_lock", ("_memory", "_touched"), ("held", "after_fork", "_reserve", "_take", "_find")),
    Guarded("lock", ("thread",), ("busy",)),
    Guarded("changed", ("values", "joined"), ("wait",)),
    Guarded("_turn", ("_link",)),
]
ELSEWHERE = ("_spent", "fetch", "apply")  # Native is tested below; the others let the user's functions wait


def locks(node: ast.AST) -> list[ast.Attribute]:
    """The locks that a `with` takes."""
    found = [i.context_expr for i in node.items] if isinstance(node, ast.With) else []
    return [e for e in found if isinstance(e, ast.Attribute) and re.search("lock|changed|turn$", e.attr)]


def touches(node: ast.AST, function: str = "", held: frozenset[str] = frozenset()) -> Iterator[tuple[str, ...]]:
    """Every attribute: its function, whose it is, its name; and which locks are held there."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        function, held = getattr(node, "name", function), frozenset() if isinstance(node, ast.FunctionDef) else held
    for lock in locks(node):
        held |= {ast.unparse(lock)}
    if isinstance(node, ast.Attribute):
        yield function, ast.unparse(node.value), node.attr, *held
    for child in ast.iter_child_nodes(node):
        yield from touches(child, function, held)


def classes(file: Path) -> list[ast.ClassDef]:
    text = file.read_text()
    return [c for c in ast.walk(ast.parse(text)) if isinstance(c, ast.ClassDef)] if "with self." in text else []


@cache
def with_locks() -> list[tuple[Path, ast.ClassDef]]:
    """The classes of the package that take a lock of their own."""
    found = [(file, c) for file in PACKAGE.rglob("*.py") for c in classes(file)]
    return [
        (file, c) for file, c in found if any(ast.unparse(k.value) == "self" for n in ast.walk(c) for k in locks(n))
    ]


def names(owner: ast.ClassDef) -> set[str]:
    """What a class has: its attributes and its functions."""
    inner = list(ast.walk(owner))
    functions = {n.name for n in inner if isinstance(n, ast.FunctionDef)}
    return functions | {n.attr for n in inner if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self"}


@pytest.mark.many(("file", "name"), [(file, c.name) for file, c in with_locks()], pack=100, ids=lambda case: case[1])
def test_what_a_lock_guards_is_touched_under_it(file, name):
    owner = next(c for c in classes(file) if c.name == name)  # as it stands there now
    found = [g for g in GUARDED if names(owner) >= {g.lock, *g.what, *g.but}]
    assert found or names(owner) & set(ELSEWHERE), "say in the table above what the lock guards"
    for guarded in found:
        for function, whose, touched, *held in touches(owner):
            if whose == "self" and touched in guarded.what and function not in ("__init__", *guarded.but):
                assert f"self.{guarded.lock}" in held, f"{function} touches {touched}, and another thread may, too"


@pytest.mark.many("guarded", GUARDED, pack=100, ids=lambda g: "-".join((g.lock, *g.what)))
def test_every_line_of_the_table_is_about_a_class(guarded):
    assert any(names(owner) >= {guarded.lock, *guarded.what, *guarded.but} for _, owner in with_locks())


def test_a_program_that_writes_in_place_holds_the_lock_that_readers_wait_for():
    x = TensorType(float32, (3,))
    native = Native(Function.build(lambda x: x + 1.0, x), {0: 0})
    run, held = native.prepare(), []

    def watched(*arrays):
        held.append((native._lock._is_owned(), {id(a) for a in arrays} == set(writing)))
        return run(*arrays)

    native._made[current()] = watched
    arrays = [np.zeros(3, "f")]
    native.run(arrays)
    assert held == [(True, True)]
    assert not writing
    assert arrays[0].tolist() == [1.0] * 3


def test_whoever_reads_an_array_waits_for_who_writes_it():
    class Lock:
        times = 0

        def __enter__(self):
            self.times += 1

        def __exit__(self, *_):
            pass

    array, lock = np.zeros(3), Lock()
    writing[id(array)] = lock
    try:
        assert written(array) is array
    finally:
        del writing[id(array)]
    assert lock.times == 1
    assert written(array) is array
