"""Which tests come to which lines: the package is compiled with a mark in every block of its functions, and the default
tests are run once.

The code with marks is kept apart (`PYTHONPYCACHEPREFIX`), and every process that a test starts runs it. The texts are
what they were: whoever reads them to compile Python sees no marks, and says which statements it has read.
This module is a plugin of pytest, too: `-p tests.mutation.reach`.
"""

from __future__ import annotations

import ast
import base64
import builtins
import importlib.util
import json
import marshal
import mmap
import os
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mutation.faults import ROOT, SHARES, Fault
from tests.mutation.places import blocks, read

WHERE = "MYCELIA_REACH"  # the folder of the map that is being made
OPEN = (  # no names are left behind; who starts a process without our environment asks for no marks
    "__import__('builtins').__reached__ = __import__('mmap').mmap(__import__('os').open("
    "__import__('os').environ['MYCELIA_MARKS'], 2), 0) "
    "if 'MYCELIA_MARKS' in __import__('os').environ else bytearray(1 << 20)"
)


def function_of(test: str) -> str:
    """The name of a test without the choice of its parameters."""
    return test.partition("[")[0]


def cpu() -> float:
    """Seconds that this process and its children have computed: a loaded machine does not change them."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def make_map(folder: Path, each: int, workers: int, within: Sequence[str]) -> None:
    """Run the default tests, or some of them, at most `each` choices of parameters of one test, and write down where
    they come. A map of the same texts is added to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    named, names = folder / "blocks.json", json.dumps(list(_compiled(folder / "code")))
    if not named.exists() or named.read_text() != names:
        for old in folder.glob("tests.*.jsonl"):
            old.unlink()
        named.write_text(names)
    settings = {"PYTHONPYCACHEPREFIX": str(folder / "code"), "PYTHONPATH": str(ROOT), WHERE: f"{folder}:{each}",
                "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutation.reach", "-p", "no:cacheprovider"]
    subprocess.run([*command, "-n", str(workers), *within], cwd=ROOT, env=kept | settings, check=False)


def _compiled(folder: Path) -> Iterator[str]:
    """Compile the packages with marks; the names of all blocks, in the order of their marks."""
    sys.pycache_prefix = str(folder)
    number = 0
    for path in sorted((ROOT / "mycelia").rglob("*.py")):
        tree, short = ast.parse(path.read_bytes()), str(path.relative_to(ROOT))
        for block in list(blocks(tree)) if short.split("/")[1] in SHARES else []:
            block.leave(f"__reached__[{number}] = 1", block.first)
            yield block.name(short)
            number += 1
        if short == "mycelia/__init__.py":
            tree.body[1:1] = ast.parse(OPEN).body  # behind the documentation
        code = compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)
        file = Path(importlib.util.cache_from_source(str(path)))
        file.parent.mkdir(parents=True, exist_ok=True)
        about = path.stat()
        numbers = (0, int(about.st_mtime), about.st_size)  # of a file that is believed as long as the text is as old
        head = b"".join((n & 0xFFFFFFFF).to_bytes(4, "little") for n in numbers)
        file.write_bytes(importlib.util.MAGIC_NUMBER + head + marshal.dumps(code))


# ------------------------------------------------------------------------------------------------- the plugin


