"""The examples in the docstrings of an installed MindSpore, run by MindSpore and by Mycelia, and what differs.

    python tests/compat/examples.py PYTHON             all examples; PYTHON is an interpreter that has MindSpore
    python tests/compat/examples.py PYTHON ops nn      those of some packages
    python tests/compat/examples.py PYTHON --show ops.sort   one example, beside both answers

The examples stay in the wheel: nothing of them is kept in this repository. MindSpore's answers are kept in a folder for
the next run (`--kept FOLDER`). An example counts when MindSpore itself runs it to the end; it agrees when Mycelia,
under the name `mindspore`, prints the same, numbers within a tolerance. Where MindSpore prints other numbers the second
time (they are random), only the words and the count of numbers are compared. What differs is decided upon, name by
name, in `recorded/examples.tsv`; what is not in it is told last.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import importlib
import inspect
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections import Counter
from pathlib import Path
from typing import Any

PACKAGES = (
    "mindspore", "mindspore.Tensor", "mindspore.Parameter", "mindspore.ParameterTuple", "mindspore.nn",
    "mindspore.nn.Cell", "mindspore.nn.probability.bijector", "mindspore.nn.probability.distribution",
    "mindspore.ops", "mindspore.mint", "mindspore.mint.nn", "mindspore.mint.nn.functional", "mindspore.mint.linalg",
    "mindspore.mint.optim", "mindspore.mint.special", "mindspore.numpy", "mindspore.scipy", "mindspore.scipy.linalg",
    "mindspore.scipy.optimize", "mindspore.scipy.fft", "mindspore.common.initializer", "mindspore.amp",
    "mindspore.train", "mindspore.experimental.optim", "mindspore.experimental.optim.lr_scheduler",
    "mindspore.hal", "mindspore.runtime",
    "mindspore.rewrite", "mindspore.boost", "mindspore.log", "mindspore.context", "mindspore.communication",
    "mindspore.communication.comm_func", "mindspore.parallel", "mindspore.profiler", "mindspore.mint.distributed",
    "mindspore.utils", "mindspore.experimental", "mindspore.graph", "mindspore.device_context.cpu", "mindspore.tools",
)  # fmt: skip
APART = ("mindspore.numpy", "mindspore.scipy", "mindspore.nn.probability", "mindspore.train")
"""Packages that are counted apart."""
_LISTED = (Path(__file__).parent / "recorded" / "examples.tsv").read_text().splitlines()
DECIDED = dict(line.split("\t") for line in _LISTED)
"""Examples that print something else here, and why that is so."""
SECONDS, PATIENCE = 20, 240
"""How long an example may work, and how long an answer may take on a machine that is busy."""


# --------------------------------------------------------------------------- inside the interpreter that is asked


def collect() -> dict[str, dict[str, Any]]:
    """The examples of every public name, and of what public classes define: the statements, in order, where it is at
    home, and by how many names it is met; equal examples once.
    """
    found: dict[str, dict[str, Any]] = {}
    seen: dict[tuple[str, ...], str] = {}
    parser = doctest.DocTestParser()
    for package in PACKAGES:
        place = _place(package)
        if place is None:
            continue
        for name, thing in _members(place):
            text = inspect.getdoc(thing) or ""
            try:
                statements = [e.source for e in parser.get_examples(text)]
            except ValueError:
                continue
            if not statements:
                continue
            first = seen.setdefault(tuple(statements), f"{package}.{name}")
            home = getattr(thing, "__module__", None) or package
            found.setdefault(first, {"statements": statements, "home": home, "names": []})["names"].append(
                f"{package}.{name}"
            )
    return found


def _members(place: Any) -> list[tuple[str, Any]]:
    """What a module offers, with what its classes define; or what a class has."""
    if not isinstance(place, types.ModuleType):
        return [(n, getattr(place, n, None)) for n in sorted(dir(place)) if not n.startswith("_")]
    offered = getattr(place, "__all__", None) or [n for n in dir(place) if not n.startswith("_")]
    found = []
    for name in sorted(set(offered)):
        thing = getattr(place, name, None)
        found.append((name, thing))
        if inspect.isclass(thing):
            found += [(f"{name}.{n}", getattr(thing, n, None)) for n in sorted(vars(thing)) if not n.startswith("_")]
    return found


def _place(path: str) -> Any:
    """The module or class at a path, None where there is none."""
    with contextlib.suppress(ImportError):
        return importlib.import_module(path)
    parent, _, name = path.rpartition(".")
    return getattr(_place(parent), name, None)


def run(statements: list[str]) -> dict[str, Any]:
    """What the statements of one example print, and what stopped it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed: list[str] = []
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of work, however slow the machine is
    try:
        for source in statements:
            out = io.StringIO()
            try:
                with contextlib.redirect_stdout(out):
                    exec(compile(source, "<example>", "single"), names)
            finally:
                printed.append(out.getvalue())
    except BaseException as error:  # also what examples raise by sys.exit
        if isinstance(error, KeyboardInterrupt):
            raise
        return {"printed": printed, "error": f"{type(error).__name__}: {error}", "at": source.strip()}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {"printed": printed}


