"""Objects are compiled once and kept on disk; a cache that is broken or cannot be written harms nobody."""

from __future__ import annotations

import os

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.ir import Function
from mycelia.runtime.workers import Workers
from mycelia.testing import compile
from mycelia.types import TensorType, float32

X = TensorType(float32, (31, 7))
ONES = np.ones(X.shape, "f")


def program(k: float = 2.0) -> Function:
    return Function.build(lambda x: (p.tanh(x) * k, p.reduce_sum(x * k, (1,))), X)


def right(k: float = 2.0) -> None:
    y, rows = compile(program(k))(ONES)
    np.testing.assert_allclose(y, np.tanh(1) * k, rtol=1e-6)
    np.testing.assert_allclose(rows, 7 * k, rtol=1e-6)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path / "objects"))
    return tmp_path / "objects"


@pytest.fixture
def compiled_texts(monkeypatch):
    """What LLVM was asked to compile."""
    asked: list[str] = []
    ask = Workers.compile

    def noting(self, texts):
        texts = list(texts)
        asked.extend(texts)
        return ask(self, texts)

    monkeypatch.setattr(Workers, "compile", noting)
    return asked


def test_the_second_compile_does_not_call_llvm(cache, compiled_texts):
    right()
    assert compiled_texts
    compiled_texts.clear()
    right()
    assert not compiled_texts


def test_objects_lie_in_the_folder_that_the_environment_says(cache):
    right()
    assert options().cache == cache
    assert {f.suffix for f in cache.iterdir()} == {".o"}


def test_a_program_compiles_only_the_kernels_that_no_program_had_before(cache, compiled_texts):
    right()
    compiled_texts.clear()
    more = Function.build(lambda x: (p.tanh(x) * 2.0, p.reduce_sum(x * 2.0, (1,)), p.cumsum(x, 1)), X)
    compile(more)(ONES)
    assert len(compiled_texts) <= 2  # the driver, and the running sum


def test_other_numbers_are_other_objects(cache, compiled_texts):
    right(2.0)
    compiled_texts.clear()
    right(3.0)
    assert compiled_texts


@pytest.mark.parametrize(
    "damage", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b"\0" * len(b), lambda b: b + b"x"]
)
def test_a_damaged_object_is_compiled_again(cache, compiled_texts, damage):
    right()
    for f in cache.iterdir():
        f.write_bytes(damage(f.read_bytes()))
    compiled_texts.clear()
    right()
    assert compiled_texts
    compiled_texts.clear()
    right()
    assert not compiled_texts


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path / "file" / "objects"))
    right()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    tmp_path.chmod(0o500)
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path))
    right()


def test_nothing_unfinished_is_left_in_the_folder(cache):
    right()
    assert all(f.name.endswith(".o") and len(f.stem) == 64 for f in cache.iterdir())