class _Recording:
    """What a worker writes down."""

    def __init__(self, folder: Path, each: int) -> None:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        self.names = json.loads((folder / "blocks.json").read_text())
        self.each = each
        marks = folder / f"marks.{worker}"
        marks.write_bytes(bytes(len(self.names)))
        os.environ["MYCELIA_MARKS"] = str(marks)
        self.file = (folder / f"tests.{worker}.{os.getpid()}.jsonl").open("w")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Of many choices of parameters, some that are spread evenly."""
        counts = Counter(function_of(item.nodeid) for item in items)
        seen: Counter[str] = Counter()
        kept = []
        for item in items:
            name = function_of(item.nodeid)
            n, i = counts[name], seen[name]
            seen[name] += 1
            if n <= self.each or i * self.each // n != (i - 1) * self.each // n:
                kept.append(item)
        items[:] = kept

    def pytest_collection_finish(self) -> None:
        self.marks: mmap.mmap = builtins.__reached__  # type: ignore[attr-defined]
        self.follow_captures()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.marks[:] = bytes(len(self.marks))
        start = cpu()
        done = yield
        bits = np.packbits(np.frombuffer(self.marks, np.uint8))
        told = {"test": item.nodeid, "seconds": round(cpu() - start, 3)}
        told["reached"] = base64.b85encode(zlib.compress(bits.tobytes(), 6)).decode()
        self.file.write(json.dumps(told) + "\n")
        self.file.flush()
        return done

    def follow_captures(self) -> None:
        """Statements that are read instead of being run leave their marks, too. Texts are believed: with marks, no code
        is what its text would be compiled to.
        """
        from mycelia.capture import source
        from mycelia.capture.statements import Statements

        source.BEGAN = float("inf")
        places = {}
        number = 0
        for path in sorted({name.partition(":")[0] for name in self.names}):
            for block in blocks(read(ROOT / path).tree):
                for s in block.statements[: block.first + 1]:
                    places[str(ROOT / path), s.lineno, s.col_offset] = number
                number += 1
        assert number == len(self.names)
        statement = Statements.statement

        def marking(self: Statements, stmt: ast.stmt, frame: Any) -> Any:
            place = places.get((frame.code.co_filename, stmt.lineno, stmt.col_offset))
            if place is not None:
                builtins.__reached__[place] = 1  # type: ignore[attr-defined]
            return statement(self, stmt, frame)

        Statements.statement = marking  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before anything of the package is imported."""
    if WHERE in os.environ:
        folder, _, each = os.environ[WHERE].rpartition(":")
        early_config.pluginmanager.register(_Recording(Path(folder), int(each)))


# ---------------------------------------------------------------------------------------------------- the map


class Reach:
    """The map: which tests come to a block, and how many seconds each takes."""

    def __init__(self, folder: Path) -> None:
        self.names: list[str] = json.loads((folder / "blocks.json").read_text())
        self.seconds: dict[str, float] = {}
        rows = []
        for file in sorted(folder.glob("tests.*.jsonl")):
            for line in file.read_text().split("\n")[:-1]:  # behind the last one is what is being written
                told = json.loads(line)
                if told["test"] not in self.seconds:
                    self.seconds[told["test"]] = told["seconds"]
                    rows.append(zlib.decompress(base64.b85decode(told["reached"])))
        self.tests = list(self.seconds)
        alike: dict[str, list[float]] = {}
        for test, seconds in self.seconds.items():
            alike.setdefault(function_of(test), []).append(seconds)
        self.usual = {function: sum(found) / len(found) for function, found in alike.items()}  # seconds
        self.bits = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)

    def levels(self, fault: Fault) -> list[list[str]]:
        """The tests that come to the block of a fault, then those that come to its function, then to its module."""
        block, _ = read(ROOT / fault.path).around(fault.start)
        mine = block.name(fault.path)
        function = mine.rpartition(":")[0] + ":"
        return [
            self.reaching([i for i, name in enumerate(self.names) if name == mine]),
            self.reaching([i for i, name in enumerate(self.names) if name.startswith(function)]),
            self.reaching([i for i, name in enumerate(self.names) if name.startswith(f"{fault.path}:")]),
        ]

    def reaching(self, marks: Sequence[int]) -> list[str]:
        """The tests that leave any of some marks."""
        wanted = np.zeros(self.bits.shape[1], np.uint8)
        for i in marks:
            wanted[i >> 3] |= 0x80 >> (i & 7)
        there = np.flatnonzero(wanted)
        return [self.tests[i] for i in np.flatnonzero((self.bits[:, there] & wanted[there]).any(axis=1))]
