"""Do the tests bite, outside the rules of ops? One small fault at a time is sown anywhere in the package, by rule.

    python -m tests.mutation                  # 330 faults, spread over the packages; an hour or two on one core
    python -m tests.mutation 40 --only runtime,lowering --seed 3
    python -m tests.mutation --fault mycelia/runtime/arena.py:120    # one of them again, with all tests that reach it

While it runs, files of the package are changed and put back: use a worktree in which nobody works. What was found is
kept in `build/mutation`, and a run that was interrupted goes on where it stood.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from tests.mutation.faults import ROOT, SHARES, chosen, faults_of
from tests.mutation.trials import try_all


def main() -> None:
    """Sow, run, and say what was not caught."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("count", nargs="?", type=int, default=330)
    options.add_argument("--only", default=",".join(SHARES), help="packages")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--budget", type=float, default=25.0, help="seconds of tests for a fault")
    options.add_argument("--fault", action="append", help="a fault, as it was printed")
    options.add_argument("--first", type=lambda text: text.split(","), default=[], help="tests that are tried first")
    options.add_argument("--missed", action="store_true", help="try those again that were missed")
    options.add_argument("--folder", type=Path, default=ROOT / "build" / "mutation")
    options.add_argument("--list", action="store_true", help="only say which faults these are")
    given = options.parse_args()
    packages = given.only.split(",")
    if given.fault:
        keys = [key.rsplit(":", 1) for key in given.fault]
        faults = [faults_of(ROOT / path)[int(number)] for path, number in keys]
        try_all(faults, given.folder / "again", given.budget, given.first)
        return
    if given.list:
        for fault in chosen(given.count, packages, given.seed):
            print(fault.number, fault)
        return
    if len(packages) > 1:  # each in a process that has collected its tests only
        rest = ["--seed", str(given.seed), "--budget", str(given.budget), "--folder", str(given.folder)]
        rest += [*(["--first", ",".join(given.first)] if given.first else []), *["--missed"][: given.missed]]
        for package in packages:
            command = [sys.executable, "-u", "-m", "tests.mutation", str(given.count), "--only", package, *rest]
            subprocess.run(command, cwd=ROOT, check=False)
        said = [
            json.loads(line) for p in packages for line in (given.folder / p / "faults.jsonl").read_text().splitlines()
        ]
        caught = sum(bool(r["caught"]) for r in said)
        print(f"{caught} of {len(said)} faults are caught ({caught / len(said):.1%})")
        return
    faults = chosen(given.count, packages, given.seed)
    folder = given.folder / given.only
    if given.missed:
        found = [json.loads(line) for line in (folder / "faults.jsonl").read_text().splitlines()]
        (folder / "faults.jsonl").write_text("".join(json.dumps(r) + "\n" for r in found if r["caught"]))
    known = try_all(faults, folder, given.budget, given.first)
    print(f"{given.only}: {sum(bool(r['caught']) for r in known)} of {len(faults)}", flush=True)


if __name__ == "__main__":
    main()
