"""Who has a lock says what it guards, and touches that under the lock only: a race is seldom seen, its cause always."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
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

    file: str
    owner: str
    lock: str
    what: tuple[str, ...]
    but: tuple[str, ...] = ()


GUARDED = [
    Guarded("dataset/cache.py", "DatasetCache", "lock", ("bytes", "misses"), ("get_stat",)),
    Guarded("dataset/callback.py", "WaitedDSCallback", "changed", ("epochs", "steps", "ended"), ("ready",)),
    Guarded("dataset/flow/buffers.py", "_Store", "lock", ("free",), ("_waiting", "forget")),
    Guarded("dataset/flow/processes.py", "ProcessWorkers", "lock", ("waiting", "numbered", "bell", "ring", "rung")),
    Guarded("dataset/flow/workers.py", "_Desk", "lock", ("waiting", "wanted")),
    Guarded("dataset/iterators.py", "Iterator", "_turn", ("_next",)),
    Guarded("dataset/parquet.py", "Groups", "lock", ("kept", "turns"), ("_held",)),
    Guarded("dataset/pipeline.py", "Pipeline", "lock", ("pools",)),
    Guarded("dataset/sinks.py", "_Channel", "changed", ("items", "ended")),
    Guarded("dataset/sources.py", "_Kept", "lock", ("source",)),
    Guarded("dataset/syncing.py", "Gate", "changed", ("allowed", "enabled"), ("open", "reset")),
    Guarded("dataset/tarpieces.py", "Piece", "lock", ("given",), ("clean",)),
    Guarded("dataset/text/chunks.py", "Chunks", "lock", ("asked", "new"), ("forget", "useful")),
    Guarded("degradations.py", "Record", "lock", ("times",)),
    Guarded("interning.py", "Interned", "_lock", ("_known",), ("forget", "get")),
    Guarded("routines/routine.py", "Routine", "_lock", ("_code", "_sources")),
    Guarded("runtime/interrupts.py", "_Poll", "lock", ("thread",), ("forget",)),
    Guarded("runtime/workers.py", "Workers", "_lock", ("_idle",), ("_anew",)),
    Guarded("threads/worker_thread.py", "WorkerThread", "_lock", ("_thread",)),
    Guarded("train/background.py", "Background", "lock", ("thread",), ("busy",)),
]
ELSEWHERE = {"Native", "MapNode", "SourceNode"}  # the first is tested below; the others let the user's functions wait


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


@pytest.mark.parametrize("guarded", GUARDED, ids=lambda g: g.owner)
def test_what_a_lock_guards_is_touched_under_it(guarded):
    tree = ast.parse((PACKAGE / guarded.file).read_text())
    (owner,) = (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == guarded.owner)
    seen = set()
    for function, whose, name, *held in touches(owner):
        if whose == "self" and name in guarded.what and function not in ("__init__", *guarded.but):
            seen.add(name)
            assert f"self.{guarded.lock}" in held, f"{function} touches {name}, and another thread may, too"
    assert seen == set(guarded.what), "the table is older than the class"


def test_every_class_with_a_lock_says_what_it_guards():
    owners = {
        c.name
        for file in PACKAGE.rglob("*.py")
        for c in ast.walk(ast.parse(file.read_text()))
        if isinstance(c, ast.ClassDef)
        and any(ast.unparse(lock.value) == "self" for n in ast.walk(c) for lock in locks(n))
    }
    assert owners == {g.owner for g in GUARDED} | ELSEWHERE


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
