"""The options of this session: the one place where the machine and the environment are looked at."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from mycelia.degradations import CACHE, Instead, concerning, degrade
from mycelia.errors import ArgumentError
from mycelia.options import NOTHING_ASKED, Options, Wishes
from mycelia.target import Target


def options(wishes: Wishes = NOTHING_ASKED) -> Options:
    """How programs are compiled in this session: for the machine at hand, with OMP_NUM_THREADS threads, kept in
    MYCELIA_CACHE, unless that is `off`, and found there again unless MYCELIA_WARM is 0 or `off`; MYCELIA_SHOW names
    stages to print, separated by commas. A function has wishes of its own.

    >>> options().threads >= 1
    True
    """
    warm = os.environ.get("MYCELIA_WARM") not in ("0", "off")
    return Options(
        _host(), _threads(), without=wishes.without, show=stages_to_show(), verify=wishes.verify, cache=cache_folder(),
        warm=warm, memory=wishes.memory,
    )  # fmt: skip


def stages_to_show() -> frozenset[str]:
    """The stages that MYCELIA_SHOW names."""
    return frozenset(filter(None, map(str.strip, os.environ.get("MYCELIA_SHOW", "").split(","))))


@cache
def _host() -> Target:
    from mycelia.codegen import processor  # which loads LLVM

    return processor.host()


@cache  # as OpenMP does, which reads it once
def _threads() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip() or "0"
    if not given.isdecimal():
        raise ArgumentError(f"OMP_NUM_THREADS is {given!r}, which is no number of threads")
    return int(given) or _host().cores


def faults() -> str:
    """What becomes of mistakes of our own that a slower way makes good: MYCELIA_FAULTS=raise shows them as errors."""
    return os.environ.get("MYCELIA_FAULTS", "")


def cache_folder() -> Path | None:
    """Where machine code is kept: MYCELIA_CACHE, else a folder of the user's cache; None for nowhere (`off`)."""
    chosen, system = os.environ.get("MYCELIA_CACHE"), Path(os.environ.get("XDG_CACHE_HOME", ""))
    if chosen == "off":
        return None
    try:
        if chosen:
            return _absolute(Path(chosen).expanduser())
        return (system if system.is_absolute() else Path.home() / ".cache") / "mycelia"
    except RuntimeError as error:  # there is no home
        with concerning(CACHE):
            degrade(Instead.SLOW, f"nothing is kept: {error}; MYCELIA_CACHE names a folder, or is off", warn=True)
        return None


@cache
def _absolute(folder: Path) -> Path:
    """A folder as it is called from where the process was when it was first asked for: the process may go elsewhere."""
    return folder.absolute()
