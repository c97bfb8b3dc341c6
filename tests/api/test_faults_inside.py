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


def test_a_mistake_about_a_statement_is_made_once_and_not_at_every_call(monkeypatch):
    def run(x):
        time.perf_counter()
        x = x + 1
        return x * 2.0

    met = []

    def broken_there(root, stmts, place, *args):
        met.append(place)
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(pieces, "capture_piece", broken_there)
    fn = ms.jit(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            assert fn(Tensor([1.0])).tolist() == [4.0]
    assert met == [0, 1, 2]


def left(kind, x):
    """Statements that are left from inside, in every way."""
    met = []
    time.perf_counter()
    for i in range(6):
        time.perf_counter()
        if i == 1:
            continue
        if kind == "break" and i == 3:
            break
        while True:
            time.perf_counter()
            met.append(i)
            if len(met) > 1:
                break
        if kind == "return" and i == 4:
            return "early", met, x * i
        for j in range(3):
            if j == 1:
                continue
            if j == 2 and kind == "return inside":
                return "inside", met, x * j
        else:
            met.append("end")
    else:
        met.append("else")
    y: float = 2.0
    met.append((lambda v: v + 1)(i))

    def inner():
        for k in range(time.perf_counter() > 0 and 3):
            if k == 2:
                return k

    class Inner:
        for k in range(3):
            if k == 1:
                break

    if met.append(time.perf_counter() > 0) is None:
        w: float = time.perf_counter() * 0 + 1
        z: int  # noqa: F842  # is never evaluated
        if kind == "bare return":
            return
    try:
        while len(met) < 9:
            time.perf_counter()
            met.append(w)
            if kind == "error" and len(met) == 8:
                raise ValueError(kind)
    except ValueError as error:
        return str(error), met
    finally:
        met.append("last")
    return x * y, met, inner(), Inner.k


@pytest.mark.parametrize("broken_places", [(), ("blocks",), ("pieces",), ("blocks", "pieces")], ids=str)
def test_statements_that_run_whole_are_left_as_python_leaves_them(monkeypatch, broken_places):
    if "blocks" in broken_places:
        monkeypatch.setattr(pieces.Statement, "visit", broken)
    if "pieces" in broken_places:
        monkeypatch.setattr(pieces, "capture_piece", broken)
    fn, x = ms.jit(left), Tensor([1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in ("break", "return", "return inside", "error", "bare return", "none", "break"):
            assert str(fn(kind, x)) == str(left(kind, x)), kind


def test_a_user_s_error_stays_when_the_program_fails_too(monkeypatch):
    monkeypatch.setattr(programs.Way, "results", broken)
    fn = ms.jit(lambda x, d: x * d["scale"])
    with pytest.raises(KeyError, match="scale"):
        fn(Tensor([1.0]), {})
