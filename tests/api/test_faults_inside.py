"""A mistake of ours at any place of a call: the result is Python's, all happens once, and the report tells it."""

import itertools
import time
import warnings

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, degradations
from mycelia.api import native, programs, ways
from mycelia.capture import capturing, guards, pieces, program
from mycelia.degradations import RECORD
from mycelia.errors import ShapeError

sizes = itertools.count(91)


@pytest.fixture(autouse=True)
def as_a_user(monkeypatch):
    """An empty record, and faults as a user has them."""
    monkeypatch.setattr(RECORD, "times", {})
    monkeypatch.setitem(degradations._settings, "faults", "")


def broken(*args, **kwargs):
    raise RuntimeError("a mistake of ours")


def stopped(*args, **kwargs):
    raise ShapeError("a program that stops")


PLACES = {
    "interpreting": (capturing, "_captured", broken),
    "planning": (program.Finisher, "ending", broken),
    "writing the guard": (guards.Writer, "compiled", broken),
    "making the native function": (native.Native, "__init__", broken),
    "compiling": (native.Native, "prepare", broken),
    "running": (native.Native, "run", broken),
    "stopping": (native.Native, "run", stopped),
    "building results": (program.ObjectBuilder, "__call__", broken),
    "a new way": (ways.Ways, "made", broken),
    "the frame": (pieces, "variables", broken),
    "a statement": (pieces.Statement, "visit", broken),
}


@pytest.mark.parametrize("impure", [False, True], ids=["whole", "in pieces"])
@pytest.mark.parametrize("place", PLACES)
def test_python_makes_it_good_and_it_is_told(monkeypatch, place, impure):
    seen = []

    def run(x, log):
        if impure:
            time.perf_counter()
        log.append(x * 2.0)
        for i in range(2):
            x = x + i
        return [x.sum(), len(log)]

    x = Tensor(np.ones(next(sizes), np.float32))
    owner, name, fault = PLACES[place]
    fn = ms.jit(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fault)
            for n in (1, 2, 3):
                total, length = fn(x, seen)
                assert (float(total), length, len(seen)) == (float(x.sum()) + x.size, n, n)
        reported = ms.report()
    total, length = fn(x, seen)
    assert (float(total), length, len(seen)) == (float(x.sum()) + x.size, 4, 4)
    told = "a mistake of ours" in reported or "a program that stops" in reported
    assert told or (place in ("the frame", "a statement") and not impure)


def test_a_user_s_error_stays_when_the_program_fails_too(monkeypatch):
    monkeypatch.setattr(programs.Way, "results", broken)
    fn = ms.jit(lambda x, d: x * d["scale"])
    with pytest.raises(KeyError, match="scale"):
        fn(Tensor([1.0]), {})
