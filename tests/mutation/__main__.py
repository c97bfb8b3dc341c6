"""Do the tests bite, outside the rules of ops? One small fault at a time is sown anywhere in the package, by rule.

    python -m tests.mutation                  # 330 faults, spread over the packages; an hour or two on one core
    python -m tests.mutation 40 --only runtime,lowering --seed 3
    python -m tests.mutation --fault mycelia/runtime/arena.py:120    # one of them again, with all tests that reach it

While it runs, files of the package are changed and put back: use a worktree in which nobody works. What was found is
kept in `build/mutation`, and a run that was interrupted goes on where it stood.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from tests.mutation.faults import ROOT, SHARES, chosen, faults_of
from tests.mutation.trials import Trials, try_all


def main() -> None:
    """Sow, run, and say what was not caught."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("count", nargs="?", type=int, default=330)
    options.add_argument("--only", default=",".join(SHARES), help="packages")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--budget", type=float, default=25.0, help="seconds of tests for a fault")
    options.add_argument("--fault", action="append", help="a fault, as it was printed")
    options.add_argument("--folder", type=Path, default=ROOT / "build" / "mutation")
    options.add_argument("--list", action="store_true", help="only say which faults these are")
    given = options.parse_args()
    if given.fault:
        keys = [key.rsplit(":", 1) for key in given.fault]
        faults = [faults_of(ROOT / path)[int(number)] for path, number in keys]
    else:
        faults = chosen(given.count, given.only.split(","), given.seed)
    if given.list:
        for fault in faults:
            print(fault.number, fault)
        return
    try_all(faults, given.folder, given.budget)
    keys = {f.key for f in faults}
    known = {r["key"]: r for r in Trials(faults, given.folder, given.budget).known() if r["key"] in keys}
    tried, caught = (
        Counter(f.package for f in faults),
        Counter(k.split("/")[1] for k, r in known.items() if r["caught"]),
    )
    for package in tried:
        print(f"{package:12} {caught[package]:4} of {tried[package]:4}")
    print(f"{sum(caught.values())} of {len(faults)} faults are caught ({sum(caught.values()) / len(faults):.1%})")


if __name__ == "__main__":
    main()
