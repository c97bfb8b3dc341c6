"""Do the tests bite, outside the rules of ops? One small fault at a time is sown anywhere in the package, by rule.

    python -m tests.mutation                  # 300 faults, spread over the packages; hours on one core
    python -m tests.mutation 40 --only runtime,lowering --seed 3
    python -m tests.mutation --fault 'mycelia/runtime/arena.py:120:0'    # one of them again, with what the tests say

A fault is a change in the syntax tree (`mycelia.testing.mutation.variants`): an operator, constant, comparison,
condition, branch or order of arguments is another one, or a statement is left out. It is sown while the module is
imported, in a process of its own, which runs the default tests that stand nearest to the module, with one and with two
threads. Where one fails, hangs or dies, the fault is caught. What is said to people (messages, representations,
documentation) is not changed.
"""

from __future__ import annotations

import argparse
import ast
import importlib.machinery
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "MYCELIA_SOWN_FAULT"  # read by the process that runs the tests, and by nobody else
PATIENCE = 240.0  # seconds for the tests of one package

# the default tests that stand nearest to a package, nearest first; those of other packages that use it follow
TESTS = {
    "capture": ("capture", "promises/test_corpus.py", "api", "promises/test_generated.py"),
    "api": ("api", "nn/test_training.py", "capture", "sizes", "promises/test_corpus.py"),
    "eager": ("eager", "ops", "api", "nn"),
    "lowering": ("lowering", "runtime", "primitives/test_laws.py", "sizes", "fuzz"),
    "codegen": ("codegen", "runtime", "lowering", "primitives/test_laws.py", "fuzz"),
    "runtime": ("runtime", "schedule", "sizes", "lowering", "api", "nn/test_training.py"),
    "schedule": ("schedule", "runtime", "lowering"),
    "passes": ("passes", "primitives/test_laws.py", "runtime", "fuzz"),
    "transforms": ("transforms", "primitives/test_laws.py", "api"),
    "nn": ("nn", "examples"),
    "train": ("train", "examples"),
    "dataset": ("dataset",),
    "mindrecord": ("dataset/test_mindrecord.py", "dataset"),
}
SHARES = {"capture": 45, "api": 30, "eager": 35, "lowering": 40, "codegen": 35, "runtime": 40, "nn": 25, "train": 10,
          "dataset": 30, "mindrecord": 10}  # fmt: skip