def serve(ours: bool) -> None:
    """Answer examples on standard input, one JSON line each, until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what compiled code prints by itself

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    signal.signal(signal.SIGPROF, late)
    if ours:
        sys.path.insert(0, str(Path(__file__).parents[2]))
        sys.modules["mindspore"] = importlib.import_module("mycelia")
    ms = importlib.import_module("mindspore")
    for line in sys.stdin:
        asked = json.loads(line)
        with contextlib.suppress(Exception):
            ms.set_context(mode=ms.PYNATIVE_MODE)
            ms.set_seed(asked["seed"])
        answers.write(json.dumps(run(asked["statements"])) + "\n")
        answers.flush()


# ------------------------------------------------------------------------------------------------------ outside of it


class Peer:
    """A process that runs examples; it is started again when one of them ends it."""

    def __init__(self, python: str, ours: bool, patience: float = PATIENCE) -> None:
        self.patience = patience
        self.command = [python, __file__, "--serve", "ours" if ours else "theirs"]
        self.process: subprocess.Popen[str] | None = None
        self.folder = tempfile.TemporaryDirectory()

    def ask(self, statements: list[str], seed: int = 1) -> dict[str, Any]:
        """What an example prints there."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                cwd=self.folder.name, env={**os.environ, "GLOG_v": "4", "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"statements": statements, "seed": seed}) + "\n")
            process.stdin.flush()
            if select.select([process.stdout], [], [], self.patience)[0]:
                line = process.stdout.readline()
                if line:
                    return json.loads(line)  # type: ignore[no-any-return]
            raise OSError("no answer")
        except OSError as error:
            process.kill()
            process.wait()
            return {"printed": [], "error": f"the process ended: {error}", "at": ""}


NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\b(?:inf|nan)\b)")


def numbers(text: str) -> list[float]:
    """The numbers in a text.

    >>> numbers("[1. 2.5e-1]")
    [1.0, 0.25]
    """
    return [float(n) for n in NUMBER.findall(text)]


def words(text: str) -> list[str]:
    """What else is in a text: words and signs, without space.

    >>> words("Tensor(shape=[2])")
    ['Tensor', '(', 'shape', '=', '[', '#', ']', ')']
    """
    return re.findall(r"\w+|#|[^\w\s]", NUMBER.sub(" # ", text))


def near(a: float, b: float, tolerance: float) -> bool:
    """Whether two numbers agree; nan agrees with nan."""
    return a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def same(theirs: dict[str, Any], again: dict[str, Any], ours: dict[str, Any], tolerance: float = 2e-3) -> bool:
    """Whether Mycelia printed what MindSpore printed; where MindSpore varies, only the words count."""
    if "error" in ours or len(ours["printed"]) != len(theirs["printed"]):
        return False
    for a, second, b in zip(theirs["printed"], again["printed"], ours["printed"], strict=True):
        x, y, z = numbers(a), numbers(b), numbers(second)
        if words(a) != words(second) or len(x) != len(z):  # times, addresses
            continue
        if words(a) != words(b) or len(x) != len(y):
            return False
        if x == z and not all(near(m, n, tolerance) for m, n in zip(x, y, strict=True)):
            return False
    return True


