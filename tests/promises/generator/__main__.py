"""Judges generated programs: `python -m tests.promises.generator FIRST COUNT [--out FOLDER] [--pure]`.

Prints what differs, as small programs, and at the end how often each construct was used. The folder gets what differs,
and a file of JSON for each run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from tests.promises.generator.pool import Judge
from tests.promises.generator.shrink import shrink
from tests.promises.generator.writer import Writer


def smallest(text: str, judge: Judge, kind: str, native: bool) -> str:
    """A small program of which the same is to be said, and whose `main` does not raise."""

    def fails(smaller: str) -> bool:
        found = judge(smaller, native)
        return found.kind == kind and not found.raises

    return shrink(text, fails)


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("first", type=int)
    ask.add_argument("count", type=int)
    ask.add_argument("--out", type=Path)
    ask.add_argument("--whole", action="store_true", help="do not shrink")
    ask.add_argument("--pure", action="store_true", help="functions under grad and vmap")
    options = ask.parse_args()
    kinds: Counter[str] = Counter()
    used: Counter[str] = Counter()
    with Judge() as judge:
        for seed in range(options.first, options.first + options.count):
            writer = Writer(seed, options.pure)
            text = writer.program()
            used.update(writer.used)
            verdict = judge(text, writer.native)
            kinds.update([verdict.kind, *verdict.ways, *["no program"] * verdict.raises])
            if not verdict.bad:
                continue
            if not options.whole:
                text = smallest(text, judge, verdict.kind, writer.native)
            again = judge(text, writer.native).words or f"not again; at first, of the whole program: {verdict.words}"
            report = f"#@ generated seed_{seed}\n{text}\n# {verdict.kind}: {again}\n"
            print(report, flush=True)
            if options.out is not None:
                (options.out / f"{seed}{'-pure' if options.pure else ''}.txt").write_text(report)
    if options.out is not None:
        name = f"{options.first}-{options.count}{'-pure' if options.pure else ''}.json"
        (options.out / name).write_text(json.dumps({"kinds": kinds, "used": used}))
    print(dict(kinds), file=sys.stderr)
    print(dict(used.most_common()), file=sys.stderr)


if __name__ == "__main__":
    main()