@dataclass(frozen=True)
class Sown:
    """A change of one node of one module: the node's number in `ast.walk`, and the number of the change."""

    path: str
    place: int
    variant: int
    line: int = 0
    before: str = ""
    after: str = ""

    @property
    def key(self) -> str:
        return f"{self.path}:{self.place}:{self.variant}"

    @property
    def package(self) -> str:
        return self.path.split("/")[1]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.key}): {self.before}  =>  {self.after}"

    def tree(self) -> ast.Module:
        """The module with the fault."""
        tree = ast.parse((ROOT / self.path).read_text())
        replace(tree, self.place, self.variant)
        return ast.fix_missing_locations(tree)


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What might stand here by mistake: see `mycelia.testing.mutation`; or a statement is left out."""
    from mycelia.testing import mutation

    yield from mutation.variants(node)
    if isinstance(node, ast.Expr | ast.AugAssign) or (isinstance(node, ast.Assign) and _stores(node)):
        yield ast.Pass()
    if isinstance(node, ast.If) and not node.orelse:
        yield ast.Pass()


def _stores(node: ast.Assign) -> bool:
    return all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets)


def replace(tree: ast.Module, place: int, variant: int) -> None:
    """Make one change in a tree."""
    from mycelia.testing import mutation

    target = list(ast.walk(tree))[place]
    mutation.exchange(tree, target, list(variants(target))[variant])


def is_said(node: ast.AST) -> bool:
    """Whether a node speaks to people or to the type checker, or checks what holds anyway."""
    from mycelia.testing import mutation

    if mutation.is_message(node) or isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.FunctionDef):
        return node.name in ("__repr__", "__str__", "explain", "extend_repr", "describe") or node.name.startswith(
            "show"
        )
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def faults_of(path: Path) -> Iterator[Sown]:
    """All faults of a module."""
    tree = ast.parse(path.read_text())
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for b in f.body for n in ast.walk(b)}
    skipped = {id(n) for node in ast.walk(tree) if is_said(node) for n in ast.walk(node)}
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in inside and id(node) not in skipped and hasattr(node, "lineno"):
            for variant, new in enumerate(variants(node)):
                yield Sown(str(path.relative_to(ROOT)), place, variant, node.lineno, _text(node), _text(new))


def _text(node: ast.AST) -> str:
    lines = ast.unparse(ast.fix_missing_locations(deepcopy(node))).splitlines()
    return lines[0][:100] + (" ..." if len(lines) > 1 else "")


def chosen(count: int, packages: list[str], seed: int) -> list[Sown]:
    """Faults spread over packages as `SHARES` says, over modules by their length."""
    rng = random.Random(seed)
    whole = sum(SHARES.get(p, 20) for p in packages)
    found: list[Sown] = []
    for package in packages:
        all_ = [f for path in sorted((ROOT / "mycelia" / package).rglob("*.py")) for f in faults_of(path)]
        found += rng.sample(all_, min(len(all_), round(count * SHARES.get(package, 20) / whole)))
    return found


def judged(fault: Sown, loud: bool = False) -> str:
    """Which tests catch a fault; nothing if none does."""
    environment = os.environ | {VARIABLE: fault.key, "PYTHONPATH": str(ROOT), "MYCELIA_FAULTS": "raise"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    near = [fault.path, *(f"tests/{tests}" for tests in TESTS.get(fault.package, (fault.package,)))]
    for i, tests in enumerate(path for path in near if (ROOT / path).exists()):
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "tests.mutation", "-p", "no:cacheprovider", tests]
        environment["OMP_NUM_THREADS"] = "12"[i % 2]
        try:
            ran = subprocess.run(
                command, cwd=ROOT, env=environment, timeout=PATIENCE, stdout=None if loud else subprocess.DEVNULL,
                stderr=None if loud else subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{tests} (no end)"
        if ran.returncode not in (0, 5):
            return f"{tests} ({'died' if ran.returncode < 0 else 'failed'})"
    return ""


def sow(key: str) -> None:
    """From now on, the module that is imported has this fault."""
    path, place, variant = key.rsplit(":", 2)
    usual, target = importlib.machinery.SourceFileLoader.get_code, (ROOT / path).resolve()
    code = compile(Sown(path, int(place), int(variant)).tree(), str(target), "exec", dont_inherit=True)
    for name in [n for n in sys.modules if n.partition(".")[0] == "mycelia"]:
        del sys.modules[name]  # what the fault itself was made with

    def get_code(self: importlib.machinery.SourceFileLoader, module: str) -> CodeType | None:
        return code if Path(self.path).resolve() == target else usual(self, module)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


if __name__ != "__main__" and os.environ.get(VARIABLE):
    sow(os.environ[VARIABLE])


def main() -> None:
    """Sow, run, and say what was not caught."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("count", nargs="?", type=int, default=300)
    options.add_argument("--only", default=",".join(SHARES))
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--fault", help="one fault, as it was printed")
    given = options.parse_args()
    if given.fault:
        path, place, variant = given.fault.rsplit(":", 2)
        print(judged(Sown(path, int(place), int(variant)), loud=True) or "not caught")
        return
    tried, missed = 0, []
    for fault in chosen(given.count, given.only.split(","), given.seed):
        start = time.monotonic()
        by = judged(fault)
        tried += 1
        if not by:
            missed.append(fault)
        print(f"{'caught by ' + by if by else 'MISSED':50} {time.monotonic() - start:5.0f} s  {fault}", flush=True)
    print(f"{tried - len(missed)} of {tried} faults are caught ({1 - len(missed) / max(tried, 1):.1%})")


if __name__ == "__main__":
    main()
