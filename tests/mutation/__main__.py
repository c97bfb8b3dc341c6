"""Do the tests bite, outside the rules of ops? One small fault at a time is sown anywhere in the package, by rule.

    python -m tests.mutation --map            # once: which tests come to which lines; as long as the tests take
    python -m tests.mutation                  # 330 faults, spread over the packages; an hour or two on one core
    python -m tests.mutation 40 --only runtime,lowering --seed 3
    python -m tests.mutation --fault mycelia/runtime/arena.py:120    # one of them again, with all tests that reach it
    python -m tests.mutation --told           # only what is known of those that were missed

While it runs, files of the package are changed and put back: use a worktree in which nobody works. The map and what was
found are kept in `--folder`, and a run that was interrupted goes on where it stood. Tests that were written since the
map was made are tried, too. Faults that change nothing that anybody could see are listed in `equivalent.txt`, with the
reason: they are not tried, and count neither as caught nor as missed. What runs only while modules are imported is not
come to (`reached=False`): such a fault is judged by hand, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from tests.mutation.faults import ROOT, SHARES, Fault, chosen, faults_of
from tests.mutation.reach import Reach, make_map
from tests.mutation.trials import try_all

EQUIVALENT = Path(__file__).with_name("equivalent.txt")


def main() -> None:
    """Sow, run, and say what was not caught."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("count", nargs="?", type=int, default=330)
    options.add_argument("--only", type=_listed, default=list(SHARES), help="packages")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--budget", type=float, default=60.0, help="seconds of tests for a fault")
    options.add_argument("--fault", action="append", help="a fault, as it was printed: the file and the number in it")
    options.add_argument("--first", type=_listed, default=[], help="tests that are tried first")
    options.add_argument("--within", type=_listed, default=[], help="tests beside which no others are tried")
    options.add_argument("--folder", type=Path, default=ROOT / "build" / "mutation")
    options.add_argument("--list", action="store_true", help="only say which faults these are")
    options.add_argument("--told", action="store_true", help="only say what is known of them")
    options.add_argument("--map", action="store_true", help="run the default tests, and write down where they come")
    options.add_argument("--each", type=int, default=8, help="for the map: choices of parameters of one test")
    options.add_argument("--workers", type=int, default=2, help="for the map: processes")
    given = options.parse_args()
    if given.map:
        make_map(given.folder, given.each, given.workers, given.within)
        return
    if given.fault:
        keys = [key.rsplit(":", 1) for key in given.fault]
        faults = [faults_of(ROOT / path)[int(number)] for path, number in keys]
        try_all(faults, given.folder / "again", Reach(given.folder), given.budget, given.first, given.within)
        return
    reasons = judged()
    faults = [f for f in chosen(given.count, given.only, given.seed) if f.told not in reasons]
    if given.list:
        for fault in faults:
            print(fault.number, fault)
        return
    folder = given.folder / f"seed{given.seed}"
    if not given.told:
        try_all(faults, folder, Reach(given.folder), given.budget, given.first, given.within)
    tell(faults, folder)


def judged() -> dict[str, str]:
    """Faults that nobody could see, and why."""
    return dict(line.split("  --  ") for line in EQUIVALENT.read_text().splitlines() if "  --  " in line)


def tell(faults: list[Fault], folder: Path) -> None:
    """How many were caught, by packages, and which were not."""
    told = {r["key"]: r for r in map(json.loads, (folder / "faults.jsonl").read_text().splitlines())}
    caught, counted = Counter[str](), Counter[str]()
    for fault in faults:
        if fault.key not in told:
            continue
        counted[fault.package] += 1
        caught[fault.package] += bool(told[fault.key]["caught"])
        if not told[fault.key]["caught"]:
            print(f"{fault.number:4} {fault}  (reached: {told[fault.key]['reached']})")
    for package in counted:
        print(f"{package}: {caught[package]} of {counted[package]}")
    print(f"{caught.total()} of {counted.total()} faults are caught ({caught.total() / max(counted.total(), 1):.1%})")


def _listed(text: str) -> list[str]:
    return text.split(",")


if __name__ == "__main__":
    main()