def cause(theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    """In few words, why an example does not agree."""
    if "error" not in ours:
        return "prints something else"
    return re.sub(r"\s+", " ", ours["error"].split("\n")[0])[:110]


def main() -> None:
    """Ask both, compare, and print counts by package and failures by cause."""
    parser = argparse.ArgumentParser(description="run the examples of MindSpore's docstrings")
    parser.add_argument("python", nargs="?", help="an interpreter that has MindSpore")
    parser.add_argument("packages", nargs="*", help="only names that begin so, such as ops or nn.Dense")
    parser.add_argument("--kept", type=Path, default=Path(tempfile.gettempdir()) / "mindspore_examples")
    parser.add_argument("--known", action="store_true", help="only those that MindSpore has answered before")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds that an answer may take")
    parser.add_argument("--show", help="print this example, and both answers")
    parser.add_argument("--serve", choices=["ours", "theirs", "collect"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve == "collect":
        print(json.dumps(collect()))
    elif options.serve:
        serve(options.serve == "ours")
    else:
        report(options)


def report(options: argparse.Namespace) -> None:
    """Run what is asked for, and tell."""
    options.kept.mkdir(exist_ok=True)
    listed, asked = options.kept / "examples.json", options.kept / "theirs.json"
    if not listed.exists():
        command = [options.python, __file__, "--serve", "collect"]
        told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=options.kept).stdout
        listed.write_text(told.splitlines()[-1])
    listing = json.loads(listed.read_text())
    examples: dict[str, list[str]] = {name: found["statements"] for name, found in listing.items()}
    theirs: dict[str, list[Any]] = json.loads(asked.read_text()) if asked.exists() else {}
    chosen = [options.show] if options.show else options.packages
    wanted = [n for n in examples if not chosen or any(n.startswith(f"mindspore.{c}") for c in chosen)]
    wanted = [n for n in wanted if n in theirs] if options.known else wanted
    peer, start = Peer(options.python, False, options.patience), time.time()
    for count, name in enumerate(n for n in wanted if n not in theirs):
        begun = time.time()
        first = peer.ask(examples[name])
        theirs[name] = [first, first if "error" in first else peer.ask(examples[name], seed=2)]
        if time.time() - begun > 5:
            print(f"{name}: {time.time() - begun:.0f} s", file=sys.stderr)
        if count % 50 == 0:
            asked.write_text(json.dumps(theirs))
            print(f"MindSpore: {count} asked, {time.time() - start:.0f} s", file=sys.stderr)
    asked.write_text(json.dumps(theirs))
    mine = Peer(sys.executable, True, options.patience)
    ran: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    causes: dict[str, list[str]] = {}
    for name in wanted:
        if "error" in theirs[name][0] or "error" in theirs[name][1]:
            if options.show == name.removeprefix("mindspore."):
                print(theirs[name][0])
            continue
        home = listing[name]["home"]
        package = next((a for a in APART if home.startswith(a)), name.rpartition(".")[0])
        answer = mine.ask(examples[name])
        good = same(*theirs[name], answer)
        ran[package] += 1
        agreed[package] += good
        if options.show:
            for source, a, b in zip(
                examples[name], theirs[name][0]["printed"], [*answer["printed"], *[""] * 99], strict=False
            ):
                print(">>>", source.rstrip(), *([f"\ntheirs: {a}\nours:   {b}"] if a or b else []))
            print(name, "agrees" if good else answer.get("error", "prints something else"))
        elif not good:
            causes.setdefault(cause(theirs[name][0], answer), []).append(name.removeprefix("mindspore."))
    undecided = {n for names in causes.values() for n in names} - DECIDED.keys()
    for told, names in sorted(causes.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):4} {told}\n       {' '.join(names)}")
    for package in ran:
        print(f"{package}: {agreed[package]} of {ran[package]}")
    apart = [p for p in ran if p.startswith(APART)]
    inside, all_in = (sum(c[p] for p in ran if p not in apart) for c in (agreed, ran))
    print(f"differ, and nothing is said about it in examples.tsv: {' '.join(sorted(undecided)) or 'none'}")
    print(f"agree: {inside} of {all_in}; with {', '.join(APART)}: {sum(agreed.values())} of {sum(ran.values())}")


if __name__ == "__main__":
    main()
