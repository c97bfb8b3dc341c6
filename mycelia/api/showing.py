"""What a jitted function is at each stage, as text: the source, the graph, what passes made of it, ... machine code."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from inspect import unwrap
from typing import Any

from mycelia.api.native import Native
from mycelia.api.options import stages_to_show
from mycelia.degradations import RECORD, Instead, PlainText, Subject
from mycelia.errors import ArgumentError
from mycelia.options import STAGES


def shown(stage: str, fn: Any, subject: Subject, natives: Iterable[tuple[str, Native]]) -> str:
    """A stage of every program of a function, one after the other, each under its signature."""
    if stage not in STAGES:
        raise ArgumentError(f"there is no stage {stage!r} to show", hint=f"choose one of {', '.join(STAGES)}")
    if stage == "source":
        return PlainText(source(fn, subject))
    found = list(natives)
    if not found:
        called = f"{subject.name} has no program"
        return f"{called}: it was not called yet, or Python runs it (see explain())"
    return PlainText("\n\n".join(f"{title}:\n{native.show(stage)}" for title, native in found))


def source(fn: Any, subject: Subject) -> str:
    """The lines of a function; those that Python runs are marked, once they are known."""
    python = getattr(fn, "construct", unwrap(fn) if callable(fn) else fn)
    try:
        lines, first = inspect.getsourcelines(python)
        file = inspect.getsourcefile(python)
    except (OSError, TypeError):
        return f"{subject.name} has no source"
    by_python = {d.at.line for d in RECORD.about(subject, Instead.PYTHON) if d.at is not None and d.at.file == file}
    numbered = [f"{'python' if n in by_python else '':6} {n:4}  {line.rstrip()}" for n, line in enumerate(lines, first)]
    return "\n".join(line.rstrip() for line in numbered)


def announce_source(fn: Any, subject: Subject) -> None:
    """Print the source of what was captured for whoever asked to see it: MYCELIA_SHOW=source."""
    if "source" in stages_to_show():
        print(f"source of {subject.name}:\n{source(fn, subject)}", file=sys.stderr)
