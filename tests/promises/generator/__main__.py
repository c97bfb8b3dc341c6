"""Judges generated programs: `python -m tests.promises.generator FIRST COUNT [--out FOLDER] [--pure]`.

Prints what differs, as small programs, and at the end how often each construct was used.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from tests.promises.generator.pool import Judge
from tests.promises.generator.shrink import shrink
from tests.promises.generator.writer import Writer


def smallest(text: str, judge: Judge, kind: str) -> str:
    """A small program of which the same is to be said, and whose `main` does not raise."""

    def fails(smaller: str) -> bool:
        found = judge(smaller)
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
            verdict = judge(text)
            kinds.update([verdict.kind, *verdict.ways])
            if not verdict.bad:
                continue
            if not options.whole:
                text = smallest(text, judge, verdict.kind)
            report = f"#@ generated seed_{seed}\n{text}\n# {verdict.kind}: {judge(text).words}\n"
            print(report, flush=True)
            if options.out is not None:
                (options.out / f"{seed}.txt").write_text(report)
    print(dict(kinds), file=sys.stderr)
    print(dict(used.most_common()), file=sys.stderr)


if __name__ == "__main__":
    main()
