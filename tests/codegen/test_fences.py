"""The fences of the tests hold: whoever crosses one is found out."""

import ctypes
import faulthandler
import os
import signal

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function
from mycelia.runtime.arena import Arena
from mycelia.runtime.executable import Executable
from mycelia.testing import compile
from tests import fences as module
from tests.fences import MARK, beside_a_fence
from tests.lowering.programs import f32

SUM = Function.build(lambda x: (p.tanh(x), p.reduce_sum(p.tanh(x))), f32(7, 33))
X = np.ones((7, 33), "f")


def test_programs_run_with_fences(fences):
    first, second = compile(SUM)(X)
    np.testing.assert_allclose(first, np.tanh(X), rtol=1e-6)
    np.testing.assert_allclose(second, np.tanh(X).sum(), rtol=1e-5)
    assert fences.calls == 1


@pytest.mark.parametrize("nbytes", [1, 7, 4096, 5000])
def test_one_byte_beyond_an_array_ends_the_process(nbytes):
    array, before, _ = beside_a_fence((nbytes,), np.uint8)
    assert set(array.tolist()) | set(before.tolist()) == {MARK}
    child = os.fork()
    if not child:
        faulthandler.disable()  # it is expected
        ctypes.memset(array.ctypes.data, 0, nbytes)  # what is its own may be written
        ctypes.string_at(array.ctypes.data + nbytes, 1)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGSEGV


def run_and(then, monkeypatch):
    """Run a program that does something more than it should."""
    usual = module._call

    def call(program: Executable, running, arrays):
        results = usual(program, running, arrays)
        then(arrays, results)
        return results

    monkeypatch.setattr(module, "_call", call)
    return compile(SUM)(X)


@pytest.mark.parametrize("place", [-1, 4])
def test_what_is_written_before_or_behind_an_array_is_found(place, monkeypatch):
    with pytest.raises(AssertionError, match="wrote where no array is"):
        run_and(lambda arrays, results: ctypes.memset(results[1].ctypes.data + place, 0, 1), monkeypatch)


def test_what_is_written_behind_the_arena_is_found(monkeypatch, fences):
    with pytest.raises(AssertionError, match="wrote where no array is"):
        run_and(lambda arrays, results: fences.arenas[0].fill(0), monkeypatch)
    assert Arena.depth == 0


def test_an_input_that_is_changed_is_found(monkeypatch):
    with pytest.raises(AssertionError, match="changed input 0"):
        run_and(lambda arrays, results: arrays[0].fill(0), monkeypatch)
